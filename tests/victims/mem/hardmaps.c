/*
 * hardmaps.c: mappings of kinds that are hard for recorders and leak scans.
 *
 *   hardmaps grown      a mapping that grows downwards, and a pointer in the grown part
 *   hardmaps filled     memory that a handler would fill (userfaultfd), but there is none; a
 *                       pointer in the only page, and ten blocks that nothing leads to
 *   hardmaps filled small, filled block   such a page between others, or pages of a block
 *   hardmaps shadow     16 TiB of which a thousand pages are touched, a pointer in one of these
 *   hardmaps attached   System V shared memory, attached three times, detached twice
 *   hardmaps moved      mappings moved over others, doubled, moved and kept
 *   hardmaps handler    maps in a signal handler, 20,000 times a second, while it maps itself
 *   hardmaps locked     all memory locked, present and future, then 20,000 blocks
 *   hardmaps barred     a block while a filter of system calls has brk(2) and mmap(2) fail
 *   hardmaps ended      allocates memory until a signal ends it
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY /* Linux 5.11 */
#define UFFD_USER_MODE_ONLY 1
#endif
#define PAGE 4096u
#define STAY() __asm__ volatile("")

static int fails(const char *what)
{
    printf("%s: %s\n", what, strerror(errno));
    return 77;
}

__attribute__((noinline)) static char *map(void *at, size_t size, int more)
{
    char *p = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0);

    STAY();
    return p;
}

/* The only pointer to the block. */
__attribute__((noinline)) static void lead_from(char *place, size_t size)
{
    *(void **)(void *)place = malloc(size);
}

__attribute__((noinline)) static void leak(size_t size)
{
    void *volatile p = malloc(size);

    p = NULL;
    (void)p;
}

static int grown(void)
{
    /* At an address where nothing is mapped, and the kernel maps nothing by itself. */
    char *p = map((void *)((uintptr_t)1 << 45), 4 * PAGE, MAP_FIXED | MAP_GROWSDOWN);

    if (p == MAP_FAILED)
        return fails("growing memory");
    for (char *page = p; page > p - 16 * PAGE; page -= PAGE)
        *(volatile char *)page = 1;
    lead_from(p - 10 * PAGE, 66);
    leak(67);
    return 0;
}

static int filled(const char *how)
{
    char *p =
        how && strcmp(how, "block") == 0 ? aligned_alloc(PAGE, 64 * PAGE) : map(NULL, 64 * PAGE, 0);
    size_t pages = how && strcmp(how, "small") == 0 ? 1 : 60;
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register all = {.range = {(uintptr_t)p + 4 * PAGE, pages * PAGE},
                                  .mode = UFFDIO_REGISTER_MODE_MISSING};
    static char *kept;
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

    if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
        return fails("userfaultfd");
    kept = p;
    lead_from(p + 7 * PAGE, 77);
    if (ioctl(fd, UFFDIO_REGISTER, &all))
        return fails("UFFDIO_REGISTER");
    for (int i = 0; i < 10; i++)
        leak(33);
    return kept == NULL;
}

static int shadow(void)
{
    const uintptr_t apart = (uintptr_t)1 << 33;
    char *p = map((void *)((uintptr_t)1 << 44), (size_t)1 << 44, MAP_NORESERVE);

    if (p == MAP_FAILED)
        return fails("16 TiB");
    for (int i = 0; i < 1000; i++)
        p[i * apart] = 1;
    lead_from(p + 500 * apart + 64, 55);
    leak(44);
    return 0;
}

__attribute__((noinline)) static char *attach(int id, const void *at, int flags)
{
    char *p = shmat(id, at, flags);

    STAY();
    return p;
}

static int attached(void)
{
    int id = shmget(IPC_PRIVATE, 9 * PAGE + 1, IPC_CREAT | 0600);
    char *first, *cut, *third;

    if (id < 0)
        return fails("shmget");
    first = attach(id, NULL, 0);
    cut = attach(id, NULL, SHM_RDONLY);
    third = attach(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL);
    if (first == (void *)-1 || cut == (void *)-1 || third == (void *)-1)
        return fails("shmat");
    /* shmdt removes all pieces of a segment with holes, but not a mapping in a hole. */
    munmap(cut, PAGE);
    munmap(cut + 4 * PAGE, PAGE);
    map(cut + 4 * PAGE, PAGE, MAP_FIXED);
    if (shmdt(cut) || shmdt(third) || shmdt(third) == 0 || shmdt(first + PAGE) == 0)
        puts("a detachment is not as it should be");
    lead_from(first, 88);
    return 0;
}

__attribute__((noinline)) static char *move(void *from, size_t old, size_t size, int how, void *to)
{
    char *p = mremap(from, old, size, how, to);

    STAY();
    return p;
}

static int moved(void)
{
    char *a = map(NULL, 16 * PAGE, 0), *room = map(NULL, 64 * PAGE, 0), *kept;
    char *shared = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    move(a, 16 * PAGE, 16 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, room + 8 * PAGE);
    kept = move(room + 8 * PAGE, 8 * PAGE, 8 * PAGE, MREMAP_MAYMOVE | 4, NULL);
    printf("kept %d\n", kept != MAP_FAILED);
    if (kept == MAP_FAILED) /* a kernel before 5.7 has no MREMAP_DONTUNMAP */
        move(a, 8 * PAGE, 8 * PAGE, MREMAP_MAYMOVE, NULL);
    if (move(shared, 0, 4 * PAGE, MREMAP_MAYMOVE, NULL) == MAP_FAILED)
        return fails("doubling");
    return 0;
}

static volatile unsigned handled;

static void on_signal(int signal)
{
    void *p = map(NULL, 2 * PAGE, 0);

    (void)signal;
    if (handled++ % 1000)
        munmap(p, 2 * PAGE);
}

static int handler(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct itimerspec often = {{0, 50000}, {0, 50000}}, never = {{0, 0}, {0, 0}};
    timer_t timer;

    sigaction(SIGALRM, &action, NULL);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer))
        return fails("timer");
    timer_settime(timer, 0, &often, NULL);
    while (handled < 20000) {
        void *volatile p = malloc(handled % 5000);

        munmap(map(NULL, PAGE, 0), PAGE);
        free(p);
    }
    timer_settime(timer, 0, &never, NULL);
    printf("%u\n", (handled + 999) / 1000 * 2 * PAGE);
    return 0;
}

static int locked(void)
{
    if (mlockall(MCL_CURRENT | MCL_FUTURE))
        return fails("mlockall");
    for (int i = 0; i < 20000; i++) {
        void *volatile p = malloc(100);

        if (i & 1)
            free(p);
    }
    return 0;
}

static int ended(void)
{
    char *p;

    while ((p = map(NULL, 64 * PAGE, 0)) != MAP_FAILED)
        memset(p, 1, 64 * PAGE);
    return fails("more");
}

static int barred(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_brk, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};

    map(NULL, PAGE, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return fails("a filter");
    leak((size_t)1 << 20);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "grown") == 0)
        return grown();
    if (strcmp(what, "filled") == 0)
        return filled(argv[2]);
    if (strcmp(what, "shadow") == 0)
        return shadow();
    if (strcmp(what, "attached") == 0)
        return attached();
    if (strcmp(what, "moved") == 0)
        return moved();
    if (strcmp(what, "handler") == 0)
        return handler();
    if (strcmp(what, "locked") == 0)
        return locked();
    if (strcmp(what, "barred") == 0)
        return barred();
    return strcmp(what, "ended") == 0 ? ended() : 2;
}
