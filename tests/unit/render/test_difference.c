/* Comparisons: whose counts are drawn, what is gone, and what a change's share is. */
#include "render/difference.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>

static const char *const two[] = {"a;grew 10 30",
                                  "a;fell 30 10",
                                  "a;b;gone;x 7 0",
                                  "a;b;gone;y 3 0",
                                  "a;b 0 1",
                                  "away;z 4.5 0",
                                  "18014398509481985 1;big 1 2",
                                  NULL};

static void build(struct frametree *t, enum difference_widths w)
{
    frametree_init(t, false);
    for (size_t i = 0; two[i]; i++) {
        struct folded_line line;

        if (folded_parse_line(two[i], strlen(two[i]), &line) == 1)
            frametree_add(t, &line);
    }
    frametree_finish(t);
    difference_apply(t, w);
}

/* "all:9 a:9(b:5)": names with totals, in the order they are drawn. */
static char *draw(const struct frametree *t)
{
    struct strbuf sb = STRBUF_INIT;
    uint32_t depth = 0, before = 0;

    for (uint32_t i = 0; i != FRAMETREE_NONE; i = frametree_next(t, i, true, &depth)) {
        const struct frametree_name *n = frametree_name(t, i);

        if (folded_count_double(frametree_total(t, i)) <= 0)
            continue;
        for (; before > depth; before--)
            strbuf_addch(&sb, ')');
        strbuf_addstr(&sb, i == 0 ? "" : before < depth ? "(" : " ");
        before = depth;
        strbuf_addf(&sb, "%.*s:%g", (int)n->len, n->s, folded_count_double(frametree_total(t, i)));
    }
    return strbuf_detach(&sb, NULL);
}

static void drawn(enum difference_widths w, const char *want, const char *what)
{
    struct frametree t;
    char *got;

    build(&t, w);
    got = draw(&t);
    is_str(got, want, "%s", what);
    free(got);
    frametree_release(&t);
}

static void test_widths(void)
{
    drawn(DIFFERENCE_AFTER, "all:43(18014398509481985 1:2(big:2) a:41(b:1 fell:10 grew:30",
          "widths of the second file");
    drawn(DIFFERENCE_BEFORE,
          "all:55.5(18014398509481985 1:1(big:1) a:50(b:10(gone:10(x:7 y:3)) fell:30 grew:10) "
          "away:4.5(z:4.5",
          "widths of the first file");
    drawn(DIFFERENCE_EITHER,
          "all:77.5(18014398509481985 1:2(big:2) a:71(b:11(gone:10(x:7 y:3)) fell:30 grew:30) "
          "away:4.5(z:4.5",
          "widths of the larger count");
    drawn(DIFFERENCE_ELIDED,
          "all:57.5(18014398509481985 1:2(big:2) a:41(b:1 fell:10 grew:30) [only before]:14.5("
          "a:10(b:10(gone:10(x:7 y:3))) away:4.5(z:4.5",
          "elided: frames only in the first file are at the right, below their callers");
}

