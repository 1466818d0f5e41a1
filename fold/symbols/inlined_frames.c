/*
 * Inlined frames and lines for addresses, each level read when first needed:
 *
 *  units      all of them, once: one DIE each, for the addresses they cover
 *  functions  of a unit, at the first address in it; those nested in others (a
 *             compiler may put lambdas there) at the first that no other holds
 *  inlines    of a function, at the first address in it
 *  lines      of a unit, at the first address in it when lines are wanted
 *
 * A fold asks for some thousand addresses in some hundred functions of debug information that
 * describes a million; reading everything would take a hundred times longer.
 *
 * The inlined calls that hold an address are found by going through all of their function's:
 * there are some dozens, and each holds addresses in one or a few ranges. At each depth one of
 * them can match at most, as calls nest.
 */
#include "fold/symbols/inlined_frames.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "fold/symbols/dwarfread.h"

struct function {
    bool read;
    const char *name;
    struct dwarf_inlines inlines;
};

struct unit {
    bool read, nested_read;
    struct rangemap map;
    struct dwarf_offsets offsets;
    struct function *functions; /* as many as offsets */
    bool lines_read;
    struct dwarf_lines lines;
};

struct dwarfline {
    struct dwarfread *in;
    bool read;
    struct rangemap map;
    struct dwarf_offsets offsets;
    struct unit *units; /* as many as offsets */
};

struct dwarfline *dwarfline_open(const char *path, const char *alternate)
{
    struct dwarfread *in = dwarfread_open(path, alternate);
    struct dwarfline *d;

    if (!in)
        return NULL;
    d = xcalloc(1, sizeof *d);
    d->in = in;
    return d;
}

static void release_unit(struct unit *u)
{
    for (uint32_t i = 0; i < u->offsets.n && u->functions; i++)
        free(u->functions[i].inlines.at);
    for (uint32_t i = 0; i < u->lines.nfiles; i++)
        free(u->lines.files[i]);
    free(u->lines.files);
    free(u->lines.row);
    free(u->functions);
    free(u->offsets.at);
    rangemap_release(&u->map);
}

void dwarfline_close(struct dwarfline *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; i < d->offsets.n && d->units; i++)
        release_unit(&d->units[i]);
    free(d->units);
    free(d->offsets.at);
    rangemap_release(&d->map);
    dwarfread_close(d->in);
    free(d);
}

static uint32_t find_unit(struct dwarfline *d, uint64_t vaddr)
{
    if (!d->read) {
        d->read = true;
        dwarfread_units(d->in, &d->offsets, &d->map);
        rangemap_finish(&d->map);
        d->units = xcalloc(d->offsets.n, sizeof *d->units);
    }
    return rangemap_find(&d->map, vaddr);
}

bool dwarfline_has_units(struct dwarfline *d)
{
    find_unit(d, 0);
    return d->offsets.n > 0;
}

static void read_functions(struct dwarfline *d, uint32_t unit, bool nested)
{
    struct unit *u = &d->units[unit];
    uint32_t before = u->offsets.n;

    dwarfread_functions(d->in, d->offsets.at[unit], nested, &u->offsets, &u->map);
    rangemap_finish(&u->map);
    u->functions = xreallocarray(u->functions, u->offsets.n, sizeof *u->functions);
    if (u->offsets.n > before)
        memset(u->functions + before, 0, (u->offsets.n - before) * sizeof *u->functions);
}

static uint32_t find_function(struct dwarfline *d, uint32_t unit, uint64_t vaddr)
{
    struct unit *u = &d->units[unit];
    uint32_t found;

    if (!u->read) {
        u->read = true;
        read_functions(d, unit, false);
    }
    found = rangemap_find(&u->map, vaddr);
    if (found == RANGEMAP_NONE && !u->nested_read) {
        u->nested_read = true;
        read_functions(d, unit, true);
        found = rangemap_find(&u->map, vaddr);
    }
    return found;
}

static void find_line(struct dwarfline *d, uint32_t unit, uint64_t vaddr,
                      struct dwarfline_frame *frame)
{
    struct dwarf_lines *t = &d->units[unit].lines;
    size_t lo = 0, hi;

    if (!d->units[unit].lines_read) {
        d->units[unit].lines_read = true;
        dwarfread_lines(d->in, d->offsets.at[unit], t);
    }
    hi = t->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (t->row[mid].addr <= vaddr)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == 0 || t->row[lo - 1].line == 0)
        return;
    frame->line = t->row[lo - 1].line;
    if (t->row[lo - 1].file < t->nfiles)
        frame->path = t->files[t->row[lo - 1].file];
}

/* Sets the caller's file and line: an inlined function's caller is at the line of the call. */
static void set_call(const struct dwarf_lines *t, const struct dwarf_inline *in,
                     struct dwarfline_frame *caller)
{
    caller->path = NULL;
    caller->line = in->call_line;
    if (in->call_line && in->call_file < t->nfiles)
        caller->path = t->files[in->call_file];
}

size_t dwarfline_find(struct dwarfline *d, uint64_t vaddr, bool lines,
                      struct dwarfline_frame out[DWARFLINE_FRAMES_MAX])
{
    const struct dwarf_inline *at[DWARFLINE_FRAMES_MAX] = {NULL};
    uint32_t unit = find_unit(d, vaddr), function;
    struct function *f;
    size_t n = 1;

    if (unit == RANGEMAP_NONE)
        return 0;
    out[0] = (struct dwarfline_frame){0};
    function = find_function(d, unit, vaddr);
    if (function != RANGEMAP_NONE) {
        uint64_t offset = d->units[unit].offsets.at[function];

        f = &d->units[unit].functions[function];
        if (!f->read) {
            f->read = true;
            dwarfread_inlines(d->in, d->offsets.at[unit], offset, &f->inlines);
            f->name = dwarfread_name(d->in, offset);
        }
        out[0].name = f->name;
        for (uint32_t i = 0; i < f->inlines.n; i++) {
            const struct dwarf_inline *in = &f->inlines.at[i];

            if (in->low <= vaddr && vaddr < in->high && in->depth + 1 < DWARFLINE_FRAMES_MAX)
                at[in->depth + 1] = in;
        }
        for (; n < DWARFLINE_FRAMES_MAX && at[n]; n++)
            out[n] = (struct dwarfline_frame){.name = dwarfread_name(d->in, at[n]->origin)};
    } else if (!lines) {
        return 0;
    }
    if (lines) {
        find_line(d, unit, vaddr, &out[n - 1]);
        for (size_t i = 1; i < n; i++)
            set_call(&d->units[unit].lines, at[i], &out[i - 1]);
    }
    return n;
}
