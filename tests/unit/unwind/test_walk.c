/*
 * test_walk.c: walks over stacks that are bytes in a buffer, as copied from another process, with
 * made-up rules.
 */
#include "unwind/remote/remote_walk.h"

#include <stdio.h>

#include "tests/tap.h"

#define BASE ((uintptr_t)0x7ffd00000000)
#define WORDS 512

static uint64_t stack[WORDS];

/* Addresses name their rules: 0x1000s by sp, 0x2000s by bp, and so on. */
static struct rule made_up(void *arg FLAME_UNUSED, uintptr_t pc)
{
    int32_t offset = (int32_t)(pc & 0xff0);

    switch (pc >> 12) {
    case 1: /* CFA = sp + offset, bp untouched */
        return (struct rule){.kind = RULE_CFA_SP, .cfa_offset = offset};
    case 2: /* push rbp; mov rbp, rsp */
        return (struct rule){
            .kind = RULE_CFA_BP, .cfa_offset = 16, .bp_saved = true, .bp_offset = -16};
    case 3:
        return (struct rule){.kind = RULE_END};
    case 4:
        return (struct rule){.kind = RULE_SIGNAL};
    case 5:
        return (struct rule){.kind = RULE_NONE};
    case 6:
        return (struct rule){.kind = RULE_COMPLEX};
    case 7:
        return (struct rule){
            .kind = RULE_CFA_MEM, .cfa_offset = -8, .bp_saved = true, .bp_at_bp = true};
    case 8: /* CFA = bp + offset, a frame pointer and a return address at bp */
        return (struct rule){.kind = RULE_CFA_FAR, .cfa_offset = offset};
    default:
        return (struct rule){.kind = RULE_BOGUS};
    }
}

static bool on_stack(uintptr_t at)
{
    return at >= BASE && at < BASE + sizeof stack;
}

/* The stack from the first requested address on, copied to its end. */
static bool window(void *arg FLAME_UNUSED, uintptr_t at, struct walk_window *out)
{
    if (!on_stack(at))
        return false;
    *out = (struct walk_window){
        .lo = at, .hi = BASE + sizeof stack, .bytes = (uint8_t *)stack + (at - BASE)};
    return true;
}

/* The range of the stack that is copied, word by word, as far as it is requested. */
static uintptr_t copied_from, copied_to;

static bool slow_window(void *arg FLAME_UNUSED, uintptr_t at, struct walk_window *out)
{
    if (!on_stack(at))
        return false;
    if (!copied_from || at < copied_from)
        copied_from = copied_to = at & ~(uintptr_t)7;
    if (at + 8 > copied_to)
        copied_to = (at & ~(uintptr_t)7) + 8;
    *out = (struct walk_window){
        .lo = copied_from, .hi = copied_to, .bytes = (uint8_t *)stack + (copied_from - BASE)};
    return true;
}

/* A window whose words from `gone_from` on are unmapped, as all may be. */
static uintptr_t gone_from;
static size_t asked;

static bool is_there(uintptr_t at, size_t size)
{
    asked++;
    return at + size <= gone_from;
}

static bool doubtful_window(void *arg, uintptr_t at, struct walk_window *out)
{
    if (!window(arg, at, out))
        return false;
    out->there = is_there;
    return true;
}

static struct rules rules = {.compile = made_up};
static uintptr_t pcs[64];
static enum walk_end end;

static uintptr_t addr(size_t word)
{
    return BASE + word * 8;
}

static struct walk_regs regs_of(uintptr_t pc, size_t sp, uintptr_t bp)
{
    return (struct walk_regs){pc, addr(sp), bp};
}

/* The result of a walk, and the memory it was of, in words. */
struct walked {
    int n;
    enum walk_end end;
    size_t deepest;
};

static struct walked walk_in(bool (*in)(void *, uintptr_t, struct walk_window *), uintptr_t pc,
                             size_t sp, uintptr_t bp, int max)
{
    struct remote_memory mem = {.window = in};
    struct walked w = {0};

    copied_from = copied_to = 0;
    memset(pcs, 0, sizeof pcs);
    w.n = remote_walk(&rules, regs_of(pc, sp, bp), &mem, pcs, max, &w.end);
    w.deepest = mem.deepest / 8;
    return w;
}

static const char *const end_names[] = {[WALK_COMPLETE] = "complete",
                                        [WALK_LOST] = "lost",
                                        [WALK_BROKEN] = "broken",
                                        [WALK_BARE] = "bare"};

