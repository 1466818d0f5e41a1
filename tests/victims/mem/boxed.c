/*
 * Enters a sandbox and allocates in it: STACKS blocks from as many stacks of 16 frames, after 16
 * from before. Usage: boxed HOW [STACKS [NAME]]
 *
 *   strict       seccomp's first mode: read, write and exit are left
 *   least        a filter that leaves those and brk
 *   without      a filter that kills for the system call NAME and for no other
 *   syscall      like without, by syscall(SYS_seccomp)
 *   threads      least, and the calls to make threads; four of them allocate a
 *                quarter each
 *   all          four threads allocate half of it, then all of them get a filter
 *                (TSYNC) meanwhile
 *   fork         in a child, forked after the filter of `threads`; the parent waits
 *   vfork        a child of vfork enters the filter `least`, the parent allocates
 *   refused      the kernel refuses the filter
 *   exec         in a program executed under a filter of the calls to load one
 *   nested       `without` NAME after a filter without getppid
 *
 * Prints "well" when it has come to the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <gnu/libc-version.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEPTH 16
#define THREADS 4

static volatile int sink;

/* 2^DEPTH different stacks. */
__attribute__((noinline, noclone)) static void branch(unsigned bits, int depth)
{
    if (depth == 0)
        free(malloc(bits % 100 + 1));
    else if (bits >> (depth - 1) & 1)
        branch(bits, depth - 1);
    else
        branch(bits, depth - 1);
    sink++;
}

__attribute__((noinline, noclone)) static void work(unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        branch(i, DEPTH);
}

/* ---- filters ---- */

static const int least[] = {SYS_read,       SYS_write, SYS_exit,
                            SYS_exit_group, SYS_brk,   SYS_rt_sigreturn};
static const int for_threads[] = {
    SYS_read,           SYS_write,     SYS_exit,         SYS_exit_group,     SYS_brk,
    SYS_mmap,           SYS_munmap,    SYS_mprotect,     SYS_madvise,        SYS_clone,
    SYS_clone3,         SYS_futex,     SYS_wait4,        SYS_rt_sigaction,   SYS_rseq,
    SYS_rt_sigprocmask, SYS_getrandom, SYS_rt_sigreturn, SYS_set_robust_list};

static const int for_loading[] = {
    SYS_execve,    SYS_brk,        SYS_mmap,       SYS_munmap,          SYS_mprotect,
    SYS_openat,    SYS_read,       SYS_pread64,    SYS_close,           SYS_write,
    SYS_prlimit64, SYS_rseq,       SYS_getrandom,  SYS_set_tid_address, SYS_set_robust_list,
    SYS_faccessat, SYS_exit,       SYS_exit_group, SYS_rt_sigreturn,
#ifdef __x86_64__
    SYS_access,    SYS_arch_prctl,
#endif
};

static struct sock_filter code[100];
static struct sock_fprog prog = {0, code};

static void add(unsigned short op, unsigned k, unsigned char jt, unsigned char jf)
{
    code[prog.len++] = (struct sock_filter){op, jt, jf, k};
}

static void begin(void)
{
    prog.len = 0;
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
}

static void filter_of(const int *calls, size_t n)
{
    begin();
    for (size_t i = 0; i < n; i++) {
        add(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
        add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    }
    add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
}

static void filter_without(int call)
{
    begin();
    add(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

static const struct {
    const char *name;
    int number;
} names[] = {
#define CALL(name)                                                                                 \
    {                                                                                              \
#name, SYS_##name                                                                          \
    }
    CALL(openat),         CALL(mmap),        CALL(munmap),     CALL(madvise),
    CALL(prctl),          CALL(gettid),      CALL(getpid),     CALL(process_vm_readv),
    CALL(rt_sigprocmask), CALL(sched_yield), CALL(readlinkat), CALL(read),
    CALL(close),          CALL(fstat),       CALL(newfstatat), CALL(pread64),
    CALL(clock_gettime),  CALL(prlimit64),   CALL(fallocate),  CALL(ftruncate),
#undef CALL
};

static int number_of(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].number;
    fprintf(stderr, "boxed: which call is %s?\n", name);
    exit(2);
}

static int libc_minor(void)
{
    return atoi(gnu_get_libc_version() + 2);
}

/* The system call that the C library's fstat makes. */
static int fstat_number(void)
{
    int minor = libc_minor();

    return minor >= 33 && minor < 39 ? SYS_newfstatat : SYS_fstat;
}

static void need(int failed)
{
    if (!failed)
        return;
    perror("boxed");
    exit(2);
}

static void install(void)
{
    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    need(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog));
}

static void install_by_syscall(unsigned flags)
{
    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    need(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog) != 0);
}

