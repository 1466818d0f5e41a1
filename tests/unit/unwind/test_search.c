/*
 * The caller of a frame without a frame pointer, sought on stacks that are bytes in a buffer,
 * of functions that are made up; and what their bytes are taken for.
 */
#include "tests/tap.h"
#include "unwind/remote/remote_call.h"
#include "unwind/remote/remote_prologue.h"
#include "unwind/remote/remote_search.h"

#define STACK ((uintptr_t)0x7ffd00000000)
#define WORDS 64

/* Functions of 256 bytes each, by what rule they have: CFA = sp + 32, by bp, by a word at bp -
 * 8, no table at all; and the outermost one, which has none to go back to. */
#define CODE ((uintptr_t)0x400000)
enum { START, G, H, F, ALIGNED, NAKED, SIGNAL, STUB, FUNCTIONS };
#define AT(function) (CODE + (uintptr_t)(function)*256)

static uint64_t stack[WORDS];
static uint8_t code[FUNCTIONS * 256];
static uint64_t slot; /* of STUB, read at SLOT */
#define SLOT ((uintptr_t)0x500000)

static struct rule made_up(void *arg FLAME_UNUSED, uintptr_t pc)
{
    switch (pc >= CODE && pc < AT(FUNCTIONS) ? (pc - CODE) / 256 : FUNCTIONS) {
    case START:
        return (struct rule){.kind = RULE_END};
    case G:
    case H:
        return (struct rule){.kind = RULE_CFA_SP, .cfa_offset = 32};
    case F:
        return (struct rule){
            .kind = RULE_CFA_BP, .cfa_offset = 16, .bp_saved = true, .bp_offset = -16};
    case ALIGNED:
        return (struct rule){
            .kind = RULE_CFA_MEM, .cfa_offset = -8, .bp_saved = true, .bp_at_bp = true};
    case NAKED:
        return (struct rule){.kind = RULE_NONE};
    case SIGNAL:
        return (struct rule){.kind = RULE_SIGNAL};
    default:
        return (struct rule){.kind = RULE_BOGUS};
    }
}

static bool window(void *arg FLAME_UNUSED, uintptr_t addr, struct walk_window *out)
{
    *out = (struct walk_window){
        .lo = STACK, .hi = STACK + sizeof stack, .bytes = (const uint8_t *)stack};
    return addr >= out->lo && addr < out->hi;
}

static bool read_code(void *arg FLAME_UNUSED, uintptr_t at, void *to, size_t size)
{
    if (at == SLOT && size == sizeof slot) {
        memcpy(to, &slot, size);
        return true;
    }
    if (at < CODE || at + size > AT(FUNCTIONS))
        return false;
    memcpy(to, code + (at - CODE), size);
    return true;
}

static bool find_function(void *arg FLAME_UNUSED, uintptr_t pc, uintptr_t *start)
{
    if (pc < CODE || pc >= AT(FUNCTIONS))
        return false;
    *start = AT((pc - CODE) / 256);
    if (*start == AT(NAKED))
        *start = 0;
    return true;
}

static struct rules rules = {.compile = made_up};
static const struct remote_code made_code = {NULL, read_code, find_function};

static uintptr_t word(size_t n)
{
    return STACK + n * 8;
}

/* The `nth` call in a function, of another: the address behind it. */
static uintptr_t call(int from, unsigned nth, int to)
{
    size_t at = (size_t)from * 256 + 64 + nth * 16;
    int32_t away = (int32_t)(to * 256 - (int)(at + 5));

    code[at] = 0xe8;
    memcpy(code + at + 1, &away, sizeof away);
    return CODE + at + 5;
}

static uintptr_t call_pointer(int from, unsigned nth)
{
    size_t at = (size_t)from * 256 + 64 + nth * 16;

    code[at] = 0xff;
    code[at + 1] = 0xd0;
    return CODE + at + 2;
}

static void wipe(void)
{
    memset(stack, 0, sizeof stack);
    memset(code, 0x90, sizeof code);
    slot = 0;
}

/* A frame that is found by bp at word `n`: its return address is `ra`. */
static void frame_by_bp(size_t n, uintptr_t bp, uintptr_t ra)
{
    stack[n] = bp;
    stack[n + 1] = ra;
}

/* One of G or H whose frame begins at word `n`; its last word is its return address. */
static size_t frame_by_sp(size_t n, uintptr_t ra)
{
    stack[n + 3] = ra;
    return n + 4;
}

/* The functions of a walk from the stack's first word, a letter each: "FG0". A '?' at the end means
 * that the walk broke off. */
