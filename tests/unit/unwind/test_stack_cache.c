/*
 * Stacks known again: random words in a made-up stack, against a list of all the
 * contents seen. A mark may be missing; a wrong one never comes back.
 */
#include "unwind/stack_cache.h"
#include "tests/tap.h"

#define DEPTH 9
#define HI ((uintptr_t)0x7ffd00002000)

static struct stack_cache r;
static const uintptr_t zero = 0;

/* Frame k's return address is words[2 * k], its saved bp words[2 * k + 1]. */
static uintptr_t words[2 * DEPTH];

static uint64_t seed = 11;

static uint64_t next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* Keeps what lies in words now. */
static void keep(const struct walk_regs *regs, bool needs_bp, uintptr_t hi, uint32_t n,
                 uint32_t mark)
{
    struct walk_check checks[CHECK_GROUP - 1 + DEPTH];

    for (uint32_t i = 0; i < CHECK_GROUP - 1; i++)
        checks[i] = (struct walk_check){&zero, &zero, 0, 0};
    for (uint32_t i = 0; i < n; i++) { /* innermost last */
        const uintptr_t *at = &words[2 * (n - 1 - i)];

        checks[CHECK_GROUP - 1 + i] = (struct walk_check){at, at + 1, at[0], at[1]};
    }
    stack_cache_keep(&r, regs, needs_bp, hi, &checks[CHECK_GROUP - 2 + n], n, mark);
}

static void one_stack(void)
{
    struct walk_regs a = {.pc = 100, .sp = 0x1000, .bp = 7}, b = a;
    size_t wrong = 0;

    ok(stack_cache_find(&r, &a, HI) == 0, "an empty cache finds no stack");
    for (uint32_t n = 1; n <= DEPTH; n++) {
        for (size_t i = 0; i < 2 * DEPTH; i++)
            words[i] = next();
        keep(&a, true, HI, n, n);
        wrong += WRONG(stack_cache_find(&r, &a, HI) != n, n);
        for (size_t i = 0; i < 2 * DEPTH; i++) { /* each word counts, if it was kept */
            words[i] ^= 1;
            wrong += WRONG(stack_cache_find(&r, &a, HI) != (i < 2 * n ? 0 : n), n);
            words[i] ^= 1;
        }
    }
    is_int((long long)wrong, 0, "a stack is found by each of its words, at any depth");
    b.bp = 8;
    ok(stack_cache_find(&r, &b, HI) == 0 && stack_cache_find(&r, &a, HI + 4096) == 0,
       "a stack is not found with another bp or in other memory");
    b.pc = 101;
    keep(&b, false, HI, 3, 77);
    b.bp = 9;
    ok(stack_cache_find(&r, &b, HI) == 77,
       "a stack is found with another bp if bp does not matter");
    b.sp += 16;
    ok(stack_cache_find(&r, &b, HI) == 0, "a stack is not found at another sp");
    stack_cache_clear(&r);
    ok(stack_cache_find(&r, &a, HI) == 0, "a cleared cache finds no stack");
}

/* Many contents under a few registers; marks are numbers of contents. */
static void against_model(uint32_t variants, size_t rounds, bool often)
{
    static struct {
        struct walk_regs regs;
        uintptr_t words[2 * DEPTH];
    } seen[20000];
    static struct stack_cache fresh;
    size_t nseen = 0, hits = 0, wrong = 0;

    r = fresh;
    for (size_t round = 0; round < rounds; round++) {
        struct walk_regs regs = {.pc = 0x1000 + next() % 3, .sp = 0x2000, .bp = 5};
        uint32_t mark;
        size_t i;

        for (i = 0; i < 2 * DEPTH; i++)
            words[i] = 0;
        words[4] = next() % variants;
        words[6] = next() % 2;
        words[2 * DEPTH - 1] = next() % 2; /* the outermost word, which no pilot reads */
        for (i = 0; i < nseen; i++)
            if (memcmp(&seen[i].regs, &regs, sizeof regs) == 0 &&
                memcmp(seen[i].words, words, sizeof words) == 0)
                break;
        mark = stack_cache_find(&r, &regs, HI);
        hits += mark != 0;
        wrong += WRONG(mark && mark != i + 1, i);
        if (i == nseen && nseen < ARRAY_LEN(seen)) {
            seen[nseen].regs = regs;
            memcpy(seen[nseen++].words, words, sizeof words);
        }
        if (!mark && i < nseen)
            keep(&regs, true, HI, DEPTH, (uint32_t)i + 1);
    }
    is_int((long long)wrong, 0, "the cache returns no wrong mark among %zu stacks", nseen);
    if (often)
        ok(hits > rounds / 4, "few stacks are often found again: %zu of %zu", hits, rounds);
    else
        ok(r.rest > 0 || hits < rounds / 4,
           "with too many stacks the cache pauses its searches (%zu hits)", hits);
}

int main(void)
{
    one_stack();
    against_model(8, 100000, true);
    against_model(1500, 20000, false);
    return done_testing();
}
