/* The first call of each thread that can wait is made by a child of vfork, on the thread's memory.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];

static void *borrow(void *arg)
{
    char c;
    pid_t child = vfork();

    if (child == 0)
        _exit(write(ends[1], "x", 1) != 1);
    if (child < 0 || waitpid(child, NULL, 0) != child)
        _exit(1);
    for (int i = 0; i < 20; i++)
        if (read(ends[0], &c, 1) != 1 || write(ends[1], "x", 1) != 1)
            _exit(1);
    return read(ends[0], &c, 1) == 1 ? NULL : arg;
}

int main(void)
{
    pthread_t t;

    if (pipe(ends) < 0)
        return 1;
    borrow(NULL);
    for (int i = 0; i < 10; i++)
        if (pthread_create(&t, NULL, borrow, NULL) != 0 || pthread_join(t, NULL) != 0)
            return 1;
    return 0;
}
