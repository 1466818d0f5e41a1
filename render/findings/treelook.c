#include "render/findings/treelook.h"

#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "fold/stacks/texthash.h"
#include "render/framename.h"
#include "render/text/value.h"

#define NAME_SHOWN 90 /* bytes of a function's name */

/* ---- functions ---- */

struct key {
    const char *s, *file;
    size_t len, file_len;
};

static struct key key_of(const struct frametree_name *n)
{
    struct framename f = framename_split(n->s, n->len);

    return (struct key){f.function, f.file, f.function_len, f.file ? f.file_len : 0};
}

static bool same(const struct key *a, const struct key *b)
{
    return a->len == b->len && a->file_len == b->file_len && memcmp(a->s, b->s, a->len) == 0 &&
           (!a->file_len || memcmp(a->file, b->file, a->file_len) == 0);
}

/* Numbers names by their functions: open addressing, at most half full. */
static void number_functions(struct look *k)
{
    const struct frametree *t = k->t;
    uint64_t seed = texthash_seed();
    size_t size = 64;
    uint32_t *slots;
    struct key *keys = xcalloc(t->nnames, sizeof *keys);

    while (size < 2 * (size_t)t->nnames)
        size *= 2;
    slots = xcalloc(size, sizeof *slots);
    k->function = xcalloc(t->nnames, sizeof *k->function);
    k->nfunctions = 1;
    for (uint32_t i = 1; i < t->nnames; i++) {
        struct key key = key_of(&t->names[i]);
        size_t at = texthash(key.s, key.len, seed) & (size - 1);

        while (slots[at] && !same(&keys[slots[at]], &key))
            at = (at + 1) & (size - 1);
        if (!slots[at]) {
            keys[k->nfunctions] = key;
            slots[at] = k->nfunctions++;
        }
        k->function[i] = slots[at];
    }
    free(keys);
    free(slots);
}

void look_init(struct look *k, const struct frametree *t, const struct render_options *o,
               struct findings *out)
{
    *k = (struct look){.t = t, .o = o, .out = out};
    number_functions(k);
    k->first = xcalloc(t->n, sizeof *k->first);
    k->sums = xcalloc(t->n, sizeof *k->sums);
    k->wrapper = xcalloc(t->nnames, 1);
    k->other = xcalloc(t->nnames, 1);
    k->ends = xcalloc(t->ncolumns + 1, sizeof *k->ends);
    for (uint32_t i = 0; i < t->n; i++)
        k->first[i] = folded_count_double(frametree_self(t, i));
}

void look_release(struct look *k)
{
    free(k->function);
    free(k->first);
    free(k->sums);
    for (uint32_t i = 0; i <= k->t->ncolumns; i++)
        free(k->ends[i].node);
    free(k->ends);
    free(k->wrapper);
    free(k->other);
}

/* ---- columns ---- */

uint32_t look_column(const struct look *k, const char *view)
{
    for (uint32_t i = 0; i < k->o->ncolumns && i <= k->t->ncolumns; i++)
        if (!k->o->columns[i].timed && strcmp(k->o->columns[i].name, view) == 0)
            return i;
    return UINT32_MAX;
}

const double *look_own(struct look *k, uint32_t column)
{
    return column ? k->t->columns[column - 1] : k->first;
}

/* Finds the nodes and the total in one pass, as reading the memory takes most of the time. */
const struct look_ends *look_ends(struct look *k, uint32_t column)
{
    struct look_ends *e = &k->ends[column];
    const double *own = look_own(k, column);
    size_t room = 0;

    if (e->known)
        return e;
    e->known = true;
    for (uint32_t i = 0; i < k->t->n; i++) {
        if (own[i] == 0)
            continue;
        e->total += own[i];
        if (i && own[i] > 0) {
            GROW(e->node, e->n, room);
            e->node[e->n++] = i;
        }
    }
    return e;
}

double look_total(struct look *k, uint32_t column)
{
    return look_ends(k, column)->total;
}

