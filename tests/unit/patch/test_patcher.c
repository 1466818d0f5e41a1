/*
 * Patched calls of test functions and of the C library. The test functions' registers, flags and
 * red zone are checked, and stacks are walked from every instruction of theirs. Each round is a
 * child process, which patches, makes calls, and reports through shared memory.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "patch/find/find.h"
#include "patch/patcher.h"
#include "patch/stub.h"
#include "tests/tap.h"
#include "tests/unit/check.h"

/* Results of a child, in memory that it shares with this process. */
static struct shared {
    unsigned seen[512], unknown; /* calls by number */
    unsigned nested;
    long value[16];
} * shared;

PATCH_HANDLER __attribute__((no_sanitize("address", "undefined"))) static long
count(const struct patch_call *call)
{
    if ((unsigned long)call->number < ARRAY_LEN(shared->seen))
        __atomic_fetch_add(&shared->seen[call->number], 1, __ATOMIC_RELAXED);
    else
        shared->unknown++;
    return patch_make(call);
}

/* ---- modules of this process ---- */

struct module {
    const char *name; /* part of the path; NULL is the program */
    char path[300];
    uintptr_t bias;
    struct site_list list;
    struct patch_module patches;
};

static int note_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct module *m = arg;

    (void)size;
    if (m->name ? !strstr(info->dlpi_name, m->name) : info->dlpi_name[0] != 0)
        return 0;
    if (m->name)
        snprintf(m->path, sizeof m->path, "%s", info->dlpi_name);
    m->bias = info->dlpi_addr;
    return 0;
}

static bool load(struct module *m)
{
    dl_iterate_phdr(note_module, m);
    return m->path[0] && sites_find_in(&m->list, m->path) == 0;
}

static struct module self, libc = {.name = "/libc.so.6"}, libpthread = {.name = "/libpthread"};

static enum patch_result patch(struct module *m)
{
    return patch_apply(&m->patches, m->list.sites, m->list.n, m->bias, NULL);
}

/* All of the C library, in a child. */
static void patch_libc(void)
{
    patch_handler = count;
    CHECK(patch(&libc) == PATCH_DONE);
    if (libpthread.list.n)
        CHECK(patch(&libpthread) == PATCH_DONE);
}

/* Runs `what` in a child: it passes when all its checks did. */
static void in_child(void (*what)(void), const char *name)
{
    int status;
    pid_t pid;

    memset(shared, 0, sizeof *shared);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        alarm(120);
        what();
        _exit(failed != 0);
    }
    waitpid(pid, &status, 0);
    if (!ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", name))
        diag("  status 0x%x", status);
}

/* ---- functions of our own ---- */

/* Each makes a call (number, a, b, c, d, e, f) in its own kind of window. */
typedef long call_fn(long number, long a, long b, long c, long d, long e, long f);
call_fn site_number, site_before, site_after, site_relative;
long made_number(void);

#define ARGUMENTS                                                                                  \
    "mov %rsi,%rdi\nmov %rdx,%rsi\nmov %rcx,%rdx\nmov %r8,%r10\nmov %r9,%r8\nmov 8(%rsp),%r9\n"
#define FUNCTION(name, body)                                                                       \
    __asm__(".text\n.globl " name "\n.type " name ",@function\n.p2align 4\n" name ":\n"            \
            ".cfi_startproc\n" body "ret\n.cfi_endproc\n.size " name ",.-" name "\n")

FUNCTION("site_number", ARGUMENTS "mov $39,%eax\nsyscall\n");
FUNCTION("site_before", "mov %rdi,%rax\n" ARGUMENTS "syscall\n");
FUNCTION("site_after", "mov %rdi,%rax\n" ARGUMENTS "call made_number\nsyscall\n"
                       "cmp $-4096,%rax\nja 1f\nret\n1: neg %rax\nor $0x10000,%rax\n");
FUNCTION("made_number", "");
/* write(a, its own bytes, 4): the address is relative to the code. */
FUNCTION("site_relative", "mov %rsi,%rdi\nmov $4,%edx\nmov $1,%eax\nlea 1f(%rip),%rsi\nsyscall\n"
                          "ret\n1: .ascii \"here\"\n");

