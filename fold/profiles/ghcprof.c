/*
 * Profiles of programs compiled by GHC with -prof, as +RTS -p, -P or -pa write them into PROG.prof
 * (https://downloads.haskell.org/ghc/latest/docs/users_guide/profiling.html): a table of cost
 * centres, which is passed over, and their tree, which is read.
 *
 *     total time  =        0.37 secs   (368 ticks @ 1000 us, 1 processor)
 *     total alloc = 778,006,464 bytes  (excludes profiling overheads)
 *     ...
 *     COST CENTRE  MODULE  SRC          no.  entries  %time %alloc   %time %alloc  ticks     bytes
 *     MAIN         MAIN    <built-in>   128        0    0.0    0.0   100.0  100.0      0       832
 *      main        Main    P.hs:10:1-9  256        1   10.1    4.1    99.7  100.0     36  32000368
 *
 * Each cost centre's own ticks or bytes count: exact with -P; without it they are what its
 * percentage, which has one decimal, is of all. Before GHC 7.10 there is no column SRC, and a name
 * may have blanks: it ends where the heading has MODULE, counted in characters.
 */
#include "fold/stacks/decimal.h"
#include "fold/collapse/indented.h"
#include "fold/collapse/located.h"
#include "fold/collapse/readers.h"

enum { NUMBERS = 8 };
enum value { TICKS, BYTES, ENTRIES, VALUES };

static const char *const value_names[VALUES] = {"ticks", "bytes", "entries"};

struct ghc {
    struct collapse *c;
    struct indented tree;
    struct stackset_count all[2]; /* ticks and bytes of the whole program */
    enum value value;
    size_t module_column; /* in characters */
    size_t numbers;       /* columns of a row: 8 with -P, else 6 */
    bool in_tree;
};

/* Where the character number `n` begins, in bytes; SIZE_MAX: the line is shorter. */
static size_t at_character(struct span line, size_t n)
{
    for (size_t i = 0; i < line.len; i++) {
        if (((unsigned char)line.s[i] & 0xc0) == 0x80)
            continue;
        if (n-- == 0)
            return i;
    }
    return SIZE_MAX;
}

/* "(368 ticks @" and "= 778,006,464 bytes": the number before `unit`. */
static bool read_total(struct span line, const char *unit, struct stackset_count *out)
{
    const char *end = span_find(line, unit);
    char digits[24];
    size_t i, n = sizeof digits;

    if (!end)
        return false;
    for (i = (size_t)(end - line.s); i > 0 && n > 0; i--) {
        char ch = line.s[i - 1];

        if (is_digit_ch(ch))
            digits[--n] = ch;
        else if (ch != ',')
            break;
    }
    return stackset_count_parse(digits + n, sizeof digits - n, out);
}

/* The heading of the tree; that of the table has no column of entries. */
static bool is_heading(struct span line, size_t *module, size_t *numbers)
{
    struct span rest = span_rtrim(line);
    const char *at = span_find(rest, " MODULE ");

    if (!span_begins(rest, "COST CENTRE ") || !at || !span_find(rest, " entries ") ||
        !span_find(rest, " %alloc"))
        return false;
    *module = (size_t)(at - rest.s) + 1;
    *numbers = span_ends(rest, " bytes") ? 8 : 6;
    return true;
}

/* Takes the last word off *line. */
static struct span take_last(struct span *line)
{
    struct span rest = span_rtrim(*line);
    size_t n = rest.len;

    while (n > 0 && !is_blank_ch(rest.s[n - 1]))
        n--;
    *line = span_to(rest, n);
    return span_from(rest, n);
}

struct row {
    size_t depth;
    struct span name, module, source;
    struct stackset_count number[NUMBERS]; /* no., entries, %time, %alloc, %time, %alloc, ... */
};

