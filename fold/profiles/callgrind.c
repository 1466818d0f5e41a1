/*
 * callgrind's profiles, of valgrind and of other programs that write its format, version 1:
 * https://valgrind.org/docs/manual/cl-format.html
 *
 * Problem: the format has no stacks. It has what each function cost itself, and what each call
 * from one function to another cost with all below it. It does not say to which caller a
 * function's own cost belongs. Shares by calls or by inclusive cost would be guesses.
 *
 * So nothing is guessed: a function's own cost has the stack of those callers that it must have
 * had. As long as a function has one caller alone (itself not counted), that one is below it.
 * Where several meet, the chain ends in a frame "[several callers]" at the root. Each function's
 * own sum is exact, and so is the sum of all.
 *
 * Rejected: stacks of caller and callee with the cost of the call. Every cost would count once a
 * level.
 */
#include <stdlib.h>

#include "common/alloc.h"
#include "fold/collapse/located.h"
#include "fold/collapse/readers.h"

#define NONE UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)

enum {
    POSITIONS = 2,
    CALLERS = 1024 /* longest chain; longer ones are cut, as their stacks would grow with the
                      square */
};

/* Names of one sort that the file gives numbers: "(12) name" the first time, "(12)" from then on.
 */
struct names {
    uint32_t *ids; /* names by number; NONE: not given yet */
    size_t n;
};

/* A position in the call graph, as lines set it: ids of names. */
struct place {
    uint32_t object, file;
};

struct function {
    uint32_t frame;
    uint32_t caller; /* NONE, SEVERAL or a function */
    uint32_t seen;   /* the last function whose walk met this one, plus one; 0: none */
    struct stackset_count own;
};

struct grind {
    struct collapse *c;
    struct stackset *strings, *keys; /* names; triples of them, whose ids are functions */
    struct names objects, files, names;
    struct function *functions;
    size_t n, alloc;
    struct place at, callee; /* callee: NONE where no line has set it */
    uint32_t function, called;
    size_t npositions, ncounts, counts; /* counts: which of them is wanted */
    bool has_events, skip_cost;         /* skip_cost: the next line's cost is a call's */
};

static bool refuse(struct grind *g, const char *what)
{
    textinput_refuse(&g->c->in, what);
    return false;
}

/* ---- names ---- */

/* Grows the table to index i. A hostile file's numbers must not make a large table: at least one
 * line of the file has introduced each number. */
static bool names_reach(struct names *t, uint64_t i, uint64_t lines)
{
    if (i >= lines + 65536 || i >= SEVERAL)
        return false;
    if (i >= t->n) {
        size_t n = t->n ? t->n : 64;

        while (n <= i)
            n *= 2;
        t->ids = xrealloc(t->ids, n * sizeof *t->ids);
        while (t->n < n)
            t->ids[t->n++] = NONE;
    }
    return true;
}

/* The id of "name", "(12) name" or "(12)"; NONE: the input is refused. */
static uint32_t take_name(struct grind *g, struct names *t, struct span s)
{
    size_t close = span_begins(s, "(") ? span_digits(span_from(s, 1)) + 1 : 0;
    struct stackset_count number;

    if (close < 2 || close >= s.len || s.s[close] != ')' ||
        !stackset_count_parse(s.s + 1, close - 1, &number))
        return stackset_name(g->strings, s.s, s.len);
    if (!names_reach(t, number.whole, g->c->in.line)) {
        refuse(g, "gives a name a number that is larger than any needed");
        return NONE;
    }
    s = span_ltrim(span_from(s, close + 1));
    if (s.len)
        t->ids[number.whole] = stackset_name(g->strings, s.s, s.len);
    if (t->ids[number.whole] == NONE)
        refuse(g, "has a name's number without the name, which no line before gave");
    return t->ids[number.whole];
}

/* The text of a name; empty where it is unknown, which callgrind writes as "???". */
static struct span name_text(const struct grind *g, uint32_t id)
{
    struct span s = {"", 0};