/*
 * Makes a call with all registers known, and stores them before and after: 16 general ones, the
 * flags, 2 vectors, 16 words of red zone.
 */
struct registers {
    uint64_t general[16], flags, xmm[4], red[16];
};
void registers_around(const struct registers *in, struct registers *out);

__asm__(".text\n.globl registers_around\n.type registers_around,@function\n.p2align 4\n"
        "registers_around:\n.cfi_startproc\n"
        "push %rbx\n.cfi_adjust_cfa_offset 8\npush %rbp\n.cfi_adjust_cfa_offset 8\n"
        "push %r12\n.cfi_adjust_cfa_offset 8\npush %r13\n.cfi_adjust_cfa_offset 8\n"
        "push %r14\n.cfi_adjust_cfa_offset 8\npush %r15\n.cfi_adjust_cfa_offset 8\n"
        "push %rsi\n.cfi_adjust_cfa_offset 8\n"
        ".set i,0\n.rept 16\nmov 168+8*i(%rdi),%rax\nmov %rax,-128+8*i(%rsp)\n.set i,i+1\n.endr\n"
        "movups 136(%rdi),%xmm0\nmovups 152(%rdi),%xmm15\n"
        "mov 8(%rdi),%rbx\nmov 16(%rdi),%rdx\nmov 24(%rdi),%rsi\nmov 40(%rdi),%rbp\n"
        "mov 48(%rdi),%r8\nmov 56(%rdi),%r9\nmov 64(%rdi),%r10\nmov 80(%rdi),%r12\n"
        "mov 88(%rdi),%r13\nmov 96(%rdi),%r14\nmov 104(%rdi),%r15\n"
        "mov 32(%rdi),%rdi\n"
        "sub %eax,%eax\nstc\nmov $39,%eax\n"
        "syscall\n"
        "registers_behind:\n"
        /* the flags without touching the red zone: three that matter, by setcc */
        "mov (%rsp),%rcx\n"
        "mov %rax,(%rcx)\nmov %rbx,8(%rcx)\nmov %rdx,16(%rcx)\nmov %rsi,24(%rcx)\n"
        "mov %rdi,32(%rcx)\nmov %rbp,40(%rcx)\nmov %r8,48(%rcx)\nmov %r9,56(%rcx)\n"
        "mov %r10,64(%rcx)\nmov %r11,72(%rcx)\nmov %r12,80(%rcx)\nmov %r13,88(%rcx)\n"
        "mov %r14,96(%rcx)\nmov %r15,104(%rcx)\nmov %rsp,112(%rcx)\n"
        "setc 128(%rcx)\nsetz 129(%rcx)\nseto 130(%rcx)\n"
        "movups %xmm0,136(%rcx)\nmovups %xmm15,152(%rcx)\n"
        ".set i,0\n.rept 16\nmov -128+8*i(%rsp),%rax\nmov %rax,168+8*i(%rcx)\n.set i,i+1\n.endr\n"
        "add $8,%rsp\n.cfi_adjust_cfa_offset -8\n"
        "pop %r15\n.cfi_adjust_cfa_offset -8\npop %r14\n.cfi_adjust_cfa_offset -8\n"
        "pop %r13\n.cfi_adjust_cfa_offset -8\npop %r12\n.cfi_adjust_cfa_offset -8\n"
        "pop %rbp\n.cfi_adjust_cfa_offset -8\npop %rbx\n.cfi_adjust_cfa_offset -8\n"
        "ret\n.cfi_endproc\n.size registers_around,.-registers_around\n");

static void round_registers(void)
{
    struct registers in, plain, patched;

    for (size_t i = 0; i < sizeof in / 8; i++)
        ((uint64_t *)&in)[i] = 0x0101010101010101u * (i + 1);
    memset(&plain, 0, sizeof plain);
    memset(&patched, 0, sizeof patched);
    registers_around(&in, &plain);
    patch_handler = count;
    CHECK(patch(&self) == PATCH_DONE);
    registers_around(&in, &patched);
    CHECK(shared->seen[SYS_getpid] == 1);
    CHECK(memcmp(plain.general, patched.general, sizeof plain.general) == 0);
    CHECK(plain.flags == patched.flags && (patched.flags & 0xff) == 1);
    CHECK(memcmp(patched.xmm, in.xmm, sizeof in.xmm) == 0);
    CHECK(memcmp(patched.red, in.red, sizeof in.red) == 0);
}

