/*
 * Programs under libflamewait.so, without a tracer and without its filter. Each act below runs in a
 * process of its own that has the library, and checks that the library changes nothing. Then its
 * calls are compared with its rings. With an argument this program is such a process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "inproc/syscall_mark.h"
#include "common/strbuf.h"
#include "inproc/reader/unsupported.h"
#include "inproc/rseq.h"
#include "tests/tap.h"
#include "tests/unit/check.h"
#include "tests/unit/this_libc.h"
#include "tracer/inproc/ringevents.h"
#include "tracer/offcpu/offcpu.h"

extern char **environ;

static void sleep_ns(long ns)
{
    struct timespec t = {0, ns};

    nanosleep(&t, NULL);
}

/* ---- acts ---- */

static void act_calls(void)
{
    int p[2];
    char b[8];

    CHECK(pipe(p) == 0);
    CHECK(write(p[1], "hello", 5) == 5);
    CHECK(read(p[0], b, 8) == 5);
    sleep_ns(2000000);
    close(p[1]);
    CHECK(read(p[0], b, 8) == 0);
    errno = 0;
    CHECK(read(-1, b, 8) == -1 && errno == EBADF);
    close(p[0]);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static unsigned turn;

static void *take_turns(void *arg)
{
    unsigned mine = (unsigned)(uintptr_t)arg;

    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&lock);
        while (turn % 4 != mine)
            pthread_cond_wait(&turned, &lock);
        turn++;
        pthread_cond_broadcast(&turned);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void act_threads(void)
{
    pthread_t t[4];

    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, take_turns, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    CHECK(turn == 2000);
}

static void *do_nothing(void *arg)
{
    sleep_ns(1000);
    return arg;
}

/* More threads than rings, one after the other and at once. */
static void act_many(void)
{
    for (int round = 0; round < 30; round++) {
        pthread_t t[20];

        for (int i = 0; i < 20; i++)
            pthread_create(&t[i], NULL, do_nothing, NULL);
        for (int i = 0; i < 20; i++)
            CHECK(pthread_join(t[i], NULL) == 0);
    }
}

static void act_fork(void)
{
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"read x; exit 5", NULL};
    int p[2], status;
    pid_t pid;
    char b;

    CHECK(pipe(p) == 0);
    pid = fork();
    if (pid == 0) {
        sleep_ns(1000000);
        _exit(write(p[1], "x", 1) == 1 ? 7 : 8);
    }
    CHECK(read(p[0], &b, 1) == 1);
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
    pid = vfork();
    if (pid == 0)
        _exit(6);
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 6);
    CHECK(posix_spawnp(&pid, "sh", NULL, NULL, argv, environ) == 0);
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5);
    pid = fork();
    if (pid == 0) {
        char *none[] = {NULL};

        execve("/bin/true", argv, none);
        _exit(9);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(system("exit 3") == 3 << 8);
}

static volatile sig_atomic_t hits;
static int handler_pipe[2];
static sigjmp_buf out;

static void on_alarm(int sig)
{
    int saved = errno;

    (void)sig;
    hits++;
    if (write(handler_pipe[1], "h", 1) != 1)
        hits = -1000;
    errno = saved;
}

static void leave_handler(int sig)
{
    (void)sig;
    hits++;
    siglongjmp(out, 1);
}

static void every(int sig, void (*handler)(int), int flags, long us)
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = flags};
    struct itimerval v = {{0, us}, {0, us}};

    (void)sig;
    sigaction(SIGALRM, &a, NULL);
    setitimer(ITIMER_REAL, &v, NULL);
}