/* "1020! 2011 3011 complete": the addresses (!: exact), and the end. */
static const char *text_of(struct walked w)
{
    static char text[1024];
    size_t at = 0;

    for (int i = 0; i < w.n && at < sizeof text - 40; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%zx%s ",
                               (size_t)(pcs[i] & ~REMOTE_EXACT), pcs[i] & REMOTE_EXACT ? "!" : "");
    snprintf(text + at, sizeof text - at, "%s", end_names[w.end]);
    return text;
}

/* The walk gives `want`, whether the stack is copied at once or a word at a time. */
static void walks(uintptr_t pc, size_t sp, uintptr_t bp, const char *want, const char *name)
{
    is_str(text_of(walk_in(window, pc, sp, bp, 64)), want, "%s", name);
    is_str(text_of(walk_in(slow_window, pc, sp, bp, 64)), want, "%s, a word at a time", name);
}

static int walk_doubtful(uintptr_t pc, size_t sp, uintptr_t bp, size_t gone)
{
    struct walked w;

    gone_from = addr(gone);
    asked = 0;
    w = walk_in(doubtful_window, pc, sp, bp, 64);
    end = w.end;
    return w.n;
}

static void guesses_ask(void)
{
    stack[203] = 0x2011; /* by sp, to word 204; by bp, to word 212 */
    stack[210] = addr(230);
    stack[211] = 0x3011;
    is_int(walk_doubtful(0x1020, 200, addr(210), 0), 3,
           "a walk without a guess finds three frames");
    is_int((long long)asked, 0, "a walk without a guess does not ask whether memory is mapped");

    /* A guess, to a frame by bp, by sp, by memory, of a signal. */
    stack[220] = addr(300);
    stack[221] = 0x2011;
    stack[301] = 0x3011;
    is_int(walk_doubtful(0x5010, 218, addr(220), WORDS), 3,
           "a guess that leads to mapped memory is followed");
    is_int(walk_doubtful(0x5010, 218, addr(220), 301), 1,
           "a guessed frame by bp in unmapped memory is dropped");
    stack[221] = 0x1401; /* 0x400 bytes on */
    is_int(walk_doubtful(0x5010, 218, addr(220), 340), 1,
           "a guessed frame by sp in unmapped memory is dropped");
    stack[221] = 0x7011;
    is_int(walk_doubtful(0x5010, 218, addr(220), 299), 1,
           "a guessed frame by memory in unmapped memory is dropped");
    stack[221] = 0x4011;
    is_int(walk_doubtful(0x5010, 218, addr(220), 230), 1,
           "a guessed signal frame in unmapped memory is dropped");
    stack[221] = 0x1021; /* a sound frame, then one that is not */
    stack[225] = 0x2011;
    is_int(walk_doubtful(0x5010, 218, addr(220), 290), 3,
           "an unmapped frame behind a guess ends the walk");
    is_int(end, WALK_COMPLETE, "a walk that ends at unmapped memory is complete");
}

static void by_rules(void)
{
    struct walked w;

    /* 0x1020: CFA = sp + 0x20. */
    stack[3] = 0x2011; /* return address of the first frame, CFA = word 4 */
    stack[10] = addr(20);
    stack[11] = 0x3011; /* bp = word 10: CFA = word 12 */
    walks(0x1020, 0, addr(10), "1020! 2011 3011 complete",
          "frames by sp and bp up to the outermost");
    w = walk_in(window, 0x1020, 0, addr(10), 64);
    is_int((intmax_t)w.deepest, 12, "a walk reports how deep its outermost frame is");
    is_str(text_of(walk_in(window, 0x1020, 0, addr(10), 2)), "1020! 2011 complete",
           "a full buffer ends the walk");
    is_int(walk_in(window, 0x1020, 0, addr(10), 0).n, 0, "a buffer of length 0 gives no frame");
    is_int(walk_in(window, 0x1020, WORDS, addr(10), 64).n, 0, "an unreadable stack gives no frame");

    stack[3] = 0;
    walks(0x1020, 0, 0, "1020! complete", "a return address of 0 ends the walk");
    stack[30] = addr(110);
    stack[111] = 0x3011;
    stack[31] = 0x1021; /* its return address is 4 words behind that frame's end, at word 48 */
    stack[47] = 0x2011;
    walks(0x8070, 24, addr(30), "8070! 1021 2011 3011 complete", "a frame below the red zone");
    walks(0x8070, 24, addr(9), "8070! lost",
          "a frame below the red zone that is below the stack pointer");
    walks(0x8070, 24, 8, "8070! lost", "a frame below the red zone that is outside of the stack");
    stack[31] = 0;
    walks(0x8070, 24, addr(30), "8070! complete",
          "a frame below the red zone that is the outermost");

    stack[3] = 0x6011;
    walks(0x1020, 0, 0, "1020! 6011 lost", "a rule that is too complex ends the walk as lost");
    walks(0x2010, 0, 8, "2010! lost", "a frame pointer outside of the stack");
    walks(0x2010, 30, addr(10), "2010! lost", "a frame pointer below the stack pointer");
    walks(0x1ff0, WORDS - 1, 0, "1ff0! lost", "a frame beyond the end of the stack");
    stack[3] = 0x9999;
    walks(0x1020, 0, 0, "1020! 9999 complete", "an address without a rule is the last frame");
}

