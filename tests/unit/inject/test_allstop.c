/*
 * A process is stopped, made to make calls, and resumed. The process that does so is killed at each
 * step in turn: the stopped one runs on as if nothing had happened.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inject/allstop.h"
#include "tests/unit/inject/killed.h"
#include "tests/tap.h"

/* Behind row()s. */
#define rows_hold(name) ok(tap_rows == 0, name)

/* ---- the stopped process ---- */

enum { FINE, REGISTERS, INTERRUPTED, MASK, ALTSTACK };

static struct {
    int started, over;
} * shared;

static sigset_t mask_wanted;
static char altstack[65536];

#if defined(__x86_64__)
/* In registers, for some 10 us at a time. The numbers are in all that can be kept there. */
static int spin(void)
{
    static const uint64_t pattern[4] = {0x1111222233334444, 0x5555666677778888, 0x9999aaaabbbbcccc,
                                        0xddddeeeeffff0123};
    uint64_t kept[4] = {0};
    uint64_t b = 1, c = 2, d = 3, e = 4, turns = 20000;
    bool wide = __builtin_cpu_supports("avx2");

    if (wide)
        __asm__ volatile("vmovdqu (%[from]), %%ymm7\n"
                         "1: dec %[n]\n"
                         "jnz 1b\n"
                         "vmovdqu %%ymm7, (%[to])\n"
                         "vzeroupper\n"
                         : [n] "+r"(turns), "+b"(b), "+c"(c), "+d"(d), "+S"(e)
                         : [from] "r"(pattern), [to] "r"(kept)
                         : "memory", "xmm7", "cc");
    else
        __asm__ volatile("movdqu (%[from]), %%xmm7\n"
                         "1: dec %[n]\n"
                         "jnz 1b\n"
                         "movdqu %%xmm7, (%[to])\n"
                         : [n] "+r"(turns), "+b"(b), "+c"(c), "+d"(d), "+S"(e)
                         : [from] "r"(pattern), [to] "r"(kept)
                         : "memory", "xmm7", "cc");
    return memcmp(pattern, kept, wide ? 32 : 16) == 0 && b == 1 && c == 2 && d == 3 && e == 4
               ? FINE
               : REGISTERS;
}
#else
/* The vectors of 16 bytes, and the long ones of a processor that has them (SVE). */
static int spin(void)
{
    uint64_t pattern[32], kept[32] = {0};
    uint64_t b = 1, c = 2, d = 3, e = 4, turns = 20000, bytes = 16;

    for (size_t i = 0; i < 32; i++)
        pattern[i] = 0x1111222233334444 * (i + 1);
    if (getauxval(AT_HWCAP) & HWCAP_SVE)
        __asm__ volatile(".arch_extension sve\n"
                         "rdvl %[bytes], #1\n"
                         "ldr z7, [%[from]]\n"
                         "1: subs %[n], %[n], #1\n"
                         "b.ne 1b\n"
                         "str z7, [%[to]]\n"
                         : [n] "+r"(turns), [bytes] "+r"(bytes), "+r"(b), "+r"(c), "+r"(d), "+r"(e)
                         : [from] "r"(pattern), [to] "r"(kept)
                         : "memory", "v7", "cc");
    else
        __asm__ volatile("ldr q7, [%[from]]\n"
                         "1: subs %[n], %[n], #1\n"
                         "b.ne 1b\n"
                         "str q7, [%[to]]\n"
                         : [n] "+r"(turns), "+r"(b), "+r"(c), "+r"(d), "+r"(e)
                         : [from] "r"(pattern), [to] "r"(kept)
                         : "memory", "v7", "cc");
    return memcmp(pattern, kept, bytes) == 0 && b == 1 && c == 2 && d == 3 && e == 4 ? FINE
                                                                                     : REGISTERS;
}
#endif

static int run_on(int fd)
{
    int status = FINE;

    (void)fd;
    shared->started = 1;
    while (!__atomic_load_n(&shared->over, __ATOMIC_RELAXED) && !status)
        status = spin();
    return status;
}

static int sleep_on(int fd)
{
    int poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};

    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
    shared->started = 1;
    return epoll_wait(poll, &event, 1, -1) == 1 ? FINE : INTERRUPTED;
}

static int nap_on(int fd)
{
    struct timespec left = {0, 20000000};

    (void)fd;
    shared->started = 1;
    while (!__atomic_load_n(&shared->over, __ATOMIC_RELAXED))
        if (nanosleep(&left, NULL) < 0)
            return INTERRUPTED;
    return FINE;
}

static void victim(int (*act)(int), int fd)
{
    stack_t stack = {.ss_sp = altstack, .ss_size = sizeof altstack}, now;
    sigset_t mask;
    int status;

    sigaltstack(&stack, NULL);
    sigemptyset(&mask_wanted);
    sigaddset(&mask_wanted, SIGUSR1);
    sigprocmask(SIG_SETMASK, &mask_wanted, NULL);
    status = act(fd);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    if (!status && memcmp(&mask, &mask_wanted, 8) != 0)
        status = MASK;
    sigaltstack(NULL, &now);
    if (!status && (now.ss_sp != altstack || now.ss_flags))
        status = ALTSTACK;
    _exit(status);
}

