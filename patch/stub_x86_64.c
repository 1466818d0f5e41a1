/*
 * A slot of x86-64:
 *
 *     0   the instructions that were before the call; for those after it, none
 *         lea data(%rip),%rcx        (the kernel would change rcx anyway)
 *         jmp *enter(%rip)
 *         for SITE_AFTER: back:  the instructions after the call; jmp to the code after them
 *                         here:  syscall, then continue at back
 *     80  struct stub_data
 *
 * stub_enter is entered with the registers as they were at the `syscall`. It does not touch the red
 * zone. It stores a return address and a frame pointer like a call, saves the flags, and calls the
 * handler with a struct patch_call on the stack. Then it jumps to the address in `back`, with rcx
 * and r11 as the kernel would have left them. Calls that must be made at their own place (their
 * numbers are not known earlier), and calls that the handler does not want, continue at `here` with
 * nothing changed.
 *
 * At SITE_CALL, the call of __syscall_cancel_arch, the slot is called like that function, so
 * stub_point may change the registers that a function may change.
 *
 * Unwinding. Within stub_enter the return address is on the stack; at its beginning and end, rcx
 * points to the return address. Within a slot the return address is in the slot's data. Slots are
 * aligned, so the data's address follows from rip, and one expression serves for all slots. (At the
 * last jump the address is in rcx. Rejected: DW_CFA_register, which libgcc 12 does not follow
 * there.)
 */
#include "patch/stub.h"

#include "patch/patcher.h"

#if defined(__x86_64__)

enum { DATA = 80, JUMP = 5, SYSCALL_SIZE = 2 };

/* At DATA in each slot; the code below knows the offsets. */
struct stub_data {
    uint64_t pc;    /* address after the call, in the program's code */
    uint64_t back;  /* address at which to continue after the call */
    uint64_t here;  /* address at which to make the call as if the site were not patched */
    uint64_t enter; /* stub_enter or stub_point */
    uint64_t cfa;   /* the frame's address minus the stack pointer, in the slot's first part */
    uint64_t point; /* SITE_CALL: the function that is called there */
};

_Static_assert(DATA + sizeof(struct stub_data) == STUB_SLOT, "a slot is code and data");
_Static_assert(SITE_WINDOW + 7 + 6 + SITE_WINDOW + JUMP + SYSCALL_SIZE + 2 <= DATA,
               "all code fits");
_Static_assert(sizeof(struct patch_call) == 96, "stub_enter builds it");
_Static_assert(PATCH_NUMBERS == 512, "the code below compares with 511");
_Static_assert(STUB_SLOT == 128, "the code below says so, too");
_Static_assert(STUB_SLOT *STUB_HOME_SLOTS % 4096 == 0, "whole pages");

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

void stub_enter(void);
void stub_point(void);
long stub_raw(const struct patch_call *call);
long stub_make_point(const struct patch_call *call);

patch_see *patch_handler __attribute__((visibility("hidden")));
const uint64_t *patch_numbers __attribute__((visibility("hidden")));
patch_enter_kernel *patch_raw __attribute__((visibility("hidden"))) = stub_raw;

/* DW_CFA_expression: rip is saved at (rip & -128) + 80. DW_CFA_def_cfa_expression: rsp + the
 * word at (rip & -128) + 112. */
__asm__(".pushsection .text.patchslots,\"ax\",@progbits\n"
        ".p2align 12\n"
        ".globl stub_home\n"
        ".hidden stub_home\n"
        ".type stub_home,@object\n"
        "stub_home:\n"
        ".cfi_startproc simple\n"
        ".cfi_def_cfa rsp, 0\n"
        ".cfi_escape 0x0f,0x0b, 0x77,0x00, 0x80,0x00, 0x09,0x80, 0x1a, 0x23,0x70, 0x06, 0x22\n"
        ".cfi_escape 0x10,0x10,0x07, 0x80,0x00, 0x09,0x80, 0x1a, 0x23,0x50\n"
        ".fill 128 * " TEXT(STUB_HOME_SLOTS) ", 1, 0xcc\n"
                                             ".cfi_endproc\n"
                                             ".size stub_home, .-stub_home\n"
                                             ".popsection\n");

