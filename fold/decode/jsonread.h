/*
 * jsonread.h: JSON read value by value, as RFC 8259 has it.
 *
 * The reader asks for what it expects; anything else sets `bad`, and every later call returns
 * false. So errors are checked once, at the end. Values that are not wanted are skipped without
 * recursion, so depth costs nothing. Not thread-safe for one struct json; text is borrowed.
 */
#ifndef FLAME_FOLD_DECODE_JSONREAD_H
#define FLAME_FOLD_DECODE_JSONREAD_H

#include "common/strbuf.h"
#include "fold/stacks/span.h"

struct json {
    const char *s, *end;
    bool bad;
};

/* The kind of the next value: '{' '[' '"' '0' (a number) 't' (true, false, null), 0 at the end. */
char json_peek(struct json *j);
/* Goes into an object or array; then json_key/json_item go from one member to the next. */
bool json_enter(struct json *j, char what);
/* The next member's key, its value to be read or skipped; false at the end of the object. */
bool json_key(struct json *j, struct strbuf *key);
bool json_item(struct json *j);
bool json_string(struct json *j, struct strbuf *out);
/* A number's text, borrowed from the JSON text. */
bool json_number(struct json *j, struct span *out);
void json_skip(struct json *j);

#endif
