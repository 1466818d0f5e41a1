/*
 * Problem: all other threads of the process must be stopped for a moment, and none of their system
 * calls may fail because of it.
 *
 * Algorithm: /proc/self/task is read again and again until it names no new thread, as threads are
 * born while others are stopped. Before a thread is signalled, /proc gives the call that it sleeps
 * in. If the thread's registers then show that this call returned EINTR, the handler sets them back
 * to before the call. It does not if a signal of the program's is pending by now that ends the call
 * itself.
 *
 * Rejected: SA_RESTART alone, because epoll_wait, nanosleep and a dozen more calls fail in spite of
 * it; a real-time signal of our own, because a thread may block it.
 *
 * Sources: signal(7) has the calls that are never restarted; proc_pid_syscall(5).
 */
#define _GNU_SOURCE
#include "preload/leak/stop_the_world_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "common/proc_stat.h"
#include "common/kernel.h"
#include "common/pages.h"
#include "common/procpath.h"
#include "common/clock.h"
#include "common/processor/arch.h"

#define SIGNAL_SETXID 33 /* glibc's SIGSETXID: nptl/descr.h's second of two */
#ifndef ANSWER_NS
#define ANSWER_NS 200000000u /* time after which a thread that has not answered is given up */
#define PATIENCE 25          /* factor for a thread that only waits for a processor or a page */
#endif
#define ROUNDS_MAX 100
#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif
#define SIGNALS 64
#define ASKED 3 /* number of attempts to read the call of a running thread */

/* The kernel's own form of struct sigaction, with its set of 64 signals. */
struct kernel_sigaction {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static struct stopped_world *current;
static struct stopped_thread
    *all; /* STOP_WORLD_THREADS_MAX of them, reused from one stop to the next */
/* Odd while threads are to be stopped; the futex on which stopped threads wait. */
static uint32_t turn;
static struct kernel_sigaction program_action;
static bool action_is_ours;
static bool
    by_tgkill; /* rt_tgsigqueueinfo, whose signal carries the recorder's pointer, is forbidden */

/* ---- in the thread that is stopped ---- */

static long futex(uint32_t *at, int op, uint32_t value, const struct timespec *timeout)
{
    return kernel_call(SYS_futex, at, op | FUTEX_PRIVATE_FLAG, value, timeout, 0, 0);
}

static struct stopped_thread *find(uint32_t tid)
{
    size_t n = __atomic_load_n(&current->n, __ATOMIC_ACQUIRE);

    for (size_t i = 0; i < n; i++)
        if (current->threads[i].tid == tid)
            return &current->threads[i];
    return NULL;
}

/* Whether a pending signal's handler will run next and ends system calls. A thread that waits for a
 * timer's signal must not be sent back to its wait then. */
bool stop_world_ending_signal_waits(const sigset_t *blocked_later)
{
    struct kernel_sigaction action;
    uint64_t waiting = 0, blocked;

    memcpy(&blocked, blocked_later, sizeof blocked);
    if (kernel_call(SYS_rt_sigpending, &waiting, sizeof waiting) < 0)
        return false;
    waiting &= ~blocked & ~((uint64_t)1 << (SIGNAL_SETXID - 1));
    for (int number = 1; number <= SIGNALS; number++)
        if (waiting >> (number - 1) & 1 &&
            kernel_call(SYS_rt_sigaction, number, NULL, &action, sizeof action.mask) == 0 &&
            (uintptr_t)action.handler > (uintptr_t)SIG_IGN && !(action.flags & SA_RESTART))
            return true;
    return false;
}

/* Whether the signal is the recorder's. glibc sends the same signal when user ids are changed,
 * and waits for its handler. */
static bool is_ours(const siginfo_t *info)
{
    return by_tgkill || (info->si_code == SI_QUEUE && info->si_value.sival_ptr == &turn);
}

static void stand(int number, siginfo_t *info, void *context)
{
    uint32_t now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE);
    struct stopped_call call;
    struct stopped_thread *t;
    stack_t alternate;

    if (!is_ours(info)) {
        if ((uintptr_t)program_action.handler > (uintptr_t)SIG_IGN)
            program_action.handler(number, info, context);
        return;
    }
    if (!(now & 1) || !(t = find((uint32_t)kernel_call(SYS_gettid))))
        return;
    /* Copied, because *t may belong to the next stop by the time this thread is resumed. */
    call = t->call;
    stop_world_note_registers(t, context);
    t->thread_pointer = arch_thread_pointer();
    if (kernel_call(SYS_sigaltstack, NULL, &alternate) == 0 && !(alternate.ss_flags & SS_DISABLE))
        t->alternate = (uintptr_t)alternate.ss_sp;
    __atomic_store_n(&t->state, STOP_WORLD_STANDS, __ATOMIC_RELEASE);
    futex(&t->state, FUTEX_WAKE, 1, NULL);
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) == now)
        futex(&turn, FUTEX_WAIT, now, NULL);
    stop_world_make_call_again(&call, context);
}