__asm__(".pushsection .text\n"
        ".p2align 6\n"
        ".globl stub_enter\n"
        ".hidden stub_enter\n"
        ".type stub_enter,@function\n"
        "stub_enter:\n"
        ".cfi_startproc simple\n"
        ".cfi_def_cfa rsp, 0\n"
        ".cfi_escape 0x10,0x10,0x02, 0x72,0x00\n" /* rip is saved at the address in rcx; 0x16: is
                                                     the value of */
        "endbr64\n"
        "lea -128(%rsp),%rsp\n"
        ".cfi_def_cfa_offset 128\n"
        "push (%rcx)\n"
        ".cfi_def_cfa_offset 136\n"
        ".cfi_offset rip, -136\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 144\n"
        ".cfi_offset rbp, -144\n"
        "mov %rsp,%rbp\n"
        ".cfi_def_cfa_register rbp\n"
        "pushfq\n"
        "push %rcx\n"
        "mov patch_handler(%rip),%r11\n"
        "test %r11,%r11\n"
        "jz 2f\n"
        "mov patch_numbers(%rip),%rcx\n"
        "test %rcx,%rcx\n"
        "jz 4f\n"
        "cmp $511,%rax\n"
        "ja 2f\n"
        "bt %rax,(%rcx)\n"
        "jnc 2f\n"
        "4:\n"
        "cmp $58,%eax\n" /* clone, fork, vfork: 56 to 58 */
        "ja 1f\n"
        "cmp $56,%eax\n"
        "jae 2f\n"
        "cmp $15,%eax\n" /* rt_sigreturn */
        "je 2f\n"
        "1: cmp $60,%eax\n" /* exit */
        "je 2f\n"
        "cmp $435,%eax\n" /* clone3 */
        "je 2f\n"
        "and $-16,%rsp\n"
        "pushq $0\n" /* point_arg and point: none */
        "pushq $0\n"
        "push (%rbp)\n"
        "lea 144(%rbp),%rcx\n"
        "push %rcx\n"
        "push 8(%rbp)\n"
        "push %r9\n"
        "push %r8\n"
        "push %r10\n"
        "push %rdx\n"
        "push %rsi\n"
        "push %rdi\n"
        "push %rax\n"
        "cld\n"
        "mov %rsp,%rdi\n"
        "call *%r11\n"
        "add $8,%rsp\n"
        "pop %rdi\n"
        "pop %rsi\n"
        "pop %rdx\n"
        "pop %r10\n"
        "pop %r8\n"
        "pop %r9\n"
        "mov -16(%rbp),%rcx\n"
        "mov -8(%rbp),%r11\n"
        "lea -8(%rbp),%rsp\n"
        "popfq\n"
        ".cfi_remember_state\n"
        "pop %rbp\n"
        ".cfi_restore rbp\n"
        ".cfi_def_cfa rsp, 136\n"
        "lea 136(%rsp),%rsp\n"
        ".cfi_def_cfa_offset 0\n"
        ".cfi_escape 0x10,0x10,0x02, 0x72,0x00\n"
        "mov 8(%rcx),%rcx\n"
        ".cfi_escape 0x16,0x10,0x02, 0x72,0x00\n"
        "notrack jmp *%rcx\n"
        ".cfi_restore_state\n"
        "2: mov -16(%rbp),%rcx\n"
        "lea -8(%rbp),%rsp\n"
        "popfq\n"
        "pop %rbp\n"
        ".cfi_restore rbp\n"
        ".cfi_def_cfa rsp, 136\n"
        "lea 136(%rsp),%rsp\n"
        ".cfi_def_cfa_offset 0\n"
        ".cfi_escape 0x10,0x10,0x02, 0x72,0x00\n"
        "mov 16(%rcx),%rcx\n"
        ".cfi_escape 0x16,0x10,0x02, 0x72,0x00\n"
        "notrack jmp *%rcx\n"
        ".cfi_endproc\n"
        ".size stub_enter, .-stub_enter\n"

        PATCH_RAW_CODE("stub_raw", "hidden")

        /* Called as __syscall_cancel_arch(flags, number, a, b, c, d, e, f), with the slot's data at
         * r11: e and f are on the stack. */
        ".p2align 4\n"
        ".globl stub_point\n"
        ".hidden stub_point\n"
        ".type stub_point,@function\n"
        "stub_point:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "mov patch_handler(%rip),%rax\n"
        "test %rax,%rax\n"
        "jz 3f\n"
        "mov patch_numbers(%rip),%r10\n"
        "test %r10,%r10\n"
        "jz 4f\n"
        "cmp $511,%rsi\n"
        "ja 3f\n"
        "bt %rsi,(%r10)\n"
        "jnc 3f\n"
        "4:\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset rbp, -16\n"
        "mov %rsp,%rbp\n"
        ".cfi_def_cfa_register rbp\n"
        "and $-16,%rsp\n"
        "push %rdi\n"
        "push 40(%r11)\n"
        "push (%rbp)\n"
        "lea 16(%rbp),%r10\n"
        "push %r10\n"
        "push 8(%rbp)\n"
        "push 24(%rbp)\n"
        "push 16(%rbp)\n"
        "push %r9\n"
        "push %r8\n"
        "push %rcx\n"
        "push %rdx\n"
        "push %rsi\n"
        "mov %rsp,%rdi\n"
        "call *%rax\n"
        "leave\n"
        ".cfi_remember_state\n"
        ".cfi_def_cfa rsp, 8\n"
        ".cfi_restore rbp\n"
        "ret\n"
        ".cfi_restore_state\n"
        ".cfi_def_cfa rsp, 8\n"
        ".cfi_restore rbp\n"
        "3: notrack jmp *40(%r11)\n"
        ".cfi_endproc\n"
        ".size stub_point, .-stub_point\n"

        /* long stub_make_point(const struct patch_call *): calls that function as the C library
         * would. */
        ".p2align 4\n"
        ".globl stub_make_point\n"
        ".hidden stub_make_point\n"
        ".type stub_make_point,@function\n"
        "stub_make_point:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "sub $8,%rsp\n"
        ".cfi_def_cfa_offset 16\n"
        "push 48(%rdi)\n"
        ".cfi_def_cfa_offset 24\n"
        "push 40(%rdi)\n"
        ".cfi_def_cfa_offset 32\n"
        "mov 80(%rdi),%rax\n"
        "mov (%rdi),%rsi\n"
        "mov 8(%rdi),%rdx\n"
        "mov 16(%rdi),%rcx\n"
        "mov 24(%rdi),%r8\n"
        "mov 32(%rdi),%r9\n"
        "mov 88(%rdi),%rdi\n"
        "call *%rax\n"
        "xor %r9d,%r9d\n" /* does not pass the handler's values on */
        "xor %edi,%edi\n"
        "add $24,%rsp\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size stub_make_point, .-stub_make_point\n"
        ".popsection\n");

