/*
 * family ROWS BLOCKS CHILDREN [GENERATIONS]: allocates BLOCKS blocks of 100 bytes from ROWS
 * places of its own (stacks of some dozen frames), then forks CHILDREN children, one
 * after the other. Each frees 3 of the blocks, allocates one of 1,000 bytes, and forks
 * a child like itself, until there are GENERATIONS of them. The last one is killed.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline, noclone))

static void **blocks;
static volatile int sink;

PLAIN static void *leaf(int size)
{
    void *p = malloc((size_t)size);

    sink++;
    return p;
}

/* A stack for each number: its bits choose the way. */
PLAIN static void *left(int number, int depth);
PLAIN static void *right(int number, int depth);

static void *on(int number, int depth)
{
    if (depth == 0)
        return leaf(100);
    return number & 1 ? right(number >> 1, depth - 1) : left(number >> 1, depth - 1);
}

PLAIN static void *left(int number, int depth)
{
    void *p = on(number, depth);

    sink++;
    return p;
}

PLAIN static void *right(int number, int depth)
{
    void *p = on(number, depth);

    sink--;
    return p;
}

PLAIN static void *child_work(void)
{
    void *p = leaf(1000);

    sink++;
    return p;
}

static void live(int generations, int first)
{
    int status;
    pid_t pid;

    for (int i = 0; i < 3; i++)
        free(blocks[first + i]);
    if (!child_work())
        _exit(2);
    if (generations > 1) {
        pid = fork();
        if (pid == 0)
            live(generations - 1, first + 3);
        waitpid(pid, &status, 0);
        _exit(0);
    }
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    int rows = argc > 1 ? atoi(argv[1]) : 1, n = argc > 2 ? atoi(argv[2]) : 1;
    int children = argc > 3 ? atoi(argv[3]) : 1, generations = argc > 4 ? atoi(argv[4]) : 1;

    blocks = malloc((size_t)n * sizeof *blocks);
    for (int i = 0; blocks && i < n; i++)
        blocks[i] = on(i % rows, 16);
    for (int i = 0; i < children; i++) {
        pid_t pid = fork();
        int status;

        if (pid == 0)
            live(generations, 0);
        if (pid < 0 || waitpid(pid, &status, 0) != pid)
            return 2;
    }
    return 0;
}
