#define _GNU_SOURCE
#include "preload/leak/stop_the_world_impl.h"

#include <errno.h>
#include <string.h>

#define SYSCALL_SIZE 2

void stop_world_note_registers(struct stopped_thread *t, const ucontext_t *u)
{
    for (size_t i = 0; i < NGREG && i < STOP_WORLD_REGISTERS; i++)
        t->registers[i] = (uintptr_t)u->uc_mcontext.gregs[i];
    t->sp = (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
    t->pc = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
    t->bp = (uintptr_t)u->uc_mcontext.gregs[REG_RBP];
}

/* Whether the registers still belong to the call that was seen: the next call of a loop may be made
 * from the same place. */
static bool is_same_call(const struct stopped_call *c, const greg_t *regs)
{
    return c->number >= 0 && (uintptr_t)regs[REG_RSP] == c->sp &&
           (uintptr_t)regs[REG_RDI] == c->arguments[0] &&
           (uintptr_t)regs[REG_RSI] == c->arguments[1] &&
           (uintptr_t)regs[REG_RDX] == c->arguments[2] &&
           (uintptr_t)regs[REG_R10] == c->arguments[3] &&
           (uintptr_t)regs[REG_R8] == c->arguments[4] && (uintptr_t)regs[REG_R9] == c->arguments[5];
}

/* Number of the call that a thread was about to enter. Code of the form "mov NUMBER, %eax; syscall"
 * contains it. -1: the code has another form. */
static long number_in_code(uintptr_t pc)
{
    const uint8_t *code = (const uint8_t *)pc;
    uint32_t number;

    if (code[-1] != 0x05 || code[-2] != 0x0f || code[-7] != 0xb8)
        return -1;
    memcpy(&number, code - 6, sizeof number);
    return number;
}

/* For a call that the kernel restarts by itself, the registers already point before the
 * instruction. */
void stop_world_make_call_again(const struct stopped_call *c, ucontext_t *u)
{
    greg_t *regs = u->uc_mcontext.gregs;
    uintptr_t pc = (uintptr_t)regs[REG_RIP];
    long number;

    if (regs[REG_RAX] == -EINTR) {
        number = is_same_call(c, regs) && pc == c->pc ? c->number : number_in_code(pc);
        if (number < 0 || stop_world_ending_signal_waits(&u->uc_sigmask))
            return;
        regs[REG_RIP] = (greg_t)(pc - SYSCALL_SIZE);
        regs[REG_RAX] = number;
    } else if (is_same_call(c, regs) && regs[REG_RAX] == c->number && pc == c->pc - SYSCALL_SIZE &&
               stop_world_ending_signal_waits(&u->uc_sigmask)) {
        regs[REG_RIP] = (greg_t)c->pc;
        regs[REG_RAX] = -EINTR;
    }
}

/* Return address of the handler: rt_sigreturn. */
__asm__(".text\n"
        ".globl stop_world_return\n"
        ".hidden stop_world_return\n"
        ".type stop_world_return, @function\n"
        "stop_world_return:\n"
        "    mov $15, %eax\n"
        "    syscall\n"
        ".size stop_world_return, . - stop_world_return\n");
