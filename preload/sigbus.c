#define _GNU_SOURCE
#include "preload/sigbus.h"

#include <stdbool.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "preload/lifecycle.h"
#include "preload/runtime/self_status.h"
#include "preload/next_malloc.h"
#include "preload/runtime/run_status_client.h"
#include "preload/runtime/log.h"
#include "preload/store/store.h"
#include "preload/threads.h"

static struct {
    bool on, said;
    struct sigaction ours;
    struct sigaction reported; /* the action that the program believes to be in force */
    int added;                 /* flags the C library adds: SA_RESTORER */
} bus;

/* The C library's own function, if it has that name: in a program with a sanitizer, sigaction is
 * the sanitizer's. That must not be called while the sanitizer initializes itself. But recording
 * begins just then, because the sanitizer allocates. */
int __sigaction(int sig, const struct sigaction *act, struct sigaction *old) __attribute__((weak));

static int own_sigaction(const struct sigaction *act, struct sigaction *old)
{
    return &__sigaction ? __sigaction(SIGBUS, act, old) : real.sigaction(SIGBUS, act, old);
}

/* The program's own fault, or a signal that was sent: has the effect it would have without the
 * recorder. */
static void do_default(const siginfo_t *info)
{
    struct sigaction by_default = {.sa_handler = SIG_DFL};
    struct process self;

    own_sigaction(&by_default, NULL);
    if (info->si_code > 0)
        return; /* the instruction faults again */
    self_status_ask(&self);
    kernel_call(SYS_tgkill, (long)self.pid, (long)threads_own_tid(), (long)SIGBUS);
}

static void on_bus(int sig FLAME_UNUSED, siginfo_t *info, void *context FLAME_UNUSED)
{
    if (info->si_code == BUS_ADRERR && trace_writer_detach(&store.writer, info->si_addr)) {
        lifecycle_end();
        /* Several threads may fault at once. */
        if (!__atomic_exchange_n(&bus.said, true, __ATOMIC_RELAXED))
            log_line("another process truncated the trace: ", store.writer.path,
                     "; the program runs on, nothing more is recorded", NULL);
    } else if (info->si_code != BUS_ADRERR || !run_status_detach(info->si_addr)) {
        do_default(info);
    }
}

void sigbus_begin(void)
{
    struct sigaction was;

    if (!kernel_allows(SYS_rt_sigaction, SIGBUS) || own_sigaction(NULL, &was) < 0 ||
        was.sa_flags & SA_SIGINFO || was.sa_handler != SIG_DFL)
        return;
    bus.reported = was;
    bus.ours.sa_sigaction = on_bus;
    bus.ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    bus.on = own_sigaction(&bus.ours, NULL) == 0;
    if (bus.on && own_sigaction(NULL, &was) == 0)
        bus.added = was.sa_flags & ~bus.ours.sa_flags;
}

static bool is_ours(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_bus;
}

int sigbus_sigaction(const struct sigaction *act, struct sigaction *old)
{
    bool keep = act && bus.on && !(act->sa_flags & SA_SIGINFO) && act->sa_handler == SIG_DFL;
    struct sigaction was, reported = bus.reported;
    int result = real.sigaction(SIGBUS, keep ? &bus.ours : act, &was);

    if (result < 0)
        return result;
    if (keep) {
        bus.reported = *act;
        bus.reported.sa_flags |= bus.added;
    }
    if (old)
        *old = is_ours(&was) ? reported : was;
    return result;
}

sigbus_handler *sigbus_signal(sigbus_handler *handler)
{
    struct sigaction by_default = {.sa_handler = SIG_DFL, .sa_flags = SA_RESTART}, was;
    sigbus_handler *before;

    if (handler == SIG_DFL)
        return sigbus_sigaction(&by_default, &was) < 0 ? SIG_ERR : was.sa_handler;
    before = real.signal(SIGBUS, handler);
    return before == (sigbus_handler *)(uintptr_t)on_bus ? SIG_DFL : before;
}
