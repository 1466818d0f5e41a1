/*
 * opensfiles.c: files, then a pipe under the same numbers, again and again.
 *
 *     opensfiles HOW ROUNDS FILE
 *
 * Opens FILE twice, reads from it and closes it, in the way HOW: `close`; `raw`, by an instruction
 * of its own; `dup`, by dup2 of the pipe that is next; `range`, by close_range; `thread`, from
 * another thread while this one opens FILE once more. Then the numbers are a pipe's: waits for a
 * byte of it that another thread writes some ms later, and closes it. `fifo` opens the fifo FILE
 * instead, whose other end is opened some ms later, and gives a byte some ms later still. Prints
 * how long it has waited, by its own clock, in us.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/sysnr.h"

#define NS_IN_S 1000000000u
#define PAUSE_NS 3000000

static const char *how, *file;
static int writes_to = -1, begins[2]; /* where to write next is written to begins[1] */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_IN_S + (uint64_t)t.tv_nsec;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void *wakes(void *arg)
{
    const struct timespec pause = {0, PAUSE_NS};
    char c;

    (void)arg;
    while (read(begins[0], &c, 1) == 1) {
        nanosleep(&pause, NULL);
        if (strcmp(how, "fifo") == 0) {
            int fd = open(file, O_WRONLY);

            nanosleep(&pause, NULL);
            if (fd < 0 || write(fd, "x", 1) != 1 || close(fd) < 0)
                fail("the fifo's other end");
        } else if (write(writes_to, "x", 1) != 1) {
            fail("write");
        }
    }
    return NULL;
}

static void *closes(void *arg)
{
    if (close(*(int *)arg) < 0)
        fail("close");
    return NULL;
}

static long raw_close(long fd)
{
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"((long)SYS_close), "D"(fd)
                     : "rcx", "r11", "memory");
    return result;
}

static int open_file(const char *name)
{
    struct stat st;
    char buf[64];
    int fd = open(name, O_RDONLY);

    if (fd < 0 || fstat(fd, &st) < 0 || read(fd, buf, sizeof buf) < 0 ||
        pread(fd, buf, sizeof buf, 0) < 0)
        fail(name);
    return fd;
}

/* The file's number is free again, or that of `*end`. */
static void close_file(int fd, int *end)
{
    if (strcmp(how, "raw") == 0) {
        if (raw_close(fd) < 0)
            fail("raw close");
    } else if (strcmp(how, "range") == 0) {
        if (syscall(SYS_close_range, fd, fd, 0) < 0)
            fail("close_range");
    } else if (strcmp(how, "dup") == 0) {
        if (dup2(*end, fd) < 0 || close(*end) < 0)
            fail("dup2");
        *end = fd;
    } else if (strcmp(how, "thread") == 0) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, closes, &fd) != 0)
            fail("pthread_create");
        close(open_file(file));
        pthread_join(thread, NULL);
    } else if (close(fd) < 0) {
        fail("close");
    }
}

static uint64_t wait_for_byte(int fd)
{
    uint64_t began = now_ns();
    char c;

    if (write(begins[1], "x", 1) != 1 || read(fd, &c, 1) != 1)
        fail("read");
    return now_ns() - began;
}

static uint64_t wait_for_other_end(void)
{
    uint64_t began = now_ns(), waited;
    char c, name[256];
    int fd;

    snprintf(name, sizeof name, "%s", file);
    if (write(begins[1], "x", 1) != 1 || (fd = open(name, O_RDONLY)) < 0 ||
        !memset(name, 'x', sizeof name - 1) /* this wait is emitted later */ ||
        read(fd, &c, 1) != 1 || read(fd, &c, 1) != 0)
        fail(file);
    waited = now_ns() - began;
    close(fd);
    /* Before the waits are emitted, the number is a file's. */
    close(open_file("/proc/self/exe"));
    return waited;
}

static uint64_t play(void)
{
    int one = open_file(file), two = open_file(file), ends[2];
    bool before = strcmp(how, "dup") == 0;
    uint64_t waited;

    if (before && pipe(ends) < 0)
        fail("pipe");
    close_file(one, &ends[0]);
    close_file(two, &ends[1]);
    if (!before && pipe(ends) < 0)
        fail("pipe");
    writes_to = ends[1];
    waited = wait_for_byte(ends[0]);
    close(ends[0]);
    /* Before the wait is emitted, the number is a file's again. */
    close(open_file(file));
    close(ends[1]);
    return waited;
}

int main(int argc, char **argv)
{
    uint64_t waited = 0;
    pthread_t thread;

    if (argc != 4)
        return 2;
    how = argv[1];
    file = argv[3];
    if (pipe(begins) < 0 || pthread_create(&thread, NULL, wakes, NULL) != 0)
        fail("the other thread");
    for (int i = atoi(argv[2]); i > 0; i--)
        waited += strcmp(how, "fifo") == 0 ? wait_for_other_end() : play();
    close(begins[1]);
    pthread_join(thread, NULL);
    printf("%llu\n", (unsigned long long)(waited / 1000));
    return 0;
}