/* ---- in the thread that stops the others ---- */

static uintptr_t parse(const char **s, unsigned base)
{
    uintptr_t value = 0;

    if (base == 16 && (*s)[0] == '0' && (*s)[1] == 'x')
        *s += 2;
    for (;; ++*s) {
        unsigned digit = (unsigned)(**s | 32);

        digit = digit <= '9' ? digit - '0' : digit - 'a' + 10;
        if (digit >= base)
            return value;
        value = value * base + digit;
    }
}

/* Reads the beginning of /proc/TID/WHAT, and terminates it with NUL. */
static void read_file(uint32_t tid, const char *what, char *buf, size_t size)
{
    int fd = kernel_open(proc_path((pid_t)tid, what).s, O_RDONLY, 0);
    long n = fd < 0 ? 0 : kernel_call(SYS_read, fd, buf, size - 1);

    if (fd >= 0)
        kernel_call(SYS_close, fd);
    buf[n > 0 ? n : 0] = '\0';
}

/* Whether the thread has ended. A first thread that has ended stays listed as long as others
 * run. */
static bool has_ended(uint32_t tid)
{
    char line[128];
    const char *s;

    read_file(tid, "stat", line, sizeof line);
    s = proc_stat_field(line, PROC_STAT_STATE);
    return s && (*s == 'Z' || *s == 'X');
}

/*
 * Reads /proc/TID/syscall. The line is "NUMBER 0xARG ... 0xSP 0xPC" for a thread that sleeps in a
 * call, "-1 0xSP 0xPC" if it sleeps elsewhere, and "running" if it does not sleep. False: it runs.
 */
static bool ask_call_once(struct stopped_thread *t)
{
    char line[256];
    const char *s = line;
    int words = 0;

    t->call.number = -1;
    read_file(t->tid, "syscall", line, sizeof line);
    for (const char *at = line; *at; at++)
        words += *at == ' ';
    if (words != 8 || line[0] == '-') {
        if (words == 2 && line[0] == '-') {
            s += 3;
            t->sp = parse(&s, 16);
        }
        return words == 2;
    }
    t->call.number = (long)parse(&s, 10);
    for (int i = 0; i < 6; i++) {
        s++;
        t->call.arguments[i] = parse(&s, 16);
    }
    s++;
    t->sp = t->call.sp = parse(&s, 16);
    s++;
    t->call.pc = parse(&s, 16);
    return true;
}

/* Reads the thread's call, several times if the thread runs: it may be about to enter a call, or
 * have been woken and wait for a processor. It may enter its next call between the last reading and
 * the signal. Then only code that has the number next to the instruction shows which call it was.
 * From 2.41 on glibc makes all its cancellable calls in one place. */
static void ask_call(struct stopped_thread *t)
{
    for (int i = 0; i < ASKED && !ask_call_once(t); i++)
        kernel_yield();
}

/* Whether the thread has answered, or will when it gets a processor or a page. A thread that sleeps
 * outside of calls ("-1 ...") waits for one of its pages to be read. /proc is read before the
 * state, because a stopped thread also sleeps in a call. */
static bool has_answered_or_will(const struct stopped_thread *t)
{
    char line[16];

    read_file(t->tid, "syscall", line, sizeof line);
    return line[0] == 'r' || line[0] == '-' ||
           __atomic_load_n(&t->state, __ATOMIC_ACQUIRE) != STOP_WORLD_TOLD;
}

