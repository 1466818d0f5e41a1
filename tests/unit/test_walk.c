/*
 * Walks over stacks that are bytes in a buffer, as copied from another process,
 * with rules made up for the purpose.
 */
#include "unwind/walk.h"
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
    default:
        return (struct rule){.kind = RULE_BOGUS};
    }
}

static bool window(void *arg FLAME_UNUSED, uintptr_t sp, struct walk_window *out)
{
    if (sp < BASE || sp >= BASE + sizeof stack)
        return false;
    *out = (struct walk_window){
        .lo = sp, .hi = BASE + sizeof stack, .bytes = (uint8_t *)stack + (sp - BASE)};
    return true;
}

static struct rules rules = {.compile = made_up};
static uintptr_t pcs[64];
static enum walk_end end;

static uintptr_t addr(size_t word)
{
    return BASE + word * 8;
}

static int walk(uintptr_t pc, size_t sp, uintptr_t bp)
{
    return walk_frames(&rules, (struct walk_regs){pc, addr(sp), bp}, window, NULL, pcs, 64, &end);
}

int main(void)
{
    int n;

    /* 0x1021: CFA = sp + 0x20 (the rule is looked up at pc - 1 = 0x1020). */
    stack[3] = 0x2011; /* return address of the first frame, CFA = word 4 */
    stack[10] = addr(20);
    stack[11] = 0x3011; /* bp = word 10: CFA = word 12 */
    n = walk(0x1021, 0, addr(10));
    ok(n == 3 && pcs[0] == 0x1021 && pcs[1] == 0x2011 && pcs[2] == 0x3011, "sp, bp, outermost");
    is_int(end, WALK_COMPLETE, "complete");

    n = walk_frames(&rules, (struct walk_regs){0x1021, addr(0), addr(10)}, window, NULL, pcs, 2,
                    &end);
    is_int(n, 2, "a full buffer ends the walk");

    stack[3] = 0;
    is_int(walk(0x1021, 0, 0), 1, "a return address of 0 ends it");

    stack[3] = 0x6011;
    n = walk(0x1021, 0, 0);
    ok(n == 2 && end == WALK_LOST, "a rule too complex is said");

    n = walk(0x2011, 0, 8);
    ok(n == 1 && end == WALK_LOST, "a frame pointer outside of the stack");
    n = walk(0x2011, 30, addr(10));
    ok(n == 1 && end == WALK_LOST, "a frame pointer below the stack pointer");
    n = walk(0x1ff1, WORDS - 1, 0);
    ok(n == 1 && end == WALK_LOST, "a frame beyond the end of the stack");

    /* A signal's frame: the ucontext at sp has the interrupted registers. */
    memcpy((uint8_t *)stack + 40 * 8 + ARCH_UC_PC, &(uint64_t){0x3000}, 8);
    memcpy((uint8_t *)stack + 40 * 8 + ARCH_UC_SP, &(uint64_t){addr(5)}, 8);
    memcpy((uint8_t *)stack + 40 * 8 + ARCH_UC_BP, &(uint64_t){0}, 8);
    n = walk(0x4011, 40, 0);
    ok(n == 2 && pcs[1] == 0x3000 && end == WALK_COMPLETE,
       "an interrupted address is looked up as it is");
    memcpy((uint8_t *)stack + 40 * 8 + ARCH_UC_SP, &(uint64_t){8}, 8);
    n = walk(0x4011, 40, 0);
    ok(n == 1 && end == WALK_LOST, "a signal's frame that leads to no stack");

    /* A JIT's frames: bp chains, and then an address that is no code. */
    stack[50] = addr(60);
    stack[51] = 0x5021;
    stack[60] = 0x1234567;
    stack[61] = 0x9999;
    n = walk(0x5011, 48, addr(50));
    ok(n == 2 && pcs[1] == 0x5021 && end == WALK_COMPLETE, "guessed frames that are code are kept");
    is_int(walk(0x5011, 48, addr(50) + 4), 1, "a crooked frame pointer is not followed");

    /* A realigned stack: the CFA lies below bp, bp's own value where it points. */
    stack[99] = addr(110);
    stack[100] = addr(120);
    stack[109] = 0x3011;
    n = walk(0x7011, 95, addr(100));
    ok(n == 2 && pcs[1] == 0x3011, "a realigned frame");
    stack[99] = addr(90);
    n = walk(0x7011, 95, addr(100));
    ok(n == 1 && end == WALK_LOST, "a realigned frame that leads down");

    rules_forget(&rules);
    stack[3] = 0x3011;
    is_int(walk(0x1021, 0, 0), 2, "rules are made again after they were dropped");
    for (uintptr_t pc = 0x1000; pc < 0x1000 + 200000; pc++)
        rules_find(&rules, pc << 4);
    is_int(walk(0x1021, 0, 0), 2, "and found among 200,000");
    return done_testing();
}
