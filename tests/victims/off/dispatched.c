/*
 * A program whose calls come to it as SIGSYS (PR_SET_SYSCALL_USER_DISPATCH), but for those that the
 * C library's own code makes. It makes some: logged ones, and ones in a handler that interrupts
 * others. Prints how many signals came; 77: the kernel cannot do that.
 */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif

static char selector; /* 0: calls are let through */
static volatile int signals;

struct range {
    uintptr_t from, to;
};

static void hear(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info, (void)context;
    selector = 0;
    signals++;
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct range *r = arg;

    (void)size;
    if (!strstr(info->dlpi_name, "libc.so"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            r->from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            r->to = r->from + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

static void nap(void)
{
    struct timespec t = {0, 1000000};

    nanosleep(&t, NULL);
}

static void *thread(void *arg)
{
    nap();
    return arg;
}

int main(void)
{
    struct sigaction sa = {.sa_sigaction = hear, .sa_flags = SA_SIGINFO};
    struct range libc = {0, 0};
    pthread_t t;
    char c = 'x';
    int p[2];

    sigaction(SIGSYS, &sa, NULL);
    dl_iterate_phdr(find_libc, &libc);
    if (pipe(p) < 0 || !libc.from)
        return 3;
    nap();
    if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, libc.from, libc.to - libc.from,
              &selector) < 0)
        return 77;
    selector = 1;
    nap();
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    for (int i = 0; i < 100; i++)
        if (write(p[1], &c, 1) != 1 || read(p[0], &c, 1) != 1)
            return 4;
    if (fork() == 0) {
        nap();
        _exit(0);
    }
    wait(NULL);
    selector = 0;
    printf("%d signals\n", signals);
    return 0;
}