struct directory_entry { /* struct linux_dirent64 */
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

/* Adds the new ids in the directory, and returns their number. -1: the directory cannot be read, or
 * there are too many. */
static int list_new(struct stopped_world *f, uint32_t self)
{
    char buf[8192] __attribute__((aligned(8)));
    int fd = kernel_open("/proc/self/task", O_RDONLY | O_DIRECTORY, 0), found = 0;
    long n;

    if (fd < 0)
        return -1;
    while ((n = kernel_call(SYS_getdents64, fd, buf, sizeof buf)) > 0)
        for (long at = 0; at < n;) {
            const struct directory_entry *e = (const struct directory_entry *)(buf + at);
            const char *name = e->name;
            uint32_t tid = (uint32_t)parse(&name, 10);

            at += e->size;
            if (!tid || tid == self || find(tid))
                continue;
            if (f->n == STOP_WORLD_THREADS_MAX) {
                kernel_call(SYS_close, fd);
                return -1;
            }
            f->threads[f->n] = (struct stopped_thread){.tid = tid};
            /* A handler may be searching for its own thread. */
            __atomic_store_n(&f->n, f->n + 1, __ATOMIC_RELEASE);
            found++;
        }
    kernel_call(SYS_close, fd);
    return n < 0 ? -1 : found;
}

/* Sends the signal; `number` 0 only tests whether there is such a thread. */
static long send_signal(long pid, uint32_t tid, int number)
{
    siginfo_t info = {.si_signo = number, .si_code = SI_QUEUE};

    if (by_tgkill)
        return kernel_call(SYS_tgkill, pid, tid, number);
    info.si_value.sival_ptr = &turn;
    return kernel_call(SYS_rt_tgsigqueueinfo, pid, tid, number, &info);
}

static void report(struct stopped_thread *t, long pid)
{
    ask_call(t);
    if ((t->tid == (uint32_t)pid && has_ended(t->tid)) ||
        send_signal(pid, t->tid, SIGNAL_SETXID) < 0)
        t->state = STOP_WORLD_GONE;
}

/* Whether the thread has ended since it was signalled. A thread that was already ending, like one
 * that was just joined, gets no signal any more. */
static bool ended_since(const struct stopped_thread *t, long pid)
{
    return send_signal(pid, t->tid, 0) == -ESRCH || has_ended(t->tid);
}

/* Waits until the thread is stopped. A thread that does not answer still sleeps where it was seen;
 * one that runs has not had a processor yet. */
static void wait_for(struct stopped_world *f, struct stopped_thread *t, long pid)
{
    struct timespec pause = {.tv_nsec = 1000000};
    uint64_t begun = clock_ns(CLOCK_MONOTONIC);
    int patience = PATIENCE;

    while (__atomic_load_n(&t->state, __ATOMIC_ACQUIRE) == STOP_WORLD_TOLD) {
        if (clock_ns(CLOCK_MONOTONIC) - begun > ANSWER_NS) {
            if (patience-- > 0 && has_answered_or_will(t)) {
                begun = clock_ns(CLOCK_MONOTONIC);
                continue;
            }
            t->state = STOP_WORLD_MISSED;
            f->missed++;
            return;
        }
        if (futex(&t->state, FUTEX_WAIT, STOP_WORLD_TOLD, &pause) != -ETIMEDOUT)
            continue;
        if (ended_since(t, pid)) {
            t->state = STOP_WORLD_GONE;
            return;
        }
        pause.tv_nsec = 10000000;
    }
}

/* Stops all threads, including those that they create meanwhile. */
static bool stop_all(struct stopped_world *f)
{
    long pid = kernel_call(SYS_getpid);
    uint32_t self = (uint32_t)kernel_call(SYS_gettid);
    size_t reported = 0;

    for (int round = 0; round < ROUNDS_MAX; round++) {
        int found = list_new(f, self);

        if (found <= 0)
            return found == 0;
        for (; reported < f->n; reported++)
            report(&f->threads[reported], pid);
        for (size_t i = 0; i < f->n; i++)
            wait_for(f, &f->threads[i], pid);
    }
    return false;
}

static void set_action(const struct kernel_sigaction *action, struct kernel_sigaction *old)
{
    kernel_call(SYS_rt_sigaction, SIGNAL_SETXID, action, old, sizeof action->mask);
}

static bool may_freeze(void)
{
    by_tgkill = !kernel_allows(SYS_rt_tgsigqueueinfo);
    return kernel_allows(SYS_rt_sigaction) && (!by_tgkill || kernel_allows(SYS_tgkill)) &&
           kernel_allows(SYS_futex) && kernel_allows(SYS_getdents64) &&
           kernel_allows(SYS_rt_sigreturn);
}

bool stop_world_begin(struct stopped_world *f)
{
    static const struct kernel_sigaction ours = {
        .handler = stand,
        .flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_RESTORER,
        .restorer = stop_world_return,
        .mask = ~(uint64_t)0,
    };
    struct kernel_sigaction old;

    *f = (struct stopped_world){0};
    if (!may_freeze())
        return false;
    if (!all)
        all = pages_alloc(STOP_WORLD_THREADS_MAX * sizeof *all);
    if (!all)
        return false;
    f->threads = all;
    current = f;
    __atomic_store_n(&turn, turn + 1, __ATOMIC_RELEASE);
    set_action(&ours, &old);
    if (old.handler != stand)
        program_action = old;
    action_is_ours = true;
    if (stop_all(f))
        return true;
    stop_world_end(f);
    return false;
}

/*
 * Resumes the threads. A thread that was signalled and has not answered yet will not wait any more.
 * The memory that its handler writes to stays allocated. The handler stays installed, because the
 * signal would end the process without it.
 */
void stop_world_end(struct stopped_world *f)
{
    __atomic_store_n(&turn, turn + 1, __ATOMIC_RELEASE);
    futex(&turn, FUTEX_WAKE, INT32_MAX, NULL);
    if (f->missed) {
        all = NULL;
        return;
    }
    set_action(&program_action, NULL);
    action_is_ours = false;
}

void stop_world_after_fork(void)
{
    if (!action_is_ours)
        return;
    turn += turn & 1;
    set_action(&program_action, NULL);
    action_is_ours = false;
}
