/*
 * perfettoout.h: packets of a Perfetto trace on their way to a stream, and the tables of names,
 * frames and stacks that they refer to by number.
 *
 * The caller encodes messages with protoout.h; perfettoout_packet makes a packet of each. Numbers
 * of names and stacks are valid in packets of PERFETTO_SLICES; what a number means is in the next
 * packet that is written. Names are made safe as by framename_add_clean.
 *
 *  lifecycle  perfettoout_init, perfettoout_end (always; writes the rest)
 *  ownership  stream and tree are borrowed
 */
#ifndef FLAME_RENDER_EXPORT_PERFETTOOUT_H
#define FLAME_RENDER_EXPORT_PERFETTOOUT_H

#include "render/export/functable.h"
#include "render/text/outstream.h"

/* Sequences of packets: each has tables of its own. */
enum perfetto_sequence { PERFETTO_SLICES = 1, PERFETTO_SCHED = 2 };

/* Fields of TracePacket. */
enum { PERFETTO_FTRACE = 1, PERFETTO_PROCESS_TREE = 2, PERFETTO_EVENT = 11, PERFETTO_TRACK = 60 };

struct perfettoout {
    struct outstream out;
    const struct frametree *t;
    struct functable ft;
    struct strbuf interned;           /* of the next packet */
    struct strbuf packet, part, path; /* room for what is being encoded */
    uint8_t *known;                   /* by string, bits of tables that have it */
    size_t known_room;
    uint8_t *frames, *stacks; /* known ones: by name, and by node, two bits */
    bool *mappings;           /* by module */
    uint64_t packets;
};

void perfettoout_init(struct perfettoout *p, FILE *file, const struct frametree *t);
/* 0, or -errno of the first failure. */
int perfettoout_end(struct perfettoout *p);

/* Writes a packet with `message` as its field `field`, and clears the message. The time is in
 * nanoseconds; 0: none. */
void perfettoout_packet(struct perfettoout *p, enum perfetto_sequence sequence, unsigned field,
                        struct strbuf *message, uint64_t time_ns);

/* Numbers of an event's name: that of a frame, or any text; of a category; and of the name of an
 * annotation. */
uint64_t perfettoout_frame_name(struct perfettoout *p, const struct frametree_name *name);
uint64_t perfettoout_event_name(struct perfettoout *p, const char *s, size_t len);
uint64_t perfettoout_category(struct perfettoout *p, const char *s);
uint64_t perfettoout_annotation_name(struct perfettoout *p, const char *s);

/* The number of a node's stack. */
uint64_t perfettoout_stack(struct perfettoout *p, uint32_t node);
/* The number of the waker's stack, which lies behind a frame "--" and ends at `node`; 0: there is
 * no such frame. */
uint64_t perfettoout_waker_stack(struct perfettoout *p, uint32_t node);

#endif