/* The ucontext at sp has the interrupted registers. */
static void by_signal(void)
{
    memcpy((uint8_t *)stack + 40 * 8 + ARCH_UC_PC, &(uint64_t){0x3000}, 8);
    memcpy((uint8_t *)stack + 40 * 8 + ARCH_UC_SP, &(uint64_t){addr(5)}, 8);
    memcpy((uint8_t *)stack + 40 * 8 + ARCH_UC_BP, &(uint64_t){0}, 8);
    walks(0x4010, 40, 0, "4010! 3000! complete", "an interrupted address is looked up exactly");
    memcpy((uint8_t *)stack + 40 * 8 + ARCH_UC_SP, &(uint64_t){8}, 8);
    walks(0x4010, 40, 0, "4010! lost", "a signal frame that leads outside of the stack");
    walks(0x4010, WORDS - 1, 0, "4010! lost", "a signal frame in unreadable memory");
}

/* A JIT's frames: bp chains, and then an address that is not code. */
static void by_guess(void)
{
    stack[50] = addr(60);
    stack[51] = 0x5021;
    stack[60] = 0x1234567;
    stack[61] = 0x9999;
    walks(0x5010, 48, addr(50), "5010! 5021 broken", "guessed frames that are code are kept");
    stack[60] = addr(70);
    walks(0x5010, 48, addr(50), "5010! 5021 broken",
          "guessed frames before one that is not code are kept");
    stack[60] = 0;
    walks(0x5010, 48, addr(50), "5010! 5021 complete",
          "a saved bp of 0 before an address that is not code");
    stack[61] = 0x5031;
    walks(0x5010, 48, addr(50), "5010! 5021 5031 complete", "a saved bp of 0 marks the last frame");
    stack[60] = 0x1234567;
    walks(0x5010, 48, addr(50), "5010! 5021 5031 broken",
          "a saved bp that leads nowhere breaks the walk");
    walks(0x5010, 48, addr(50) + 4, "5010! broken", "an unaligned frame pointer is not followed");
    walks(0x5010, 48, 0, "5010! bare", "a missing frame pointer behind rules only");
    stack[60] = 0;
    stack[61] = 0;
    walks(0x5010, 48, addr(50), "5010! 5021 complete",
          "a return address of 0 among guessed frames");
    stack[51] = 0x9999;
    stack[50] = 0;
    walks(0x5010, 48, addr(50), "5010! complete", "a saved bp of 0 at the first guess");
}

/* A realigned stack: the CFA lies below bp, bp's own value where it points. */
static void realigned(void)
{
    stack[99] = addr(110);
    stack[100] = addr(120);
    stack[109] = 0x3011;
    walks(0x7010, 95, addr(100), "7010! 3011 complete", "a realigned frame");
    stack[99] = addr(90);
    walks(0x7010, 95, addr(100), "7010! lost", "a realigned frame that leads down");
    stack[99] = addr(WORDS + 20);
    walks(0x7010, 95, addr(100), "7010! lost", "a realigned frame that leads out");
}

int main(void)
{
    by_rules();
    by_signal();
    by_guess();
    realigned();
    guesses_ask();

    rules_forget(&rules);
    stack[3] = 0x3011;
    walks(0x1020, 0, 0, "1020! 3011 complete", "rules are compiled again after rules_forget");
    for (uintptr_t pc = 0x1000; pc < 0x1000 + 200000; pc++)
        rules_find(&rules, pc << 4);
    walks(0x1020, 0, 0, "1020! 3011 complete", "rules are found among 200,000");
    return done_testing();
}
