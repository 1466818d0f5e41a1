/*
 * Valgrind massif's output, for ms_print and massif-visualizer.
 *
 * A massif file is a list of snapshots with a tree below each, callers below callees, so this
 * back end gets the stacks merged from the leaf. The profile is one snapshot, marked as the
 * peak; an empty one comes before it, as ms_print draws a graph of them. Addresses are not
 * known, but readers expect one: it is the frame's number.
 *
 * A node is written as "nCHILDREN: COUNT ADDRESS: function (file:line)", after a blank for each
 * level. As the blanks of a stack a million frames deep would be terabytes, frames far from the
 * leaf are left out; valgrind itself goes 200 deep at most.
 */
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "render/backend.h"
#include "render/export/exporttext.h"
#include "render/framename.h"
#include "render/text/outstream.h"
#include "render/export/series.h"

#define DEEPEST 1024

static void add_place(struct strbuf *sb, const struct frametree *t, uint32_t name)
{
    struct framename f = framename_split(t->names[name].s, t->names[name].len);
    struct strbuf function = STRBUF_INIT;

    framename_add_function(&function, &f);
    strbuf_addf(sb, "0x%X: ", name);
    if (function.len == 0)
        strbuf_addstr(sb, "???");
    framename_add_clean(sb, function.buf, function.len);
    if (f.file) {
        strbuf_addstr(sb, " (");
        framename_add_clean(sb, f.file, f.file_len);
        strbuf_addf(sb, ":%u)", f.line);
    }
    strbuf_release(&function);
}

/* The texts of all names, one after the other, cached because names recur. */
struct places {
    struct strbuf text;
    size_t *end; /* by name */
};

static void make_places(struct places *p, const struct frametree *t)
{
    *p = (struct places){.text = STRBUF_INIT};
    p->end = xcalloc(t->nnames, sizeof *p->end);
    for (uint32_t i = 1; i < t->nnames; i++) {
        add_place(&p->text, t, i);
        p->end[i] = p->text.len;
    }
}

static void add_node(struct strbuf *sb, const struct places *p, uint32_t name, uint32_t depth,
                     uint32_t children, uint64_t count)
{
    static const char blanks[] = "                                                                ";
    const uint32_t most = sizeof blanks - 1;

    for (; depth > most; depth -= most)
        strbuf_add(sb, blanks, most);
    strbuf_add(sb, blanks, depth);
    strbuf_addch(sb, 'n');
    folded_add_count(sb, (struct folded_count){children, 0});
    strbuf_add(sb, ": ", 2);
    folded_add_count(sb, (struct folded_count){count, 0});
    strbuf_addch(sb, ' ');
    if (name == 0)
        strbuf_addstr(sb, "(heap allocation functions) malloc/new/new[], --alloc-fns, etc.");
    else
        strbuf_add(sb, p->text.buf + p->end[name - 1], p->end[name] - p->end[name - 1]);
    strbuf_addch(sb, '\n');
}

static void add_snapshot(struct strbuf *sb, unsigned number, uint64_t bytes)
{
    strbuf_addf(sb,
                "#-----------\nsnapshot=%u\n#-----------\ntime=%u\nmem_heap_B=%llu\n"
                "mem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
                number, number, (unsigned long long)bytes, number ? "peak" : "empty");
}

static void add_heading(struct strbuf *sb, const struct series_set *set,
                        const struct render_options *o)
{
    strbuf_addstr(sb, "desc: ");
    exporttext_heading(sb, o);
    if (strcmp(set->s[0].unit, "bytes") != 0) {
        strbuf_addstr(sb, "; not bytes but ");
        framename_add_clean(sb, set->s[0].unit, strlen(set->s[0].unit));
    }
    strbuf_addstr(sb, "\ncmd: ");
    if (!*o->command)
        strbuf_addstr(sb, "(unknown)");
    framename_add_clean(sb, o->command, strlen(o->command));
    strbuf_addstr(sb, "\ntime_unit: i\n");
}

/*
 * Rounds totals with fractions to the nearest; a node's own count, as a reader computes it, may
 * then be off by one. Zeros are left out.
 */
static uint64_t rounded(struct folded_count c)
{
    return c.whole + (c.part >= 0.5 && c.whole < UINT64_MAX);
}

static uint32_t shown_children(const struct series_set *set, uint32_t node)
{
    uint32_t n = 0;

    for (uint32_t c = set->t->nodes[node].first; c != FRAMETREE_NONE; c = set->t->nodes[c].next)
        n += rounded(series_total(set, 0, c)) > 0;
    return n;
}

static int massif_write(FILE *file, const struct frametree *t, const struct render_options *o)
{
    struct outstream out = OUTSTREAM_INIT(file);
    uint32_t depth = 0, cut = 0;
    struct places places;
    struct series_set set;

    series_init(&set, t, o, SERIES_TOTALS);
    if (series_has_fractions(&set, 0))
        exporttext_warn_rounded("massif", &set, 0);
    make_places(&places, t);
    add_heading(&out.sb, &set, o);
    add_snapshot(&out.sb, 0, 0);
    add_snapshot(&out.sb, 1, rounded(series_total(&set, 0, 0)));
    for (uint32_t i = 0; i != FRAMETREE_NONE;) {
        uint64_t count = rounded(series_total(&set, 0, i));

        if (count || i == 0) {
            uint32_t children = shown_children(&set, i);

            if (depth >= DEEPEST) {
                cut += children > 0;
                children = 0;
            }
            add_node(&out.sb, &places, t->nodes[i].name, depth, children, count);
            outstream_some(&out);
        }
        i = frametree_next(t, i, count > 0 && depth < DEEPEST, &depth);
    }
    if (cut)
        flame_warn("massif: of stacks deeper than %d frames only those nearest to the leaf are "
                   "written",
                   DEEPEST);
    strbuf_release(&places.text);
    free(places.end);
    series_release(&set);
    return outstream_end(&out);
}

const struct render_backend export_massif = {
    .name = "massif",
    .begins = "massif.out.",
    .what = "massif's format, for ms_print and massif-visualizer",
    .from_leaf = true,
    .write = massif_write,
};
