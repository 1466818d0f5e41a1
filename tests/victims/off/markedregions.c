/*
 * markedregions.c: marks its own regions (preload/flamemem.h), and prints when by its own
 * clock.
 *
 *   plain     "outer" with two "inner" in it, and four passes; prints "NAME BEGIN END" for each
 *   threads   two threads at once, each in a region of its name
 *   left      a region that its thread does not end, one of a forked child, too deep ones
 *   names     names of odd bytes, of 300 bytes, and none
 *   lock      a request that waits for a lock, one that sleeps, and waits outside of both
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/flamemem.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long long now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static void plain(void)
{
    long long outer = now(), begin;

    flamemem_tag_push("outer");
    for (int i = 0; i < 2; i++) {
        begin = now();
        flamemem_tag_push("inner");
        usleep(20000);
        flamemem_tag_pop();
        printf("inner %lld %lld\n", begin, now());
    }
    flamemem_tag_pop();
    printf("outer %lld %lld\n", outer, now());
    for (int i = 0; i < 5; i++) {
        flamemem_mark("pass");
        usleep(5000);
    }
}

static void *named(void *name)
{
    flamemem_tag_push(name);
    usleep(10000);
    flamemem_tag_pop();
    flamemem_tag_pop(); /* of nothing */
    return NULL;
}

static void threads(void)
{
    static char first[] = "first", second[] = "second";
    pthread_t a, b;

    pthread_create(&a, NULL, named, first);
    pthread_create(&b, NULL, named, second);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

static void *leave(void *name)
{
    flamemem_tag_push(name);
    usleep(10000);
    return NULL;
}

static void left(void)
{
    static char name[] = "left open";
    pthread_t t;
    pid_t pid;

    pthread_create(&t, NULL, leave, name);
    pthread_join(t, NULL);
    flamemem_tag_push("parent");
    pid = fork();
    if (!pid) {
        flamemem_tag_pop(); /* the parent's: none of its own */
        flamemem_tag_push("child");
        usleep(10000);
        flamemem_tag_pop();
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    flamemem_tag_pop();
    for (int i = 0; i < 40; i++)
        flamemem_tag_push("deep");
    for (int i = 0; i < 40; i++)
        flamemem_tag_pop();
}

static void names(void)
{
    char text[301];

    memset(text, 'x', 300);
    text[300] = '\0';
    flamemem_tag_push("<b>;&\n\033\xff");
    flamemem_tag_pop();
    flamemem_tag_push(text);
    flamemem_tag_pop();
    flamemem_tag_push(NULL);
    flamemem_tag_pop();
    flamemem_tag_push("12345678");
    flamemem_tag_pop();
}

static void *hold(void *ready)
{
    pthread_setname_np(pthread_self(), "holder");
    pthread_mutex_lock(&lock);
    *(volatile int *)ready = 1;
    usleep(200000);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void wait_for_lock(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

static void requests(void)
{
    static volatile int ready;
    pthread_t t;

    usleep(150000); /* outside */
    pthread_create(&t, NULL, hold, (void *)&ready);
    while (!ready)
        usleep(100);
    flamemem_tag_push("request");
    wait_for_lock();
    flamemem_tag_pop();
    usleep(100000); /* outside */
    flamemem_tag_push("request");
    usleep(30000);
    flamemem_tag_pop();
    pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "plain") == 0)
        plain();
    else if (strcmp(what, "threads") == 0)
        threads();
    else if (strcmp(what, "left") == 0)
        left();
    else if (strcmp(what, "names") == 0)
        names();
    else if (strcmp(what, "lock") == 0)
        requests();
    else
        return 2;
    return 0;
}
