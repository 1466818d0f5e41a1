/*
 * trampoline.c: outer() calls inner(), which sleeps, through code that was made at run time,
 * keeps no frame pointer and has no tables: sub $8,%rsp; call *%rdi; add $8,%rsp; ret.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void inner(void)
{
    usleep(50000);
}

__attribute__((noinline)) static void outer(void (*through)(void (*)(void)))
{
    through(inner);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

int main(void)
{
    static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7,
                                         0x48, 0x83, 0xc4, 0x08, 0xc3};
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*through)(void (*)(void));

    if (page == MAP_FAILED)
        return 1;
    memcpy(page, code, sizeof code);
    if (mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0)
        return 1;
    memcpy(&through, &page, sizeof through);
    outer(through);
    return 0;
}
