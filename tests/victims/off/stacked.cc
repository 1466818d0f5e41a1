// stacked.cc: stacks of every kind, for a tracer that stops it at any moment.
//
//   stacked spin       calls of all sorts, all the time
//   stacked throw      exceptions through several frames, all the time
//   stacked deep       3,000 frames, then short sleeps
//   stacked altstack   a signal handler on a stack of its own, that works
//   stacked coroutine  makecontext and swapcontext
//   stacked assembler  a frame that is found through rbx
//   stacked clock      the time, read from the vdso
//   stacked block      condition variables, read, poll, in turn, 1 ms each
//
// It runs until it is killed.
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <pthread.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

static NOINLINE void leaf(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sink += i;
}

static NOINLINE int variadic(const char *fmt, ...)
{
    char text[100];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    sink += strlen(text);
    return text[0];
}

static NOINLINE int with_alloca(unsigned n)
{
    char *p = static_cast<char *>(__builtin_alloca(n + 16));

    memset(p, 1, n + 16);
    leaf(p[n]);
    return variadic("%s %d", "alloca", static_cast<int>(n)) + p[3];
}

// A stack that must be realigned for what lies on it.
static NOINLINE int aligned(unsigned n)
{
    alignas(64) volatile char wide[128];

    for (unsigned i = 0; i < sizeof wide; i++)
        wide[i] = static_cast<char>(n);
    return with_alloca(n % 200) + wide[5];
}

static int compare(const void *a, const void *b)
{
    leaf(2);
    return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

static NOINLINE int tail(unsigned n)
{
    return aligned(n + 1);
}

static NOINLINE int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
    int numbers[] = {h, g, f, e, d, c, b, a};

    qsort(numbers, 8, sizeof numbers[0], compare);
    return numbers[0] + tail(static_cast<unsigned>(a));
}

static NOINLINE int spin_once(unsigned n)
{
    int (*pointer)(unsigned) = n % 2 ? tail : aligned;

    return many(static_cast<int>(n % 50), 3, 9, 1, 4, 2, 8, 5) + pointer(n % 30);
}

static void spin()
{
    for (unsigned n = 0;; n++)
        sink += static_cast<unsigned long>(spin_once(n));
}

struct Guard {
    int &n;
    ~Guard()
    {
        n++, leaf(5);
    }
};

static NOINLINE int thrower(int depth, int &n)
{
    Guard guard{n};

    if (depth == 0)
        throw depth + 5;
    return thrower(depth - 1, n) + 1;
}

static void throw_all()
{
    int n = 0;

    for (;;)
        try {
            sink += static_cast<unsigned long>(thrower(6, n));
        } catch (int x) {
            sink += static_cast<unsigned long>(x);
        }
}

static NOINLINE int deep(unsigned depth)
{
    volatile char room[24] = {0};
    struct timespec ts = {0, 300000};

    if (depth == 0)
        for (;;) {
            nanosleep(&ts, nullptr);
            leaf(1000);
        }
    return deep(depth - 1) + room[depth % sizeof room];
}

static void on_alarm(int)
{
    for (unsigned i = 0; i < 20; i++)
        sink += static_cast<unsigned long>(spin_once(i));
}

static void altstack()
{
    static char stack[65536];
    stack_t ss = {};
    struct sigaction sa = {};
    struct itimerval tick = {{0, 500}, {0, 500}};

    ss.ss_sp = stack;
    ss.ss_size = sizeof stack;
    sigaltstack(&ss, nullptr);
    sa.sa_handler = on_alarm;
    sa.sa_flags = SA_ONSTACK | SA_RESTART;
    sigaction(SIGALRM, &sa, nullptr);
    setitimer(ITIMER_REAL, &tick, nullptr);
    spin();
}

static ucontext_t home, away;

static void coroutine()
{
    for (unsigned n = 0;; n++) {
        sink += static_cast<unsigned long>(spin_once(n));
        if (n % 8 == 0)
            swapcontext(&away, &home);
    }
}

static void coroutines()
{
    static char stack[65536];

    getcontext(&away);
    away.uc_stack.ss_sp = stack;
    away.uc_stack.ss_size = sizeof stack;
    away.uc_link = &home;
    makecontext(&away, coroutine, 0);
    for (;;) {
        swapcontext(&home, &away);
        leaf(500);
    }
}

static NOINLINE void wait_condition(long ns)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ns;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&cond, &mutex, &until);
    pthread_mutex_unlock(&mutex);
}

static void block()
{
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec every = {{0, 1000000}, {0, 1000000}};
    unsigned long ticks;

    timerfd_settime(fd, 0, &every, nullptr);
    for (;;) {
        wait_condition(1000000);
        if (read(fd, &ticks, sizeof ticks) > 0)
            sink += ticks;
        poll(nullptr, 0, 1);
    }
}

// A frame that is found through rbx: what hand-written assembler does.
extern "C" void by_rbx(void (*inner)(void));
asm(".text\n"
    ".globl by_rbx\n"
    ".type by_rbx, @function\n"
    "by_rbx:\n"
    ".cfi_startproc\n"
    "    push %rbx\n"
    ".cfi_adjust_cfa_offset 8\n"
    ".cfi_offset rbx, -16\n"
    "    mov %rsp, %rbx\n"
    ".cfi_def_cfa_register rbx\n"
    "    sub $64, %rsp\n"
    "    call *%rdi\n"
    "    mov %rbx, %rsp\n"
    ".cfi_def_cfa_register rsp\n"
    "    pop %rbx\n"
    ".cfi_adjust_cfa_offset -8\n"
    "    ret\n"
    ".cfi_endproc\n"
    ".size by_rbx, . - by_rbx\n");

static void inner()
{
    for (unsigned i = 0; i < 100; i++)
        sink += static_cast<unsigned long>(spin_once(i));
}

static NOINLINE unsigned long ask_clock()
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<unsigned long>(now.tv_nsec);
}

static NOINLINE void clocks()
{
    for (;;)
        sink += ask_clock();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "spin") == 0)
        spin();
    if (strcmp(what, "throw") == 0)
        throw_all();
    if (strcmp(what, "deep") == 0)
        deep(3000);
    if (strcmp(what, "altstack") == 0)
        altstack();
    if (strcmp(what, "coroutine") == 0)
        coroutines();
    for (; strcmp(what, "assembler") == 0;)
        by_rbx(inner);
    if (strcmp(what, "clock") == 0)
        clocks();
    if (strcmp(what, "block") == 0)
        block();
    fputs("stacked: spin, throw, deep, altstack, coroutine, assembler, clock or block\n", stderr);
    return 2;
}