static const char *walk(int from)
{
    static const char letters[] = "0GHFANS.";
    static char names[32];
    struct remote_memory mem = {.window = window, .code = &made_code};
    uintptr_t pcs[16];
    enum walk_end end;
    int n =
        remote_walk(&rules, (struct walk_regs){AT(from) + 200, word(0), 0}, &mem, pcs, 16, &end);

    for (int i = 0; i < n; i++)
        names[i] = letters[((pcs[i] & ~REMOTE_EXACT) - CODE) / 256];
    names[n] = end == WALK_COMPLETE ? 0 : '?';
    names[n + 1] = 0;
    return names;
}

static void test_by_name(void)
{
    wipe();
    frame_by_bp(20, 7, call(G, 0, F));
    frame_by_sp(22, call(START, 0, G));
    is_str(walk(F), "FG0", "a search finds the caller that calls the function by name");
    frame_by_bp(8, 7, call(G, 1, H));
    frame_by_sp(10, call(START, 0, G));
    is_str(walk(F), "FG0", "a search skips a nearer call of another function");
    stack[21] = call(G, 1, H);
    is_str(walk(F), "F?", "a search takes no call of another function, even if it leads out");
    stack[21] = call(G, 0, STUB);
    is_str(walk(F), "F?", "a search takes no call of code that may jump anywhere");
    memcpy(code + STUB * 256, (uint8_t[]){0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25}, 6);
    memcpy(code + STUB * 256 + 6, &(int32_t){(int32_t)(SLOT - (AT(STUB) + 10))}, 4);
    slot = AT(F);
    is_str(walk(F), "FG0", "a search takes a call of a linkage stub that jumps to the function");
    slot = AT(H);
    is_str(walk(F), "F?", "a search takes no call of a linkage stub that jumps elsewhere");
    slot = AT(F);
    frame_by_sp(22, 0x1234);
    is_str(walk(F), "F?", "a search takes no caller whose own return address is invalid");
    frame_by_sp(22, call(START, 0, G) + 1);
    is_str(walk(F), "F?", "a search takes no caller whose own return address is behind no call");
    frame_by_sp(22, call(START, 1, H));
    is_str(walk(F), "FG0",
           "a search takes a caller whose own caller called a function that jumped");
}

static void test_by_pointer(void)
{
    size_t end;

    wipe();
    frame_by_bp(20, 7, call_pointer(G, 0));
    end = frame_by_sp(22, call_pointer(H, 0));
    frame_by_sp(end, call_pointer(START, 0));
    is_str(walk(F), "FGH0", "a search finds a caller that calls through a pointer");
    frame_by_bp(4, 7, call_pointer(G, 0));
    frame_by_sp(6, call_pointer(H, 0));
    frame_by_sp(10, call_pointer(H, 1));
    frame_by_sp(14, call_pointer(START, 0));
    is_str(walk(F), "F?", "a search takes none of two callers that call through a pointer");

    wipe();
    frame_by_bp(20, 7, call_pointer(G, 0));
    frame_by_sp(22, call_pointer(START, 0));
    frame_by_bp(4, word(20), call_pointer(G, 0)); /* G was called by the frame that is sought */
    frame_by_sp(6, call(F, 0, G));
    is_str(walk(F), "FG0", "a search does not take a call that the function itself made before");

    wipe();
    frame_by_bp(20, 7, call_pointer(NAKED, 0));
    frame_by_bp(30, 7, call_pointer(G, 0));
    frame_by_sp(32, call(START, 0, G));
    is_str(walk(F), "F?", "a search does not go beyond a call by code without rules");
    frame_by_bp(20, word(24), call_pointer(NAKED, 0));
    frame_by_bp(24, 7, call(G, 1, NAKED));
    frame_by_sp(26, call(START, 0, G));
    is_str(walk(F), "FNG0",
           "a search takes a call by code without rules if a frame pointer leads on");
    is_str(walk(NAKED), "N?",
           "a walk breaks off at code without rules and without a frame pointer");
}

