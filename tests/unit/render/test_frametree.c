/* The frame tree: hand-made cases, then random stacks compared with a naive twin. */
#include "render/frametree.h"
#include "tests/tap.h"

#include <errno.h>

static int put(struct frametree *t, const char *text)
{
    struct folded_line line;

    if (folded_parse_line(text, strlen(text), &line) != 1)
        return -1;
    return frametree_add(t, &line);
}

/* The tree in pre-order as "name:self/total" words, depth shown by dots. */
static char *dump(const struct frametree *t, struct strbuf *sb)
{
    uint32_t depth = 0;

    strbuf_clear(sb);
    for (uint32_t n = 0; n != FRAMETREE_NONE; n = frametree_next(t, n, true, &depth)) {
        const struct frametree_name *name = frametree_name(t, n);

        for (uint32_t i = 0; i < depth; i++)
            strbuf_addch(sb, '.');
        strbuf_add(sb, name->s, name->len);
        strbuf_addf(sb, ":%llu/%llu ", (unsigned long long)t->nodes[n].self,
                    (unsigned long long)t->nodes[n].total);
    }
    return sb->buf;
}

static void test_merge(void)
{
    struct strbuf sb = STRBUF_INIT;
    struct frametree t;

    frametree_init(&t, false);
    put(&t, "main;b;x 5");
    put(&t, "main;a 1");
    put(&t, "main;b 2");
    put(&t, "main;b;x 7");
    put(&t, "all 4");
    put(&t, "main;a;all 8");
    frametree_finish(&t);
    is_str(dump(&t, &sb), "all:0/27 .all:4/4 .main:0/23 ..a:1/9 ...all:8/8 ..b:2/14 ...x:12/12 ",
           "lines in any order merge; a frame called all is not the root");
    frametree_release(&t);

    frametree_init(&t, true);
    put(&t, "main;b;x 5");
    put(&t, "main;a;x 1");
    put(&t, "main 2");
    frametree_finish(&t);
    is_str(dump(&t, &sb), "all:0/8 .main:2/2 .x:0/6 ..a:0/1 ...main:1/1 ..b:0/5 ...main:5/5 ",
           "merged from the leaf");
    frametree_release(&t);

    frametree_init(&t, false);
    put(&t, ";; 6");
    put(&t, " 1");
    put(&t, "a;;b 2");
    put(&t, "a; 3");
    put(&t, ";z 4");
    frametree_finish(&t);
    is_str(dump(&t, &sb), "all:7/16 .:0/4 ..z:4/4 .a:3/5 ..:0/2 ...b:2/2 ",
           "empty frames have nodes of their own");
    frametree_release(&t);
    strbuf_release(&sb);
}

static void test_order(void)
{
    struct strbuf sb = STRBUF_INIT;
    struct frametree t;
    int wrong = 0;
    uint32_t depth = 0, last = FRAMETREE_NONE;

    /* More siblings than the small sort takes, names that differ after eight bytes. */
    frametree_init(&t, false);
    for (int i = 0; i < 100; i++) {
        strbuf_clear(&sb);
        strbuf_addf(&sb, "samebeginning%02d 1", i * 37 % 100);
        put(&t, sb.buf);
    }
    put(&t, "same 1");
    frametree_finish(&t);
    for (uint32_t n = t.nodes[0].first; n != FRAMETREE_NONE; n = t.nodes[n].next) {
        if (last != FRAMETREE_NONE) {
            const struct frametree_name *a = frametree_name(&t, last), *b = frametree_name(&t, n);
            size_t len = a->len < b->len ? a->len : b->len;
            int c = memcmp(a->s, b->s, len);

            wrong += WRONG(c > 0 || (c == 0 && a->len >= b->len), n);
        }
        last = n;
        depth++;
    }
    is_int(depth, 101, "a node has all its children");
    is_int(wrong, 0, "children are sorted by the bytes of their names");
    frametree_release(&t);
    strbuf_release(&sb);
}