static void test_elided_nodes(void)
{
    struct frametree t;
    struct change *c;
    double was = 0, now = 0;

    build(&t, DIFFERENCE_ELIDED);
    c = difference_totals(&t);
    for (uint32_t i = 1; i < t.n; i++)
        ok(t.nodes[i].parent < i, "elided: node %u comes after its parent", i);
    for (uint32_t i = 0; i < t.n; i++) {
        was += t.was[i];
        now += t.now[i];
    }
    ok(fabs(c[0].was - 55.5) < 1e-9 && fabs(c[0].now - 43) < 1e-9,
       "elided: the root has both totals");
    ok(fabs(was - 55.5) < 1e-9 && fabs(now - 43) < 1e-9,
       "elided: the nodes' own counts add up to both totals");
    for (uint32_t i = 1; i < t.n; i++) {
        const struct frametree_name *n = frametree_name(&t, i);

        if (n->len == 1 && n->s[0] == 'a' && t.role[i] == DIFFERENCE_BOTH)
            ok(c[i].was == 50 && c[i].now == 41,
               "elided: a caller keeps the counts of its gone callees");
        if (t.nodes[i].parent == 0 && t.role[i] == DIFFERENCE_GONE)
            ok(c[i].was == 14.5 && c[i].now == 0,
               "elided: the frame of gone stacks has their count");
    }
    free(c);
    for (uint32_t i = 1; i < t.n; i++) {
        const struct frametree_name *n = frametree_name(&t, i);

        if (n->len == 1 && n->s[0] == 'b' && t.nodes[i].self)
            is_int(t.role[i], DIFFERENCE_BOTH, "elided: a frame whose callees are gone is not new");
    }
    frametree_release(&t);

    frametree_init(&t, false);
    frametree_add(
        &t, &(struct folded_line){
                .stack = "a", .len = 1, .count = {5, 0}, .count1 = {6, 0}, .differential = true});
    frametree_finish(&t);
    difference_apply(&t, DIFFERENCE_ELIDED);
    is_int(t.n, 2, "elided: without gone stacks there is no frame for them");
    frametree_release(&t);
}

static void test_large(void)
{
    struct frametree t;

    frametree_init(&t, false);
    frametree_add(&t, &(struct folded_line){.stack = "a",
                                            .len = 1,
                                            .count = {9007199254740995u, 0},
                                            .count1 = {9007199254740993u, 0},
                                            .differential = true});
    frametree_finish(&t);
    difference_apply(&t, DIFFERENCE_BEFORE);
    ok(frametree_total(&t, 0).whole % 2 == 1, "counts beyond 2^53 are not rounded");
    frametree_release(&t);
}

static void test_share(void)
{
    struct change all = {100, 200};

    ok(difference_share(DIFFERENCE_ABSOLUTE, (struct change){10, 30}, all, 40) == 0.5,
       "absolute: the change over the largest change");
    ok(difference_share(DIFFERENCE_ABSOLUTE, (struct change){9, 1}, all, 0) == 0,
       "absolute: no change at all is 0");
    ok(difference_share(DIFFERENCE_RELATIVE, (struct change){1, 2}, all, 99) == 0.5,
       "relative: the change over the larger count");
    ok(difference_share(DIFFERENCE_RELATIVE, (struct change){4, 0}, all, 99) == -1,
       "relative: a gone frame is -1");
    ok(difference_share(DIFFERENCE_RELATIVE, (struct change){0, 0}, all, 99) == 0,
       "relative: a frame without counts is 0");
    ok(difference_share(DIFFERENCE_RATIO, (struct change){10, 20}, all, 99) == 0,
       "ratio: a frame that changed like the total is 0");
    ok(difference_share(DIFFERENCE_RATIO, (struct change){10, 40}, all, 99) == 0.5,
       "ratio: a frame that grew twice as much is 0.5");
    ok(difference_share(DIFFERENCE_RATIO, (struct change){80, 10}, all, 99) == -1,
       "ratio: a frame that shrank to a 16th is -1");
    ok(difference_share(DIFFERENCE_RATIO, (struct change){0, 10}, all, 99) == 1,
       "ratio: a new frame is 1");
    ok(difference_share(DIFFERENCE_RATIO, (struct change){1, 1}, (struct change){0, 5}, 9) == 0,
       "ratio: without a first total all are 0");
}

static void test_names(void)
{
    enum difference_widths w;
    enum difference_colors c;

    ok(difference_find_widths("elided", &w) && w == DIFFERENCE_ELIDED,
       "difference_find_widths finds elided");
    ok(!difference_find_widths("gone", &w), "difference_find_widths refuses an unknown name");
    ok(difference_find_colors("ratio", &c) && c == DIFFERENCE_RATIO,
       "difference_find_colors finds ratio");
    ok(!difference_find_colors("", &c), "difference_find_colors refuses an empty name");
}

int main(void)
{
    test_widths();
    test_elided_nodes();
    test_large();
    test_share();
    test_names();
    return done_testing();
}
