/* Compares truncated stacks with those truncated from scratch each time. */
#include "preload/store/truncate.h"
#include "tests/rnd.h"
#include "tests/tap.h"

#define LIMIT 40
#define MAX_DEPTH 200

/* The addresses of pcs[0..n) that remain, after the text of truncate.h, not its code. */
static uint32_t naive(const uintptr_t *pcs, uint32_t n, uintptr_t *out, uint32_t *dropped)
{
    uint32_t at = 0;

    *dropped = 0;
    while (n - *dropped > LIMIT)
        *dropped += LIMIT / 4;
    for (uint32_t i = 0; i < n; i++) {
        if (*dropped && i == LIMIT / 2)
            out[at++] = STACK_TRUNCATED;
        if (!*dropped || i < LIMIT / 2 || i >= LIMIT / 2 + *dropped)
            out[at++] = pcs[i];
    }
    return at;
}

static void against_model(void)
{
    struct truncation c = {.limit = LIMIT};
    uintptr_t pcs[MAX_DEPTH], want[MAX_DEPTH + 1], last[MAX_DEPTH + 1];
    size_t wrong = 0, lies = 0, modest = 0, shallow = 0, deep = 0;
    uint32_t n = 0;

    for (int round = 0; round < 100000; round++) {
        uint32_t same = n ? (uint32_t)(rnd() % n) : 0, dropped, length;
        struct truncated_stack s;

        if (n > 5 && rnd() % 64)
            same = n - (uint32_t)(rnd() % 5);
        n = same + 1 + (uint32_t)(rnd() % 6);
        if (n > MAX_DEPTH)
            n = 1 + (uint32_t)(rnd() % MAX_DEPTH);
        same = same < n ? same : n;
        for (uint32_t i = same; i < n; i++)
            pcs[i] = 0x1000 + rnd() % 3;
        if (!truncate_stack(&c, pcs, n, same, &s))
            break;
        length = naive(pcs, n, want, &dropped);
        wrong += WRONG(s.n != length || s.dropped != dropped ||
                           memcmp(s.pcs, want, length * sizeof *want) != 0,
                       round);
        if (round > 0)
            lies += WRONG(s.same > length || memcmp(want, last, s.same * sizeof *want) != 0, round);
        /* All frames that are known to be the same are reported so, but for a stack cut elsewhere.
         */
        modest += n <= LIMIT && same <= LIMIT / 2 && s.same != same;
        memcpy(last, want, length * sizeof *want);
        shallow += !dropped;
        deep += dropped > LIMIT;
    }
    ok(shallow > 1000 && deep > 1000, "stacks of all depths are compared: %zu whole, %zu deep",
       shallow, deep);
    is_int((long long)wrong, 0, "a truncated stack equals that of the model");
    is_int((long long)lies, 0, "frames reported as unchanged are unchanged");
    is_int((long long)modest, 0, "unchanged frames are reported as such");
    truncate_release(&c);
}

/* Grows a stack frame by frame: only the new frame differs, except where another quarter of the
 * limit is omitted. */
static void growing(void)
{
    struct truncation c = {.limit = LIMIT};
    uintptr_t pcs[MAX_DEPTH];
    uint32_t afresh = 0, most = 0, least = UINT32_MAX;

    for (uint32_t n = 1; n <= MAX_DEPTH; n++) {
        struct truncated_stack s;

        pcs[n - 1] = 0x1000 + n;
        if (!truncate_stack(&c, pcs, n, n - 1, &s))
            break;
        afresh += s.n - s.same;
        if (n <= LIMIT)
            continue;
        most = s.n - 1 > most ? s.n - 1 : most;
        least = s.n - 1 < least ? s.n - 1 : least;
    }
    ok(most == LIMIT && least == LIMIT * 3 / 4 + 1,
       "a truncated stack has %u to %u frames of at most %d", least, most, LIMIT);
    ok(afresh < 3 * MAX_DEPTH,
       "of %d stacks, each a frame deeper, only %u frames are reported as new", MAX_DEPTH, afresh);
    truncate_release(&c);
}

int main(void)
{
    against_model();
    growing();
    return done_testing();
}
