/* Adding stacks up: against a naive model, in any grouping, in both orders. */
#include "fold/stacks/stackset.h"

#include "tests/rnd.h"
#include "tests/tap.h"

#define LINES 400

/* Names that sort around ';' and the blank, and begin each other. */
static const char *const names[] = {"a", "a ", "a!", "a (b)", "a.b", "aa", "", "b", "b~", "a\t"};

struct entry {
    const char *frames[6];
    size_t n;
    struct stackset_count count;
};

static void make(struct entry *e)
{
    e->n = rnd() % 6;
    for (size_t k = 0; k < e->n; k++)
        e->frames[k] = names[rnd() % 10];
    e->count.whole = rnd() % 50 ? rnd() % 1000 : UINT64_MAX - rnd() % 3;
    e->count.part = rnd() % 3 ? 0 : (uint64_t)rnd() * rnd() % STACKSET_PART;
}

static void add(struct stackset *st, const struct entry *e)
{
    uint32_t ids[6];

    for (size_t k = 0; k < e->n; k++)
        ids[k] = stackset_name(st, e->frames[k], strlen(e->frames[k]));
    stackset_add(st, ids, e->n, &e->count, NULL);
}

static char *text_of(struct stackset *st, enum stackset_sorting sort)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    stackset_write(st, sort, f);
    fclose(f);
    return text;
}

/* Adds what another set holds, as merging its output would. */
static void add_all(struct stackset *to, struct stackset *from)
{
    stackset_sort(from);
    for (size_t i = 0; i < stackset_len(from); i++) {
        struct stackset_stack s;
        uint32_t ids[6];

        stackset_get(from, i, &s);
        for (size_t k = 0; k < s.n; k++) {
            size_t len;
            const char *name = stackset_text(from, s.ids[k], &len);

            ids[k] = stackset_name(to, name, len);
        }
        stackset_add(to, ids, s.n, &s.count, NULL);
    }
}