/* Handler that records a call's arguments, number, pc and sp. */
PATCH_HANDLER __attribute__((no_sanitize("address", "undefined"))) static long
note_arguments(const struct patch_call *call)
{
    shared->nested++;
    for (int i = 0; i < 6; i++)
        shared->value[i] = (long)call->args[i];
    shared->value[6] = call->number;
    shared->value[7] = (long)call->pc;
    shared->value[8] = (long)call->sp;
    return patch_make(call);
}

static void round_kinds(void)
{
    const long a[6] = {-1, 2, 3, 4, 5, 6};
    int p[2];
    char text[5] = "";

    patch_handler = note_arguments;
    CHECK(pipe(p) == 0);
    CHECK(patch(&self) == PATCH_DONE);
    CHECK(self.patches.stubs >= stub_home && self.patches.stubs < stub_home + sizeof stub_home);
    CHECK(site_number(0, a[0], a[1], a[2], a[3], a[4], a[5]) == getpid());
    CHECK(shared->nested == 1 && shared->value[6] == SYS_getpid);
    CHECK(memcmp(shared->value, a, sizeof a) == 0);
    CHECK(shared->value[7] > (long)(uintptr_t)site_number);
    CHECK(shared->value[7] < (long)(uintptr_t)site_number + 40);
    CHECK(site_before(SYS_close, a[0], a[1], a[2], a[3], a[4], a[5]) == -EBADF);
    CHECK(shared->nested == 2 && shared->value[6] == SYS_close);
    CHECK(memcmp(shared->value, a, sizeof a) == 0);
    CHECK(site_after(SYS_close, a[0], a[1], a[2], a[3], a[4], a[5]) == (0x10000 | EBADF));
    CHECK(site_after(SYS_getpid, 0, 0, 0, 0, 0, 0) == getpid());
    CHECK(shared->nested == 4);
    CHECK(site_relative(0, p[1], 0, 0, 0, 0, 0) == 4);
    CHECK(shared->nested == 5 && read(p[0], text, 4) == 4 && strcmp(text, "here") == 0);
}

/* Calls that must be made in place, through sites whose number is not known; and calls that no one
 * has asked for. */
