/*
 * outlives.c: a service whose worker runs on when the command that started it has ended.
 *
 *   outlives FIFO DONE PROGRAM   ends once its worker has allocated. The worker waits for
 *                                input from FIFO, allocates from many places,
 *                                forks a child that allocates, executes PROGRAM with
 *                                the argument "show" (its output goes to the file
 *                                DONE.show), and makes DONE
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile last;

/* A stack for each number: its bits say which way it went. */
static void left(unsigned path, int depth);

static void __attribute__((noinline)) right(unsigned path, int depth)
{
    if (depth == 0)
        last = malloc(100);
    else if (path & 1)
        left(path >> 1, depth - 1);
    else
        right(path >> 1, depth - 1);
    __asm__ volatile("");
}

static void __attribute__((noinline)) left(unsigned path, int depth)
{
    if (depth == 0)
        last = malloc(100);
    else if (path & 1)
        left(path >> 1, depth - 1);
    else
        right(path >> 1, depth - 1);
    __asm__ volatile("");
}

static void start(void work(void *), void *arg)
{
    pid_t pid = fork();

    if (pid == 0) {
        work(arg);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void allocate(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 1000; i++)
        left(i, 12);
}

static void execute(void *arg)
{
    char **argv = arg, name[4096];
    size_t at = 0;

    for (const char *s = argv[2]; *s && at < sizeof name - 6; s++)
        name[at++] = *s;
    for (const char *s = ".show"; *s; s++)
        name[at++] = *s;
    name[at] = '\0';
    dup2(open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), STDOUT_FILENO);
    execl(argv[3], argv[3], "show", (char *)NULL);
}

static void work(char **argv)
{
    char byte;
    int fd = open(argv[1], O_RDONLY | O_CLOEXEC);

    if (fd < 0 || read(fd, &byte, 1) != 1)
        _exit(1);
    for (unsigned i = 0; i < 1u << 16; i++)
        left(i, 16);
    start(allocate, NULL);
    start(execute, argv);
    close(open(argv[2], O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

int main(int argc, char **argv)
{
    int ready[2];
    char byte = 'x';
    pid_t pid;

    if (argc != 4 || pipe2(ready, O_CLOEXEC) < 0)
        return 9;
    left(1, 3);
    pid = fork();
    if (pid > 0)
        return read(ready[0], &byte, 1) == 1 ? 0 : 9;
    setsid();
    left(2, 3);
    if (write(ready[1], &byte, 1) != 1)
        return 9;
    work(argv);
    return pid < 0;
}