static void test_counts(void)
{
    struct frametree t;

    frametree_init(&t, false);
    put(&t, "a;b 9007199254740993");
    put(&t, "a;c 9007199254740993");
    put(&t, "a 1");
    frametree_finish(&t);
    ok(frametree_total(&t, 0).whole == 18014398509481987u, "sums beyond 2^53 are exact");
    ok(!t.saturated && !t.self_part && !t.delta, "whole single counts need no further arrays");
    frametree_release(&t);

    frametree_init(&t, false);
    put(&t, "a 0.5");
    put(&t, "b 0.75");
    put(&t, "b 1");
    put(&t, "b 0.5");
    frametree_finish(&t);
    ok(frametree_total(&t, 0).whole == 2 && frametree_total(&t, 0).part == 0.75,
       "fractions add up");
    ok(frametree_self(&t, 2).whole == 2 && frametree_self(&t, 2).part == 0.25,
       "fractions carry over to whole counts");
    frametree_release(&t);

    frametree_init(&t, false);
    put(&t, "a 18446744073709551614");
    put(&t, "b 3");
    frametree_finish(&t);
    ok(t.saturated && frametree_total(&t, 0).whole == UINT64_MAX,
       "a sum beyond 2^64 is capped and marked");
    frametree_release(&t);

    frametree_init(&t, false);
    put(&t, "a 5 3");
    put(&t, "b 1 4.5");
    put(&t, "a 1 1");
    frametree_finish(&t);
    ok(t.delta && t.delta[1] == -2 && t.delta[2] == 3.5 && t.nodes[1].self == 4,
       "of two counts the second counts and their difference is kept");
    frametree_release(&t);
}

static void test_deep(void)
{
    struct strbuf sb = STRBUF_INIT;
    struct frametree t;
    uint32_t depth = 0, deepest = 0;

    for (int i = 0; i < 300000; i++)
        strbuf_addstr(&sb, "f;");
    strbuf_addstr(&sb, "g 3");
    frametree_init(&t, false);
    put(&t, sb.buf);
    frametree_finish(&t);
    for (uint32_t n = 0; n != FRAMETREE_NONE; n = frametree_next(&t, n, true, &depth))
        deepest = depth > deepest ? depth : deepest;
    is_int(deepest, 300001, "a stack of 300,000 frames is stored");
    is_int(t.nodes[1].total, 3, "the total of a deep stack reaches the root");
    frametree_release(&t);
    strbuf_release(&sb);
}

/* ---- the twin: whole paths as strings, found by a linear search ---- */

struct path {
    char s[64];
    uint64_t self, total;
};

static struct path paths[20000];
static int npaths;

static struct path *path_of(const char *s, size_t len)
{
    for (int i = 0; i < npaths; i++)
        if (strlen(paths[i].s) == len && memcmp(paths[i].s, s, len) == 0)
            return &paths[i];
    memcpy(paths[npaths].s, s, len);
    paths[npaths].s[len] = '\0';
    paths[npaths].self = paths[npaths].total = 0;
    return &paths[npaths++];
}

static void twin_add(const char *s, uint64_t count)
{
    size_t len = strlen(s);

    for (size_t i = 0; i <= len; i++)
        if (i == len || s[i] == ';')
            path_of(s, i)->total += count;
    path_of(s, len)->self += count;
}

static int by_path(const void *a, const void *b)
{
    /* ';' sorts before every letter used here, so text order is tree order. */
    return strcmp(((const struct path *)a)->s, ((const struct path *)b)->s);
}