/* ---- the process that stops it ---- */

/* Stops the process, has it map and unmap memory, and lets it go. */
static void stopper(pid_t pid, const struct sigreturn_frame_code *code)
{
    struct allstop *stop = allstop_new(pid);
    enum allstop_answer answer;
    long at;

    while ((answer = allstop_stop(stop)) == ALLSTOP_AGAIN)
        ;
    if (answer != ALLSTOP_OK)
        _exit(2);
    at = allstop_call(stop, code, SYS_mmap,
                      (const unsigned long[6]){0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
                                               (unsigned long)-1, 0});
    if (at <= 0 || at % 4096 ||
        allstop_call(stop, code, SYS_munmap, (const unsigned long[6]){(unsigned long)at, 4096}))
        _exit(3);
    allstop_go(stop);
    allstop_free(stop);
    _exit(0);
}

/* This process's own code, which forked children share. */
static struct sigreturn_frame_code find_code(void)
{
    struct maps_snapshot maps = {.maps = NULL};
    struct sigreturn_frame_code code = {0};
    struct procmem mem;

    if (procmem_open(&mem, getpid()) == 0 && maps_snapshot_read(&maps, getpid(), 0))
        sigreturn_frame_find(&code, &mem, &maps, (uintptr_t)getppid);
    procmem_close(&mem);
    maps_snapshot_release(&maps);
    return code;
}

struct round {
    int victim, stopper; /* wait statuses */
};

/* The stopper is killed at its n-th step. */
static struct round go(int (*act)(int), unsigned n, const struct sigreturn_frame_code *code)
{
    const struct timespec moment = {0, 200000};
    struct round r = {0, 0};
    pid_t pid, by;
    int fds[2];

    shared->started = shared->over = 0;
    if (pipe(fds) < 0)
        return r;
    pid = fork();
    if (pid == 0)
        victim(act, fds[0]);
    while (!__atomic_load_n(&shared->started, __ATOMIC_RELAXED))
        nanosleep(&moment, NULL);
    nanosleep(&moment, NULL);
    by = fork();
    if (by == 0) {
        killed_at = n;
        stopper(pid, code);
    }
    waitpid(by, &r.stopper, 0);
    nanosleep(&moment, NULL);
    shared->over = 1;
    if (write(fds[1], "x", 1) != 1)
        r.victim = -1;
    waitpid(pid, &r.victim, 0);
    close(fds[0]);
    close(fds[1]);
    return r;
}

/* Kills the stopper at each step until none is left. Returns how many rounds ended with
 * INTERRUPTED. */
static unsigned kill_at_each(int (*act)(int), const struct sigreturn_frame_code *code)
{
    unsigned interrupted = 0, n = 0;
    struct round r;

    do {
        r = go(act, ++n, code);
        if (WIFEXITED(r.victim) && WEXITSTATUS(r.victim) == INTERRUPTED)
            interrupted++;
        else
            row(r.victim == 0, "killed at step %u: status 0x%x", n, (unsigned)r.victim);
    } while (WIFSIGNALED(r.stopper) && n < 1000);
    row(n > 20 && WIFEXITED(r.stopper) && WEXITSTATUS(r.stopper) == 0, "after %u steps: 0x%x", n,
        (unsigned)r.stopper);
    return interrupted;
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* A call for flame in the middle of a sleep of two seconds. If the sleep began anew, it would be
 * three. */
static void test_sleep(const struct sigreturn_frame_code *code)
{
    uint64_t began = now_ms();
    pid_t pid = fork(), by;
    int status, called;

    if (pid == 0) {
        nanosleep(&(struct timespec){2, 0}, NULL);
        _exit(now_ms() - began < 2900 ? FINE : INTERRUPTED);
    }
    nanosleep(&(struct timespec){1, 0}, NULL);
    by = fork();
    if (by == 0)
        stopper(pid, code);
    waitpid(by, &called, 0);
    waitpid(pid, &status, 0);
    ok(called == 0, "a thread in a sleep makes a call");
    ok(status == 0, "the sleep goes on after the call, and does not begin anew");
}

int main(void)
{
    struct sigreturn_frame_code code = find_code();
    unsigned cut = 0;

    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ok(code.call && code.call_ret && code.sigreturn,
       "the code for calls and the signal return are found");
    kill_at_each(run_on, &code);
    rows_hold("a running thread gets back its registers, mask and alternate stack");
    /* A stopper without a CPU asks more often whether the thread has stopped: then the same moment
       is several steps. */
    for (unsigned tries = 0; tries < 10 && (!tries || cut > 2); tries++)
        cut = kill_at_each(sleep_on, &code);
    rows_hold("a sleep without a limit continues");
    /* A stop between the call's end and the first check is seen as a cut. */
    ok(cut <= 2, "a sleep without a limit is cut at no more than two steps");
    kill_at_each(nap_on, &code);
    rows_hold("a sleep with a limit continues or is cut");
    test_sleep(&code);
    return done_testing();
}
