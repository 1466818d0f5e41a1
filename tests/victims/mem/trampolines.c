/*
 * Calls that go through code of its own making between functions that have tables, as a Python with
 * perf support has it, four deep; the innermost allocates 1,000 bytes ten times. x86-64.
 *
 *   trampolines plain DIRECTORYthe function that calls malloc has a rule that any unwinder follows
 *   trampolines inner DIRECTORYit has one that only a DWARF expression says
 *   trampolines each DIRECTORY and so have those that call the code
 *
 * The names of the code go to DIRECTORY/perf-PID.map; prints its PID.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define DEEP 4
#define STRIDE 32

typedef void *evaluator(int deep, void *unused, void *either, void *code);

/* sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
static const unsigned char code[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3};

/* Functions whose CFA is an expression: rsp + 16 + 0. */
void *hard_malloc(size_t size);
void *hard_call(int deep, void *unused, void *either, void *code, evaluator *made);

__asm__(".macro hard name, call\n"
        ".type \\name,@function\n"
        "\\name:\n"
        ".cfi_startproc\n"
        " sub $8,%rsp\n"
        " .cfi_escape 0x0f,0x04,0x77,0x10,0x23,0x00\n"
        " call \\call\n"
        " add $8,%rsp\n"
        " .cfi_def_cfa 7,8\n"
        " ret\n"
        ".cfi_endproc\n"
        ".size \\name,.-\\name\n"
        ".endm\n"
        ".text\n"
        "hard hard_malloc, malloc@PLT\n"
        "hard hard_call, *%r8\n");

static evaluator *made[DEEP];
static int inner, each;

__attribute__((noinline)) static void *evaluate(int deep, void *unused, void *either, void *self)
{
    volatile char room[64];
    void *result;

    room[0] = 0;
    if (!deep)
        result = inner ? hard_malloc(1000) : malloc(1000);
    else if (each)
        result = hard_call(deep - 1, unused, either, self, made[deep - 1]);
    else
        result = made[deep - 1](deep - 1, unused, either, self);
    room[1] = room[0];
    return result;
}

int main(int argc, char **argv)
{
    unsigned char *arena =
        mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char name[256];
    FILE *map;

    if (argc != 3 || arena == MAP_FAILED)
        return 2;
    each = strcmp(argv[1], "each") == 0;
    inner = each || strcmp(argv[1], "inner") == 0;
    snprintf(name, sizeof name, "%s/perf-%d.map", argv[2], (int)getpid());
    if (!(map = fopen(name, "w")))
        return 3;
    for (size_t i = 0; i < DEEP; i++) {
        memcpy(arena + i * STRIDE, code, sizeof code);
        *(void **)&made[i] = arena + i * STRIDE;
        fprintf(map, "%lx %x made%zu\n", (unsigned long)(arena + i * STRIDE), STRIDE, i);
    }
    fclose(map);
    if (mprotect(arena, 65536, PROT_READ | PROT_EXEC))
        return 4;
    for (int i = 0; i < 10; i++) {
        void *volatile p = made[DEEP - 1](DEEP - 1, NULL, NULL, (void *)evaluate);

        free(p);
    }
    printf("%d\n", (int)getpid());
    return 0;
}
#else
int main(void)
{
    return 2;
}
#endif