/* ---- threads and children ---- */

static unsigned stacks = 1000;
static pthread_barrier_t together;

static void *quarter(void *arg)
{
    unsigned i = (unsigned)(unsigned long)arg;

    work(stacks / THREADS * i, stacks / THREADS * (i + 1));
    return NULL;
}

static void *met_quarter(void *arg)
{
    pthread_barrier_wait(&together);
    return quarter(arg);
}

static void run_threads(void *(*body)(void *), void (*meanwhile)(void))
{
    pthread_t threads[THREADS];

    for (unsigned long i = 0; i < THREADS; i++)
        need(errno = pthread_create(&threads[i], NULL, body, (void *)i));
    if (meanwhile)
        meanwhile();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void cover_all(void)
{
    pthread_barrier_wait(&together);
    install_by_syscall(SECCOMP_FILTER_FLAG_TSYNC);
}

static void work_in_child(void)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        work(0, stacks);
        _exit(0);
    }
    wait4(pid, &status, 0, NULL);
    need(status);
}

static void in_child(void)
{
    filter_of(for_threads, sizeof for_threads / sizeof for_threads[0]);
    install();
    work_in_child();
}

static void in_vfork(void)
{
    pid_t pid;

    filter_of(least, sizeof least / sizeof least[0]);
    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    pid = vfork();
    if (pid == 0) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    work(0, stacks);
}

/* With `fork`, the filter allows that, too. */
static void execute(const char *self, const char *count, const char *fork)
{
    static const int forking[] = {SYS_clone, SYS_wait4, SYS_rt_sigprocmask};
    /* For glibc before 2.34: libpthread's start, and libdl's dlsym. */
    static const int libraries[] = {SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_futex};
    int calls[40], n = sizeof for_loading / sizeof for_loading[0];

    memcpy(calls, for_loading, sizeof for_loading);
    calls[n++] = fstat_number();
    for (int i = 0; libc_minor() < 34 && i < 3; i++)
        calls[n++] = libraries[i];
    for (int i = 0; fork && i < 3; i++)
        calls[n++] = forking[i];
    filter_of(calls, (size_t)n);
    install();
    need(execl(self, self, "inside", count, fork, NULL));
}

static void be_refused(void)
{
    begin();
    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != -1 || errno != EINVAL ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != -1 || errno != EFAULT ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) != -1 || errno != EFAULT ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, 8) != -1 || errno != EFAULT ||
        prctl(PR_SET_SECCOMP, 4711, NULL) != -1 || errno != EINVAL)
        exit(3);
    work(0, stacks);
}

static void run(const char *how, const char *name)
{
    if (strcmp(how, "strict") == 0)
        need(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
    if (strcmp(how, "nested") == 0) {
        filter_without(SYS_getppid);
        install();
    }
    if (strcmp(how, "least") == 0)
        filter_of(least, sizeof least / sizeof least[0]);
    else if (strcmp(how, "threads") == 0)
        filter_of(for_threads, sizeof for_threads / sizeof for_threads[0]);
    else if (strcmp(how, "strict") != 0)
        filter_without(number_of(name));
    if (strcmp(how, "syscall") == 0)
        install_by_syscall(0);
    else if (strcmp(how, "strict") != 0)
        install();
    if (strcmp(how, "threads") == 0)
        run_threads(quarter, NULL);
    else
        work(0, stacks);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "least", *name = argc > 3 ? argv[3] : "openat";

    if (argc > 2)
        stacks = (unsigned)atoi(argv[2]);
    /* The number of arenas for threads depends on that of processors, which is read from a file. */
    mallopt(M_ARENA_MAX, 1);
    work(0, 16);
    pthread_barrier_init(&together, NULL, THREADS + 1);
    if (strcmp(how, "fork") == 0) {
        in_child();
    } else if (strcmp(how, "vfork") == 0) {
        in_vfork();
    } else if (strcmp(how, "exec") == 0) {
        execute(argv[0], argc > 2 ? argv[2] : "1000", argc > 3 ? argv[3] : NULL);
    } else if (strcmp(how, "inside") == 0 && argc > 3) {
        work_in_child();
    } else if (strcmp(how, "inside") == 0) {
        work(0, stacks);
    } else if (strcmp(how, "refused") == 0) {
        be_refused();
    } else if (strcmp(how, "all") == 0) {
        filter_of(for_threads, sizeof for_threads / sizeof for_threads[0]);
        run_threads(met_quarter, cover_all);
    } else {
        run(how, name);
    }
    if (write(1, "well\n", 5) != 5)
        return 1;
    syscall(SYS_exit, 0); /* strict mode does not allow exit_group */
    return 0;
}
