/* test_alloc.c: growing arrays, and requests of impossible size. */
#include "common/alloc.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

static void test_growing(void)
{
    uint32_t *array = NULL;
    size_t n = 0, room = 0, moves = 0;

    while (n < 100000) {
        size_t before = room;

        GROW(array, n, room);
        moves += room != before;
        if (room <= n && !ok(false, "GROW makes room for %zu items behind %zu", room, n))
            break;
        array[n] = (uint32_t)n;
        n++;
    }
    for (n = 0; n < 100000 && array[n] == n; n++)
        ;
    is_int((intmax_t)n, 100000, "GROW keeps every item");
    ok(moves < 25, "GROW moves rarely: %zu times up to 100,000 items", moves);
    ok(room < 150100, "GROW adds at most half, up to %zu items", room);
    GROW_TO(array, 1000000, room);
    is_int((intmax_t)room, 1000000,
           "GROW_TO makes exactly the requested room if that is more than half");
    GROW_TO(array, 5, room);
    is_int((intmax_t)room, 1000000, "GROW_TO never shrinks");
    free(array);
}

static void test_filling(void)
{
    int32_t *array = NULL;
    size_t room = 0, at;

    GROW_FILLED(array, 10, room, -1);
    array[10] = 7;
    GROW_FILLED(array, 500, room, 0);
    is_int(array[0], -1, "GROW_FILLED fills the first room");
    is_int(array[10], 7, "GROW_FILLED keeps items");
    for (at = 11; array[at] == -1; at++)
        ;
    ok(at > 10 && at <= 500, "GROW_FILLED's first filling ends at the first room, %zu", at);
    for (; at < room && array[at] == 0; at++)
        ;
    is_int((intmax_t)at, (intmax_t)room, "GROW_FILLED fills all later room");
    free(array);
}

static int own_status(void)
{
    return 77;
}

/* The status of a child that requests too much memory, and its output. */
static int asking(void (*ask)(void), int (*clean_up)(void), char *said, size_t size)
{
    int ends[2], status = 0;
    ssize_t n;
    pid_t pid;

    if (pipe(ends) < 0 || (pid = fork()) < 0)
        return -1;
    if (pid == 0) {
        dup2(ends[1], 2);
        alloc_out_of_memory = clean_up;
        ask();
        _exit(0);
    }
    close(ends[1]);
    n = read(ends[0], said, size - 1);
    said[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void ask_product(void)
{
    xreallocarray(NULL, SIZE_MAX / 8 + 1, 8); /* 0 if the check is missing */
}

static void ask_room(void)
{
    uint64_t *array = NULL;
    size_t room = 0;

    GROW_TO(array, SIZE_MAX / 4, room);
}

static void ask_more_room(void)
{
    uint64_t *array = NULL;
    size_t room = SIZE_MAX - 8; /* half of it more is less than it */

    GROW(array, SIZE_MAX - 8, room);
}

static void ask_copy(void)
{
    xmemdup0("", SIZE_MAX);
}

static void test_too_much(void)
{
    static const struct {
        const char *name;
        void (*ask)(void);
    } asks[] = {{"a product", ask_product},
                {"room", ask_room},
                {"half more", ask_more_room},
                {"a copy", ask_copy}};
    char said[256];

    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        is_int(asking(asks[i].ask, NULL, said, sizeof said), 1, "%s that overflows: status 1",
               asks[i].name);
        ok(strncmp(said, "flame: out of memory (", 22) == 0,
           "%s that overflows: one line reports it", asks[i].name);
    }
    is_int(asking(ask_product, own_status, said, sizeof said), 77,
           "alloc_out_of_memory sets the exit status");
}

int main(void)
{
    test_growing();
    test_filling();
    test_too_much();
    return done_testing();
}