static void act_signals(void)
{
    struct pollfd nothing;
    int p[2];
    char b[64];

    CHECK(pipe(p) == 0 && pipe(handler_pipe) == 0);
    every(SIGALRM, on_alarm, 0, 3000);
    for (int i = 0; i < 5; i++)
        CHECK(read(p[0], b, 1) == -1 && errno == EINTR);
    nothing = (struct pollfd){.fd = p[0], .events = POLLIN};
    every(SIGALRM, on_alarm, SA_RESTART, 3000);
    CHECK(poll(&nothing, 1, -1) == -1 && errno == EINTR);
    hits = 0;
    if (fork() == 0) {
        every(SIGALRM, SIG_IGN, 0, 0);
        sleep_ns(30000000);
        _exit(write(p[1], "x", 1) != 1);
    }
    CHECK(read(p[0], b, 1) == 1 && hits >= 3);
    every(SIGALRM, SIG_DFL, 0, 0);
    while (hits-- > 0)
        CHECK(read(handler_pipe[0], b, 1) == 1);
    while (wait(NULL) > 0)
        ;
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pid_t locker, reader;

/* Descriptors of both ends of a pipe. */
#define CHAIN_OUT 100
#define CHAIN_IN 101

static void *lock_and_write(void *arg)
{
    __atomic_store_n(&locker, (pid_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&held);
    CHECK(write(CHAIN_IN, "x", 1) == 1);
    pthread_mutex_unlock(&held);
    return arg;
}

static void *read_it(void *arg)
{
    char b;

    __atomic_store_n(&reader, (pid_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    CHECK(read(CHAIN_OUT, &b, 1) == 1);
    return arg;
}

/* Waits until the thread sleeps in this call. */
static void await_call(const pid_t *tid, int nr)
{
    char name[64], text[64], want[16];
    ssize_t n = 0;

    snprintf(want, sizeof want, "%d ", nr);
    do {
        int fd = -1;

        sched_yield();
        snprintf(name, sizeof name, "/proc/self/task/%d/syscall",
                 (int)__atomic_load_n(tid, __ATOMIC_SEQ_CST));
        fd = open(name, O_RDONLY | O_CLOEXEC);
        n = fd < 0 ? 0 : pread(fd, text, sizeof text - 1, 0);
        close(fd);
        text[n > 0 ? n : 0] = '\0';
    } while (strncmp(text, want, strlen(want)) != 0);
}

/* The main thread holds the lock that one thread waits for. A second thread waits for that one's
 * byte. */
static void act_chain(void)
{
    pthread_t t[2];
    int p[2];

    CHECK(pipe(p) == 0 && dup2(p[0], CHAIN_OUT) >= 0 && dup2(p[1], CHAIN_IN) >= 0);
    pthread_mutex_lock(&held);
    pthread_create(&t[0], NULL, read_it, NULL);
    pthread_create(&t[1], NULL, lock_and_write, NULL);
    await_call(&locker, SYS_futex);
    await_call(&reader, SYS_read);
    pthread_mutex_unlock(&held);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
}

/* Handlers that jump out at any instruction that they interrupt. */
static void act_jumps(void)
{
    struct timespec none = {0, 0};
    volatile int rounds = 0;

    every(SIGALRM, leave_handler, SA_NODEFER, 200);
    sigsetjmp(out, 1);
    while (hits < 3000) {
        rounds++;
        nanosleep(&none, NULL);
    }
    every(SIGALRM, SIG_IGN, 0, 0);
    CHECK(rounds > 0);
    for (int i = 0; i < 10; i++)
        sleep_ns(1);
    syscall(SYS_futex, &hits, 1, 1); /* FUTEX_WAKE: shows that calls are logged at the end */
}

static void call_in_handler(int sig)
{
    struct timespec none = {0, 0};

    (void)sig;
    hits++;
    nanosleep(&none, NULL);
}

/* Handlers that make calls at any instruction that they interrupt, and return. The interrupted
 * calls are more than 5,000 by themselves. */
static void act_nested(void)
{
    struct timespec none = {0, 0};

    every(SIGALRM, call_in_handler, 0, 200);
    for (int calls = 0; hits < 5000 || calls <= 5000; calls++)
        nanosleep(&none, NULL);
    every(SIGALRM, SIG_IGN, 0, 0);
}

static char other_stack[65536];

static void act_stacks(void)
{
    stack_t s = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
    pthread_attr_t a;
    pthread_t t;
    sigset_t all;

    sigaltstack(&s, NULL);
    every(SIGALRM, leave_handler, SA_NODEFER | SA_ONSTACK, 300);
    if (sigsetjmp(out, 1) < 5 && hits < 300)
        for (;;)
            sleep_ns(1);
    every(SIGALRM, SIG_IGN, 0, 0);
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 16384);
    pthread_create(&t, &a, do_nothing, NULL);
    CHECK(pthread_join(t, NULL) == 0);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sleep_ns(1);
}

static void *read_for_ever(void *arg)
{
    int type = (int)(uintptr_t)arg, p[2];
    char b;

    pthread_setcanceltype(type, NULL);
    if (pipe(p) == 0)
        while (read(p[0], &b, 1) != 1)
            ;
    return NULL;
}

static void act_cancel(void)
{
    for (int i = 0; i < 60; i++) {
        pthread_t t;
        void *result;

        pthread_create(
            &t, NULL, read_for_ever,
            (void *)(uintptr_t)(i % 2 ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED));
        sleep_ns(i * 10000);
        pthread_cancel(t);
        CHECK(pthread_join(t, &result) == 0 && result == PTHREAD_CANCELED);
    }
}

/* A call from a place that only `depth` distinguishes from others, with all vector registers full.
 */
static __attribute__((noinline)) bool vectors_stay(int depth)
{
    static const unsigned char full[64] __attribute__((aligned(64))) = {
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22};
    unsigned char after[3][32];
    struct timespec none = {0, 0};
    long nr = SYS_nanosleep;

    if (depth)
        return vectors_stay(depth - 1) && depth;
    /* The C library's syscall(), which is patched; by registers, as a compiler would save them. */
    __asm__ volatile("vmovdqu %4,%%ymm0; vmovdqu %4,%%ymm7; vmovdqu %4,%%ymm15\n"
                     "mov %3,%%rdi; mov %5,%%rsi; xor %%edx,%%edx\n"
                     "mov %%rsp,%%rbx; sub $256,%%rsp; and $-64,%%rsp; xor %%eax,%%eax\n"
                     "call *%6\n"
                     "mov %%rbx,%%rsp\n"
                     "vmovdqu %%ymm0,%0; vmovdqu %%ymm7,%1; vmovdqu %%ymm15,%2\n"
                     : "=m"(after[0]), "=m"(after[1]), "=m"(after[2])
                     : "r"(nr), "m"(full), "r"(&none), "r"(syscall)
                     : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0",
                       "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                       "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
    for (int i = 0; i < 3; i++)
        if (memcmp(after[i], full, 32) != 0)
            return false;
    return true;
}

static void act_vectors(void)
{
    if (!__builtin_cpu_supports("avx2"))
        return;
    for (int round = 0; round < 3; round++)
        for (int depth = 0; depth < 30; depth++)
            CHECK(vectors_stay(depth));
}

#define PREEMPTED_WRITES 200
/* Sleeps before a write: none, in a lock's futex, in nanosleep, and in select, which is not logged.
 */
enum { AFTER_NOTHING, AFTER_LOCK, AFTER_SLEEP, AFTER_UNNOTED, AFTERS };

static void *read_until_end(void *arg)
{
    char b;

    while (read(*(const int *)arg, &b, 1) == 1)
        ;
    return arg;
}

static void sleep_before(int what)
{
    struct timespec at;
    struct timeval t = {0, 50};

    if (what == AFTER_LOCK) { /* the lock is held, so this waits in futex until then */
        clock_gettime(CLOCK_REALTIME, &at);
        at.tv_nsec += 50000;
        if (at.tv_nsec >= 1000000000)
            at.tv_sec++, at.tv_nsec -= 1000000000;
        CHECK(pthread_mutex_timedlock(&held, &at) == ETIMEDOUT);
    } else if (what == AFTER_SLEEP) {
        sleep_ns(50000);
    } else if (what == AFTER_UNNOTED) {
        CHECK(select(0, NULL, NULL, NULL, &t) == 0);
    }
}

/* Writes to a pipe whose reader takes the writer's only processor each time, after all kinds of
 * sleeps. */
static void act_preempted(void)
{
    struct sched_param none = {0};
    pthread_t t;
    cpu_set_t one;
    int p[2];

    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    CHECK(pipe(p) == 0 && sched_setaffinity(0, sizeof one, &one) == 0);
    pthread_create(&t, NULL, read_until_end, &p[0]);
    CHECK(sched_setscheduler(0, SCHED_IDLE, &none) == 0); /* of this thread only */
    pthread_mutex_lock(&held);
    for (int i = 0; i < PREEMPTED_WRITES * AFTERS; i++) {
        sleep_before(i % AFTERS);
        CHECK(write(p[1], "x", 1) == 1);
    }
    pthread_mutex_unlock(&held);
    close(p[1]);
    pthread_join(t, NULL);
}

static void act_nothing_open(void)
{
    int saved = dup(2), p[2];

    for (int fd = 3; fd < 100; fd++)
        if (fd != saved)
            close(fd);
    CHECK(pipe(p) == 0 && p[0] <= 4);
    sleep_ns(1);
    CHECK(write(p[1], "x", 1) == 1);
}

/* No memory is available: the library stops requesting any. */
static void act_no_memory(void)
{
    struct rlimit none = {1, 1};

    sleep_ns(1);
    setrlimit(RLIMIT_AS, &none);
    setrlimit(RLIMIT_NOFILE, &none);
    for (int i = 0; i < 100; i++)
        sleep_ns(1);
}

/* Reading the processor's counter would raise SIGSEGV: no code reads it, in this process and its
 * children. */
static void act_no_counter(void)
{
    pthread_t t;
    int status;

    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0)
        return;
    for (int i = 0; i < 10; i++)
        sleep_ns(1000);
    pthread_create(&t, NULL, do_nothing, NULL);
    CHECK(pthread_join(t, NULL) == 0);
    if (fork() == 0) {
        sleep_ns(1000);
        _exit(5);
    }
    CHECK(wait(&status) > 0 && WEXITSTATUS(status) == 5);
}

static const struct act {
    const char *name;
    void (*run)(void);
} acts[] = {
    {"calls", act_calls},         {"threads", act_threads},     {"many", act_many},
    {"fork", act_fork},           {"signals", act_signals},     {"chain", act_chain},
    {"jumps", act_jumps},         {"nested", act_nested},       {"stacks", act_stacks},
    {"cancel", act_cancel},       {"vectors", act_vectors},     {"nothing_open", act_nothing_open},
    {"preempted", act_preempted}, {"no_memory", act_no_memory}, {"no_counter", act_no_counter}};

/* ---- what the rings say ---- */

static struct shm_server *session;
static struct entry {
    pid_t tid;
    int nr;
    int64_t result;
    uint32_t flags, stack;
    uint64_t ns;
} log_[200000];
static size_t nlog, nbegun, ndamaged;

static void feed_machine(enum ring_result what, const struct ring_reader *r);
static bool with_machine;

static uint32_t take_stack(void *arg, pid_t tid, const uint64_t *pcs, size_t n)
{
    (void)arg, (void)tid, (void)pcs;
    return (uint32_t)n;
}

static void take_event(void *arg, enum ring_result what, const struct ring_reader *r)
{
    (void)arg;
    nbegun += what == RING_ENTERED;
    if (with_machine)
        feed_machine(what, r);
    if ((what == RING_LEFT || r->passed) && nlog < sizeof log_ / sizeof *log_)
        log_[nlog++] = (struct entry){r->tid,   r->call.nr,    r->result,
                                      r->flags, r->call.stack, r->time - r->call.begin};
}

static void take_damage(void *arg, const struct ring_reader *r)
{
    (void)arg;
    ndamaged++;
    diag("%d: %s", (int)r->tid, r->damage);
}

static const struct shm_server_client client = {
    .ring = {.stack = take_stack}, .event = take_event, .damaged = take_damage};

static size_t count(int nr)
{
    size_t n = 0;

    for (size_t i = 0; i < nlog; i++)
        n += log_[i].nr == nr;
    return n;
}

/* ---- what the state machine makes of it ---- */

static struct ringevents *events; /* NULL: nothing */
static struct offcpu *machine;
static uint32_t stack_now;
static struct off_sleep sleeps[16];
static size_t nsleeps;

static off_stack machine_stack(void *arg, pid_t tid)
{
    (void)arg, (void)tid;
    return stack_now;
}

static bool machine_sched(void *arg, pid_t tid, struct off_sched *to)
{
    (void)arg, (void)tid, (void)to;
    return false;
}

static void machine_object(void *arg, pid_t tid, int nr, const uint64_t args[6],
                           struct off_object *to, struct off_set *set)
{
    (void)arg, (void)tid;
    set->n = 0;
    if (nr == SYS_futex)
        *to = (struct off_object){.kind = OFF_ON_FUTEX, .b = args[0]};
    else
        *to = (struct off_object){.kind = OFF_ON_PIPE, .a = args[0] / 2};
}

static off_stack machine_slept(void *arg, const struct off_sleep *s)
{
    (void)arg;
    if (nsleeps < sizeof sleeps / sizeof *sleeps)
        sleeps[nsleeps++] = *s;
    return s->stack;
}

static void machine_oncpu(void *arg, const struct off_oncpu *c)
{
    (void)arg, (void)c;
}

static void machine_rest(void *arg, pid_t tid, enum off_other_time kind, const struct off_span *s)
{
    (void)arg, (void)tid, (void)kind, (void)s;
}

static void machine_event(void *arg, const struct off_event *e, uint32_t stack)
{
    (void)arg;
    stack_now = stack;
    offcpu_event(machine, e);
}

static void begin_machine(void)
{
    const struct offcpu_options o = {.min_block_ns = 1, .chain_depth = 4};
    const struct offcpu_ops world = {
        .stack = machine_stack, .sched = machine_sched, .object = machine_object};
    const struct offcpu_output sink = {
        .sleep = machine_slept, .oncpu = machine_oncpu, .rest = machine_rest};
    const struct ringevents_client to = {.event = machine_event};

    machine = offcpu_new(&o, &world, &sink);
    events = ringevents_new(&to);
}

static void end_machine(void)
{
    offcpu_finish(machine, clock_ns(CLOCK_MONOTONIC));
    ringevents_free(events);
    offcpu_free(machine);
    events = NULL;
}

static void feed_machine(enum ring_result what, const struct ring_reader *r)
{
    const struct off_event begin = {
        .kind = OFF_THREAD_BEGIN, .time = r->time, .tid = r->tid, .pid = r->pid};

    if (r->call.serial == 1 && what == RING_ENTERED)
        offcpu_event(machine, &begin);
    ringevents_record(events, what, r);
}

static const struct off_sleep *sleep_in(int nr)
{
    static const struct off_sleep none;

    for (size_t i = 0; i < nsleeps; i++)
        if (sleeps[i].nr == nr && sleeps[i].chain_len && sleeps[i].chain[0].tid)
            return &sleeps[i];
    return &none;
}

/* ---- running them ---- */

static char library[4096], libc_path[4096], self[4096];
static struct site_list sites;
static char said[4096]; /* on standard error */

static int find_libc(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size, (void)arg;
    if (strstr(info->dlpi_name, "/libc.so"))
        snprintf(libc_path, sizeof libc_path, "%s", info->dlpi_name);
    return 0;
}

static bool sequences; /* whether the kernel is assumed to have rseq (inproc/rseq.h) */

static bool begin_session(uint32_t rings, bool know_libc)
{
    static const int calls[] = {SYS_read,  SYS_write, SYS_poll,  SYS_nanosleep, SYS_clock_nanosleep,
                                SYS_futex, SYS_wait4, SYS_pause, SYS_prctl};
    struct shm_server_options o = {.rings = rings,
                                   .modules = &sites,
                                   .nmodules = know_libc,
                                   .filters = (uint32_t)(syscall_mark_filters() + 1),
                                   .marks = 1,
                                   .sequences = sequences};

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        o.calls[calls[i] / 64] |= 1ull << calls[i] % 64;
    shm_server_free(session);
    session = NULL;
    nlog = nbegun = ndamaged = 0;
    return shm_server_new(&session, &o) == 0;
}

/* Runs a program; its wait status. `name`: of the session. */
static int run(const char *name, char *const argv[])
{
    char *env[] = {NULL, NULL, NULL, NULL}, preload[4200], variable[300], path[4200];
    int err = memfd_create("said", MFD_CLOEXEC), status = -1;
    posix_spawn_file_actions_t to;
    ssize_t n;
    pid_t pid;

    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", library);
    snprintf(variable, sizeof variable, "%s=%s", SHM_ENV, name);
    snprintf(path, sizeof path, "PATH=%s", getenv("PATH"));
    env[0] = preload, env[1] = variable, env[2] = path;
    posix_spawn_file_actions_init(&to);
    posix_spawn_file_actions_adddup2(&to, err, 2);
    posix_spawn_file_actions_addopen(&to, 0, "/dev/null", O_RDONLY, 0);
    if (posix_spawnp(&pid, argv[0], &to, NULL, argv, env) != 0)
        return -1;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        shm_server_drain(session, clock_ns(CLOCK_MONOTONIC), &client);
        sleep_ns(500000);
    }
    shm_server_drain(session, UINT64_MAX, &client);
    n = pread(err, said, sizeof said - 1, 0);
    said[n > 0 ? n : 0] = '\0';
    close(err);
    posix_spawn_file_actions_destroy(&to);
    return status;
}

static bool act(const char *name, uint32_t rings)
{
    char *argv[] = {self, (char *)name, NULL};
    int status = begin_session(rings, true) ? run(shm_server_name(session), argv) : -1;

    if (status || *said)
        diag("%s: status %x, said %s", name, status, said);
    ok(status == 0 && !*said && !ndamaged,
       "%s: the program works, prints nothing and damages no ring", name);
    return status == 0;
}

static void test_acts(void)
{
    static const int want[][2] = {
        {SYS_write, 5}, {SYS_read, 5}, {-1, 0}, {SYS_read, 0}, {SYS_read, -EBADF}};
    size_t at = 0, slept = 0, stacks = 0;

    act("calls", 8);
    for (size_t i = 0; i < nlog; i++) {
        bool sleep = log_[i].nr == SYS_clock_nanosleep || log_[i].nr == SYS_nanosleep;

        stacks += log_[i].stack >= 3;
        slept +=
            sleep && log_[i].result == 0 && log_[i].ns >= 2000000 && !(log_[i].flags & RING_RAN_ON);
        at += at < 5 && (want[at][0] == log_[i].nr || (want[at][0] < 0 && sleep)) &&
              log_[i].result == want[at][1];
    }
    is_int(at, 5, "calls are logged in order with their results");
    is_int(slept, 1, "a sleep has its duration and is not marked as on its CPU");
    is_int(stacks, nlog, "each logged call has a stack");
    is_int(nbegun, nlog, "each logged call has an end");
    act("threads", 8);
    ok(count(SYS_futex) > 1000, "waits for condition variables are logged");
    act("many", 4);
    /* Its threads' calls are waits in pthread_join, a cancellation point. */
    is_int(nlog > 0, cancellation_points_are_noted(),
           "with too few rings, threads that have one log their calls");
    act("fork", 16);
    ok(count(SYS_wait4) >= 4, "waits for children are logged");
    act("signals", 8);
    /* Those of handlers that interrupt a call have stacks that go through this library. */
    ok(count(SYS_write) >= 1 && count(SYS_read) >= 6,
       "calls that a handler interrupts are logged, the handler's own are left to the tracer");
    act("jumps", 8);
    ok(nlog && log_[nlog - 1].nr == SYS_futex,
       "calls are logged after a handler jumped out of a call");
    act("nested", 8);
    ok(nbegun == nlog && nlog > 5000, "calls within calls all end");
    act("stacks", 8);
    act("cancel", 128);
    act("vectors", 8);
    ok(count(SYS_nanosleep) >= 90 || !nlog, "calls from each stack depth are logged");
    act("nothing_open", 8);
    act("no_memory", 8);
    ok(count(SYS_nanosleep) + count(SYS_clock_nanosleep) >= 101,
       "calls are logged when no memory is left");
    act("no_counter", 8);
    ok(count(SYS_nanosleep) + count(SYS_clock_nanosleep) >= 12,
       "calls are logged without the processor's counter");
}

/* Counts the writes of act_preempted that lost their CPU, and those that waited, after each kind of
 * sleep. Returns the number of writes. */
static size_t count_preempted(size_t lost[AFTERS], size_t waited[AFTERS])
{
    size_t n = 0;

    act("preempted", 8);
    memset(lost, 0, AFTERS * sizeof *lost);
    memset(waited, 0, AFTERS * sizeof *waited);
    for (size_t i = 0; i < nlog; i++) {
        if (log_[i].nr != SYS_write)
            continue;
        lost[n % AFTERS] += (log_[i].flags & RING_PREEMPTED) != 0;
        waited[n++ % AFTERS] += log_[i].flags == 0;
    }
    return n;
}

static bool all_are_many(const size_t lost[AFTERS])
{
    for (int i = 0; i < AFTERS; i++)
        if (lost[i] <= PREEMPTED_WRITES / 2)
            return false;
    return true;
}

/* A write that only lost its CPU is no wait, whatever call the thread slept in before. Where the
 * machine has much to do, the reader may still be about to read when the next byte is written, so
 * that this write takes no CPU from anybody: then it is tried again. */
static void test_preempted(void)
{
    size_t lost[AFTERS], waited[AFTERS], n = count_preempted(lost, waited);

    if (!cancellation_points_are_noted()) {
        is_int(n, 0, "writes are cancellation points, which are not logged here");
        return;
    }
    for (int tries = 1; tries < 5 && !all_are_many(lost); tries++)
        n = count_preempted(lost, waited);
    is_int(n, PREEMPTED_WRITES * AFTERS, "writes of a preempted thread are logged");
    for (int i = 0; i < AFTERS; i++)
        /* The pipe's own lock may have been held by the reader: a few have waited. */
        ok(lost[i] > PREEMPTED_WRITES / 2 && waited[i] < PREEMPTED_WRITES / 10,
           "after %s: %zu of %d writes lost their CPU, %zu waited",
           (const char *[]){"nothing", "a lock", "a sleep", "a call that is not noted"}[i], lost[i],
           PREEMPTED_WRITES, waited[i]);
}

/* The writer waits for the main thread's lock, and the reader waits for the writer. */
static void test_chain(void)
{
    const struct off_sleep *locks, *reads;

    begin_machine();
    with_machine = true;
    act("chain", 8);
    with_machine = false;
    locks = sleep_in(SYS_futex);
    reads = sleep_in(SYS_read);
    end_machine();
    ok(locks->pid && locks->tid != locks->pid && locks->chain[0].tid == locks->pid,
       "a lock's waiter was woken by its holder");
    if (!cancellation_points_are_noted()) {
        ok(!reads->tid, "a pipe read at a cancellation point is left to the tracer");
        ok(locks->stack >= 3 && locks->chain[0].stack >= 3,
           "the lock's waiter and its holder have stacks");
        return;
    }
    ok(reads->tid && reads->tid != locks->tid && reads->chain[0].tid == locks->tid,
       "a pipe's reader was woken by its writer");
    ok(reads->chain_len >= 2 && reads->chain[1].tid == locks->pid,
       "the chain of a pipe's reader continues with the holder of the writer's lock");
    ok(reads->stack >= 3 && reads->chain[0].stack >= 3 && locks->chain[0].stack >= 3,
       "reader, writer and lock holder have stacks");
}

/* Without sequences (Linux 6.19) the kernel does not report whether a thread left its CPU. The
 * library asks how often it has left: no call counts as on-CPU then, waits are logged, and
 * preempted calls are told apart. */
static void test_without_sequences(void)
{
    size_t ready = 0, slept = 0, stayed = 0;

    sequences = false;
    act("calls", 8);
    sequences = rseq_tells();
    for (size_t i = 0; i < nlog; i++) {
        bool sleep = log_[i].nr == SYS_clock_nanosleep || log_[i].nr == SYS_nanosleep;

        stayed += (log_[i].flags & RING_RAN_ON) != 0;
        slept += sleep && log_[i].ns >= 2000000 && !log_[i].flags;
        ready += log_[i].result == 5 && log_[i].flags == RING_PREEMPTED;
    }
    is_int(stayed, 0, "without rseq no call is marked as on its CPU");
    is_int(slept, 1, "without rseq a sleep is logged as one");
    is_int(ready, cancellation_points_are_noted() ? 2 : 0,
           "without rseq a preempted call is told apart from a wait");
}

/* The session's message on processes that refused, without their number; "": none did. */
static const char *refusal(enum shm_refusal why)
{
    static char text[256];
    struct strbuf sb = STRBUF_INIT;
    const char *is;

    *text = '\0';
    if (unsupported_add_text(&sb, session, why) && (is = strstr(sb.buf, " is traced")))
        snprintf(text, sizeof text, "%s", is + 1);
    strbuf_release(&sb);
    return text;
}

static void test_fallback(void)
{
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"exit 4", NULL};

    begin_session(8, false);
    is_int(WEXITSTATUS(run(shm_server_name(session), argv)), 4,
           "a program with an unknown C library runs");
    is_str(refusal(SHM_UNKNOWN_LIBC),
           "is traced by stops alone: its C library is another than flame's",
           "an unknown C library is reported as the reason");
    is_str(said, "", "a program with an unknown C library prints nothing");
    is_int(nbegun, 0, "a program with an unknown C library logs nothing");
    is_int(WEXITSTATUS(run("/nonexistent/memory", argv)), 4,
           "a program without the shared memory runs");
    is_str(said, "", "a program without the shared memory prints nothing");
    is_int(WEXITSTATUS(run("/dev/zero", argv)), 4,
           "a program with a foreign file as shared memory runs");
    is_str(said, "", "a program with a foreign file as shared memory prints nothing");
    sites.sites[0].bytes[0] ^= 1;
    for (size_t i = 0; i < sites.n; i++)
        sites.sites[i].bytes[0] ^= 1;
    begin_session(8, true);
    is_int(WEXITSTATUS(run(shm_server_name(session), argv)), 4,
           "a program with a changed C library runs");
    is_str(refusal(SHM_NOT_PATCHED),
           "is traced by stops alone: its C library cannot be patched: changed",
           "a changed C library is reported as the reason");
    is_str(said, "", "a program with a changed C library prints nothing");
    is_int(nbegun, 0, "a program with a changed C library logs nothing");
}

/* With an older loader programs run as usual, and their waits are traced by stops. */
static void test_not_placed(void)
{
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"exit 4", NULL};

    begin_session(8, true);
    is_int(WEXITSTATUS(run(shm_server_name(session), argv)), 4,
           "a program whose loader does not place the gate runs");
    ok(strstr(refusal(SHM_NO_GATE), "libflamegate.so is not where it is linked for") != NULL,
       "an unplaced gate is reported as the reason");
    is_int(nbegun, 0, "a program with an unplaced gate logs nothing");
}

int main(int argc, char **argv)
{
    const char *shim = getenv("SHIM"), *san = getenv("SAN"),
               *slash = shim ? strrchr(shim, '/') : NULL;

    for (size_t i = 0; argc > 1 && i < sizeof acts / sizeof *acts; i++)
        if (strcmp(argv[1], acts[i].name) == 0) {
            acts[i].run();
            return failed != 0;
        }
    snprintf(library, sizeof library, "%s%.*s/libflamewait.so", slash && *shim == '/' ? "" : "./",
             slash ? (int)(slash - shim) : 5, slash ? shim : "build");
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return 1;
    sequences = rseq_tells();
    dl_iterate_phdr(find_libc, NULL);
    if (!ok(sites_find_in(&sites, libc_path) == 0 && sites.n > 0,
            "the C library's system call sites are found"))
        return done_testing();
    if (!gate_can_be_placed()) {
        test_not_placed();
    } else {
        if (!san || !*san) {
            test_acts();
            test_chain();
            test_preempted();
            test_without_sequences();
        }
        test_fallback();
    }
    shm_server_free(session);
    sites_release(&sites);
    return done_testing();
}