    if (id != NONE)
        s.s = stackset_text(g->strings, id, &s.len);
    return span_is(s, "???") ? span_to(s, 0) : s;
}

static uint32_t function_of(struct grind *g, struct place at, uint32_t name)
{
    char key[64];
    int len = snprintf(key, sizeof key, "%u %u %u", at.object, at.file, name);
    uint32_t id = stackset_name(g->keys, key, (size_t)len);

    if (id >= g->n) {
        struct located l = {.name = name_text(g, name),
                            .module = name_text(g, at.object),
                            .file = name_text(g, at.file)};
        struct function f = {.frame = collapse_located(g->c, &l), .caller = NONE};

        GROW(g->functions, g->n, g->alloc);
        g->functions[g->n++] = f;
    }
    return id;
}

/* ---- lines ---- */

static void add_caller(struct grind *g, uint32_t callee, uint32_t caller)
{
    uint32_t *has = &g->functions[callee].caller;

    if (callee != caller && *has != caller)
        *has = *has == NONE ? caller : SEVERAL;
}

/* Reads "calls=COUNT POSITION...": the cost on the next line is not the function's own. */
static bool call_line(struct grind *g)
{
    struct place at = g->callee;

    if (g->function == NONE || g->called == NONE)
        return refuse(g, "is a call without its functions");
    at.object = at.object == NONE ? g->at.object : at.object;
    at.file = at.file == NONE ? g->at.file : at.file;
    add_caller(g, function_of(g, at, g->called), g->function);
    g->callee = (struct place){NONE, NONE};
    g->called = NONE;
    return g->skip_cost = true;
}

/* Whether the word is a position: "12", "0x1f", "+3", "-3", "*". */
static bool is_position(struct span s)
{
    if (span_is(s, "*"))
        return true;
    s = span_from(s, span_begins(s, "+") || span_begins(s, "-"));
    if (span_begins(s, "0x"))
        return s.len > 2 && span_hex(span_from(s, 2)) == s.len - 2;
    return s.len && span_digits(s) == s.len;
}

static bool cost_line(struct grind *g, struct span line)
{
    struct stackset_count cost = {0, 0}, one;
    struct span rest = line, word;

    for (size_t i = 0; i < g->npositions; i++)
        if (!is_position(span_next(&rest)))
            return false;
    if (!g->has_events)
        return refuse(g, "is a cost before the line \"events:\", which says what costs are");
    for (size_t i = 0; i < g->ncounts && (word = span_next(&rest)).len; i++) {
        if (span_digits(word) != word.len || !stackset_count_parse(word.s, word.len, &one))
            return false;
        if (i == g->counts)
            cost = one;
    }
    if (span_trim(rest).len)
        return false;
    if (!g->skip_cost && g->function == NONE)
        return refuse(g, "is a cost outside of functions");
    if (!g->skip_cost)
        stackset_count_add(&g->functions[g->function].own, &cost);
    g->skip_cost = false;
    return true;
}

/* Reads the list of events. A later part of the file may order its events in another way; the
 * same event is counted. */
static void take_events(struct grind *g, struct span rest)
{
    struct span *types = NULL, word;
    size_t alloc = 0, n = 0;

    while ((word = span_next(&rest)).len) {
        GROW(types, n, alloc);
        types[n++] = word;
    }
    if (n == 0)
        refuse(g, "names no event");
    else
        g->counts = collapse_pick_type(g->c, types, n, 0);
    g->ncounts = n;
    g->has_events = true;
    free(types);
}

static bool take_positions(struct grind *g, struct span rest)
{
    struct span word;

    g->npositions = 0;
    while ((word = span_next(&rest)).len)
        g->npositions++;
    return g->npositions >= 1 && g->npositions <= POSITIONS
               ? true
               : refuse(g, "has other positions than instructions and lines");
}