static void round_in_place(void)
{
    const uint64_t asked[PATCH_NUMBERS / 64] = {1ull << SYS_getpid};
    long pid;
    int status;

    patch_handler = note_arguments;
    CHECK(patch(&self) == PATCH_DONE);
    for (int i = 0; i < 2; i++) {
        pid = (i ? site_before : site_after)(SYS_fork, 0, 0, 0, 0, 0, 0);
        if (pid == 0)
            _exit(7);
        CHECK(pid > 0 && waitpid((pid_t)pid, &status, 0) == pid);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    CHECK(shared->nested == 0);
    patch_numbers = asked;
    CHECK(site_before(SYS_close, -1, 0, 0, 0, 0, 0) == -EBADF);
    CHECK(site_after(SYS_close, -1, 0, 0, 0, 0, 0) == (0x10000 | EBADF));
    CHECK(site_before(PATCH_NUMBERS + SYS_getpid, 0, 0, 0, 0, 0, 0) == -ENOSYS);
    CHECK(site_before(-1, 0, 0, 0, 0, 0, 0) == -ENOSYS && shared->nested == 0);
    CHECK(site_before(SYS_getpid, 0, 0, 0, 0, 0, 0) == getpid() && shared->nested == 1);
    CHECK(site_number(0, 0, 0, 0, 0, 0, 0) == getpid() && shared->nested == 2);
    patch_numbers = NULL;
    shared->nested = 0;
    patch_handler = NULL;
    CHECK(site_before(SYS_getpid, 0, 0, 0, 0, 0, 0) == getpid());
    CHECK(site_after(SYS_getpid, 0, 0, 0, 0, 0, 0) == getpid());
    CHECK(site_number(0, 0, 0, 0, 0, 0, 0) == getpid() && shared->nested == 0);
}

/* ---- walking from each instruction ---- */

static volatile sig_atomic_t steps, lost;
static uintptr_t outer_lo, outer_hi; /* the function that calls */

/* The C library's, which walks by libgcc: libunwind has a function of that name, too, and that
   of 1.3 (Debian 11) is lost at rows that say where the return address is by an expression. */
static int (*walk)(void **frames, int max);

static void on_trap(int signal, siginfo_t *info, void *context)
{
    uintptr_t pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    void *frames[64];
    bool found = false;
    int n;

    (void)signal, (void)info;
    /* The compiler's tables do not cover the code that pushes and pops the flags. */
    if (pc >= outer_lo && pc < outer_hi)
        return;
    n = walk(frames, 64);
    for (int i = 0; i < n; i++)
        found |= (uintptr_t)frames[i] >= outer_lo && (uintptr_t)frames[i] < outer_hi;
    steps++;
    if (!found && lost++ < 3)
        diag("lost at step %d, %d frames, pc %#jx", (int)steps, n, (uintmax_t)pc);
}

static __attribute__((noinline)) long step_through(call_fn *call)
{
    long result;

    __asm__ volatile("pushfq\norl $0x100,(%%rsp)\npopfq" ::: "memory", "cc");
    result = call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    __asm__ volatile("pushfq\nandl $~0x100,(%%rsp)\npopfq" ::: "memory", "cc");
    return result;
}

static void round_walks(void)
{
    static call_fn *const calls[] = {site_number, site_before, site_after};
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    void *warm[4];

    *(void **)&walk = dlsym(dlopen("libc.so.6", RTLD_LAZY), "backtrace");
    if (!walk)
        _exit(1);
    walk(warm, 4);
    sigaction(SIGTRAP, &action, NULL);
    patch_handler = count;
    CHECK(patch(&self) == PATCH_DONE);
    outer_lo = (uintptr_t)step_through;
    outer_hi = outer_lo + 200;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        CHECK(step_through(calls[i]) == getpid());
    CHECK(steps > 200);
    CHECK(lost == 0);
    CHECK(shared->seen[SYS_getpid] == 3);
}

/* ---- the C library ---- */

static void round_plain_calls(void)
{
    struct timespec nap = {0, 1000000};
    unsigned pids;
    char text[4] = "";
    int p[2];

    patch_libc();
    pids = shared->seen[SYS_getpid];
    CHECK(getpid() == (pid_t)syscall(SYS_getpid));
    CHECK(shared->seen[SYS_getpid] == pids + 2);
    CHECK(pipe(p) == 0 && write(p[1], "abc", 3) == 3 && read(p[0], text, 3) == 3);
    CHECK(shared->seen[SYS_write] == 1 && shared->seen[SYS_read] == 1);
    CHECK(shared->seen[SYS_pipe] + shared->seen[SYS_pipe2] == 1);
    CHECK(strcmp(text, "abc") == 0);
    errno = 0;
    CHECK(read(-1, text, 1) == -1 && errno == EBADF && shared->seen[SYS_read] == 2);
    errno = 0;
    CHECK(syscall(SYS_close, -1) == -1 && errno == EBADF);
    CHECK(nanosleep(&nap, NULL) == 0);
    CHECK(shared->seen[SYS_nanosleep] + shared->seen[SYS_clock_nanosleep] == 1);
    CHECK(shared->unknown == 0);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int turn;

static void *take_turns(void *arg)
{
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&mutex);
        while (turn != (arg != NULL))
            pthread_cond_wait(&cond, &mutex);
        turn = !turn;
        pthread_cond_signal(&cond);
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

static void round_threads(void)
{
    pthread_attr_t attr;
    pthread_t t;

    patch_libc();
    pthread_attr_init(&attr);
    CHECK(pthread_attr_setstacksize(&attr, 16384) == 0);
    CHECK(pthread_create(&t, &attr, take_turns, &mutex) == 0);
    take_turns(NULL);
    CHECK(pthread_join(t, NULL) == 0);
    CHECK(shared->seen[SYS_futex] > 100);
}

static void round_children(void)
{
    char *argv[] = {(char[]){"true"}, NULL};
    int status = -1, p[2];
    pid_t pid;

    patch_libc();
    CHECK(posix_spawnp(&pid, "true", NULL, NULL, argv, environ) == 0);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(shared->seen[SYS_wait4] == 1 && shared->seen[SYS_execve] >= 1);
    CHECK(pipe(p) == 0);
    pid = fork();
    if (pid == 0)
        _exit(write(p[1], "x", 1) != 1);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0 && shared->seen[SYS_write] == 1);
    pid = vfork();
    if (pid == 0)
        _exit(getppid() == 1);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0 && shared->seen[SYS_getppid] == 1);
    CHECK(system("exit 3") == 3 << 8);
    CHECK(shared->seen[SYS_clone] + shared->seen[SYS_vfork] + shared->seen[SYS_clone3] == 0);
}

