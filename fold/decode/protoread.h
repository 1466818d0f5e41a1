/*
 * protoread.h: the wire format of protocol buffers, field by field, as
 * https://protobuf.dev/programming-guides/encoding/ describes it.
 *
 * A message is read in place and borrowed: nothing is copied, nothing allocated. An error sets
 * `why`, and every later call returns false, so that it can be checked once, at the end. Not
 * thread-safe for one struct proto.
 */
#ifndef FLAME_FOLD_DECODE_PROTOREAD_H
#define FLAME_FOLD_DECODE_PROTOREAD_H

#include <stdbool.h>

#include "fold/stacks/span.h"

struct proto {
    const char *s, *end;
    const char *why; /* the error at `s`, a constant; NULL while there is none */
};

struct proto_field {
    uint32_t number;
    bool whole;        /* a number, in `value`; or else bytes, in `bytes` */
    uint64_t value;    /* a field of fixed 4 or 8 bytes, too */
    struct span bytes; /* a string, a message, packed numbers; borrowed */
    const char *at;    /* where the field begins */
};

static inline struct proto proto_of(struct span bytes)
{
    return (struct proto){bytes.s, bytes.s + bytes.len, NULL};
}

/* The next field; false at the end of the message, or if it is wrong. */
bool proto_field(struct proto *p, struct proto_field *f);
/* The next of packed numbers; false at the end, or on an error. */
bool proto_number(struct proto *p, uint64_t *value);

#endif
