/* Classes of sleep durations: their bounds, the error of percentiles by them, their names. */
#include "common/trace/sleepclass.h"

#include <stdlib.h>

#include "tests/tap.h"

#define VALUES 4000u

/* Numbers of all magnitudes, from a sequence that repeats in each run. */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> (*state >> 40) % 50;
}

static void test_bounds(void)
{
    uint64_t from, to, next = 0, wide = 0, bad = 0;

    for (uint32_t class = 0; class < SLEEPCLASSES; class ++) {
        sleepclass_bounds(class, &from, &to);
        bad += from != next || sleepclass_of(from) != class || sleepclass_of(to) != class ||
               sleepclass_of(sleepclass_middle(class)) != class;
        /* The middle is no farther from either end than 1/16 of the class's least value. */
        wide += (to - sleepclass_middle(class)) * 16 > from ||
                (sleepclass_middle(class) - from) * 16 > from;
        next = to + 1;
    }
    is_int(bad, 0, "classes of sleeps follow one another and contain their bounds");
    is_int(next, 0, "the last class of sleeps ends at the largest number");
    is_int(wide, 0, "no class of sleeps is wider than an eighth of its beginning");
    is_int(sleepclass_of(UINT64_MAX), SLEEPCLASSES - 1,
           "UINT64_MAX is in the last class of sleeps");
    ok(!sleepclass_is(SLEEPCLASS_BASE - 1) && sleepclass_is(SLEEPCLASS_BASE) &&
           sleepclass_is(sleepclass_number(SLEEPCLASS_UNKNOWN)) &&
           !sleepclass_is(sleepclass_number(SLEEPCLASS_UNKNOWN + 1)) &&
           !sleepclass_is((uint64_t)1 << 40 | SLEEPCLASS_BASE),
       "sleepclass_is accepts numbers of classes only");
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Compared with a full sort: two added histograms equal that of all values. */
static void test_percentiles(void)
{
    static uint64_t value[VALUES], of[2][SLEEPCLASSES];
    uint64_t state = 88172645463325252u, sum = 0, off = 0;
    uint32_t class = 0;

    for (size_t i = 0; i < VALUES; i++) {
        value[i] = draw(&state);
        of[i % 2][sleepclass_of(value[i])]++;
    }
    qsort(value, VALUES, sizeof *value, by_size);
    for (size_t rank = 1; rank <= VALUES; rank++) {
        uint64_t true_value = value[rank - 1], reported;

        while (sum < rank) {
            sum += of[0][class] + of[1][class];
            class ++;
        }
        reported = sleepclass_middle(class - 1);
        off += (reported > true_value ? reported - true_value : true_value - reported) >
               true_value / 16;
    }
    is_int(off, 0, "each rank by classes is within 1/16 of that of a full sort");
}

static void round_trip(uint32_t class, const char *want)
{
    struct strbuf sb = STRBUF_INIT;
    struct sleepclass_frame frame;

    sleepclass_add(&sb, class);
    is_str(sb.buf, want, "the name of class %u", class);
    ok(sleepclass_read(sb.buf, sb.len, &frame) && frame.class == class && !frame.longest,
       "the name of a class is read back");
    strbuf_release(&sb);
}

static void test_names(void)
{
    static const char *const none[] = {
        "",
        "[]",
        "[1us]",
        "[1us to 2us]",
        "[1.1ms to 1.179647ms]",
        "[1.024us to 1.151us",
        "1.024us to 1.151us]",
        "[1.024us to 1.151us] ",
        "[longest ]",
        "[longest 1.]",
        "[longest 1.5ns]",
        "[longest 1m]",
        "[longest 99999999999999999999s]",
        "[longest 18446744073709551616ns]",
        "[longest 18446744073.709551616s]",
        "[longest -1ns]",
        "[longest 1ns to 1ns]",
        "[no duration known] ",
        "[NO DURATION KNOWN]",
        "[0ns to 0ns to 0ns]",
    };
    struct strbuf sb = STRBUF_INIT;
    struct sleepclass_frame frame;
    uint64_t bad = 0, state = 1;

    round_trip(0, "[0ns to 0ns]");
    round_trip(sleepclass_of(1000), "[960ns to 1.023us]");
    round_trip(sleepclass_of(1100000), "[1.048576ms to 1.179647ms]");
    round_trip(sleepclass_of(3000000000u), "[2.952790016s to 3.221225471s]");
    round_trip(SLEEPCLASS_UNKNOWN, "[no duration known]");
    for (uint32_t class = 0; class <= SLEEPCLASSES; class ++) {
        strbuf_clear(&sb);
        sleepclass_add(&sb, class);
        bad += !sleepclass_read(sb.buf, sb.len, &frame) || frame.class != class || frame.longest;
    }
    for (size_t i = 0; i < VALUES; i++) {
        uint64_t ns = i ? draw(&state) : UINT64_MAX;

        strbuf_clear(&sb);
        sleepclass_add_longest(&sb, ns);
        bad += !sleepclass_read(sb.buf, sb.len, &frame) || !frame.longest || frame.ns != ns ||
               frame.class != sleepclass_of(ns);
    }
    is_int(bad, 0, "all names of classes and durations are read back");
    strbuf_clear(&sb);
    sleepclass_add_longest(&sb, 1100000);
    is_str(sb.buf, "[longest 1.1ms]", "the name of a longest sleep");
    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        ok(!sleepclass_read(none[i], strlen(none[i]), &frame), "sleepclass_read refuses '%s'",
           none[i]);
    strbuf_release(&sb);
}

int main(void)
{
    test_bounds();
    test_percentiles();
    test_names();
    return done_testing();
}