static bool read_row(const struct ghc *g, struct span line, struct row *r)
{
    size_t module = at_character(line, g->module_column);
    struct span rest = line;

    for (size_t i = g->numbers; i-- > 0;) {
        struct span word = take_last(&rest);

        if (!stackset_count_parse(word.s, word.len, &r->number[i]))
            return false;
    }
    r->depth = span_indent(&line);
    rest = span_to(line, (size_t)(rest.s + rest.len - line.s));
    r->name = span_to(rest, span_token(rest));
    if (module != SIZE_MAX && module > r->depth + 1 && module - r->depth < rest.len &&
        rest.s[module - r->depth - 1] == ' ' && rest.s[module - r->depth] != ' ')
        r->name = span_rtrim(span_to(rest, module - r->depth));
    rest = span_from(rest, r->name.len);
    r->module = span_next(&rest);
    r->source = span_trim(rest);
    return r->name.len > 0 && r->module.len > 0;
}

/* A share with one decimal of all: `part` in a hundred. */
static bool share(const struct stackset_count *all, const struct stackset_count *part,
                  struct stackset_count *out)
{
    uint64_t tenths;

    if (__builtin_mul_overflow(part->whole, 10u, &tenths) ||
        __builtin_add_overflow(tenths, part->part / (STACKSET_PART / 10), &tenths) ||
        __builtin_mul_overflow(tenths, all->whole, &tenths))
        return false;
    *out = (struct stackset_count){tenths / 1000, tenths % 1000 * (STACKSET_PART / 1000)};
    return true;
}

static bool own_value(const struct ghc *g, const struct row *r, struct stackset_count *out)
{
    *out = r->number[1];
    if (g->value == ENTRIES)
        return true;
    if (g->numbers < NUMBERS)
        return share(&g->all[g->value], &r->number[2 + g->value], out);
    *out = r->number[6 + g->value];
    return true;
}

/* "Module.name", and of "MAIN MAIN" one. */
static uint32_t row_name(struct ghc *g, const struct row *r)
{
    struct strbuf *name = &g->c->scratch;
    struct located l = {.module = r->module};
    struct span source = r->source;
    size_t colon = span_chr(source, ':');

    strbuf_clear(name);
    if (r->module.len != r->name.len || memcmp(r->module.s, r->name.s, r->name.len) != 0) {
        strbuf_add(name, r->module.s, r->module.len);
        strbuf_addch(name, '.');
    }
    strbuf_add(name, r->name.s, r->name.len);
    l.name = (struct span){name->buf, name->len};
    if (colon != SIZE_MAX) {
        struct stackset_count n = {0, 0};

        l.file = span_to(source, colon);
        source = span_from(source, colon + 1);
        source = span_from(source, span_begins(source, "(") ? 1 : 0);
        if (stackset_count_parse(source.s, span_digits(source), &n))
            l.line = n.whole;
    }
    return collapse_located(g->c, &l);
}

static void read_line(struct ghc *g, struct span line)
{
    struct stackset_count own;
    struct row r;

    if (is_heading(line, &g->module_column, &g->numbers)) {
        indented_end(&g->tree);
        g->in_tree = true;
    } else if (!g->in_tree) {
        if (!read_total(line, " ticks @", &g->all[TICKS]) && span_find(line, "total alloc ="))
            read_total(line, " bytes", &g->all[BYTES]);
    } else if (read_row(g, line, &r) && own_value(g, &r, &own)) {
        indented_add(&g->tree, r.depth, row_name(g, &r), &own);
    } else if (span_trim(line).len) {
        collapse_unknown(g->c, line.s, line.len);
    }
}

void collapse_ghc_run(struct collapse *c)
{
    struct span types[VALUES];
    struct ghc g = {.c = c};
    struct textrecord rec;
    size_t picked;

    for (size_t i = 0; i < VALUES; i++)
        types[i] = span_of(value_names[i]);
    picked = collapse_pick_type(c, types, VALUES, TICKS);
    g.value = picked < VALUES ? (enum value)picked : TICKS;
    indented_init(&g.tree, c, false, ROOT_FIRST);
    while (!c->in.error && textinput_record(&c->in, &rec))
        read_line(&g, rec.line);
    if (!c->in.error)
        indented_end(&g.tree);
    indented_release(&g.tree);
    collapse_drop(c);
}

int collapse_ghc_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line;
    size_t module, numbers;
    int sure = 0;

    while (span_line(&rest, &line)) {
        if (is_heading(line, &module, &numbers))
            return 96;
        if (span_find(line, "Time and Allocation Profiling Report"))
            sure = 94;
    }
    return sure;
}
