/*
 * Perfetto's trace is one message whose field 1 is a packet, repeated, so that packets are written
 * one behind the other. Field numbers are those of Perfetto's published protos: messages Trace,
 * TracePacket, InternedData, Mapping, Frame and Callstack.
 *
 * Tables are filled as they are used: a packet has the rows of interned data that no packet before
 * had. Row 0 is none, so numbers begin at 1.
 *
 * A frame has a position in its module besides its name, as readers tell frames of one module apart
 * by it. The tree has no addresses, so the position is the number of the name.
 *
 * Rejected: generated code of protobuf-c, as for pprof. Perfetto's messages number in the hundreds,
 * and this file needs six of them.
 */
#include "render/export/perfettoout.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "render/export/protoout.h"
#include "render/framename.h"

enum { TRACE_PACKET = 1 };
/* TracePacket */
enum { TIMESTAMP = 8, SEQUENCE = 10, INTERNED_DATA = 12, SEQUENCE_FLAGS = 13, FIRST_PACKET = 87 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 }; /* bits of SEQUENCE_FLAGS */
/* InternedData */
enum {
    EVENT_CATEGORIES = 1,
    EVENT_NAMES = 2,
    ANNOTATION_NAMES = 3,
    FUNCTION_NAMES = 5,
    FRAMES = 6,
    CALLSTACKS = 7,
    MAPPING_PATHS = 17,
    SOURCE_PATHS = 18,
    MAPPINGS = 19
};
enum { ROW_NUMBER = 1, ROW_TEXT = 2 }; /* of tables of strings */
enum {
    FRAME_FUNCTION = 2,
    FRAME_MAPPING = 3,
    FRAME_POSITION = 4,
    FRAME_SOURCE = 5,
    FRAME_LINE = 6
};
enum { MAPPING_PATH = 7 };
enum { CALLSTACK_FRAME = 2 };
enum { STACK_OF_NODE = 1, STACK_OF_WAKER = 2 }; /* bits of perfettoout.stacks */

static const char marks[] = "kjiwo";

void perfettoout_init(struct perfettoout *p, FILE *file, const struct frametree *t)
{
    *p = (struct perfettoout){.out = OUTSTREAM_INIT(file),
                              .t = t,
                              .interned = STRBUF_INIT,
                              .packet = STRBUF_INIT,
                              .part = STRBUF_INIT,
                              .path = STRBUF_INIT};
    functable_init(&p->ft);
    functable_fill(&p->ft, t, marks);
    p->frames = xcalloc(t->nnames, 1);
    p->stacks = xcalloc(t->n, 1);
    p->mappings = xcalloc(t->nmodules + 1, sizeof *p->mappings);
}

int perfettoout_end(struct perfettoout *p)
{
    functable_release(&p->ft);
    strbuf_release(&p->interned);
    strbuf_release(&p->packet);
    strbuf_release(&p->part);
    strbuf_release(&p->path);
    free(p->known);
    free(p->frames);
    free(p->stacks);
    free(p->mappings);
    return outstream_end(&p->out);
}

void perfettoout_packet(struct perfettoout *p, enum perfetto_sequence sequence, unsigned field,
                        struct strbuf *message, uint64_t time_ns)
{
    bool first = sequence == PERFETTO_SLICES && p->packets++ == 0;

    protoout_number(&p->packet, TIMESTAMP, time_ns);
    protoout_number(&p->packet, SEQUENCE, sequence);
    if (sequence == PERFETTO_SLICES) {
        protoout_number(&p->packet, SEQUENCE_FLAGS,
                        first ? STATE_CLEARED | NEEDS_STATE : NEEDS_STATE);
        protoout_number(&p->packet, FIRST_PACKET, first);
        if (p->interned.len)
            protoout_message(&p->packet, INTERNED_DATA, &p->interned);
    }
    protoout_message(&p->packet, field, message);
    protoout_message(&p->out.sb, TRACE_PACKET, &p->packet);
    outstream_some(&p->out);
}

/* Adds a string to a table, once; returns its number there. */
static uint64_t intern(struct perfettoout *p, unsigned table, uint32_t string)
{
    static const unsigned tables[] = {EVENT_CATEGORIES, EVENT_NAMES,   ANNOTATION_NAMES,
                                      FUNCTION_NAMES,   MAPPING_PATHS, SOURCE_PATHS};
    uint8_t bit = 1;
    size_t len;
    const char *text = functable_text(&p->ft, string, &len);

    for (size_t i = 0; tables[i] != table; i++)
        bit = (uint8_t)(bit << 1);
    GROW_FILLED(p->known, string, p->known_room, 0);
    if (p->known[string] & bit)
        return string + 1u;
    p->known[string] |= bit;
    protoout_number(&p->part, ROW_NUMBER, string + 1u);
    protoout_bytes(&p->part, ROW_TEXT, text, len);
    protoout_message(&p->interned, table, &p->part);
    return string + 1u;
}