long patch_make(const struct patch_call *call)
{
    return call->point ? stub_make_point(call) : patch_raw(call);
}

static void put(uint8_t *to, const void *from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((volatile uint8_t *)to)[i] = ((const uint8_t *)from)[i];
}

/* Writes the distance from the end of a 32-bit field to a place. False: it is too far. */
static bool put_distance(uint8_t *field, uintptr_t to)
{
    int64_t away = (int64_t)(to - ((uintptr_t)field + 4));
    int32_t near = (int32_t)away;

    put(field, &near, sizeof near);
    return near == away;
}

/* Moves window[from..end) to `to`, and adjusts its distances. */
static bool move(uint8_t *to, const struct patch_site *s, uintptr_t window, unsigned from,
                 unsigned end)
{
    put(to, s->bytes + from, end - from);
    for (unsigned i = 0; i < SITE_RELATIVES && s->relative[i]; i++) {
        unsigned at = s->relative[i];
        int64_t away;
        int32_t field;

        put((uint8_t *)&field, s->bytes + at, sizeof field);
        away = (int64_t)field + (int64_t)(window + from - (uintptr_t)to);
        field = (int32_t)away;
        if (field != away)
            return false;
        put(to + (at - from), &field, sizeof field);
    }
    return true;
}

static uint8_t *put_code(uint8_t *at, const char *bytes, size_t size)
{
    put(at, bytes, size);
    return at + size;
}

#define CODE(at, bytes) put_code(at, bytes, sizeof(bytes) - 1)

/* Writes the end of a slot's code: its data's address into rcx or r11, and the jump. */
static uint8_t *put_entry(uint8_t *slot, uint8_t *at, bool is_point)
{
    at = is_point ? CODE(at, "\x4c\x8d\x1d") : CODE(at, "\x48\x8d\x0d");
    put_distance(at, (uintptr_t)slot + DATA);
    at = CODE(at + 4, "\xff\x25");
    put_distance(at, (uintptr_t)slot + DATA + offsetof(struct stub_data, enter));
    return at + 4;
}

bool stub_write(uint8_t *slot, const struct patch_site *s, uintptr_t window)
{
    uintptr_t call = window + (s->call - s->at), end = window + s->length;
    bool is_point = s->kind == SITE_CALL, fits = true;
    uint8_t *at = slot;
    struct stub_data data = {
        .pc = call + s->call_size,
        .back = call + s->call_size,
        .here = call,
        .enter = (uint64_t)(uintptr_t)(is_point ? stub_point : stub_enter),
        .cfa = is_point ? 8 : 0,
    };

    if (s->kind == SITE_NUMBER || s->kind == SITE_BEFORE) {
        fits = move(at, s, window, 0, s->call - s->at);
        at += s->call - s->at;
    }
    at = put_entry(slot, at, is_point);
    if (s->kind == SITE_AFTER) {
        data.back = (uint64_t)(uintptr_t)at;
        fits = move(at, s, window, s->call_size, s->length);
        at = CODE(at + s->length - s->call_size, "\xe9");
        fits &= put_distance(at, end);
        at += 4;
        data.here = (uint64_t)(uintptr_t)at;
        at = CODE(at, "\x0f\x05\xeb");
        *at = (uint8_t)((intptr_t)data.back - ((intptr_t)at + 1));
    } else if (is_point) {
        int32_t away;

        put((uint8_t *)&away, s->bytes + 1, sizeof away);
        data.point = end + (uint64_t)(int64_t)away;
    }
    put(slot + DATA, &data, sizeof data);
    return fits;
}

void stub_branch(uint8_t to[SITE_WINDOW], const struct patch_site *s, uintptr_t window,
                 const uint8_t *slot)
{
    bool stays = s->kind == SITE_NUMBER || s->kind == SITE_BEFORE;
    unsigned end = stays ? s->call - s->at : s->length;
    int32_t away = (int32_t)((uintptr_t)slot - (window + JUMP));

    put(to, s->bytes, s->length);
    to[0] = s->kind == SITE_CALL ? 0xe8 : 0xe9;
    put(to + 1, &away, sizeof away);
    for (unsigned i = JUMP; i < end; i++)
        to[i] = 0xcc;
}

#endif
