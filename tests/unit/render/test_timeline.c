/* Comments about moments: what is taken, what makes no sense, several texts as one. */
#include "render/timeline.h"

#include <inttypes.h>

#include "common/trace/varint_base64.h"
#include "tests/tap.h"

static struct timeline tl;

static void add_word(struct strbuf *sb, const char *key, const int64_t *v, size_t n)
{
    struct varint_writer p;

    strbuf_addf(sb, " %s=", key);
    varint_begin(&p, sb);
    for (size_t i = 0; i < n; i++)
        varint_add_signed(&p, v[i]);
    varint_end(&p);
}

static void axis(const int64_t *us, size_t n)
{
    static const int64_t ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, none[8] = {0};
    struct strbuf sb = STRBUF_INIT;
    const char *stack;
    size_t len, history;

    strbuf_addstr(&sb, "# moments: axis");
    add_word(&sb, "us", us, n);
    add_word(&sb, "live", ones, n);
    add_word(&sb, "mapped", none, n);
    add_word(&sb, "rss", ones, n);
    ok(!timeline_comment(&tl, sb.buf, sb.len, 1, &stack, &len, &history),
       "an axis line is not a stack");
    strbuf_release(&sb);
}

/* False: it is none, or makes no sense. */
static bool stack_of(const char *begins, const uint64_t *v, size_t n, uint32_t node)
{
    struct strbuf sb = STRBUF_INIT;
    const char *stack;
    struct varint_writer p;
    size_t len, history;
    bool is;

    strbuf_addf(&sb, "%s changes=", begins);
    varint_begin(&p, &sb);
    for (size_t i = 0; i < n; i++)
        varint_add(&p, v[i]);
    varint_end(&p);
    is = timeline_comment(&tl, sb.buf, sb.len, 7, &stack, &len, &history);
    if (is && len)
        timeline_placed(&tl, history, node);
    strbuf_release(&sb);
    return is;
}

static void line(const char *s)
{
    const char *stack;
    size_t len, history;

    timeline_comment(&tl, s, strlen(s), 9, &stack, &len, &history);
}

/* "1+1/1 ...; live 3: 0+5 ...; mmap 4: ..." */
static void is_all(const char *want, const char *what)
{
    struct strbuf sb = STRBUF_INIT;

    timeline_finish(&tl);
    for (size_t i = 0; i < tl.n; i++)
        strbuf_addf(&sb, "%s%" PRIu64 "+%d/%d", i ? " " : "", tl.moments[i].us,
                    (int)tl.moments[i].live, (int)tl.moments[i].rss);
    for (size_t i = 0; i < tl.nhistories; i++) {
        const struct timeline_history *h = &tl.histories[i];

        strbuf_addf(&sb, "; %s %u:", timeline_view(h->kind), h->node);
        for (size_t k = h->first; k < h->first + h->nn; k++)
            strbuf_addf(&sb, " %zu%+d", tl.changes[k].moment, (int)tl.changes[k].bytes);
    }
    is_str(sb.buf, want, "%s", what);
    strbuf_release(&sb);
    timeline_release(&tl);
}

static void test_one(void)
{
    timeline_init(&tl);
    axis((const int64_t[]){10, 5, 5}, 3);
    ok(stack_of("# moments: live a;b c 7", (const uint64_t[]){0, 20, 2, 5}, 4, 4),
       "a stack's changes are read");
    ok(stack_of("# moments: mmap m", (const uint64_t[]){1, 8}, 2, 2),
       "another stack's changes are read");
    ok(stack_of("# moments: live a", (const uint64_t[]){1, 2}, 2, 1),
       "an earlier stack's changes are read");
    ok(stack_of("# moments: live gone", (const uint64_t[]){1, 2}, 2, TIMELINE_NOWHERE),
       "changes of a filtered-out stack are read");
    is_int((long)tl.wrong, 0, "valid lines are not counted as wrong");
    is_all("10+1/1 15+1/1 20+1/1; live 1: 1+1; live 4: 0+10 2-3; mmap 2: 1+4",
           "histories are in order of their nodes");
}

static void test_several(void)
{
    timeline_init(&tl);
    axis((const int64_t[]){10, 10}, 2);
    stack_of("# moments: live a", (const uint64_t[]){0, 2, 1, 2}, 4, 1);
    timeline_begin(&tl);
    ok(!stack_of("# moments: live a", (const uint64_t[]){0, 2}, 2, 1) && tl.wrong == 1,
       "a stack before the axis of its text is wrong");
    axis((const int64_t[]){5, 15}, 2);
    stack_of("# moments: live a", (const uint64_t[]){0, 20, 1, 40}, 4, 1);
    is_all("5+1/1 10+1/1 20+2/2; live 1: 0+10 1+1 2+21", "two texts are combined by time");
}

static void test_marks(void)
{
    timeline_init(&tl);
    line("# moments: mark us=Cg== name=YTwA");
    line("# moments: mark us=CQ== name=");
    ok(tl.nmarks == 2 && tl.marks[0].us == 10 && tl.marks[0].len == 3 &&
           memcmp(tl.marks[0].name, "a<\0", 3) == 0,
       "a mark's name may have any bytes");
    timeline_finish(&tl);
    ok(tl.marks[0].us == 9 && !tl.marks[0].len, "marks are sorted by time");
    timeline_release(&tl);
}

static void test_wrong(void)
{
    static const char *const bad[] = {
        "# moments: axis",
        "# moments: axis us=FAoK live=AgIC mapped=AAA= rss=AgIC",
        "# moments: axis us=EQ== live=Ag== mapped=AA== rss=Ag==",
        "# moments: axis us=F*oK live=AgIC mapped=AAAA rss=AgIC",
        "# moments: mark us=Cg==",
        "# moments: mark us= name=YQ==",
        "# moments: mark us=Cg== name=gAI=",
        "# moments: live changes=AAI=",
        "# moments: live a chances=AAI=",
        "# moments: other a changes=AAI=",
    };
    static const uint64_t beyond[] = {3, 2}, half[] = {0, 2, 1}, twice[] = {0, 2, 0, 2};

    timeline_init(&tl);
    axis((const int64_t[]){10, 5, 5}, 3);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        line(bad[i]);
        is_int((long)tl.wrong, (long)i + 1, "wrong line is counted: %s", bad[i]);
    }
    is_int((long)tl.first_wrong, 9, "the number of the first wrong line is kept");
    is_int((long)tl.n, 3, "a wrong axis changes no moments");
    timeline_release(&tl);
    timeline_init(&tl);
    axis((const int64_t[]){10, 5, 5}, 3);
    ok(!stack_of("# moments: live a", beyond, 2, 1), "a change at a missing moment is refused");
    ok(!stack_of("# moments: live a", half, 3, 1), "a change without bytes is refused");
    ok(!stack_of("# moments: live a", twice, 4, 1), "a second change at one moment is refused");
    ok(!stack_of("# moments: live a", NULL, 0, 1), "a stack without changes is refused");
    line("# moment: live a changes=AAI=");
    line("# a comment");
    is_int((long)tl.wrong, 4, "other comments do not count as wrong");
    is_all("10+1/1 15+1/1 20+1/1", "refused changes leave nothing behind");
}

int main(void)
{
    test_one();
    test_several();
    test_marks();
    test_wrong();
    return done_testing();
}