/* Reads "key=value" of a place or a call. False: the line is not one. */
static bool name_line(struct grind *g, struct span key, struct span value)
{
    if (span_is(key, "fn")) {
        uint32_t name = take_name(g, &g->names, value);

        g->function = name == NONE ? NONE : function_of(g, g->at, name);
    } else if (span_is(key, "fl") || span_is(key, "fi") || span_is(key, "fe")) {
        g->at.file = take_name(g, &g->files, value);
    } else if (span_is(key, "ob")) {
        g->at.object = take_name(g, &g->objects, value);
    } else if (span_is(key, "cfn")) {
        g->called = take_name(g, &g->names, value);
    } else if (span_is(key, "cfi") || span_is(key, "cfl")) {
        g->callee.file = take_name(g, &g->files, value);
    } else if (span_is(key, "cob")) {
        g->callee.object = take_name(g, &g->objects, value);
    } else if (span_is(key, "calls")) {
        call_line(g);
    } else if (span_is(key, "jump") || span_is(key, "jcnd") || span_is(key, "frfn")) {
        g->skip_cost = !span_is(key, "frfn"); /* a place follows, and no cost */
    } else {
        return false;
    }
    return true;
}

static void take_line(struct grind *g, struct span line)
{
    size_t word = span_word(line);
    struct span key = span_to(line, word), rest = span_from(line, word + 1);

    if (word && word < line.len && line.s[word] == '=' && !is_digit_ch(line.s[0])) {
        if (!name_line(g, key, span_trim(rest)))
            collapse_unknown(g->c, line.s, line.len);
    } else if (word && word < line.len && line.s[word] == ':') {
        /* Among headers and totals, only these say how to read the rest. */
        if (span_is(key, "events"))
            take_events(g, rest);
        else if (span_is(key, "positions"))
            take_positions(g, rest);
    } else if (line.len && line.s[0] != '#' && !cost_line(g, line) && !g->c->in.error) {
        collapse_unknown(g->c, line.s, line.len);
    }
}

/* ---- stacks ---- */

static void add_stack(struct grind *g, uint32_t from)
{
    struct function *f = &g->functions[from];
    uint32_t at = from, last = NONE, n = 0;

    if (f->own.whole == 0)
        return;
    for (; at < g->n && g->functions[at].seen != from + 1 && n < CALLERS;
         at = g->functions[at].caller, n++) {
        g->functions[at].seen = from + 1;
        collapse_push_id(g->c, g->functions[at].frame);
        last = at;
    }
    if (g->c->in.error)
        return;
    if (g->functions[last].caller == SEVERAL)
        collapse_push_str(g->c, "[several callers]");
    else if (n == CALLERS && at < g->n)
        collapse_push_str(g->c, "[more callers]");
    collapse_flush(g->c, LEAF_FIRST, &f->own);
}

void collapse_callgrind_run(struct collapse *c)
{
    struct grind g = {.c = c, .strings = stackset_new(), .keys = stackset_new(), .npositions = 1};
    struct textrecord rec;

    g.at = g.callee = (struct place){NONE, NONE};
    g.function = g.called = NONE;
    while (textinput_record(&c->in, &rec))
        take_line(&g, rec.line);
    if (!c->in.error && g.skip_cost)
        refuse(&g, "is the last one, where a call's cost was to come: the file is cut");
    for (uint32_t i = 0; i < g.n && !c->in.error; i++)
        add_stack(&g, i);
    collapse_drop(c);
    free(g.objects.ids);
    free(g.files.ids);
    free(g.names.ids);
    free(g.functions);
    stackset_free(g.strings);
    stackset_free(g.keys);
}

int collapse_callgrind_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line;
    bool events = false, call = false;

    if (span_begins(rest, "# callgrind format"))
        return 97;
    while (span_line(&rest, &line)) {
        events |= span_begins(line, "events: ");
        call |= span_begins(line, "fn=");
        if (events && call)
            return 90;
    }
    return 0;
}
