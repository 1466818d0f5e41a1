/* The memory of libflamewait.so: reserved once, given back whole, and used by threads at the same
 * time. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/pages.h"
#include "inproc/lib/arena.h"
#include "tests/tap.h"

#define PAGE ((size_t)4096)

static bool is_inside(const void *p, size_t size)
{
    return (uintptr_t)p >= arena_start() && (uintptr_t)p + size <= arena_start() + ARENA_SIZE;
}

static bool is_zero(const char *p, size_t size)
{
    return !*p && memcmp(p, p + 1, size - 1) == 0;
}

static void taking(void)
{
    char *a = pages_alloc(3 * PAGE), *b = pages_alloc(100), *c;

    ok(is_inside(a, 3 * PAGE) && is_inside(b, PAGE), "pages_alloc takes memory from the arena");
    is_int((long)arena_taken(), 4, "the arena counts whole pages");
    memset(a, 'a', 3 * PAGE);
    memset(b, 'b', PAGE);
    pages_free(a, 3 * PAGE);
    is_int((long)arena_taken(), 1, "pages_free gives pages back to the arena");
    ok(msync(a, PAGE, MS_ASYNC) == 0 && b[PAGE - 1] == 'b',
       "freed addresses stay reserved and their neighbours keep their bytes");
    c = pages_alloc(3 * PAGE);
    ok(c == a && is_zero(c, 3 * PAGE), "memory taken again is zeroed");

    memset(c, 'c', 3 * PAGE);
    a = pages_resize(c, 3 * PAGE, 5 * PAGE);
    ok(is_inside(a, 5 * PAGE) && a[0] == 'c' && a[3 * PAGE - 1] == 'c' &&
           is_zero(a + 3 * PAGE, 2 * PAGE),
       "a grown piece keeps its bytes and is zeroed behind them");
    ok(!is_zero(b, PAGE), "growing a piece leaves its neighbour as it is");
    is_int((long)arena_taken(), 6, "growing a piece frees its old place");
    pages_may_keep();
    ok(!pages_keep(a, 5 * PAGE),
       "pages of the arena are kept for forked children without a request");
    c = pages_alloc(70 * 64 * PAGE);
    ok(is_inside(c, 70 * 64 * PAGE) && is_zero(c, 70 * 64 * PAGE),
       "a piece of many bitmap words is taken and zeroed");
    pages_free(c, 70 * 64 * PAGE);
    pages_free(a, 5 * PAGE);
    pages_free(b, 100);
    is_int((long)arena_taken(), 0, "all pages are free at the end");

    c = pages_alloc_aligned(2 * PAGE, 16 * PAGE);
    ok(is_inside(c, 2 * PAGE) && (uintptr_t)c % (16 * PAGE) == 0, "an aligned piece is aligned");
    is_int((long)arena_taken(), 2, "an aligned piece takes no more than its pages");
    pages_free(c, 2 * PAGE);
}

static void beyond(void)
{
    char *all = pages_alloc(ARENA_SIZE), *more = pages_alloc(PAGE);

    ok(is_inside(all, ARENA_SIZE), "the whole arena can be taken as one piece");
    ok(more && !is_inside(more, 1), "memory beyond the arena comes from the kernel");
    *more = 1;
    pages_free(more, PAGE);
    ok(msync(more, PAGE, MS_ASYNC) != 0 && errno == ENOMEM,
       "memory from the kernel is given back to the kernel");
    pages_free(all, ARENA_SIZE);
    is_int((long)arena_taken(), 0, "all pages are free after the whole arena was taken");
}

static void *take_and_give(void *arg)
{
    unsigned char mine = (unsigned char)(uintptr_t)arg;
    long wrong = 0;

    for (unsigned i = 0; i < 300; i++) {
        size_t size = (1 + (i * 7 + mine) % 90) * PAGE;
        unsigned char *p = pages_alloc(size);

        wrong += !is_zero((char *)p, size);
        memset(p, mine, size);
        sched_yield();
        wrong += p[0] != mine || memcmp(p, p + 1, size - 1) != 0;
        pages_free(p, size);
    }
    return (void *)wrong;
}

static void together(void)
{
    pthread_t t[3];
    long wrong = 0;

    for (uintptr_t i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, take_and_give, (void *)(i + 1));
    for (int i = 0; i < 3; i++) {
        void *of;

        pthread_join(t[i], &of);
        wrong += (long)of;
    }
    is_int(wrong, 0, "pieces of threads that run at the same time do not overlap");
    is_int((long)arena_taken(), 0, "all pages are free after several threads used the arena");
}

/* With few free addresses the arena is smaller, or absent. */
static int begin_in(size_t room)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        struct rlimit limit = {room, room};

        setrlimit(RLIMIT_AS, &limit);
        pages_place = NULL;
        _exit(arena_begin() ? (pages_alloc(PAGE) && arena_taken() == 1 ? 1 : 2) : 0);
    }
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

int main(void)
{
    ok(arena_begin(), "arena_begin succeeds");
    ok(msync((void *)arena_start(), ARENA_SIZE, MS_ASYNC) == 0, "the whole arena is reserved");
    taking();
    beyond();
    together();
    is_int(begin_in(PAGE), 0, "arena_begin fails without free addresses");
    return done_testing();
}
