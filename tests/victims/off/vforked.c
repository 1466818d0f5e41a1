/*
 * vforked.c: children of vfork sleep on their parent's memory. 10 times 20 ms by nanosleep, which
 * may be logged in the parent's ring, and then the parent 10 times as long by itself.
 *
 *   vforked [fork [user]]   "fork": in a forked child, in which a child of vfork makes the
 *                           first call; "user": each such child becomes another user before
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct timespec nap = {0, 20000000};

__attribute__((noinline)) static void child(void)
{
    nanosleep(&nap, NULL);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

__attribute__((noinline)) static void parent(void)
{
    nanosleep(&nap, NULL);
    __asm__ volatile("" ::: "memory");
}

static int in_fork(void)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        return 0;
    _exit(waitpid(pid, &status, 0) != pid || status != 0);
}

int main(int argc, char **argv)
{
    bool forks = argc > 1 && strcmp(argv[1], "fork") == 0, user = argc > 2;

    if (forks)
        in_fork();
    for (int i = 0; i < 10; i++) {
        pid_t pid;

        if (!forks || i)
            parent(); /* has a ring from here on */
        pid = vfork();
        if (pid < 0)
            return 1;
        if (pid == 0) {
            if (user && syscall(SYS_setresuid, 65534, 65534, 65534) != 0)
                _exit(1);
            child();
            _exit(0);
        }
        if (waitpid(pid, NULL, 0) != pid)
            return 1;
    }
    return 0;
}
