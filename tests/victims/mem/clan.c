/*
 * Known bytes in threads and processes with known names. Each argument is done in turn:
 *
 *   keep:N         allocates N bytes, by keep_block()
 *   name:TEXT      gives the calling thread that name
 *   thread:TEXT:N  a thread called TEXT, which may hold any byte but ':', allocates N bytes
 *   fork           the rest is done by a child; this process waits for it and ends
 *   double         like fork, but the child is made by a child that does nothing else
 *   exec           the rest is done by this program, executed anew
 *   run            the rest is done by this program, executed in a child
 *   run:PATH       the rest is done by the program PATH, executed in a child
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline, noclone))

static void *volatile kept;

PLAIN static void keep_block(size_t size)
{
    kept = malloc(size);
    if (!kept)
        _exit(3);
}

struct one {
    char name[32];
    size_t size;
};

static void *work(void *arg)
{
    const struct one *o = arg;

    prctl(PR_SET_NAME, o->name);
    keep_block(o->size);
    return NULL;
}

static void run_thread(const char *word)
{
    const char *end = strchr(word, ':');
    struct one o = {.size = end ? strtoul(end + 1, NULL, 10) : 0};
    pthread_t t;

    if (!end || end - word >= (long)sizeof o.name)
        _exit(2);
    memcpy(o.name, word, (size_t)(end - word));
    if (pthread_create(&t, NULL, work, &o) || pthread_join(t, NULL))
        _exit(3);
}

/* True in the child; the parent ends as the child does. */
static int forks(void)
{
    pid_t pid = fork();
    int status;

    if (pid < 0)
        _exit(3);
    if (pid == 0)
        return 1;
    exit(waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 3);
}

int main(int argc, char **argv)
{
    (void)argc;
    for (char **a = argv + 1; *a; a++) {
        if (strncmp(*a, "keep:", 5) == 0)
            keep_block(strtoul(*a + 5, NULL, 10));
        else if (strncmp(*a, "name:", 5) == 0)
            prctl(PR_SET_NAME, *a + 5);
        else if (strncmp(*a, "thread:", 7) == 0)
            run_thread(*a + 7);
        else if (strcmp(*a, "fork") == 0)
            forks();
        else if (strcmp(*a, "double") == 0)
            forks() && forks();
        else if (strncmp(*a, "run:", 4) == 0 && forks()) {
            *a += 4;
            execv(*a, a);
            return 3;
        } else if (strcmp(*a, "exec") == 0 || (strcmp(*a, "run") == 0 && forks())) {
            *a = argv[0];
            execv("/proc/self/exe", a);
            return 3;
        } else
            return 2;
    }
    return 0;
}