double look_total_of(struct look *k, const char *view)
{
    uint32_t column = look_column(k, view);

    return column == UINT32_MAX ? 0 : look_total(k, column);
}

/* ---- owners ---- */

static enum wrappers_scope scope_of(const struct look *k, uint32_t column)
{
    static const struct wrappers_options none;
    const struct render_column *c = &k->o->columns[column];

    return wrappers_scope(k->o->wrappers ? k->o->wrappers : &none, *c->name ? c->name : NULL,
                          c->unit);
}

static bool is_wrapper(struct look *k, enum wrappers_scope scope, uint32_t name)
{
    static const struct wrappers_options none;
    uint8_t *known = scope == WRAPPERS_ALL ? k->wrapper : k->other;

    if (!known[name])
        known[name] = 1 + wrappers_has(k->o->wrappers ? k->o->wrappers : &none, scope,
                                       k->t->names[name].s, k->t->names[name].len);
    return known[name] == 2;
}

uint32_t look_owner(struct look *k, uint32_t column, uint32_t node)
{
    enum wrappers_scope scope = scope_of(k, column);
    const struct frametree_node *nodes = k->t->nodes;

    while (scope != WRAPPERS_NONE && node && nodes[node].parent &&
           is_wrapper(k, scope, nodes[node].name))
        node = nodes[node].parent;
    return node;
}

/* The nodes with counts above 0, for counts that are no column's. */
static struct look_ends ends_of(const struct look *k, const double *own)
{
    struct look_ends e = {NULL, 0, 0, true};
    size_t room = 0;

    for (uint32_t i = 1; i < k->t->n; i++)
        if (own[i] > 0) {
            GROW(e.node, e.n, room);
            e.node[e.n++] = i;
        }
    return e;
}

/* Finds the owner of most. Where several frames have equal parts, the one next to the root is
 * returned. */
static void find_in(struct look *k, uint32_t column, const double *own, const uint32_t *to,
                    const struct look_ends *ends, struct owner *best)
{
    const struct frametree_node *nodes = k->t->nodes;
    double *functions = xcalloc(k->nfunctions, sizeof *functions);
    uint32_t *owners = xcalloc(ends->n + 1, sizeof *owners);
    size_t n = 0;

    for (size_t i = 0; i < ends->n; i++) {
        uint32_t end = ends->node[i], at = to ? to[end] : look_owner(k, column, end);

        if (at == FRAMETREE_NONE)
            continue;
        owners[n++] = at;
        k->sums[at] += own[end];
        functions[k->function[nodes[at].name]] += own[end];
    }
    for (uint32_t i = 1; i < k->nfunctions; i++)
        if (functions[i] > best->sum) {
            best->sum = functions[i];
            best->function = i;
        }
    for (size_t i = 0; i < n; i++) {
        uint32_t at = owners[i];

        if (at && k->function[nodes[at].name] == best->function &&
            (k->sums[at] > best->part || (k->sums[at] == best->part && at < best->node))) {
            best->part = k->sums[at];
            best->node = at;
        }
    }
    for (size_t i = 0; i < n; i++)
        k->sums[owners[i]] = 0;
    free(owners);
    free(functions);
}

bool owner_find(struct look *k, uint32_t column, const double *own, const uint32_t *to,
                struct owner *best)
{
    struct look_ends others = {.node = NULL};

    *best = (struct owner){0, 0, 0, 0};
    if (own == look_own(k, column)) {
        find_in(k, column, own, to, look_ends(k, column), best);
    } else {
        others = ends_of(k, own);
        find_in(k, column, own, to, &others, best);
        free(others.node);
    }
    return best->sum > 0;
}

/* ---- words ---- */

static struct folded_count count_of(double v)
{
    if (!(v > 0))
        return (struct folded_count){0, 0};
    if (v >= 18446744073709551615.0)
        return (struct folded_count){UINT64_MAX, 0};
    return (struct folded_count){(uint64_t)v, v - floor(v)};
}

