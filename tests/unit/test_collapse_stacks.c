/* Adding stacks up: against a naive model, in any grouping, in both orders. */
#include "fold/collapse_stacks.h"

#include "tests/rnd.h"
#include "tests/tap.h"

#define LINES 400

/* Names that sort around ';' and the blank, and begin each other. */
static const char *const names[] = {"a", "a ", "a!", "a (b)", "a.b", "aa", "", "b", "b~", "a\t"};

struct entry {
    const char *frames[6];
    size_t n;
    struct collapse_count count;
};

static void make(struct entry *e)
{
    e->n = rnd() % 6;
    for (size_t k = 0; k < e->n; k++)
        e->frames[k] = names[rnd() % 10];
    e->count.whole = rnd() % 50 ? rnd() % 1000 : UINT64_MAX - rnd() % 3;
    e->count.part = rnd() % 3 ? 0 : (uint64_t)rnd() * rnd() % COLLAPSE_PART;
}

static void add(struct collapse_stacks *st, const struct entry *e)
{
    uint32_t ids[6];

    for (size_t k = 0; k < e->n; k++)
        ids[k] = collapse_stacks_name(st, e->frames[k], strlen(e->frames[k]));
    collapse_stacks_add(st, ids, e->n, &e->count, NULL);
}

static char *text_of(struct collapse_stacks *st, enum collapse_sort sort)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    collapse_stacks_write(st, sort, f);
    fclose(f);
    return text;
}

/* Adds what another holds, as merging its output would. */
static void add_all(struct collapse_stacks *to, struct collapse_stacks *from)
{
    collapse_stacks_sort(from);
    for (size_t i = 0; i < collapse_stacks_len(from); i++) {
        struct collapse_stack s;
        uint32_t ids[6];

        collapse_stacks_get(from, i, &s);
        for (size_t k = 0; k < s.n; k++) {
            size_t len;
            const char *name = collapse_stacks_text(from, s.ids[k], &len);

            ids[k] = collapse_stacks_name(to, name, len);
        }
        collapse_stacks_add(to, ids, s.n, &s.count, NULL);
    }
}

static void any_grouping(void)
{
    for (int round = 0; round < 50; round++) {
        struct collapse_stacks *part[4], *one = collapse_stacks_new(), *two = collapse_stacks_new();
        struct entry e;
        char *a, *b;

        for (int i = 0; i < 4; i++)
            part[i] = collapse_stacks_new();
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
            is_str(b, a, "parts added up in another grouping, round %d", round);
        free(a);
        free(b);
        for (int i = 0; i < 4; i++)
            collapse_stacks_free(part[i]);
        collapse_stacks_free(one);
        collapse_stacks_free(two);
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
        struct collapse_stacks *st = collapse_stacks_new();
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
            is_int((intmax_t)same, (intmax_t)n, "lines as sort would have them, round %d", round);
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
            is_int((intmax_t)same, (intmax_t)n, "stacks in order, round %d", round);
        free(text);
        collapse_stacks_free(st);
    }
}

static void is_sum(const char *a, const char *b, const char *want)
{
    struct collapse_count x, y;
    struct strbuf sb = STRBUF_INIT;

    ok(collapse_count_parse(a, strlen(a), &x) && collapse_count_parse(b, strlen(b), &y),
       "%s and %s are counts", a, b);
    collapse_count_add(&x, &y);
    collapse_count_text(&sb, &x);
    is_str(sb.buf, want, "%s + %s", a, b);
    strbuf_release(&sb);
}

static void counts(void)
{
    struct collapse_count c;

    is_sum("1", "2", "3");
    is_sum("0.1", "0.2", "0.3");
    is_sum("0.9", "0.2", "1.1");
    is_sum("1.", "2.50", "3.5");
    is_sum("9007199254740993", "0", "9007199254740993");
    is_sum("18446744073709551614", "0", "18446744073709551614");
    is_sum("18446744073709551614", "5", "18446744073709551615");
    is_sum("99999999999999999999999", "1", "18446744073709551615");
    ok(!collapse_count_parse("-1", 2, &c), "a negative count is none");
    ok(!collapse_count_parse("1e3", 3, &c), "nor one with an exponent");
    ok(!collapse_count_parse(".5", 2, &c), "nor one that begins with a point");
    ok(!collapse_count_parse("", 0, &c), "nor nothing");
}

static void columns(void)
{
    struct collapse_stacks *st = collapse_stacks_new();
    struct collapse_count one = {1, 0}, five = {5, 0};
    uint32_t a = collapse_stacks_name(st, "a", 1), b = collapse_stacks_name(st, "b", 1);
    struct collapse_stack s;
    char *text;

    collapse_stacks_add(st, &a, 1, &one, NULL);
    collapse_stacks_add(st, &b, 1, NULL, &five);
    collapse_stacks_add(st, &a, 1, &one, &one);
    text = text_of(st, BY_LINE);
    is_str(text, "a 2 1\nb 0 5\n", "two columns once a line has them");
    collapse_stacks_get(st, 1, &s);
    ok(!s.has_first && s.has_second, "a stack knows which columns it has");
    free(text);
    collapse_stacks_free(st);
}

/* More names below one frame than fit a byte, or two. */
static void many_siblings(void)
{
    enum { MANY = 70000 };
    struct collapse_stacks *st = collapse_stacks_new();
    const struct collapse_count one = {1, 0};
    bool sorted = true;
    size_t lines = 0;
    char *text;

    for (unsigned i = 0; i < MANY; i++) {
        char name[16];
        uint32_t ids[2];

        snprintf(name, sizeof name, "%x", (i * 2654435761u) & 0xfffffff);
        ids[0] = collapse_stacks_name(st, "root", 4);
        ids[1] = collapse_stacks_name(st, name, strlen(name));
        collapse_stacks_add(st, ids, 2, &one, NULL);
    }
    text = text_of(st, BY_LINE);
    for (char *line = text, *nl, *before = NULL; (nl = strchr(line, '\n')); line = nl + 1) {
        *nl = '\0';
        sorted &= !before || strcmp(before, line) < 0;
        before = line;
        lines++;
    }
    ok(sorted, "many siblings are sorted");
    is_int((long long)lines, (long long)collapse_stacks_len(st), "and all there");
    free(text);
    collapse_stacks_free(st);
}

int main(void)
{
    many_siblings();
    any_grouping();
    orders();
    counts();
    columns();
    return done_testing();
}
