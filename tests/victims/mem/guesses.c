/*
 * Frame pointers that mislead: code without unwind tables calls malloc while rbp points to a
 * made-up frame record, whose return address lies in code with tables. By those tables the next
 * words lie in the upper half of the stack, which exists in the first round and is gone in the
 * second. An unwinder that follows the guess without a check faults.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define SIZE 65536
#define STR2(x) #x
#define STR(x) STR2(x)
#define CALLS 20

/* No tables; rbp is a plain register here. */
void *allocate(size_t n, const void *bp);
__asm__(".globl allocate\nallocate:\n push %rbp\n sub $16,%rsp\n mov %rsi,%rbp\n call malloc@plt\n"
        " add $16,%rsp\n pop %rbp\n ret\n");

/* Never run: only their tables are read. */
#define LIE(name, cfi)                                                                             \
    extern const char name[];                                                                      \
    __asm__(".globl " #name "\n.type " #name ",@function\n" #name ":\n.cfi_startproc\n" cfi        \
            "\n nop\n nop\n nop\n nop\n.cfi_endproc\n.size " #name ",.-" #name "\n")

LIE(caller_by_bp, ".cfi_def_cfa 6,16");
LIE(caller_by_sp, ".cfi_def_cfa 7," STR(SIZE));
LIE(caller_by_memory, ".cfi_escape 0x0f,3,0x76,0x78,0x06"); /* CFA = *(rbp - 8) */
LIE(saves_bp_far_up, ".cfi_def_cfa 7,16\n.cfi_offset 6," STR(SIZE));
LIE(signal_frame, ".cfi_signal_frame");

static char *low;
static ucontext_t home, away;
static void *volatile kept;
static const char *lie;

/* A record of the same form at the top of the lower half, where the upper begins. */
static uintptr_t *top_record(void)
{
    return (uintptr_t *)(low + SIZE) - 2;
}

static void on_own_stack(void)
{
    uintptr_t record[4] = {(uintptr_t)(low + SIZE + 64), (uintptr_t)lie + 2};

    if (lie == signal_frame) { /* one honest step up to the border, then the lie */
        record[0] = (uintptr_t)top_record();
        record[1] = (uintptr_t)caller_by_bp + 2;
        top_record()[1] = (uintptr_t)lie + 2;
    }
    for (int i = 0; i < CALLS; i++) {
        if (lie ==
            saves_bp_far_up) /* the caller changes: else the record would not be read again */
            record[3] = (uintptr_t)lie + 2 + i % 2;
        kept = allocate(33, record);
        free(kept);
    }
    swapcontext(&away, &home);
}

static void run(void)
{
    getcontext(&away);
    away.uc_stack.ss_sp = low;
    away.uc_stack.ss_size = SIZE - 64;
    away.uc_link = &home;
    makecontext(&away, on_own_stack, 0);
    swapcontext(&home, &away);
}

int main(void)
{
    const char *lies[] = {caller_by_bp, caller_by_sp, caller_by_memory, saves_bp_far_up,
                          signal_frame};

    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        lie = lies[i];
        low = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (low == MAP_FAILED)
            return 1;
        run();
        if (munmap(low + SIZE, SIZE))
            return 1;
        run();
        printf("%zu\n", i);
        fflush(stdout);
        munmap(low, SIZE);
    }
    return 0;
}
