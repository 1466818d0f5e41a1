/*
 * A descent from a type to the member at an offset. Types are outside input: they may be
 * their own members, refer to one another in a circle, or overlap without end. Hence the number of
 * DIEs that one descent reads has a limit, as have its depth and the length of names.
 */
#include "fold/members/memberpath.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "fold/members/dwarftype.h"

#define DEPTH_MAX 64
#define STEPS_MAX 100000u /* DIEs of one descent; the largest structure known has 3,000 members */
#define NAME_MAX_LEN 200u
#define PATH_MAX_LEN 500u
#define POINTER_SIZE 8u

struct walk {
    struct dwarfread *d;
    struct strbuf *to;
    size_t limit;   /* of to->len */
    uint32_t steps; /* that are left */
};

enum fit {
    NO_MEMBER, /* nothing was appended */
    PART,      /* a part around the offset, or one that is smaller than a pointer */
    WORD,      /* a number or pointer that begins at the offset */
};

static bool may_step(struct walk *w, size_t n)
{
    if (w->steps < n) {
        w->steps = 0;
        return false;
    }
    w->steps -= (uint32_t)n;
    return true;
}

/* Reads a type without typedef, const and the like; *type becomes its offset. */
static struct dwarf_type read_plain(struct walk *w, uint64_t *type)
{
    static const struct dwarf_type unknown = {.kind = DWARF_UNKNOWN};
    struct dwarf_type t;

    for (int hops = 0; hops < DEPTH_MAX && may_step(w, 1); hops++) {
        t = dwarftype_read(w->d, *type);
        if (t.kind != DWARF_ALIAS)
            return t;
        if (!t.has_target)
            return unknown;
        *type = t.target;
    }
    return unknown;
}

static uint64_t size_of(struct walk *w, uint64_t type, int depth);

/* Bytes of an array; UINT64_MAX: they are not known, as at the end of a structure. */
static uint64_t size_of_array(struct walk *w, uint64_t type, const struct dwarf_type *t, int depth)
{
    uint64_t count[DWARF_DIMENSIONS_MAX], size;
    size_t n = dwarftype_dimensions(w->d, type, count);

    if (t->size)
        return t->size;
    size = t->has_target ? size_of(w, t->target, depth + 1) : 0;
    for (size_t i = 0; i < n; i++)
        if (!count[i] || __builtin_mul_overflow(size, count[i], &size))
            return UINT64_MAX;
    return n ? size : 0;
}

static uint64_t size_of(struct walk *w, uint64_t type, int depth)
{
    struct dwarf_type t = read_plain(w, &type);

    if (depth > DEPTH_MAX)
        return 0;
    return t.kind == DWARF_ARRAY ? size_of_array(w, type, &t, depth) : t.size;
}

static void append_offset(struct walk *w, uint64_t offset)
{
    if (offset)
        strbuf_addf(w->to, "+0x%" PRIx64, offset);
}

static enum fit below(struct walk *w, uint64_t type, uint64_t offset, int depth);

/* Like below(), for the type of a part whose name was appended. */
static enum fit below_named(struct walk *w, uint64_t type, uint64_t offset, int depth)
{
    enum fit fit = below(w, type, offset, depth);

    if (fit != NO_MEMBER)
        return fit;
    append_offset(w, offset);
    return PART;
}

static enum fit in_leaf(struct walk *w, const struct dwarf_type *t, uint64_t offset)
{
    if (offset >= t->size)
        return NO_MEMBER;
    append_offset(w, offset);
    return offset == 0 && t->size >= POINTER_SIZE ? WORD : PART;
}

static enum fit in_array(struct walk *w, uint64_t type, const struct dwarf_type *t, uint64_t offset,
                         int depth)
{
    uint64_t count[DWARF_DIMENSIONS_MAX], size, index;
    size_t n = dwarftype_dimensions(w->d, type, count);

    size = t->has_target ? size_of(w, t->target, depth) : 0;
    if (!size || size == UINT64_MAX || !n || !may_step(w, n))
        return NO_MEMBER;
    index = offset / size;
    for (size_t i = 0; i < n; i++) {
        uint64_t inner = 1;

        for (size_t k = i + 1; k < n; k++)
            if (!count[k] || __builtin_mul_overflow(inner, count[k], &inner))
                return NO_MEMBER;
        /* Only the first dimension may be open. */
        if (count[i] && index / inner >= count[i])
            return NO_MEMBER;
        strbuf_addf(w->to, "[%" PRIu64 "]", index / inner);
        index %= inner;
    }
    return below_named(w, t->target, offset % size, depth + 1);
}

static bool covers(struct walk *w, const struct dwarf_field *f, uint64_t offset, int depth)
{
    return offset >= f->at && offset - f->at < size_of(w, f->type, depth);
}

static enum fit in_field(struct walk *w, const struct dwarf_field *f, uint64_t offset, int depth)
{
    if (!f->name)
        return below(w, f->type, offset - f->at, depth + 1);
    if (strlen(f->name) > NAME_MAX_LEN || w->to->len > w->limit)
        return NO_MEMBER;
    strbuf_addch(w->to, '.');
    strbuf_addstr(w->to, f->name);
    return below_named(w, f->type, offset - f->at, depth + 1);
}

/* The first member that has a word at the offset, or else the first with a name that covers it. */
static enum fit in_struct(struct walk *w, uint64_t type, uint64_t offset, int depth)
{
    struct dwarf_fields fields = {.n = 0};
    size_t mark = w->to->len, first_len = 0;
    enum fit fit = NO_MEMBER;
    char *first = NULL;

    may_step(w, dwarftype_fields(w->d, type, w->steps, &fields));
    for (size_t i = 0; i < fields.n && fit != WORD && may_step(w, 1); i++) {
        if (!covers(w, &fields.at[i], offset, depth))
            continue;
        fit = in_field(w, &fields.at[i], offset, depth);
        if (fit == PART && !first) {
            first_len = w->to->len - mark;
            first = xmemdup0(w->to->buf + mark, first_len);
        }
        if (fit != WORD)
            strbuf_setlen(w->to, mark);
    }
    if (fit != WORD) {
        fit = first ? PART : NO_MEMBER;
        strbuf_add(w->to, first, first_len);
    }
    free(first);
    free(fields.at);
    return fit;
}

static enum fit below(struct walk *w, uint64_t type, uint64_t offset, int depth)
{
    size_t mark = w->to->len;
    struct dwarf_type t = read_plain(w, &type);
    enum fit fit = NO_MEMBER;

    if (depth > DEPTH_MAX)
        return NO_MEMBER;
    if (t.kind == DWARF_LEAF)
        fit = in_leaf(w, &t, offset);
    else if (t.kind == DWARF_ARRAY)
        fit = in_array(w, type, &t, offset, depth);
    else if (t.kind == DWARF_STRUCT)
        fit = in_struct(w, type, offset, depth);
    if (fit == NO_MEMBER)
        strbuf_setlen(w->to, mark);
    return fit;
}

bool memberpath(struct dwarfread *d, uint64_t type, uint64_t offset, struct strbuf *to)
{
    struct walk w = {d, to, to->len + PATH_MAX_LEN, STEPS_MAX};
    size_t mark = to->len;

    if (below(&w, type, offset, 0) == NO_MEMBER || !w.steps || to->len > w.limit ||
        to->buf[mark] == '+')
        strbuf_setlen(to, mark);
    return to->len > mark;
}
