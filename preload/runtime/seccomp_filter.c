/*
 * An interpreter of classic BPF as far as seccomp(2) allows it: 32-bit words, forward jumps only,
 * and struct seccomp_data as the only packet.
 *
 * Source: the kernel's Documentation/networking/filter.rst for the instructions and
 * seccomp_check_filter (kernel/seccomp.c) for those that filters may use.
 */
#include "preload/runtime/seccomp_filter.h"

#include "common/processor/processor.h"

#define REFUSED SECCOMP_RET_KILL_PROCESS

struct machine {
    uint32_t a, x;
    uint32_t memory[BPF_MEMWORDS];
    const struct seccomp_data *call;
};

struct seccomp_data seccomp_filter_data(long number, const unsigned long args[6])
{
    struct seccomp_data call = {.nr = (int)number, .arch = PROCESSOR_AUDIT};

    for (int i = 0; i < 6; i++)
        call.args[i] = args[i];
    return call;
}

static bool load(struct machine *m, uint32_t *to, uint16_t code, uint32_t k)
{
    switch (BPF_MODE(code)) {
    case BPF_IMM:
        *to = k;
        return true;
    case BPF_MEM:
        *to = k < BPF_MEMWORDS ? m->memory[k] : 0;
        return k < BPF_MEMWORDS;
    case BPF_LEN:
        *to = sizeof *m->call;
        return true;
    case BPF_ABS:
        if (to != &m->a || k % 4 || k > sizeof *m->call - 4)
            return false;
        memcpy(to, (const char *)m->call + k, 4);
        return true;
    default:
        return false;
    }
}

/* Computes an instruction's result. False: the filter ends here, as it does at a division by 0. */
static bool compute(struct machine *m, uint16_t code, uint32_t k)
{
    uint32_t by = BPF_SRC(code) == BPF_X ? m->x : k;

    switch (BPF_OP(code)) {
    case BPF_ADD:
        m->a += by;
        return true;
    case BPF_SUB:
        m->a -= by;
        return true;
    case BPF_MUL:
        m->a *= by;
        return true;
    case BPF_DIV:
        m->a = by ? m->a / by : 0;
        return by;
    case BPF_AND:
        m->a &= by;
        return true;
    case BPF_OR:
        m->a |= by;
        return true;
    case BPF_XOR:
        m->a ^= by;
        return true;
    case BPF_LSH:
        m->a <<= by & 31;
        return true;
    case BPF_RSH:
        m->a >>= by & 31;
        return true;
    case BPF_NEG:
        m->a = -m->a;
        return true;
    default:
        return false;
    }
}

/* Number of instructions to skip after this one. */
static size_t jump(const struct machine *m, const struct sock_filter *i)
{
    uint32_t with = BPF_SRC(i->code) == BPF_X ? m->x : i->k;

    switch (BPF_OP(i->code)) {
    case BPF_JA:
        return i->k;
    case BPF_JEQ:
        return m->a == with ? i->jt : i->jf;
    case BPF_JGT:
        return m->a > with ? i->jt : i->jf;
    case BPF_JGE:
        return m->a >= with ? i->jt : i->jf;
    case BPF_JSET:
        return m->a & with ? i->jt : i->jf;
    default:
        return SIZE_MAX / 2;
    }
}

static bool store(struct machine *m, uint32_t k, uint32_t value)
{
    if (k >= BPF_MEMWORDS)
        return false;
    m->memory[k] = value;
    return true;
}

uint32_t seccomp_filter_run(const struct sock_filter *code, size_t n,
                            const struct seccomp_data *call)
{
    struct machine m = {.call = call};

    for (size_t pc = 0; pc < n; pc++) {
        const struct sock_filter *i = &code[pc];
        bool good = true;

        switch (BPF_CLASS(i->code)) {
        case BPF_LD:
            good = load(&m, &m.a, i->code, i->k);
            break;
        case BPF_LDX:
            good = load(&m, &m.x, i->code, i->k);
            break;
        case BPF_ST:
            good = store(&m, i->k, m.a);
            break;
        case BPF_STX:
            good = store(&m, i->k, m.x);
            break;
        case BPF_ALU:
            good = compute(&m, i->code, i->k);
            break;
        case BPF_JMP:
            pc += jump(&m, i);
            break;
        case BPF_RET:
            return BPF_RVAL(i->code) == BPF_A ? m.a : i->k;
        case BPF_MISC:
            if (BPF_MISCOP(i->code) == BPF_TAX)
                m.x = m.a;
            else
                m.a = m.x;
            break;
        }
        if (!good)
            return REFUSED;
    }
    return REFUSED;
}
