/*
 * byname.c: calls an allocator by names of its own, and keeps the counts itself.
 *
 *   -DJE -DTC -DMI   mallocx and its like (-DJE), tc_malloc (-DTC), mi_malloc (-DMI)
 *   -DPREFIXED       je_malloc, je_mallocx and so on
 *   -DLIBRARY        with that, the library that defines those, by malloc and by each other
 *   -DASKS           works without mallocx, too; prints whether it exists, and dlsym's answer
 *
 * All calls are made in works(). Prints the number of blocks, their bytes, and how many bytes of
 * them are live at the end, as they should be recorded: "CALLS BYTES LIVE". Then kept() keeps a
 * block of 77 bytes by malloc.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef ASKS
#define WEAK __attribute__((weak))
#else
#define WEAK
#endif

void *mallocx(size_t size, int flags) WEAK;
void *rallocx(void *p, size_t size, int flags) WEAK;
size_t xallocx(void *p, size_t size, size_t extra, int flags) WEAK;
void dallocx(void *p, int flags) WEAK;
void sdallocx(void *p, size_t size, int flags) WEAK;
void *je_malloc(size_t size);
void *je_calloc(size_t n, size_t size);
void *je_realloc(void *p, size_t size);
void *je_aligned_alloc(size_t align, size_t size);
int je_posix_memalign(void **out, size_t align, size_t size);
void *je_mallocx(size_t size, int flags);
void je_free(void *p);
void je_dallocx(void *p, int flags);
void *tc_malloc(size_t size);
void *tc_calloc(size_t n, size_t size);
void *tc_realloc(void *p, size_t size);
void *tc_memalign(size_t align, size_t size);
int tc_posix_memalign(void **out, size_t align, size_t size);
void *tc_valloc(size_t size);
void *tc_new(size_t size);
void *tc_newarray(size_t size);
void tc_free(void *p);
void tc_cfree(void *p);
void tc_delete(void *p);
void tc_deletearray(void *p);
void *mi_malloc(size_t size);
void *mi_zalloc(size_t size);
void *mi_calloc(size_t n, size_t size);
void *mi_mallocn(size_t n, size_t size);
void *mi_realloc(void *p, size_t size);
void *mi_reallocf(void *p, size_t size);
void *mi_malloc_small(size_t size);
void *mi_malloc_aligned(size_t size, size_t align);
void *mi_zalloc_aligned(size_t size, size_t align);
void *mi_realloc_aligned(void *p, size_t size, size_t align);
char *mi_strdup(const char *s);
char *mi_strndup(const char *s, size_t n);
void *mi_new(size_t size);
void mi_free(void *p);
void mi_free_size(void *p, size_t size);
void mi_free_aligned(void *p, size_t align);
void mi_free_size_aligned(void *p, size_t size, size_t align);

#ifdef LIBRARY
void *je_malloc(size_t size)
{
    return malloc(size);
}

void *je_mallocx(size_t size, int flags)
{
    (void)flags;
    return je_malloc(size);
}

void *je_calloc(size_t n, size_t size)
{
    return memset(je_malloc(n * size), 0, n * size);
}

void *je_realloc(void *p, size_t size)
{
    return realloc(p, size);
}

void *je_aligned_alloc(size_t align, size_t size)
{
    return aligned_alloc(align, size);
}

int je_posix_memalign(void **out, size_t align, size_t size)
{
    return posix_memalign(out, align, size);
}

void je_free(void *p)
{
    free(p);
}

void je_dallocx(void *p, int flags)
{
    (void)flags;
    je_free(p);
}
#else

static long calls, bytes, live;
static void *blocks[32];
static size_t sizes[32];
static int n;
static void *volatile last;
static volatile size_t huge = SIZE_MAX / 2; /* volatile: compilers warn of the obvious */

static void got(void *p, size_t size)
{
    if (!p)
        abort();
    memset(p, 1, size);
    calls++;
    bytes += (long)size;
    live += (long)size;
    blocks[n] = p;
    sizes[n++] = size;
}

/* The last block, to be freed or given to a realloc. */
static void *gone(void)
{
    live -= (long)sizes[--n];
    return blocks[n];
}

