/*
 * Problem: all other threads must stand for a moment, in a process that knows nothing of
 * it, without a call that fails because of it.
 *
 * Algorithm: /proc/self/task is read again and again until it names nobody new, as threads
 * are born while others are stopped. Before a thread is signalled, /proc tells the call it
 * sleeps in; if its registers then say that this call came back with EINTR, the handler
 * sets them back to before the call.
 *
 * Rejected: SA_RESTART alone, in spite of which epoll_wait, nanosleep and a dozen more fail;
 * a real-time signal of our own, which a thread may block.
 *
 * Sources: signal(7) has the calls that are never restarted; proc_pid_syscall(5).
 */
#define _GNU_SOURCE
#include "preload/leak/freeze.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "common/kernel.h"
#include "common/pages.h"
#include "common/procpath.h"
#include "common/clock.h"
#include "unwind/arch.h"

#define SIGNAL_SETXID 33     /* glibc's SIGSETXID: nptl/descr.h's second of two */
#define ANSWER_NS 200000000u /* a thread that has not answered by then is left out */
#define ROUNDS_MAX 100
#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif
#define SYSCALL_SIZE 2 /* bytes of the instruction */

/* The kernel's own form of struct sigaction, with its set of 64 signals. */
struct kernel_sigaction {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static struct freeze *current;
static uint32_t go; /* the futex that they wait for */
static struct kernel_sigaction program_action;

/* ---- in the thread that is told to stand ---- */

static long futex(uint32_t *at, int op, uint32_t value, const struct timespec *timeout)
{
    return kernel_call(SYS_futex, at, op | FUTEX_PRIVATE_FLAG, value, timeout, 0, 0);
}

static struct frozen *find(uint32_t tid)
{
    for (size_t i = 0; i < current->n; i++)
        if (current->threads[i].tid == tid)
            return &current->threads[i];
    return NULL;
}

#if defined(__x86_64__)
static void note_registers(struct frozen *t, const ucontext_t *u)
{
    for (size_t i = 0; i < NGREG && i < FREEZE_REGISTERS; i++)
        t->registers[i] = (uintptr_t)u->uc_mcontext.gregs[i];
    t->sp = (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
}

static void make_call_again(const struct frozen *t, ucontext_t *u)
{
    greg_t *regs = u->uc_mcontext.gregs;

    if (t->call < 0 || regs[REG_RAX] != -EINTR || (uintptr_t)regs[REG_RSP] != t->call_sp ||
        (uintptr_t)regs[REG_RIP] != t->call_pc)
        return;
    regs[REG_RIP] -= SYSCALL_SIZE;
    regs[REG_RAX] = t->call;
}

/* What the handler returns to: rt_sigreturn. */
__asm__(".text\n"
        ".globl freeze_return\n"
        ".hidden freeze_return\n"
        ".type freeze_return, @function\n"
        "freeze_return:\n"
        "    mov $15, %eax\n"
        "    syscall\n"
        ".size freeze_return, . - freeze_return\n");
__attribute__((visibility("hidden"))) void freeze_return(void);
#define HAVE_FREEZE 1
#else
#define HAVE_FREEZE 0
static void note_registers(struct frozen *t, const ucontext_t *u)
{
    (void)t;
    (void)u;
}

static void make_call_again(const struct frozen *t, ucontext_t *u)
{
    (void)t;
    (void)u;
}

static void freeze_return(void)
{
}
#endif

static void stand(int number FLAME_UNUSED, siginfo_t *info FLAME_UNUSED, void *context)
{
    struct frozen *t = find((uint32_t)kernel_call(SYS_gettid));
    stack_t alternate;

    if (!t)
        return;
    note_registers(t, context);
    t->thread_pointer = arch_thread_pointer();
    if (kernel_call(SYS_sigaltstack, NULL, &alternate) == 0 && !(alternate.ss_flags & SS_DISABLE))
        t->alternate = (uintptr_t)alternate.ss_sp;
    __atomic_store_n(&t->state, FREEZE_STANDS, __ATOMIC_RELEASE);
    futex(&t->state, FUTEX_WAKE, 1, NULL);
    while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
        futex(&go, FUTEX_WAIT, 0, NULL);
    make_call_again(t, context);
}

/* ---- in the thread that tells them ---- */

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

/* The beginning of /proc/TID/WHAT, NUL-terminated. */
static void read_file(uint32_t tid, const char *what, char *buf, size_t size)
{
    int fd = kernel_open(proc_path((pid_t)tid, what).s, O_RDONLY, 0);
    long n = fd < 0 ? 0 : kernel_call(SYS_read, fd, buf, size - 1);

    if (fd >= 0)
        kernel_call(SYS_close, fd);
    buf[n > 0 ? n : 0] = '\0';
}

/* A first thread that has ended stays listed as long as others run. The state is the first
 * letter behind the name's ")". */
static bool has_ended(uint32_t tid)
{
    char line[128];
    const char *s;

    read_file(tid, "stat", line, sizeof line);
    s = strrchr(line, ')');
    return s && s[1] == ' ' && (s[2] == 'Z' || s[2] == 'X');
}

/*
 * A line "NUMBER 0xARG ... 0xSP 0xPC" of a thread that sleeps in a call; "-1 0xSP 0xPC" if it
 * sleeps elsewhere, "running" if not at all.
 */
static void ask_call(struct frozen *t)
{
    char line[256];
    const char *s = line;
    int words = 0;

    t->call = -1;
    read_file(t->tid, "syscall", line, sizeof line);
    for (const char *at = line; *at; at++)
        words += *at == ' ';
    if (words != 8 || line[0] == '-') {
        if (words == 2 && line[0] == '-') {
            s += 3;
            t->sp = parse(&s, 16);
        }
        return;
    }
    t->call = (long)parse(&s, 10);
    for (int i = 0; i < 6; i++) {
        s++;
        parse(&s, 16);
    }
    s++;
    t->sp = t->call_sp = parse(&s, 16);
    s++;
    t->call_pc = parse(&s, 16);
}

struct directory_entry { /* struct linux_dirent64 */
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

/* How many of the ids in the directory are new; those are added. -1: it cannot be read. */
static int list_new(struct freeze *f, uint32_t self)
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
            if (f->n == FREEZE_THREADS_MAX)
                continue;
            f->threads[f->n] = (struct frozen){.tid = tid};
            f->n++; /* a handler may be looking for itself */
            found++;
        }
    kernel_call(SYS_close, fd);
    return n < 0 ? -1 : found;
}

static void tell(struct frozen *t, long pid)
{
    ask_call(t);
    if ((t->tid == (uint32_t)pid && has_ended(t->tid)) ||
        kernel_call(SYS_tgkill, pid, t->tid, SIGNAL_SETXID) < 0)
        t->state = FREEZE_GONE;
}

/* Waits until the thread stands. One that does not is where it was seen to sleep. */
static void wait_for(struct freeze *f, struct frozen *t)
{
    static const struct timespec pause = {.tv_nsec = 10000000};
    uint64_t begun = clock_ns(CLOCK_MONOTONIC);

    while (__atomic_load_n(&t->state, __ATOMIC_ACQUIRE) == FREEZE_TOLD) {
        if (clock_ns(CLOCK_MONOTONIC) - begun > ANSWER_NS) {
            t->state = FREEZE_MISSED;
            f->missed++;
            return;
        }
        futex(&t->state, FUTEX_WAIT, FREEZE_TOLD, &pause);
    }
}

/* Stops all that are there and those they have begotten meanwhile. */
static bool stop_all(struct freeze *f)
{
    long pid = kernel_call(SYS_getpid);
    uint32_t self = (uint32_t)kernel_call(SYS_gettid);
    size_t told = 0;

    for (int round = 0; round < ROUNDS_MAX; round++) {
        int found = list_new(f, self);

        if (found <= 0)
            return found == 0;
        for (; told < f->n; told++)
            tell(&f->threads[told], pid);
        for (size_t i = 0; i < f->n; i++)
            wait_for(f, &f->threads[i]);
    }
    return false;
}

static void set_action(const struct kernel_sigaction *action, struct kernel_sigaction *old)
{
    kernel_call(SYS_rt_sigaction, SIGNAL_SETXID, action, old, sizeof action->mask);
}

static bool may_freeze(void)
{
    return HAVE_FREEZE && kernel_allows(SYS_rt_sigaction) && kernel_allows(SYS_tgkill) &&
           kernel_allows(SYS_futex) && kernel_allows(SYS_getdents64) &&
           kernel_allows(SYS_rt_sigreturn);
}

bool freeze_begin(struct freeze *f)
{
    static const struct kernel_sigaction ours = {
        .handler = stand,
        .flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_RESTORER,
        .restorer = freeze_return,
        .mask = ~(uint64_t)0,
    };

    *f = (struct freeze){0};
    if (!may_freeze())
        return false;
    f->threads = pages_alloc(FREEZE_THREADS_MAX * sizeof *f->threads);
    if (!f->threads)
        return false;
    current = f;
    go = 0;
    set_action(&ours, &program_action);
    if (stop_all(f))
        return true;
    freeze_end(f);
    return false;
}

/*
 * Those who were told and have not come yet find nothing to wait for; what they write to
 * stays, and so does the handler, as the signal would end the process without it.
 */
void freeze_end(struct freeze *f)
{
    __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
    futex(&go, FUTEX_WAKE, INT32_MAX, NULL);
    if (!f->missed)
        set_action(&program_action, NULL);
    if (f->n == 0)
        pages_free(f->threads, FREEZE_THREADS_MAX * sizeof *f->threads);
}
