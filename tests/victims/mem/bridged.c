/*
 * bridged.c: allocates below code that is generated at run time, has no tables and keeps no frame
 * pointer: sub $N,%rsp; call *%rdi; add $N,%rsp; ret. Then other code with another N takes its
 * place, by munmap and mmap, and by mmap alone. With FLAME_TEST_TURNS this is repeated.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SIZE 4096
typedef void through(void (*)(void));

static size_t size;

static void inner(void)
{
    void *volatile block = malloc(size);

    free(block);
}

static void *make(void *at, int flags, unsigned char n)
{
    const unsigned char code[] = {0x48, 0x83, 0xec, n, 0xff, 0xd7, 0x48, 0x83, 0xc4, n, 0xc3};
    void *page = mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

    if (page == MAP_FAILED || (at && page != at))
        exit(1);
    memcpy(page, code, sizeof code);
    if (mprotect(page, SIZE, PROT_READ | PROT_EXEC) < 0)
        exit(1);
    return page;
}

/* Often enough for stacks to be recalled. */
__attribute__((noinline)) static void call(void *page, size_t bytes)
{
    through *f;

    memcpy(&f, &page, sizeof f);
    size = bytes;
    for (int i = 0; i < 1000; i++)
        f(inner);
}

__attribute__((noinline)) static void first(void *page)
{
    call(page, 1);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

__attribute__((noinline)) static void second(void *page)
{
    call(page, 10);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void third(void *page)
{
    call(page, 100);
    __asm__ volatile("" ::: "memory");
}

int main(void)
{
    const char *turns = getenv("FLAME_TEST_TURNS");
    void *page = make(NULL, 0, 8);

    first(page);
    munmap(page, SIZE);
    make(page, MAP_FIXED_NOREPLACE, 24);
    second(page);
    make(page, MAP_FIXED, 56);
    third(page);
    for (int i = turns ? atoi(turns) : 0; i > 0; i--)
        call(make(page, MAP_FIXED, (unsigned char)(8 + i % 4 * 16)), 1);
    return 0;
}