#if defined(JE) || defined(ASKS)
__attribute__((noinline)) static void by_x(void)
{
    void *p;
    size_t room;

    got(mallocx(100, 0), 100);
    got(mallocx(1000, 0), 1000);
    p = gone();
    got(rallocx(p, 5000, 0), 5000);
    got(mallocx(200, 0), 200);
    dallocx(gone(), 0);
    got(mallocx(300, 0), 300);
    sdallocx(gone(), 300, 0);
    got(mallocx(400, 0), 400);
    free(gone());
    /* It grows in place to that size, or does not change. */
    p = mallocx(10000, 0);
    got(p, 10000);
    room = xallocx(p, 9000, 0, 0);
    if (room >= 9000) {
        gone();
        got(p, 9000);
    }
    if (xallocx(p, huge, 0, 0) >= huge)
        abort();
}
#endif

#ifdef JE
/* A pointer to a function in data is called as well. */
static void *(*volatile by_pointer)(size_t, int) = mallocx;

static void more(void)
{
    got(by_pointer(50, 0), 50);
}
#endif

#ifdef PREFIXED
__attribute__((noinline)) static void by_prefix(void)
{
    void *p = NULL;

    got(je_malloc(100), 100);
    got(je_calloc(10, 20), 200);
    got(je_aligned_alloc(64, 640), 640);
    if (je_posix_memalign(&p, 64, 300))
        abort();
    got(p, 300);
    p = gone();
    got(je_realloc(p, 3000), 3000);
    got(je_mallocx(400, 0), 400);
    je_free(gone());
    got(je_mallocx(500, 0), 500);
    je_dallocx(gone(), 0);
}
#endif

#ifdef TC
__attribute__((noinline)) static void by_tc(void)
{
    void *p = NULL;

    got(tc_malloc(100), 100);
    got(tc_calloc(10, 20), 200);
    got(tc_memalign(64, 640), 640);
    if (tc_posix_memalign(&p, 64, 300))
        abort();
    got(p, 300);
    p = gone();
    got(tc_realloc(p, 3000), 3000);
    got(tc_valloc(5000), 5000);
    tc_free(gone());
    got(tc_new(70), 70);
    got(tc_new(80), 80);
    tc_delete(gone());
    got(tc_newarray(90), 90);
    tc_deletearray(gone());
    got(tc_malloc(400), 400);
    tc_cfree(gone());
    got(tc_malloc(401), 401);
    free(gone());
}
#endif

#ifdef MI
__attribute__((noinline)) static void by_mi(void)
{
    void *p;

    got(mi_malloc(100), 100);
    got(mi_zalloc(110), 110);
    got(mi_calloc(10, 20), 200);
    got(mi_mallocn(10, 21), 210);
    got(mi_malloc_small(64), 64);
    got(mi_malloc_aligned(640, 64), 640);
    got(mi_zalloc_aligned(641, 64), 641);
    p = gone();
    got(mi_realloc_aligned(p, 6400, 64), 6400);
    got(mi_malloc(300), 300);
    p = gone();
    got(mi_realloc(p, 3000), 3000);
    p = gone();
    got(mi_reallocf(p, 3100), 3100);
    got(mi_strdup("a string"), 9);
    got(mi_strndup("a string", 3), 4);
    got(mi_new(70), 70);
    mi_free(gone());
    got(mi_malloc(80), 80);
    mi_free_size(gone(), 80);
    got(mi_malloc_aligned(90, 64), 90);
    mi_free_aligned(gone(), 64);
    got(mi_malloc_aligned(91, 64), 91);
    mi_free_size_aligned(gone(), 91, 64);
    got(mi_malloc(92), 92);
    if (mi_reallocf(gone(), huge)) /* which frees it */
        abort();
}
#endif

__attribute__((noinline)) static void works(void)
{
#if defined(JE)
    by_x();
    more();
#elif defined(PREFIXED)
    by_prefix();
#elif defined(TC)
    by_tc();
#elif defined(MI)
    by_mi();
#else
    if (mallocx && dallocx)
        by_x();
#endif
}

__attribute__((noinline)) static void kept(void)
{
    last = malloc(77);
}

int main(void)
{
    char line[100];
    int len;

    works();
    kept();
    len = snprintf(line, sizeof line, "%ld %ld %ld\n", calls, bytes, live);
#ifdef ASKS
    len = snprintf(line, sizeof line, "%ld %ld %ld %s %s\n", calls, bytes, live,
                   mallocx ? "there" : "not there",
                   dlsym(RTLD_DEFAULT, "mallocx") ? "there" : "not there");
#endif
    return write(1, line, (size_t)len) == len ? 0 : 1;
}
#endif