static void any_grouping(void)
{
    for (int round = 0; round < 50; round++) {
        struct stackset *part[4], *one = stackset_new(), *two = stackset_new();
        struct entry e;
        char *a, *b;

        for (int i = 0; i < 4; i++)
            part[i] = stackset_new();
        for (int i = 0; i < LINES; i++) {
            make(&e);
            add(one, &e);
            add(part[rnd() % 4], &e);
        }
        /* ((3 + 1) + (0 + 2)), whatever the parts hold. */
        add_all(part[1], part[3]);
        add_all(part[2], part[0]);
        add_all(two, part[2]);
        add_all(two, part[1]);
        a = text_of(one, BY_STACK);
        b = text_of(two, BY_STACK);
        if (strcmp(a, b) != 0 || round == 49)
            is_str(b, a, "parts added up in another grouping give equal text, round %d", round);
        free(a);
        free(b);
        for (int i = 0; i < 4; i++)
            stackset_free(part[i]);
        stackset_free(one);
        stackset_free(two);
    }
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t split(char *text, char **lines)
{
    size_t n = 0;

    for (char *nl; (nl = strchr(text, '\n')); text = nl + 1) {
        *nl = '\0';
        lines[n++] = text;
    }
    return n;
}

static void orders(void)
{
    for (int round = 0; round < 50; round++) {
        struct stackset *st = stackset_new();
        char *lines[LINES], *sorted[LINES], *text;
        struct entry e;
        size_t n, same = 0;

        for (int i = 0; i < LINES; i++) {
            make(&e);
            add(st, &e);
        }
        text = text_of(st, BY_LINE);
        n = split(text, lines);
        memcpy(sorted, lines, sizeof sorted);
        qsort(sorted, n, sizeof *sorted, by_bytes);
        while (same < n && sorted[same] == lines[same])
            same++;
        if (same < n || round == 49)
            is_int((intmax_t)same, (intmax_t)n, "BY_LINE sorts lines by their bytes, round %d",
                   round);
        free(text);
        text = text_of(st, BY_STACK);
        n = split(text, lines);
        for (size_t i = 0; i < n; i++)
            *strrchr(lines[i], ' ') = '\0';
        memcpy(sorted, lines, sizeof sorted);
        qsort(sorted, n, sizeof *sorted, by_bytes);
        same = 0;
        while (same < n && strcmp(sorted[same], lines[same]) == 0)
            same++;
        if (same < n || round == 49)
            is_int((intmax_t)same, (intmax_t)n, "BY_STACK sorts stacks by their bytes, round %d",
                   round);
        free(text);
        stackset_free(st);
    }
}

static void is_sum(const char *a, const char *b, const char *want)
{
    struct stackset_count x, y;
    struct strbuf sb = STRBUF_INIT;

    ok(stackset_count_parse(a, strlen(a), &x) && stackset_count_parse(b, strlen(b), &y),
       "stackset_count_parse accepts %s and %s", a, b);
    stackset_count_add(&x, &y);
    stackset_count_text(&sb, &x);
    is_str(sb.buf, want, "stackset_count_add: %s + %s", a, b);
    strbuf_release(&sb);
}

static void counts(void)
{
    struct stackset_count c;

    is_sum("1", "2", "3");
    is_sum("0.1", "0.2", "0.3");
    is_sum("0.9", "0.2", "1.1");
    is_sum("1.", "2.50", "3.5");
    is_sum("9007199254740993", "0", "9007199254740993");
    is_sum("18446744073709551614", "0", "18446744073709551614");
    is_sum("18446744073709551614", "5", "18446744073709551615");
    is_sum("99999999999999999999999", "1", "18446744073709551615");
    ok(!stackset_count_parse("-1", 2, &c), "stackset_count_parse refuses a negative count");
    ok(!stackset_count_parse("1e3", 3, &c), "stackset_count_parse refuses an exponent");
    ok(!stackset_count_parse(".5", 2, &c),
       "stackset_count_parse refuses a count that begins with a point");
    ok(!stackset_count_parse("", 0, &c), "stackset_count_parse refuses an empty count");
}

static void columns(void)
{
    struct stackset *st = stackset_new();
    struct stackset_count one = {1, 0}, five = {5, 0};
    uint32_t a = stackset_name(st, "a", 1), b = stackset_name(st, "b", 1);
    struct stackset_stack s;
    char *text;

    stackset_add(st, &a, 1, &one, NULL);
    stackset_add(st, &b, 1, NULL, &five);
    stackset_add(st, &a, 1, &one, &one);
    text = text_of(st, BY_LINE);
    is_str(text, "a 2 1\nb 0 5\n", "all lines have two columns once one line has them");
    stackset_get(st, 1, &s);
    ok(!s.has_first && s.has_second, "a stack records which columns it has");
    free(text);
    stackset_free(st);
}

/* More names below one frame than fit a byte, or two. */
static void many_siblings(void)
{
    enum { MANY = 70000 };
    struct stackset *st = stackset_new();
    const struct stackset_count one = {1, 0};
    bool sorted = true;
    size_t lines = 0;
    char *text;

    for (unsigned i = 0; i < MANY; i++) {
        char name[16];
        uint32_t ids[2];

        snprintf(name, sizeof name, "%x", (i * 2654435761u) & 0xfffffff);
        ids[0] = stackset_name(st, "root", 4);
        ids[1] = stackset_name(st, name, strlen(name));
        stackset_add(st, ids, 2, &one, NULL);
    }
    text = text_of(st, BY_LINE);
    for (char *line = text, *nl, *before = NULL; (nl = strchr(line, '\n')); line = nl + 1) {
        *nl = '\0';
        sorted &= row(!before || strcmp(before, line) < 0, "'%s' is before '%s'", before, line);
        before = line;
        lines++;
    }
    ok(sorted, "70,000 siblings are sorted");
    is_int((long long)lines, (long long)stackset_len(st), "70,000 siblings are all written");
    free(text);
    stackset_free(st);
}

/* So many that several have the same 32 bits of hash. */
static void many_stacks(void)
{
    enum { MANY = 400000 };
    struct stackset *st = stackset_new();
    const struct stackset_count one = {1, 0};

    for (uint32_t i = 0; i < MANY; i++)
        stackset_add(st, (uint32_t[]){i / 1000, i % 1000}, 2, &one, NULL);
    is_int((intmax_t)stackset_len(st), MANY, "stacks with equal hashes stay separate");
    stackset_free(st);
}

/* The first counts of two stacks, scaled to the sum of the second. */
static void is_scaled(struct stackset_count a, struct stackset_count b, uint64_t want_a,
                      uint64_t want_b, const char *name)
{
    struct stackset *st = stackset_new();
    uint32_t ids[] = {stackset_name(st, "a", 1), stackset_name(st, "b", 1)};
    struct stackset_stack s;

    stackset_add(st, &ids[0], 1, &a, &(struct stackset_count){30, 0});
    stackset_add(st, &ids[1], 1, &b, &(struct stackset_count){10, 0});
    stackset_normalize(st, false);
    stackset_get(st, 0, &s);
    is_int((intmax_t)s.count.whole, (intmax_t)want_a, "%s: the first stack is scaled", name);
    stackset_get(st, 1, &s);
    is_int((intmax_t)s.count.whole, (intmax_t)want_b, "%s: the second stack is scaled", name);
    stackset_free(st);
}

static void normalizing(void)
{
    const uint64_t half = STACKSET_PART / 2, much = (uint64_t)1 << 62;

    is_scaled((struct stackset_count){3, 0}, (struct stackset_count){1, 0}, 30, 10, "whole counts");
    is_scaled((struct stackset_count){1, half}, (struct stackset_count){0, half}, 30, 10,
              "fractional counts");
    is_scaled((struct stackset_count){much, 0}, (struct stackset_count){much, 0}, 20, 20,
              "counts whose product is too large for 64 bits");
    is_scaled((struct stackset_count){25, 0}, (struct stackset_count){15, 0}, 25, 15, "equal sums");
    is_scaled((struct stackset_count){0, 0}, (struct stackset_count){0, 0}, 0, 0, "empty counts");
    is_scaled((struct stackset_count){2, 0}, (struct stackset_count){0, 0}, 40, 0,
              "a stack that has the whole sum");
    is_scaled((struct stackset_count){7, 0}, (struct stackset_count){6, 0}, 21, 18,
              "counts rounded down");
}

int main(void)
{
    many_stacks();
    normalizing();
    many_siblings();
    any_grouping();
    orders();
    counts();
    columns();
    return done_testing();
}