static int pipe_ends[2];

static void on_alarm(int signal)
{
    (void)signal;
    shared->value[0]++;
}

static void on_alarm_write(int signal)
{
    on_alarm(signal);
    if (write(pipe_ends[1], "x", 1) != 1)
        _exit(9);
}

static void alarm_soon(void (*handler)(int), int flags, long interval)
{
    struct itimerval soon = {.it_value = {0, 20000}, .it_interval = {0, interval}};
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
}

static void round_signals(void)
{
    struct itimerval off = {{0, 0}, {0, 0}};
    char c;

    /* The timers repeat, as the first signal may come before the call does. */
    CHECK(pipe(pipe_ends) == 0);
    patch_libc();
    alarm_soon(on_alarm, 0, 20000);
    errno = 0;
    CHECK(read(pipe_ends[0], &c, 1) == -1 && errno == EINTR && shared->value[0] > 0);
    alarm_soon(on_alarm_write, SA_RESTART, 20000);
    CHECK(read(pipe_ends[0], &c, 1) == 1 && c == 'x');
    setitimer(ITIMER_REAL, &off, NULL);
    CHECK(shared->seen[SYS_read] == 2);
}

static sigjmp_buf out;

static void on_alarm_leave(int signal)
{
    on_alarm(signal);
    siglongjmp(out, 1);
}

/* Jumps out at any instruction that the timer interrupts, asleep or not, a thousand times. */
static void round_jumps(void)
{
    struct itimerval off = {{0, 0}, {0, 0}};
    volatile long calls = 0;
    char c;

    CHECK(pipe(pipe_ends) == 0);
    patch_libc();
    if (sigsetjmp(out, 1) == 0)
        alarm_soon(on_alarm_leave, SA_RESTART, 251);
    while (shared->value[0] < 1000) {
        CHECK(write(pipe_ends[1], "y", 1) == 1);
        CHECK(read(pipe_ends[0], &c, 1) == 1);
        calls++;
        if (shared->value[0] % 5 == 0) /* asleep until the next one */
            CHECK(read(pipe_ends[0], &c, 1) == 1);
    }
    setitimer(ITIMER_REAL, &off, NULL);
    CHECK(getppid() > 1);
}

/* ---- cancellation ---- */

static void cleaned(void *arg)
{
    (void)arg;
    shared->value[1]++;
}

static void unlock(void *arg)
{
    cleaned(arg);
    pthread_mutex_unlock(arg);
}

static void *cancelled_read(void *arg)
{
    char c;

    pthread_cleanup_push(cleaned, NULL);
    while (read(pipe_ends[0], &c, 1) >= 0)
        ;
    pthread_cleanup_pop(0);
    return arg;
}

static void *cancelled_wait(void *arg)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, &mutex);
    for (;;)
        pthread_cond_wait(&cond, &mutex);
    pthread_cleanup_pop(0);
    return arg;
}

static void *cancelled_sleep(void *arg)
{
    pthread_cleanup_push(cleaned, NULL);
    for (;;)
        sleep(1000);
    pthread_cleanup_pop(0);
    return arg;
}