static void test_prologue(void)
{
    /* push %rbp; mov %rsp,%rbp; push %r12; push %rbx; sub $0x30,%rsp: 64 bytes */
    static const uint8_t framed[] = {0x55, 0x48, 0x89, 0xe5, 0x41, 0x54,
                                     0x53, 0x48, 0x83, 0xec, 0x30};
    /* mov %fs:0x28,%rax; mov %rax,-0x18(%rbp) */
    static const uint8_t guarded[] = {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0,
                                      0,    0,    0x48, 0x89, 0x45, 0xe8};
    struct remote_prologue p;
    size_t end;

    wipe();
    memcpy(code + F * 256, framed, sizeof framed);
    p = remote_prologue(code + F * 256, PROLOGUE_BYTES);
    is_int(p.size, 64, "a prologue's pushes and stack room are added up");
    is_int(p.canary, 0, "a prologue without a stack protector has no canary");
    memcpy(code + F * 256 + sizeof framed, guarded, sizeof guarded);
    p = remote_prologue(code + F * 256, PROLOGUE_BYTES);
    is_int(p.canary, -24, "a prologue with a stack protector has the canary's place");
    is_int(remote_prologue(guarded, sizeof guarded).canary, 0,
           "a canary is recognised only with a frame pointer");
    is_int(remote_prologue(framed, 3).size, 0, "a cut prologue has no size");

    wipe();
    memcpy(code + F * 256, framed, sizeof framed);
    frame_by_bp(8, 7, call_pointer(G, 0));
    end = frame_by_sp(10, call_pointer(H, 0));
    end = frame_by_sp(end, call_pointer(H, 0));
    frame_by_sp(end, call_pointer(START, 0));
    frame_by_bp(4, 7, call_pointer(G, 0));
    is_str(walk(F), "FGHH0",
           "a search takes a return address at the prologue's distance and no nearer one");
    code[F * 256 + 10] = 0x28; /* 56 bytes */
    is_str(walk(F), "F?",
           "a search takes no return address at another distance than the prologue's");

    wipe();
    memcpy(code + F * 256, framed, 4);
    memcpy(code + F * 256 + 4, guarded, sizeof guarded);
    frame_by_bp(20, 7, call(G, 0, F));
    frame_by_sp(22, call(START, 0, G));
    is_str(walk(F), "F?", "a search takes no frame without its canary");
    stack[17] = 0x123456789abcde00;
    is_str(walk(F), "FG0", "a search takes a frame with its canary");
    ok(!remote_is_canary(0) && !remote_is_canary(0x1200) && !remote_is_canary(0x7ffd12345678),
       "remote_is_canary refuses zero, short words and addresses");
}

static void test_aligned(void)
{
    wipe();
    stack[19] = word(26); /* bp = word 20: the frame's end is kept at word 19 */
    stack[20] = 7;
    stack[25] = call(G, 0, ALIGNED);
    frame_by_sp(26, call(START, 0, G));
    is_str(walk(ALIGNED), "A?",
           "a realigned frame without its copy of the return address is not taken");
    stack[21] = stack[25];
    is_str(walk(ALIGNED), "AG0", "a realigned frame with its copy of the return address is taken");
}

/* F was called by a handler. The kernel wrote its return address, and a signal interrupted G. */
static void test_signal(void)
{
    wipe();
    frame_by_bp(4, 7, call(H, 0, F));
    frame_by_sp(6, AT(SIGNAL) + 1);
    memcpy((uint8_t *)(stack + 10) + ARCH_UC_PC, &(uint64_t){AT(G) + 9}, 8);
    memcpy((uint8_t *)(stack + 10) + ARCH_UC_SP, &(uint64_t){word(50)}, 8);
    frame_by_sp(50, call(START, 0, G));
    is_str(walk(F), "FHSG0", "a search leads out of a signal handler");
}

static struct remote_calls before(const char *bytes, size_t n)
{
    uint8_t all[CALL_BYTES];

    memset(all, 0x90, sizeof all);
    memcpy(all + sizeof all - n, bytes, n);
    return remote_calls_before(all, 0x1000);
}

static void test_calls(void)
{
    struct remote_calls c = before("\xe8\x10\x00\x00\x00", 5);

    ok(c.direct && !c.any && !c.slot && c.target == 0x1010, "a direct call gives its target");
    c = before("\xff\x15\xf0\xff\xff\xff", 6);
    ok(c.slot && !c.any && c.slot_at == 0xff0,
       "a call through the global offset table gives its slot");
    ok(before("\xff\xd0", 2).any && before("\x41\xff\xd4", 3).any,
       "a call through a register is recognised");
    ok(before("\xff\x10", 2).any && before("\xff\x50\x08", 3).any &&
           before("\xff\x90\x00\x01\x00\x00", 6).any,
       "a call through memory is recognised");
    ok(before("\xff\x14\xd0", 3).any && before("\xff\x54\xd0\x08", 4).any &&
           before("\xff\x94\xd0\x00\x01\x00\x00", 7).any &&
           before("\xff\x14\x25\x00\x10\x40\x00", 7).any,
       "a call through memory with an index is recognised");
    c = before("\xff\xe0", 2);
    ok(!c.any && !c.direct && !c.slot, "a jump is not taken for a call");
    c = before("\xff\x35\x00\x00\x00\x00", 6);
    ok(!c.any && !c.direct && !c.slot, "a push is not taken for a call");
}

int main(void)
{
    test_calls();
    test_by_name();
    test_by_pointer();
    test_prologue();
    test_aligned();
    test_signal();
    return done_testing();
}
