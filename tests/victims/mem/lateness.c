/*
 * Prints whether libunwind is mapped: a digit (1: it is) before WHAT, and one afterwards or where
 * the list has it. Usage: lateness WHAT [LIBRARY]
 *
 *   plain     allocates
 *   walk      allocates below a frame that is found through rbx, which no rule describes
 *   pthread   makes a thread, which checks before it does anything else
 *   thrd      like pthread, by C11's thrd_create
 *   fork      has a child do what `walk` does, and check; then checks itself
 *   sandbox   enters one that allows everything
 *   handler   does what `walk` does in a signal handler, checks, and does it again outside
 *   loader    opens LIBRARY (built of this file with -DOPENED) below such a frame; its
 *             constructor checks before and after it allocates
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

void look(void);
void allocate(void);

#ifdef OPENED

__attribute__((constructor)) static void begin(void)
{
    look();
    allocate();
    look();
}

#else

static const char *library;

void look(void)
{
    static char text[1 << 16];
    size_t len = 0;
    ssize_t n;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

    while (len < sizeof text - 1 && (n = read(fd, text + len, sizeof text - 1 - len)) > 0)
        len += (size_t)n;
    text[len] = '\0';
    close(fd);
    if (write(1, strstr(text, "libunwind.so.8") ? "1" : "0", 1) != 1)
        abort();
}

__attribute__((noinline)) void allocate(void)
{
    void *volatile p = malloc(77);

    free(p);
}

void by_rbx(void (*inner)(void));
__asm__(".text\n.globl by_rbx\n.type by_rbx, @function\nby_rbx:\n.cfi_startproc\n"
        " push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_offset rbx, -16\n"
        " mov %rsp, %rbx\n.cfi_def_cfa_register rbx\n sub $64, %rsp\n call *%rdi\n"
        " mov %rbx, %rsp\n.cfi_def_cfa_register rsp\n pop %rbx\n.cfi_adjust_cfa_offset -8\n"
        " ret\n.cfi_endproc\n.size by_rbx, . - by_rbx\n");

static void *first_look(void *arg)
{
    look();
    by_rbx(allocate);
    return arg;
}

static int first_look_11(void *arg)
{
    first_look(arg);
    return 0;
}

static void with_pthread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, first_look, NULL) != 0)
        abort();
    pthread_join(thread, NULL);
}

static void with_thrd(void)
{
    thrd_t thread;

    if (thrd_create(&thread, first_look_11, NULL) != thrd_success)
        abort();
    thrd_join(thread, NULL);
}

static void with_child(void)
{
    pid_t child = fork();

    if (child == 0) {
        by_rbx(allocate);
        look();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void enter_sandbox(void)
{
    struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {1, &all};

    prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static void handle(int sig)
{
    (void)sig;
    by_rbx(allocate);
    look();
}

static void with_handler(void)
{
    static char alt[65536];
    stack_t stack = {.ss_sp = alt, .ss_size = sizeof alt};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    by_rbx(allocate);
}

static void open_library(void)
{
    if (!dlopen(library, RTLD_NOW))
        abort();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    library = argc > 2 ? argv[2] : "";
    look();
    if (strcmp(what, "plain") == 0)
        allocate();
    else if (strcmp(what, "walk") == 0)
        by_rbx(allocate);
    else if (strcmp(what, "pthread") == 0)
        with_pthread();
    else if (strcmp(what, "thrd") == 0)
        with_thrd();
    else if (strcmp(what, "fork") == 0)
        with_child();
    else if (strcmp(what, "sandbox") == 0)
        enter_sandbox();
    else if (strcmp(what, "handler") == 0)
        with_handler();
    else if (strcmp(what, "loader") == 0)
        by_rbx(open_library);
    else
        return 2;
    look();
    return 0;
}

#endif