static void test_model(void)
{
    int wrong = 0;

    for (unsigned round = 0; round < 60; round++) {
        unsigned seed = round + 1;
        struct strbuf where = STRBUF_INIT;
        struct frametree t;
        uint32_t depth = 0;
        int i = 0;

        npaths = 0;
        frametree_init(&t, round % 2);
        for (int l = 0; l < 150; l++) {
            char fwd[64] = "", rev[64] = "", line[96];
            int frames = 1 + rand_r(&seed) % 8;
            uint64_t count = rand_r(&seed) % 100;

            for (int f = 0; f < frames; f++) {
                char name[4] = {(char)('a' + rand_r(&seed) % 4), 0, 0, 0}, old[64];

                if (rand_r(&seed) % 3 == 0)
                    name[1] = 'z';
                snprintf(fwd + strlen(fwd), 8, "%s%s", f ? ";" : "", name);
                snprintf(old, sizeof old, "%s", rev);
                snprintf(rev, sizeof rev, "%.3s%s%.58s", name, f ? ";" : "", old);
            }
            snprintf(line, sizeof line, "%s %llu", fwd, (unsigned long long)count);
            put(&t, line);
            twin_add(round % 2 ? rev : fwd, count);
        }
        frametree_finish(&t);
        qsort(paths, (size_t)npaths, sizeof paths[0], by_path);
        wrong += WRONG(t.n != (uint32_t)npaths + 1, round);
        /* Walk both in order; `where` is the path of the present node. */
        for (uint32_t n = frametree_next(&t, 0, true, &depth); n != FRAMETREE_NONE && i < npaths;
             n = frametree_next(&t, n, true, &depth), i++) {
            const struct frametree_name *name = frametree_name(&t, n);
            uint32_t level = 1;
            size_t keep = 0;

            for (; level < depth; level++)
                keep = (size_t)(strchr(where.buf + keep, ';') - where.buf) + 1;
            strbuf_setlen(&where, keep);
            strbuf_add(&where, name->s, name->len);
            wrong += WRONG(strcmp(where.buf, paths[i].s) != 0 || t.nodes[n].self != paths[i].self ||
                               t.nodes[n].total != paths[i].total,
                           i);
            strbuf_addch(&where, ';');
        }
        frametree_release(&t);
        strbuf_release(&where);
    }
    is_int(wrong, 0, "60 random trees equal their naive twins");
}

/* Frames that a line shares with the one before it, ending in all possible ways. */
static void test_shared(void)
{
    static const struct {
        const char *lines[3];
        uint32_t nodes; /* with the root */
    } cases[] = {
        {{"a;b 1", "a;b;c 2"}, 4},
        {{"a;b;c 1", "a;b 2"}, 4},
        {{"a;b 1", "a;bc 2"}, 4},
        {{"a;bc 1", "a;b 2"}, 4},
        {{"a;;b 1", "a; 2"}, 4},
        {{"a 1", "a;;b 2"}, 4},
        {{"; 1", "a 2"}, 2},
        {{"a;b 1", "a;b 2"}, 3},
        {{"abcdefgh;i 1", "abcdefgh 2"}, 3},
        {{";a 1", "a 2"}, 4},
        {{"a;b;; 1", "a;b;;c 2"}, 5},
        {{"x;a 1", ";a 2"}, 5},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (int turned = 0; turned < 2; turned++) {
            struct frametree t;

            frametree_init(&t, turned);
            frametree_keep_order(&t);
            for (size_t k = 0; cases[i].lines[k]; k++)
                put(&t, cases[i].lines[k]);
            frametree_finish(&t);
            if (!turned)
                is_int(t.n, cases[i].nodes, "unsorted lines share frames: %s, %s",
                       cases[i].lines[0], cases[i].lines[1]);
            is_int(t.nodes[0].total, 3, "shared frames add up both counts");
            frametree_release(&t);
        }
    {
        struct frametree t;

        frametree_init(&t, true);
        frametree_keep_order(&t);
        put(&t, ";a;b 1");
        put(&t, ";;a;b 1");
        put(&t, "c;a;b 1");
        frametree_finish(&t);
        is_int(t.n, 6, "reversed: empty frames at the root are frames");
        frametree_release(&t);
    }
}

int main(void)
{
    test_shared();
    test_merge();
    test_order();
    test_counts();
    test_deep();
    test_model();
    return done_testing();
}