static uint64_t intern_clean(struct perfettoout *p, unsigned table, const char *s, size_t len)
{
    strbuf_clear(&p->path);
    framename_add_clean(&p->path, s, len);
    return intern(p, table, functable_string(&p->ft, p->path.buf ? p->path.buf : "", p->path.len));
}

uint64_t perfettoout_event_name(struct perfettoout *p, const char *s, size_t len)
{
    return intern_clean(p, EVENT_NAMES, s, len);
}

uint64_t perfettoout_category(struct perfettoout *p, const char *s)
{
    return intern_clean(p, EVENT_CATEGORIES, s, strlen(s));
}

uint64_t perfettoout_annotation_name(struct perfettoout *p, const char *s)
{
    return intern_clean(p, ANNOTATION_NAMES, s, strlen(s));
}

static const struct functable_func *function_of(const struct perfettoout *p, uint32_t name)
{
    return &p->ft.funcs[p->ft.places[name].func];
}

uint64_t perfettoout_frame_name(struct perfettoout *p, const struct frametree_name *name)
{
    return intern(p, EVENT_NAMES, function_of(p, (uint32_t)(name - p->t->names))->name);
}

/* The number of a module; frames without one are in a mapping without a path, as readers before
 * version 50 refuse frames without a mapping. */
static uint64_t mapping(struct perfettoout *p, uint32_t module)
{
    const struct frametree_name *name = module ? &p->t->modules[module] : NULL;
    uint64_t path;

    if (p->mappings[module])
        return module + 1u;
    p->mappings[module] = true;
    path = name ? intern_clean(p, MAPPING_PATHS, name->s, name->len) : 0;
    protoout_number(&p->part, ROW_NUMBER, module + 1u);
    protoout_number(&p->part, MAPPING_PATH, path);
    protoout_message(&p->interned, MAPPINGS, &p->part);
    return module + 1u;
}

static uint64_t frame(struct perfettoout *p, uint32_t name)
{
    const struct functable_func *f = function_of(p, name);
    uint64_t function, module, source;

    if (p->frames[name])
        return name + 1u;
    p->frames[name] = 1;
    function = intern(p, FUNCTION_NAMES, f->name);
    module = mapping(p, f->module);
    source = f->file == FUNCTABLE_NONE ? 0 : intern(p, SOURCE_PATHS, f->file);
    protoout_number(&p->part, ROW_NUMBER, name + 1u);
    protoout_number(&p->part, FRAME_FUNCTION, function);
    protoout_number(&p->part, FRAME_MAPPING, module);
    protoout_number(&p->part, FRAME_POSITION, name + 1u);
    protoout_number(&p->part, FRAME_SOURCE, source);
    protoout_number(&p->part, FRAME_LINE, p->ft.places[name].line);
    protoout_message(&p->interned, FRAMES, &p->part);
    return name + 1u;
}

static void add_frames(struct perfettoout *p, uint64_t number, const uint32_t *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        frame(p, names[i]);
    protoout_number(&p->part, ROW_NUMBER, number);
    for (size_t i = 0; i < n; i++)
        protoout_number(&p->part, CALLSTACK_FRAME, names[i] + 1u);
    protoout_message(&p->interned, CALLSTACKS, &p->part);
}

uint64_t perfettoout_stack(struct perfettoout *p, uint32_t node)
{
    uint64_t number = (uint64_t)node * 2 + 1;
    uint32_t *names = NULL;
    size_t n = 0;

    if (p->stacks[node] & STACK_OF_NODE)
        return number;
    p->stacks[node] |= STACK_OF_NODE;
    for (uint32_t at = node; at; at = p->t->nodes[at].parent)
        n++;
    names = xcalloc(n + 1, sizeof *names);
    for (uint32_t at = node, left = (uint32_t)n; at; at = p->t->nodes[at].parent)
        names[--left] = p->t->nodes[at].name;
    add_frames(p, number, names, n);
    free(names);
    return number;
}

static bool is_border(const struct frametree_name *name)
{
    return name->len == 2 && memcmp(name->s, "--", 2) == 0;
}

uint64_t perfettoout_waker_stack(struct perfettoout *p, uint32_t node)
{
    uint64_t number = (uint64_t)node * 2 + 2;
    uint32_t *names = NULL, at = node;
    size_t n = 0, room = 0;

    if (p->stacks[node] & STACK_OF_WAKER)
        return number;
    for (; at && !is_border(frametree_name(p->t, at)); at = p->t->nodes[at].parent) {
        GROW(names, n, room);
        names[n++] = p->t->nodes[at].name;
    }
    if (at && n) { /* the root of the waker's stack is the leaf of the node's */
        p->stacks[node] |= STACK_OF_WAKER;
        add_frames(p, number, names, n);
    }
    free(names);
    return at && n ? number : 0;
}
