/*
 * Live blocks over time as comments, of 20,000 stacks and 2,500 moments. They are thinned and stay
 * exact, and the length of the text is measured.
 */
#define _GNU_SOURCE
#include "fold/timeline_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/trace/varint_base64.h"
#include "common/trace/trace_moments.h"
#include "common/trace/trace_reader.h"
#include "tests/tap.h"
#include "tests/unit/trace_build.h"

#define STACKS 20000u
#define MOMENTS 2500u
#define CHANGES 300u /* in each moment */
#define MOST 250u    /* moments in which most stacks change */

static uint32_t rows[STACKS];
static uint64_t live[STACKS]; /* at the end */

static uint32_t random_below(uint32_t n)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state % n);
}

static int by_row(const void *a, const void *b)
{
    const struct trace_change *x = a, *y = b;

    return (x->row > y->row) - (x->row < y->row);
}

/* Some stacks change their amount; each row at most once in a moment. */
static void add_moment(struct trace_build *b, uint32_t nth, uint32_t nchanges)
{
    struct trace_moment m = {.monotonic_ns = 1000000u * (nth + 1), .rss_bytes = 4096 * (nth + 1)};
    struct trace_change *changes = calloc(nchanges, sizeof *changes);
    struct strbuf sb = STRBUF_INIT;

    for (uint32_t i = 0; i < nchanges; i++) {
        uint32_t at = i * (STACKS / nchanges) + random_below(STACKS / nchanges);
        uint64_t now = random_below(1u << 20);

        changes[i] = (struct trace_change){rows[at], now - live[at], 0};
        live[at] = now;
    }
    qsort(changes, nchanges, sizeof *changes, by_row);
    trace_moment_encode(&sb, &m, changes, nchanges);
    tb_meta(b, TRACE_META_MOMENT, sb.buf, sb.len);
    strbuf_release(&sb);
    free(changes);
}

static struct trace *make(uint32_t nmoments, uint32_t nchanges)
{
    struct trace_build b;
    struct trace *t = NULL;
    uint32_t root;

    memset(live, 0, sizeof live);
    tb_init(&b);
    root = tb_root(&b, 0, tb_thread(&b, 7, "app"));
    for (uint32_t i = 0; i < STACKS; i++)
        rows[i] = tb_row(&b, tb_node(&b, TRACE_NODE_PC, 0x1000 + 16 * i, root), 1, 8, 1);
    for (uint32_t i = 0; i < nmoments; i++)
        add_moment(&b, i, nchanges);
    if (trace_load_bytes("x", b.data, b.len, false, &t) != 0)
        ok(false, "the trace of moments is sound");
    tb_release(&b);
    return t;
}

/* Contents of the text. */
struct reported {
    size_t bytes, stacks, moments;
    uint64_t sum, us;
    bool wrong;
};

static uint64_t sum_word(const char *s, size_t len, const char *key, size_t *n, bool *wrong)
{
    const char *at = memmem(s, len, key, strlen(key)), *end;
    struct varint_reader r;
    uint64_t sum = 0;
    int64_t v;

    *n = 0;
    if (!at)
        return 0;
    at += strlen(key);
    for (end = at; *end != ' ' && *end != '\n'; end++)
        ;
    varint_read(&r, at, (size_t)(end - at));
    for (; varint_take_signed(&r, &v); ++*n)
        sum += (uint64_t)v;
    *wrong |= r.wrong;
    return sum;
}

/* The sum of bytes at the end. Steps and signed bytes alternate in the changes. */
static uint64_t last_level(const char *s, size_t len, bool *wrong)
{
    static const char key[] = " changes=";
    const char *at = (const char *)memmem(s, len, key, sizeof key - 1) + sizeof key - 1;
    struct varint_reader r;
    uint64_t step, sum = 0;
    int64_t v;

    varint_read(&r, at, (size_t)(s + len - 1 - at));
    while (varint_take(&r, &step) && varint_take_signed(&r, &v))
        sum += (uint64_t)v;
    *wrong |= r.wrong;
    return sum;
}

static void take(void *opaque, const char *s, size_t len)
{
    struct reported *reported = opaque;
    size_t n;

    reported->bytes += len;
    if (strncmp(s, "# moments: axis ", 16) == 0) {
        reported->us = sum_word(s, len, " us=", &reported->moments, &reported->wrong);
        if (sum_word(s, len, " rss=", &n, &reported->wrong) != (uint64_t)4096 * MOMENTS && n > 2)
            reported->wrong |= reported->us == MOMENTS * (uint64_t)1000;
    } else if (strncmp(s, "# moments: live ", 16) == 0) {
        reported->stacks++;
        reported->sum += last_level(s, len, &reported->wrong);
    }
}

static struct reported print(struct trace *t, size_t most_bytes)
{
    struct symbol_options so = {.no_inline = true};
    struct symbols *syms = symbols_new(&so);
    struct aggregate *to = aggregate_new();
    struct fold_options opt = {.own = true};
    struct excludes *excludes = excludes_new(NULL, 0);
    struct symbolizer *frames = symbolizer_new(t, syms, to, PLACE_NONE);
    struct timeline_text_input in = {.opt = &opt,
                                     .traces = &t,
                                     .frames = &frames,
                                     .ntraces = 1,
                                     .excludes = excludes,
                                     .to = to,
                                     .most_bytes = most_bytes};
    struct reported reported = {0};

    timeline_text_write(&in, take, &reported);
    symbolizer_free(frames);
    excludes_free(excludes);
    symbols_free(syms);
    aggregate_free(to);
    return reported;
}

static uint64_t live_in_all(void)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < STACKS; i++)
        sum += live[i];
    return sum;
}

static void test_many(void)
{
    struct trace *t = make(MOMENTS, CHANGES);
    struct reported all = print(t, 0), few = print(t, 500000), least = print(t, 1);

    ok(all.moments == TIMETEXT_MOMENTS || all.moments == TIMETEXT_MOMENTS / 2,
       "%zu of %u moments are written", all.moments, MOMENTS);
    ok(all.stacks > STACKS * 9 / 10 && !all.wrong, "%zu stacks have moments", all.stacks);
    ok(all.sum == live_in_all() && all.us == MOMENTS * (uint64_t)1000,
       "the written moments end at the exact live bytes and time");
    printf("# %zu bytes of text\n", all.bytes);
    ok(all.bytes < TIMETEXT_BYTES * 4 / 3 + all.stacks * 60,
       "the text of moments is no longer than allowed");
    ok(few.bytes < all.bytes && few.moments < all.moments && few.sum == all.sum && few.us == all.us,
       "a shorter text has fewer moments, %zu, and the same end", few.moments);
    ok(least.moments == 2 && least.sum == all.sum, "the shortest text has two moments");
    trace_free(t);
}

static void test_all_change(void)
{
    struct trace *t = make(MOST, 8000);
    struct reported all = print(t, 0);

    ok(all.moments < MOST && all.sum == live_in_all(),
       "if most stacks change all the time, fewer moments are written: %zu of %u", all.moments,
       MOST);
    ok(all.bytes < TIMETEXT_BYTES * 4 / 3 + all.stacks * 60,
       "if most stacks change all the time, the text has its allowed length: %zu bytes", all.bytes);
    trace_free(t);
}

static void test_none(void)
{
    struct trace *t = make(0, 0);
    struct reported none = print(t, 0);

    is_int((long)none.bytes, 0, "a trace without moments gives no text");
    trace_free(t);
}

int main(void)
{
    test_many();
    test_all_change();
    test_none();
    return done_testing();
}
