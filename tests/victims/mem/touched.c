/*
 * touched.c: allocates memory in functions of one name each, and touches a known number of its
 * pages elsewhere.
 *
 *   touched FILE     FILE has 32 pages
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define APART __attribute__((noinline))

static volatile char sink;

static APART void touch(volatile char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i * PAGE] = 1;
}

/* Behind the pages with the allocator's headers. */
static char *inner(char *p)
{
    return (char *)(((size_t)p + 2 * PAGE) & ~(size_t)(PAGE - 1));
}

static APART char *make_a(void)
{
    return malloc(103 * PAGE);
}

static APART char *make_b(void)
{
    return malloc(53 * PAGE);
}

static APART char *make_short(void)
{
    return malloc(43 * PAGE);
}

static APART char *make_resized(void)
{
    return malloc(40 * PAGE);
}

/* The pages that it moves are there already. */
static APART char *resize(char *p)
{
    return realloc(p, 403 * PAGE);
}

static APART char *make_mapping(void)
{
    return mmap(NULL, 70 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static APART char *make_file(int fd)
{
    return mmap(NULL, 32 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
}

/* One page each, with the allocator's part. */
static APART char *make_small(void)
{
    return malloc(2 * PAGE - 64);
}

static APART void *touch_in_thread(void *p)
{
    touch(p, 30);
    return NULL;
}

static APART char *make_for_thread(void)
{
    return malloc(33 * PAGE);
}

static APART char *make_for_child(void)
{
    return malloc(23 * PAGE);
}

static APART void go_deep(void)
{
    volatile char frame[60 * PAGE];

    touch(frame, 60);
    sink = frame[0];
}

int main(int argc, char **argv)
{
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    char *small[64], *p, *file;
    pthread_t thread;
    pid_t child;

    if (fd < 0)
        return 1;
    mallopt(M_MMAP_THRESHOLD, 64 * 1024); /* which also keeps the threshold there */
    p = make_a();
    touch(inner(p), 100);
    touch(inner(p), 100); /* the pages are there */
    touch(inner(make_b()), 50);
    for (int i = 0; i < 5; i++) { /* mostly at the address of the one before */
        p = make_short();
        touch(inner(p), 40);
        free(p);
    }
    p = make_resized();
    touch(inner(p), 30);
    p = resize(p);
    touch(inner(p) + 100 * PAGE, 300);
    p = make_mapping();
    touch(p, 70);
    munmap(p, 70 * PAGE);
    file = make_file(fd);
    touch(file, 20); /* a copy each */
    for (size_t i = 0; i < 64; i++) {
        small[i] = make_small();
        *inner(small[i] - PAGE) = 1; /* the next page behind its start */
    }
    p = make_for_thread();
    if (pthread_create(&thread, NULL, touch_in_thread, inner(p)) != 0)
        return 1;
    pthread_join(thread, NULL);
    free(p);
    go_deep();
    child = fork();
    if (child == 0) {
        touch(inner(make_for_child()), 20);
        exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
}
