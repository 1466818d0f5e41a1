/*
 * titled.c MS: three children that call themselves something, each another thing, by writing over
 * the arguments, as PostgreSQL and nginx do; then allocate in work() and sleep MS milliseconds
 * there. One of the titles is hostile. "ready" is printed when all sleep.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *const titles[] = {"app: checkpointer", "app: evil;\033[31m\n7 9",
                                     "app: logger  "};

static char *area; /* arguments and environment, which lie one behind the other */
static size_t room;

static void find_area(int argc, char **argv)
{
    char *end = argv[argc - 1] + strlen(argv[argc - 1]) + 1, **copy;
    size_t n = 0;

    while (environ[n])
        n++;
    copy = calloc(n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++) {
        if (environ[i] == end)
            end += strlen(end) + 1;
        copy[i] = strdup(environ[i]);
    }
    environ = copy;
    area = argv[0];
    room = (size_t)(end - area);
}

static void set_title(const char *title)
{
    memset(area, 0, room);
    memcpy(area, title, strlen(title) < room ? strlen(title) : room - 1);
}

#define CALL(n)                                                                                    \
    case n:                                                                                        \
        kept[n] = malloc(10 + n);                                                                  \
        break;

/* From enough places that the recorder has to look for room. */
__attribute__((noinline)) static void allocate(int i)
{
    static void *volatile kept[20];

    switch (i) {
        CALL(0)
        CALL(1)
        CALL(2)
        CALL(3)
        CALL(4)
        CALL(5)
        CALL(6)
        CALL(7)
        CALL(8)
        CALL(9)
        CALL(10)
        CALL(11)
        CALL(12)
        CALL(13)
        CALL(14)
        CALL(15)
        CALL(16)
        CALL(17)
        CALL(18)
        CALL(19)
    }
}

static void *helper(void *arg)
{
    usleep(*(useconds_t *)arg);
    return NULL;
}

__attribute__((noinline)) static void work(const char *title, useconds_t us, int ready)
{
    pthread_t t;

    set_title(title);
    for (int i = 0; i < 20; i++)
        allocate(i);
    pthread_create(&t, NULL, helper, &us);
    pthread_setname_np(t, "helper");
    if (write(ready, "x", 1) != 1)
        _exit(1);
    usleep(us);
    pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
    useconds_t us = argc > 1 ? (useconds_t)atoi(argv[1]) * 1000 : 0;
    int ready[2], status;
    char c;

    find_area(argc, argv);
    if (pipe(ready) < 0)
        return 2;
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        if (fork() == 0) {
            work(titles[i], us, ready[1]);
            _exit(0);
        }
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        if (read(ready[0], &c, 1) != 1)
            return 2;
    puts("ready");
    fflush(stdout);
    while (wait(&status) > 0)
        ;
    return 0;
}