/* Cancelled asynchronously, so at any instruction. */
static void *cancelled_anywhere(void *arg)
{
    int old;

    pthread_cleanup_push(cleaned, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    for (;;)
        syscall(SYS_getppid);
    pthread_cleanup_pop(0);
    return arg;
}

static void round_cancel(void)
{
    static void *(*const kinds[])(void *) = {cancelled_read, cancelled_wait, cancelled_sleep,
                                             cancelled_anywhere};
    enum { ROUNDS = 40 };

    CHECK(pipe(pipe_ends) == 0);
    patch_libc();
    for (unsigned i = 0; i < ROUNDS * ARRAY_LEN(kinds); i++) {
        struct timespec nap = {0, (long)(i * 7919 % 200) * 1000};
        void *result = NULL;
        pthread_t t;

        CHECK(pthread_create(&t, NULL, kinds[i % ARRAY_LEN(kinds)], NULL) == 0);
        nanosleep(&nap, NULL);
        CHECK(pthread_cancel(t) == 0);
        CHECK(pthread_join(t, &result) == 0 && result == PTHREAD_CANCELED);
        if (failed)
            return;
    }
    CHECK(shared->value[1] > 0); /* a thread may be cancelled before its handler is there */
    CHECK(shared->seen[SYS_read] > 0 && shared->seen[SYS_futex] > 0);
}

/* ---- all or nothing ---- */

/* Keeps only the sites of the test functions. The program has other calls, the handler's own among
 * them. */
static void keep_own_sites(void)
{
    const uintptr_t ours[] = {(uintptr_t)site_number, (uintptr_t)site_before, (uintptr_t)site_after,
                              (uintptr_t)site_relative, (uintptr_t)registers_around};
    struct site_list *list = &self.list;
    size_t kept = 0;

    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; k < ARRAY_LEN(ours); k++)
            if (self.bias + list->sites[i].call - ours[k] < (k == 4 ? 400 : 64)) {
                list->sites[kept++] = list->sites[i];
                break;
            }
    list->n = kept;
}

static uint8_t *copy_of_text(const struct module *m, uintptr_t *lo, size_t *size)
{
    const struct patch_site *s = m->list.sites, *last = s + m->list.n - 1;
    uint8_t *copy;

    *lo = m->bias + s->at;
    *size = last->at + last->length - s->at;
    copy = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < *size; i++)
        copy[i] = ((const uint8_t *)*lo)[i];
    return copy;
}

static bool is_in_window(const struct module *m, uintptr_t addr)
{
    for (size_t i = 0; i < m->list.n; i++)
        if (m->list.sites[i].kind != SITE_NONE &&
            addr - (m->bias + m->list.sites[i].at) < m->list.sites[i].length)
            return true;
    return false;
}

static void round_undo(void)
{
    uintptr_t lo;
    size_t size, elsewhere = 0, changed = 0;
    uint8_t *before = copy_of_text(&libc, &lo, &size);

    patch_libc();
    CHECK(patch(&libc) == PATCH_AGAIN);
    for (size_t i = 0; i < size; i++)
        if (((const uint8_t *)lo)[i] != before[i]) {
            changed++;
            elsewhere += !is_in_window(&libc, lo + i);
        }
    CHECK(changed > libc.patches.patched * 4 && elsewhere == 0);
    CHECK(patch_undo(&libc.patches) == PATCH_DONE);
    CHECK(memcmp((const void *)lo, before, size) == 0);
    CHECK(patch_undo(&libc.patches) == PATCH_NOTHING);
    CHECK(patch(&libc) == PATCH_DONE && getppid() > 1 && shared->seen[SYS_getppid] == 1);
}

static bool is_protected(uintptr_t addr)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long start, end;
    char line[500], flags[5] = "";
    bool protected = false;

    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %4s", &start, &end, flags) == 3 && addr >= start && addr < end)
    protected = strcmp(flags, "r-xp") == 0;
    if (maps)
        fclose(maps);
    return protected;
}

