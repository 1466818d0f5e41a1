/*
 * faults.c: touches a known number of pages of other functions' memory, each time in a function of
 * its own.
 *
 *   faults FILE      with FILE's pages, which the kernel drops first: it prints how many of
 *                    them were dropped
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define APART __attribute__((noinline))

static volatile char sink;

/* Huge pages would make one fault of many. */
static APART char *make_pages(size_t n)
{
    char *p = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        exit(1);
    madvise(p, n * PAGE, MADV_NOHUGEPAGE);
    return p;
}

static APART void touch(volatile char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i * PAGE] = 1;
}

static APART void first_touch(char *p)
{
    touch(p, 300);
}

static APART void second_touch(char *p)
{
    touch(p, 300); /* the pages are there */
}

static APART void touch_block(char *p)
{
    touch(p, 500);
}

static APART char *make_block(void)
{
    return (char *)(((size_t)malloc(502 * PAGE) + PAGE) & ~(size_t)(PAGE - 1));
}

static APART void *touch_in_thread(void *p)
{
    touch(p, 150);
    return NULL;
}

/* A page that is shared after a fork is copied when it is written to. */
static APART void copy_in_child(char *p)
{
    touch(p, 120);
}

/* The kernel touches these itself. */
static APART void read_into(char *p, int fd)
{
    for (size_t i = 0; i < 40; i++)
        if (pread(fd, p + i * PAGE, PAGE, 0) != PAGE)
            exit(1);
}

static APART void read_file_pages(const volatile char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sink = p[i * PAGE];
}

static size_t forget(int fd, void *p, size_t n)
{
    unsigned char there[64];
    size_t gone = 0;

    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    madvise(p, n * PAGE, MADV_RANDOM); /* nothing is read ahead */
    if (mincore(p, n * PAGE, there) != 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        gone += !(there[i] & 1);
    return gone;
}

int main(int argc, char **argv)
{
    size_t n = 32;
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    char *p = make_pages(300), *file = mmap(NULL, n * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    pthread_t thread;
    pid_t child;

    if (fd < 0 || file == MAP_FAILED)
        return 1;
    first_touch(p);
    second_touch(p);
    touch_block(make_block());
    if (pthread_create(&thread, NULL, touch_in_thread, make_pages(150)) != 0)
        return 1;
    pthread_join(thread, NULL);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        copy_in_child(p);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    read_into(make_pages(40), fd);
    printf("%zu\n", forget(fd, file, n));
    read_file_pages(file, n);
    return 0;
}
