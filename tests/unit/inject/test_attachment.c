/*
 * A process is attached to again and again, and the process that attaches is killed at each step in
 * turn. The other one allocates on as if nothing had happened, and the next flame can attach to it.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "inject/attachment.h"
#include "tests/tap.h"
#include "tests/unit/inject/killed.h"
#include "tests/unit/shadowed.h"

/* Behind row()s. */
#define rows_hold(name) ok(tap_rows == 0, name)

static struct {
    unsigned long rounds;
} * shared;

/* Calls of malloc and its like through slots; ends with 1 if a block is not what it was. */
static void allocate(void)
{
    unsigned char *blocks[32] = {NULL};
    uint32_t random = 1;

    for (;;) {
        unsigned i = (random = random * 1103515245 + 12345) >> 16 & 31;
        size_t size = 16 + (random >> 8) % 2000;

        if (blocks[i] && (blocks[i][0] != i || blocks[i][15] != i))
            _exit(1);
        if (random & 0x80000) {
            free(blocks[i]);
            blocks[i] = calloc(1, size);
        } else {
            blocks[i] = realloc(blocks[i], size); /* NOLINT: never as much as there is not */
        }
        memset(blocks[i], (int)i, size);
        __atomic_fetch_add(&shared->rounds, 1, __ATOMIC_RELAXED);
        if (!(random & 0x7f00))
            usleep(50);
    }
}

#define WHILE_RECORDING 0u

static const char *trace;

/* `n`: as attach_once. */
static void attach(pid_t pid, pid_t ours, unsigned n)
{
    const struct attachment_options o = {.pid = pid, .ours = ours, .trace = trace};
    struct attachment_sum sum;
    struct attachment *a;

    if (attachment_begin(&a, &o))
        _exit(2);
    attachment_look(a);
    if (n == WHILE_RECORDING)
        raise(SIGKILL);
    _exit(attachment_end(a, &sum) || !sum.slots ? 3 : 0);
}

/* Whether the process still allocates. */
static bool goes_on(pid_t pid)
{
    unsigned long before = __atomic_load_n(&shared->rounds, __ATOMIC_RELAXED);

    for (int i = 0; i < 10000; i++) {
        if (waitpid(pid, NULL, WNOHANG) != 0)
            return false;
        if (__atomic_load_n(&shared->rounds, __ATOMIC_RELAXED) > before + 200)
            return true;
        usleep(500);
    }
    return false;
}

/* The wait status of the process that attaches, and is killed at its n-th step; WHILE_RECORDING:
 * when all calls are hooked. */
static int attach_once(pid_t pid, unsigned n)
{
    pid_t ours = getpid(), by = fork();
    int status = -1;

    if (by == 0) {
        killed_at = n;
        attach(pid, ours, n);
    }
    waitpid(by, &status, 0);
    return status;
}

int main(void)
{
    char path[] = "/tmp/test_attachment.XXXXXX";
    int fd = mkstemp(path), status;
    unsigned n = 0;
    bool alive;
    pid_t pid;

    trace = path;
    close(fd);
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid = fork();
    if (pid == 0)
        allocate();
    alive = goes_on(pid);
    do {
        unlink(path);
        attach_once(pid, WHILE_RECORDING);
        unlink(path);
        status = attach_once(pid, ++n);
        alive = alive && goes_on(pid);
        row(alive, "killed at step %u", n);
    } while (alive && WIFSIGNALED(status) && n < 5000);
    rows_hold("the process continues, at whichever step flame is killed");
#ifdef SHADOWED
    is_int(WEXITSTATUS(status), 2, "a process with a sanitizer's allocator is not attached to");
#else
    ok(n > 60, "attaching has enough steps to kill: %u", n);
    is_int(status, 0, "the last attempt attaches and detaches");
#endif
    if (alive)
        kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    unlink(path);
    return done_testing();
}