static void round_protection(void)
{
    patch_libc();
    CHECK(is_protected(libc.bias + libc.list.sites[0].at));
    CHECK(is_protected((uintptr_t)libc.patches.stubs));
    CHECK(patch_undo(&libc.patches) == PATCH_DONE);
    CHECK(is_protected(libc.bias + libc.list.sites[0].at));
}

static bool wants_getppid(int32_t number)
{
    return number == SYS_getppid;
}

static bool wants_nothing(int32_t number)
{
    return number == 511;
}

static void round_results(void)
{
    struct patch_module m = {0};
    size_t n = libc.list.n;
    struct patch_site *s = libc.list.sites;

    patch_handler = count;
    CHECK(patch_apply(&m, s, n, libc.bias, wants_nothing) == PATCH_NOTHING);
    CHECK(patch_apply(&m, s, 0, libc.bias, NULL) == PATCH_NOTHING);
    CHECK(patch_apply(&m, s, n, libc.bias + (1ul << 40), NULL) == PATCH_UNMAPPED && m.at);
    CHECK(patch_apply(&m, s, n, libc.bias + 64, NULL) == PATCH_CHANGED && m.at && !m.patched);
    s[n / 2].kind = SITE_KINDS;
    CHECK(patch_apply(&m, s, n, libc.bias, NULL) == PATCH_UNSOUND);
    CHECK(sites_find_in(&libc.list, libc.path) == 0);
    CHECK(patch_apply(&m, libc.list.sites, n, libc.bias, wants_getppid) == PATCH_DONE);
    CHECK(m.patched == 1 && getppid() > 1 && getpid() > 1);
    CHECK(shared->seen[SYS_getppid] == 1 && shared->seen[SYS_getpid] == 0);
    CHECK(strcmp(patch_result_name(PATCH_REFUSED), "refused") == 0);
}

/* A filter that lets nothing become writable and executable, as SELinux has it. */
static void round_refused(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_READ | PROT_WRITE | PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = ARRAY_LEN(filter), .filter = filter};
    uintptr_t lo;
    size_t size;
    uint8_t *before = copy_of_text(&libc, &lo, &size);

    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    CHECK(patch(&libc) == PATCH_REFUSED && libc.patches.error == -EACCES);
    CHECK(patch(&self) == PATCH_REFUSED && self.patches.error == -EACCES);
    CHECK(!libc.patches.patched && memcmp((const void *)lo, before, size) == 0);
    CHECK(getppid() > 1 && shared->seen[SYS_getppid] == 0);
}

int main(int argc, char **argv)
{
    (void)argc;
    /* /proc/self/exe would be the loader if the test was started by it. */
    snprintf(self.path, sizeof self.path, "%s", argv[0]);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    load(&libpthread);
    if (!ok(load(&self) && load(&libc), "the program's and the C library's sites are found"))
        return done_testing();
    keep_own_sites();
    is_int((intmax_t)self.list.n, 5, "each function of this test has a site");
    in_child(round_registers,
             "a patched call leaves registers, flags and the red zone as the kernel does");
    in_child(round_kinds, "each kind of window passes number, arguments and place");
    in_child(round_in_place, "calls that return twice or are not wanted are made in place");
    in_child(round_walks, "the stack can be walked from every instruction of a patched call");
    in_child(round_undo, "undoing restores each byte, and only windows were changed");
    in_child(round_protection, "patched code is not left writable");
    in_child(round_results, "code that cannot be patched is reported and left alone");
    in_child(round_refused, "a patch that the kernel refuses changes nothing");
    in_child(round_plain_calls, "the C library's calls are seen, with correct results and errno");
    in_child(round_threads, "condition variables work with patched calls on a stack of 16 KiB");
    in_child(round_children, "posix_spawn, fork, vfork and system work with patched calls");
    in_child(round_signals, "EINTR and SA_RESTART work with patched calls");
    in_child(round_jumps, "siglongjmp out of patched calls works");
    in_child(round_cancel, "deferred and asynchronous cancellation work with patched calls");
    sites_release(&libc.list);
    sites_release(&libpthread.list);
    sites_release(&self.list);
    return done_testing();
}
