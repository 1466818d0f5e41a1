/*
 * Ends in ways that a search of its memory at the end has to survive, with status 3. The list in
 * `kept` has 200,000 nodes of 24 bytes. Argument:
 *
 *   handler  a timer's handler waits for another thread
 *   child    a forked child that has not allocated lives on for a second
 *   threads  two threads call exit at once
 *   cut      the trace is cut to its first page; "wiped": its second page is zeroed
 *   other    main calls exit on a stack of its own making
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

void **kept;
static volatile long asked, answered;

__attribute__((noinline)) static void fill(void)
{
    for (int i = 0; i < 200000; i++) {
        void **node = malloc(24);

        if (!node)
            _exit(4);
        node[0] = kept;
        kept = node;
    }
}

static void ask(int sig)
{
    long mine = ++asked;

    (void)sig;
    while (answered < mine)
        ;
}

static void *answer(void *arg)
{
    for (;;) {
        answered = asked;
        usleep(100);
    }
    return arg;
}

static void begin_handler(void)
{
    struct itimerval often = {{0, 2000}, {0, 2000}};
    sigset_t all, before;
    pthread_t t;

    /* The thread must never run the handler, which waits for it. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_create(&t, NULL, answer, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    signal(SIGALRM, ask);
    setitimer(ITIMER_REAL, &often, NULL);
}

static void *leave(void *arg)
{
    exit(3);
    return arg;
}

static void begin_threads(void)
{
    pthread_t t;

    pthread_create(&t, NULL, leave, NULL);
}

/* Cuts or wipes the first trace in the directory of the run. */
static void spoil(int wipe)
{
    static const char page[4096];
    char path[4096 + 300], *options = getenv("FLAMEMEM_OPTIONS"), *out, *end;
    DIR *d;
    struct dirent *e;
    int fd = -1;

    out = options ? strstr(options, "out=") : NULL;
    if (!out)
        _exit(5);
    snprintf(path, 4096, "%s", out + 4);
    end = strchr(path, ':');
    if (end)
        *end = '\0';
    *strrchr(path, '/') = '\0';
    d = opendir(path);
    while (d && fd < 0 && (e = readdir(d)))
        if (strstr(e->d_name, "ending.") && strstr(e->d_name, ".flame")) {
            size_t len = strlen(path);

            snprintf(path + len, sizeof path - len, "/%s", e->d_name);
            fd = open(path, O_RDWR);
        }
    if (fd < 0 || (wipe ? pwrite(fd, page, sizeof page, 4096) < 0 : ftruncate(fd, 4096) != 0))
        _exit(6);
    close(fd);
}

static void on_other(void)
{
    exit(3);
}

static void leave_on_other(void)
{
    static ucontext_t here, there;

    getcontext(&there);
    there.uc_stack.ss_size = 65536;
    there.uc_stack.ss_sp =
        mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    there.uc_link = &here;
    makecontext(&there, on_other, 0);
    swapcontext(&here, &there);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    fill();
    if (strcmp(how, "handler") == 0)
        begin_handler();
    else if (strcmp(how, "child") == 0 && fork() == 0)
        _exit(usleep(1000000) != 0);
    else if (strcmp(how, "threads") == 0)
        begin_threads();
    else if (strcmp(how, "cut") == 0 || strcmp(how, "wiped") == 0)
        spoil(how[0] == 'w');
    else if (strcmp(how, "other") == 0)
        leave_on_other();
    exit(3);
}
