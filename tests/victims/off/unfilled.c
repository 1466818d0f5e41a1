/*
 * unfilled HOW: memory whose pages come late or never, by userfaultfd.
 *
 *   late COUNT MS  a thread touches COUNT pages, each of which another gives it MS milliseconds
 *                  later; prints "waited US", by its own clock, and how long it lived
 *   beside MS      as late, once, but the giving thread has its stack right below the page
 *   never          sleeps in a read of standard input on a stack above which such memory lies:
 *                  a reader of that memory waits for ever. Prints "ready" before, "over" after
 *
 * Ends with 77 where the kernel does not permit it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define STACK (16 * PAGE)

static int uffd;
static char *memory;
static size_t pages;
static long late_ms;
static ucontext_t here, there;

static long long now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

/* Pages that the kernel asks for. */
static void watch(char *from, size_t size)
{
    struct uffdio_register range = {.range = {(uintptr_t)from, size},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};

    if (ioctl(uffd, UFFDIO_REGISTER, &range) < 0)
        exit(77);
}

static void *touch(void *arg)
{
    long long began = now_us(), waited = 0;

    for (size_t i = 0; i < pages; i++) {
        long long since = now_us();

        ((volatile char *)memory)[i * PAGE] = 1;
        waited += now_us() - since;
        usleep(1000);
    }
    printf("waited %lld lived %lld\n", waited, now_us() - began);
    return arg;
}

static void *give(void *arg)
{
    struct uffd_msg m;

    while (read(uffd, &m, sizeof m) == sizeof m) {
        struct uffdio_zeropage zero = {
            .range = {m.arg.pagefault.address & ~(uint64_t)(PAGE - 1), PAGE}};

        usleep((unsigned)late_ms * 1000);
        ioctl(uffd, UFFDIO_ZEROPAGE, &zero);
    }
    return arg;
}

/* Another process has the descriptor from now on: nothing here shows that pages may be missing. */
static void leave_to_another(void)
{
    pid_t parent = getpid();

    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (getppid() == parent)
            pause();
        _exit(0);
    }
    close(uffd);
}

static void sleep_there(void)
{
    char c;

    puts("ready");
    fflush(stdout);
    while (read(0, &c, 1) > 0)
        ;
    puts("over");
}

int main(int argc, char **argv)
{
    struct uffdio_api api = {.api = UFFD_API};
    pthread_t giver, toucher;

    uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) < 0)
        return 77;
    if (argc > 3 && strcmp(argv[1], "late") == 0) {
        pages = strtoul(argv[2], NULL, 10);
        late_ms = strtol(argv[3], NULL, 10);
        /* Nothing lies beside it: a stack below it would be read on into it. */
        memory = mmap(NULL, (pages + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memory += PAGE;
        mprotect(memory, pages * PAGE, PROT_READ | PROT_WRITE);
        watch(memory, pages * PAGE);
        pthread_create(&giver, NULL, give, NULL);
        pthread_create(&toucher, NULL, touch, NULL);
        pthread_join(toucher, NULL);
        return 0;
    }
    if (argc > 2 && strcmp(argv[1], "beside") == 0) {
        pthread_attr_t attr;

        pages = 1;
        late_ms = strtol(argv[2], NULL, 10);
        memory =
            mmap(NULL, STACK + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        pthread_attr_init(&attr);
        pthread_attr_setstack(&attr, memory, STACK);
        memory += STACK;
        watch(memory, PAGE);
        pthread_create(&giver, &attr, give, NULL);
        usleep(20000);
        pthread_create(&toucher, NULL, touch, NULL);
        pthread_join(toucher, NULL);
        return 0;
    }
    memory = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    watch(memory + STACK, STACK);
    leave_to_another();
    getcontext(&there);
    there.uc_stack.ss_sp = memory;
    there.uc_stack.ss_size = STACK;
    there.uc_link = &here;
    makecontext(&there, sleep_there, 0);
    swapcontext(&here, &there);
    return 0;
}