void look_add_amount(struct look *k, struct strbuf *sb, uint32_t column, double v)
{
    const struct render_column *c = &k->o->columns[column];
    struct folded_count shown = count_of(v * k->o->factor);

    if (k->o->sample && strcmp(c->unit, "bytes") == 0)
        strbuf_addstr(sb, "about ");
    if (!value_add_human(sb, shown, c->unit))
        value_add_both(sb, shown, c->unit);
}

void look_add_share(struct strbuf *sb, double part, double whole)
{
    value_add_percent(sb, part, whole);
}

void look_add_mostly(struct strbuf *sb, double part, double whole)
{
    if (!(part < whole))
        return;
    value_add_percent(sb, part, whole);
    strbuf_addstr(sb, " of it ");
}

void look_add_part(struct look *k, struct strbuf *sb, uint32_t column, double part, double whole)
{
    const char *unit = k->o->columns[column].unit;

    /* "12 of 40 calls", but "1.00 KiB of 2.00 MiB". */
    if (strcmp(unit, "bytes") == 0 || value_time_unit(unit) >= 0)
        look_add_amount(k, sb, column, part);
    else
        value_add_number(sb, count_of(part * k->o->factor), true);
    strbuf_addstr(sb, " of ");
    look_add_amount(k, sb, column, whole);
    strbuf_addstr(sb, " (");
    look_add_share(sb, part, whole);
    strbuf_addstr(sb, ")");
}

static void add_function(struct strbuf *sb, const struct frametree_name *n)
{
    struct framename f = framename_split(n->s, n->len);
    size_t len = f.function_len;

    if (len > NAME_SHOWN)
        for (len = NAME_SHOWN; len && ((unsigned char)f.function[len] & 0xc0) == 0x80;)
            len--;
    framename_add_clean(sb, f.function, len);
    if (len < f.function_len)
        strbuf_addstr(sb, "...");
    if (f.file) {
        strbuf_addstr(sb, " (");
        framename_add_clean(sb, f.file, f.file_len);
        strbuf_addf(sb, ":%u)", f.line);
    }
}

void look_add_function(struct look *k, struct strbuf *sb, uint32_t node)
{
    const struct frametree_node *nodes = k->t->nodes;

    add_function(sb, frametree_name(k->t, node));
    if (*frametree_name(k->t, node)->s != '[')
        return;
    /* A reader learns little from an address; its caller may have a name. An interpreter's
     * functions do not count, as below them is the program's. */
    while (nodes[node].parent &&
           (*frametree_name(k->t, node)->s == '[' || is_wrapper(k, WRAPPERS_ALL, nodes[node].name)))
        node = nodes[node].parent;
    if (nodes[node].parent && *frametree_name(k->t, node)->s != '[') {
        strbuf_addstr(sb, " under ");
        add_function(sb, frametree_name(k->t, node));
    }
}

void look_mark(const struct look *k, struct finding *f, uint32_t node)
{
    uint32_t name = k->t->nodes[node].name;

    for (size_t i = 0; i < f->nnames; i++)
        if (k->function[f->names[i]] == k->function[name])
            return;
    if (node && f->nnames < FINDING_NAMES)
        f->names[f->nnames++] = name;
}

struct finding *look_say(struct look *k, const char *rule, double weight, struct strbuf *sb,
                         uint32_t column, uint32_t node)
{
    struct findings *out = k->out;
    struct strbuf line = STRBUF_INIT; /* units and views are of the input, too */

    framename_add_clean(&line, sb->buf, sb->len);
    strbuf_release(sb);
    GROW(out->f, out->n, out->alloc);
    out->f[out->n] = (struct finding){.rule = rule,
                                      .text = strbuf_detach(&line, NULL),
                                      .weight = weight,
                                      .column = column,
                                      .node = node};
    return &out->f[out->n++];
}
