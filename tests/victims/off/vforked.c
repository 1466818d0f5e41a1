/*
 * vforked.c: children of vfork sleep on their parent's memory. 10 times 20 ms by nanosleep, which
 * may be noted in the parent's ring, and then the parent 10 times as long by itself.
 */
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

int main(void)
{
    for (int i = 0; i < 10; i++) {
        pid_t pid;

        parent(); /* has a ring from here on */
        pid = vfork();
        if (pid < 0)
            return 1;
        if (pid == 0) {
            child();
            _exit(0);
        }
        if (waitpid(pid, NULL, 0) != pid)
            return 1;
    }
    return 0;
}
