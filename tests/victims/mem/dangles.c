/*
 * Code without unwind tables whose rbp points into memory that was once part of the
 * stack's mapping and is gone.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <sys/mman.h>
#define SIZE (1 << 20)
static char *base;
static void *volatile keep;
void on_stack(void *top, void (*fn)(void), void *bp);
/* no CFI: rbp is a plain register there, with a pointer into memory that is gone */
__asm__(".globl on_stack\non_stack:\n push %rbx\n push %rbp\n mov %rsp,%rbx\n mov %rdi,%rsp\n mov "
        "%rdx,%rbp\n call *%rsi\n mov %rbx,%rsp\n pop %rbp\n pop %rbx\n ret\n nop\n nop\n");
static void run(void)
{
    keep = malloc(24);
    free(keep);
}
int main(void)
{
    char *all = mmap(NULL, SIZE + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base = all + 4096;
    mprotect(base, SIZE, 3);
    on_stack(base + SIZE / 4, run, 0);
    munmap(base + SIZE / 2, SIZE / 2);
    on_stack(base + SIZE / 4, run, base + SIZE - 64);
    puts("alive");
    return 0;
}
