/*
 * Stacks whose memory changes: the upper half of a hand-made coroutine's stack is unmapped and the
 * lower half used again, by the same calls at the same addresses. Code that reads the old upper
 * half faults.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SIZE (1 << 20)

static char *base;
static volatile int sink;
static void *volatile keep;

void on_stack(void *top, void (*fn)(void));
__asm__(".globl on_stack\n.type on_stack,@function\non_stack:\n.cfi_startproc\n"
        "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6,-16\n"
        "mov %rsp,%rbp\n.cfi_undefined 16\n"
        "mov %rdi,%rsp\ncall *%rsi\nmov %rbp,%rsp\npop %rbp\nret\n"
        ".cfi_endproc\n.size on_stack,.-on_stack\n");

__attribute__((noinline)) static void leaf(void)
{
    for (int i = 0; i < 3; i++) {
        keep = malloc(24);
        free(keep);
    }
}

/* leaf's frame is at the same place, wherever this is called from. */
__attribute__((noinline)) static void far_below(uintptr_t to)
{
    volatile char *pad = __builtin_alloca((uintptr_t)__builtin_frame_address(0) - to);

    pad[0] = 1;
    leaf();
    pad[1] = 1;
}

static void run(void)
{
    far_below((uintptr_t)base + SIZE / 16);
    sink++;
}

int main(void)
{
    char *all = mmap(NULL, SIZE + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED || mprotect(all + 4096, SIZE, PROT_READ | PROT_WRITE))
        return 1;
    base = all + 4096;
    on_stack(base + SIZE, run);
    on_stack(base + SIZE, run);
    if (munmap(base + SIZE / 2, SIZE / 2))
        return 1;
    on_stack(base + SIZE / 2, run);
    puts("alive");
    return 0;
}
