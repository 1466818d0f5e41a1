/*
 * A frame sought on a hostile stack among hostile code: the first half of the bytes is code,
 * the rest the stack.
 */
#include <stdlib.h>

#include "unwind/remote/remote_call.h"
#include "unwind/epilogue.h"
#include "unwind/remote/remote_prologue.h"
#include "unwind/remote/remote_search.h"

#define CODE ((uintptr_t)0x400000)
#define STACK ((uintptr_t)0x7ffd00000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *code, *stack;
    size_t code_size, stack_size;
};

/* Each 64 bytes are a function; their first byte says of which sort. */
static struct rule rule_of(void *arg, uintptr_t pc)
{
    const struct input *in = arg;

    if (pc < CODE || pc - CODE >= in->code_size)
        return (struct rule){.kind = RULE_BOGUS};
    switch (in->code[(pc - CODE) & ~(uintptr_t)63] & 7) {
    case 0:
        return (struct rule){.kind = RULE_END};
    case 1:
        return (struct rule){.kind = RULE_NONE};
    case 2:
    case 3:
        return (struct rule){.kind = RULE_CFA_SP, .cfa_offset = 16};
    case 4:
        return (struct rule){
            .kind = RULE_CFA_MEM, .cfa_offset = -8, .bp_saved = true, .bp_at_bp = true};
    default:
        return (struct rule){
            .kind = RULE_CFA_BP, .cfa_offset = 16, .bp_saved = true, .bp_offset = -16};
    }
}

static bool window(void *arg, uintptr_t addr, struct walk_window *out)
{
    const struct input *in = arg;

    *out = (struct walk_window){.lo = STACK, .hi = STACK + in->stack_size, .bytes = in->stack};
    return addr >= STACK && in->stack_size >= sizeof addr &&
           addr - STACK <= in->stack_size - sizeof addr;
}

static bool read_code(void *arg, uintptr_t at, void *to, size_t size)
{
    const struct input *in = arg;

    if (at < CODE || at - CODE >= in->code_size || size > in->code_size - (at - CODE))
        return false;
    memcpy(to, in->code + (at - CODE), size);
    return true;
}

static bool function(void *arg, uintptr_t pc, uintptr_t *start)
{
    const struct input *in = arg;

    *start = pc & ~(uintptr_t)63;
    return pc >= CODE && pc - CODE < in->code_size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, data + size / 2, size / 2, size - size / 2};
    struct rules rules = {.compile = rule_of, .arg = &in, .first_size = 64, .alone = true};
    struct remote_code code = {&in, read_code, function};
    struct remote_memory mem = {.window = window, .arg = &in, .code = &code};
    uintptr_t pcs[64];
    enum walk_end end;

    remote_prologue(data, size);
    epilogue_rule(data, size);
    for (uintptr_t at = 0; at < in.code_size && at < 256; at += 64) {
        int n = remote_walk(&rules, (struct walk_regs){CODE + at, STACK, 0}, &mem, pcs, 64, &end);

        if (n < 0 || n > 64)
            abort();
    }
    rules_release(&rules);
    return 0;
}
