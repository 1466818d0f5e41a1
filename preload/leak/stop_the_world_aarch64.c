#define _GNU_SOURCE
#include "preload/leak/stop_the_world_impl.h"

#include <errno.h>

#define SYSCALL_SIZE 4

_Static_assert(STOP_WORLD_REGISTERS >= 31, "all registers that may hold a pointer");

void stop_world_note_registers(struct stopped_thread *t, const ucontext_t *u)
{
    for (size_t i = 0; i < 31; i++)
        t->registers[i] = (uintptr_t)u->uc_mcontext.regs[i];
    t->sp = (uintptr_t)u->uc_mcontext.sp;
    t->pc = (uintptr_t)u->uc_mcontext.pc;
    t->bp = (uintptr_t)u->uc_mcontext.regs[29];
}

/* Whether the thread is still in the call that was seen: the next call of a loop may be made from
 * the same place. The first argument is not compared, because its register holds the result. */
static bool is_same_call(const struct stopped_call *c, const mcontext_t *m)
{
    if (c->number < 0 || m->sp != c->sp || m->regs[8] != (unsigned long)c->number)
        return false;
    for (size_t i = 1; i < 6; i++)
        if (m->regs[i] != c->arguments[i])
            return false;
    return true;
}

/* The call's number stays in its register, but the first argument is lost unless the call is
 * known. */
void stop_world_make_call_again(const struct stopped_call *c, ucontext_t *u)
{
    mcontext_t *m = &u->uc_mcontext;

    if (!is_same_call(c, m))
        return;
    if ((long)m->regs[0] == -EINTR && m->pc == c->pc) {
        if (stop_world_ending_signal_waits(&u->uc_sigmask))
            return;
        m->pc -= SYSCALL_SIZE;
        m->regs[0] = c->arguments[0];
    } else if (m->regs[0] == c->arguments[0] && m->pc == c->pc - SYSCALL_SIZE &&
               stop_world_ending_signal_waits(&u->uc_sigmask)) {
        m->pc = c->pc;
        m->regs[0] = (unsigned long)-EINTR;
    }
}

/* rt_sigreturn is 139. */
__asm__(".text\n"
        ".globl stop_world_return\n"
        ".hidden stop_world_return\n"
        ".type stop_world_return, %function\n"
        "stop_world_return:\n"
        "    mov x8, #139\n"
        "    svc #0\n"
        ".size stop_world_return, . - stop_world_return\n");
