/* common/kernel.h: results, the gate, and what can be read. */
#define _GNU_SOURCE
#include "common/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/pages.h"
#include "common/spinlock.h"
#include "tests/tap.h"

static long forbidden = -1, asked = -1;
static unsigned long last[6];

static bool all_but_one(long number, const unsigned long args[6])
{
    asked = number;
    memcpy(last, args, sizeof last);
    return number != forbidden;
}

static void test_results(void)
{
    int fd;

    errno = 4711;
    is_int(kernel_call(SYS_getpid), getpid(), "kernel_call returns the result");
    is_int(kernel_call(SYS_close, -1), -EBADF, "kernel_call returns a negative error");
    fd = (int)kernel_call(SYS_openat, AT_FDCWD, "/dev/zero", O_RDONLY | O_CLOEXEC, 0);
    ok(fd >= 0, "kernel_call passes four arguments");
    is_int(kernel_call(SYS_pread64, fd, last, sizeof last, (off_t)0), sizeof last,
           "kernel_call passes a buffer");
    is_int(kernel_call(SYS_close, fd), 0, "kernel_call closes a descriptor");
    is_int(errno, 4711, "kernel_call leaves errno as it was");
    ok(kernel_failed(-1) && kernel_failed(-4095) && !kernel_failed(-4096) && !kernel_failed(0) &&
           !kernel_failed(1),
       "kernel_failed recognises -4095 to -1");
}

static void test_readable(void)
{
    char *three = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t at = (uintptr_t)three;

    munmap(three + 4096, 4096);
    ok(kernel_readable(at, 1) && kernel_readable(at, 4096) && kernel_readable(at + 4095, 1),
       "kernel_readable accepts a mapped page");
    ok(kernel_readable(at + 4088, 8), "kernel_readable accepts a range up to the end of a mapping");
    ok(!kernel_readable(at + 4089, 8), "kernel_readable refuses a range beyond a mapping");
    ok(!kernel_readable(at, 4097) && !kernel_readable(at, 3 * 4096),
       "kernel_readable refuses a range over a hole");
    ok(!kernel_readable(at + 4096, 1) && !kernel_readable(at + 8191, 2),
       "kernel_readable refuses a range that begins in a hole");
    ok(kernel_readable(at + 8192, 4096), "kernel_readable accepts a page behind a hole");
    ok(!kernel_readable(0, 8) && !kernel_readable((uintptr_t)-64, 8),
       "kernel_readable refuses impossible addresses");
    mprotect(three, 4096, PROT_NONE);
    ok(!kernel_readable(at, 8), "kernel_readable refuses a page without permissions");
    munmap(three, 4096);
    munmap(three + 8192, 4096);
}

static void test_gate(void)
{
    forbidden = SYS_getppid;
    kernel_gatekeeper = all_but_one;
    is_int(kernel_call(SYS_getpid), getpid(), "a call that the gate allows is made");
    is_int(kernel_call(SYS_getppid), -EPERM, "a call that the gate refuses returns -EPERM");
    is_int(asked, SYS_getppid, "the gate is asked for a refused call");
    is_int(kernel_call(SYS_lseek, -1, 0x123456789L, 2), -EBADF,
           "a call with arguments passes the gate");
    ok(last[1] == 0x123456789 && (int)last[2] == 2 && (int)last[0] == -1,
       "the gate gets a call's arguments");
    ok(kernel_allows(SYS_getpid) && !kernel_allows(SYS_getppid),
       "kernel_allows asks the gate without a call");
    forbidden = SYS_mmap;
    ok(!pages_alloc(4096), "pages_alloc fails if the gate refuses mmap");
    forbidden = SYS_rt_sigprocmask;
    ok(!kernel_readable((uintptr_t)last, 8),
       "kernel_readable returns false if the gate refuses its call");
    kernel_gatekeeper = NULL;
    ok(kernel_readable((uintptr_t)last, 8), "kernel_readable works again without a gate");
}

static volatile int calls, stop;

static void *caller(void *arg FLAME_UNUSED)
{
    while (!stop) {
        kernel_call(SYS_getppid);
        calls++;
    }
    return NULL;
}

static void wait_for_more(void)
{
    for (int before = calls; calls == before;)
        sched_yield();
}

static void test_shut(void)
{
    pthread_t thread;
    int before;

    pthread_create(&thread, NULL, caller, NULL);
    wait_for_more();
    kernel_shut();
    before = calls;
    for (int i = 0; i < 1000; i++)
        sched_yield();
    /* A call that had just returned may not have been counted yet. */
    ok(calls - before <= 1, "no thread makes a call while the kernel is shut");
    forbidden = SYS_getppid;
    kernel_gatekeeper = all_but_one;
    kernel_reopen();
    wait_for_more();
    wait_for_more();
    is_int(asked, SYS_getppid, "a thread that waited uses the new gate");
    kernel_gatekeeper = NULL;
    stop = 1;
    pthread_join(thread, NULL);
}

int main(void)
{
    test_results();
    test_readable();
    test_gate();
    test_shut();
    return done_testing();
}
