/*
 * Decodes instructions of x86-64 one by one: their sizes, their targets, and their effect on a
 * call's number. tests/cli/fold/t0413-dump-sites.sh compares whole libraries with objdump.
 */
#include <elf.h>

#include "patch/find/isa.h"
#include "tests/tap.h"

#define B(...) .bytes = {__VA_ARGS__}, .size = sizeof((uint8_t[]){__VA_ARGS__})

static const struct {
    const char *name;
    uint8_t bytes[16];
    unsigned size;
    uint8_t flow, number_is;
    bool movable;
    int32_t number;
    int64_t target;
    uint8_t relative;
} rows[] = {
    {"syscall", B(0x0f, 0x05), INSN_KERNEL, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"mov $202,%eax", B(0xb8, 0xca, 0, 0, 0), INSN_ON, INSN_NUMBER_SET, true, 202, 0, 0},
    {"mov $15,%rax", B(0x48, 0xc7, 0xc0, 15, 0, 0, 0), INSN_ON, INSN_NUMBER_SET, true, 15, 0, 0},
    {"mov $1,%r8d", B(0x41, 0xb8, 1, 0, 0, 0), INSN_ON, INSN_NUMBER_KEPT, true, 0, 0, 0},
    {"mov $big,%eax", B(0xb8, 0, 0, 0, 0x80), INSN_ON, INSN_NUMBER_UNSURE, true, 0, 0, 0},
    {"movabs", B(0x48, 0xb9, 1, 2, 3, 4, 5, 6, 7, 8), INSN_ON, INSN_NUMBER_KEPT, true, 0, 0, 0},
    {"mov $1,%ax", B(0x66, 0xb8, 1, 0), INSN_ON, INSN_NUMBER_UNSURE, true, 0, 0, 0},
    {"xor %eax,%eax", B(0x31, 0xc0), INSN_ON, INSN_NUMBER_SET, true, 0, 0, 0},
    {"xor %r8d,%r8d", B(0x45, 0x31, 0xc0), INSN_ON, INSN_NUMBER_KEPT, true, 0, 0, 0},
    {"mov %rsi,%rax", B(0x48, 0x89, 0xf0), INSN_ON, INSN_NUMBER_UNSURE, true, 0, 0, 0},
    {"mov %rax,8(%rsp)", B(0x48, 0x89, 0x44, 0x24, 8), INSN_ON, INSN_NUMBER_KEPT, true, 0, 0, 0},
    {"mov 8(%rsp),%r9", B(0x4c, 0x8b, 0x4c, 0x24, 8), INSN_ON, INSN_NUMBER_KEPT, true, 0, 0, 0},
    {"mov %fs:16,%rdx", B(0x64, 0x48, 0x8b, 0x14, 0x25, 16, 0, 0, 0), INSN_ON, INSN_NUMBER_KEPT,
     true, 0, 0, 0},
    {"mov %cl,%ah", B(0x88, 0xcc), INSN_ON, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"xor $0x81,%sil", B(0x40, 0x80, 0xf6, 0x81), INSN_ON, INSN_NUMBER_KEPT, true, 0, 0, 0},
    {"cmp $-4096,%rax", B(0x48, 0x3d, 0, 0xf0, 0xff, 0xff), INSN_ON, INSN_NUMBER_KEPT, true, 0, 0,
     0},
    {"lea 0x10(%rip),%rdi", B(0x48, 0x8d, 0x3d, 0x10, 0, 0, 0), INSN_ON, INSN_NUMBER_KEPT, true, 0,
     0x17, 3},
    {"cmpl $0,0x10(%rip)", B(0x83, 0x3d, 0x10, 0, 0, 0, 0), INSN_ON, INSN_NUMBER_KEPT, true, 0, 0,
     2},
    {"sub $8,%rsp", B(0x48, 0x83, 0xec, 8), INSN_ON, INSN_NUMBER_KEPT, false, 0, 0, 0},
    {"lea 8(%rbx),%rsp", B(0x48, 0x8d, 0x63, 8), INSN_ON, INSN_NUMBER_KEPT, false, 0, 0, 0},
    {"push %rbx", B(0x53), INSN_ON, INSN_NUMBER_KEPT, false, 0, 0, 0},
    {"pop %rax", B(0x58), INSN_ON, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"leave", B(0xc9), INSN_ON, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"cmove %rcx,%rax", B(0x48, 0x0f, 0x44, 0xc1), INSN_ON, INSN_NUMBER_UNSURE, true, 0, 0, 0},
    {"movups %xmm0,(%rbx)", B(0x0f, 0x11, 0x03), INSN_ON, INSN_NUMBER_KEPT, true, 0, 0, 0},
    {"test $1,%dil", B(0x40, 0xf6, 0xc7, 1), INSN_ON, INSN_NUMBER_KEPT, true, 0, 0, 0},
    {"test $1,%edi", B(0xf7, 0xc7, 1, 0, 0, 0), INSN_ON, INSN_NUMBER_KEPT, true, 0, 0, 0},
    {"neg %eax", B(0xf7, 0xd8), INSN_ON, INSN_NUMBER_UNSURE, true, 0, 0, 0},
    {"mul %ecx", B(0xf7, 0xe1), INSN_ON, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"xchg %r8,%rax", B(0x49, 0x90), INSN_ON, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"lock cmpxchg %edx,(%rdi)", B(0xf0, 0x0f, 0xb1, 0x17), INSN_ON, INSN_NUMBER_UNSURE, false, 0,
     0, 0},
    {"endbr64", B(0xf3, 0x0f, 0x1e, 0xfa), INSN_ON, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"nopw cs:0(%rax,%rax)", B(0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0), INSN_ON,
     INSN_NUMBER_KEPT, true, 0, 0, 0},
    {"mov %rsp-less SIB", B(0x8b, 0x04, 0x25, 1, 0, 0, 0), INSN_ON, INSN_NUMBER_UNSURE, true, 0, 0,
     0},
    {"movabs moffs", B(0x48, 0xa1, 1, 2, 3, 4, 5, 6, 7, 8), INSN_ON, INSN_NUMBER_UNSURE, false, 0,
     0, 0},
    {"enter", B(0xc8, 1, 0, 0), INSN_ON, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"pshufd $1", B(0x66, 0x0f, 0x70, 0xc1, 1), INSN_ON, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"pcmpistri", B(0x66, 0x0f, 0x3a, 0x63, 0xc1, 0x1a), INSN_ON, INSN_NUMBER_UNSURE, false, 0, 0,
     0},
    {"crc32", B(0xf2, 0x48, 0x0f, 0x38, 0xf1, 0xc1), INSN_ON, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"vzeroupper", B(0xc5, 0xf8, 0x77), INSN_ON, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"vpcmpeqb (VEX)", B(0xc5, 0xfd, 0x74, 0x0f), INSN_ON, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"vpalignr (VEX3)", B(0xc4, 0xe3, 0x7d, 0x0f, 0xc1, 4), INSN_ON, INSN_NUMBER_UNSURE, false, 0,
     0, 0},
    {"vpcmpb (EVEX)", B(0x62, 0xf3, 0x7d, 0x20, 0x3f, 0x46, 1, 0), INSN_ON, INSN_NUMBER_UNSURE,
     false, 0, 0, 0},
    {"pop (8f /0)", B(0x8f, 0x00), INSN_ON, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"je +2", B(0x74, 2), INSN_BRANCH, INSN_NUMBER_UNSURE, false, 0, 4, 0},
    {"je -16", B(0x0f, 0x84, 0xf0, 0xff, 0xff, 0xff), INSN_BRANCH, INSN_NUMBER_UNSURE, false, 0,
     -10, 0},
    {"jrcxz", B(0xe3, 0xfe), INSN_BRANCH, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"xbegin", B(0xc7, 0xf8, 4, 0, 0, 0), INSN_BRANCH, INSN_NUMBER_UNSURE, false, 0, 10, 0},
    {"jmp -2", B(0xeb, 0xfe), INSN_JUMP, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"bnd jmp", B(0xf2, 0xe9, 1, 0, 0, 0), INSN_JUMP, INSN_NUMBER_UNSURE, false, 0, 7, 0},
    {"call", B(0xe8, 1, 0, 0, 0), INSN_CALL, INSN_NUMBER_UNSURE, false, 0, 6, 0},
    {"data16 rex.W call", B(0x66, 0x48, 0xe8, 1, 0, 0, 0), INSN_CALL, INSN_NUMBER_UNSURE, false, 0,
     8, 0},
    {"call *%rax", B(0xff, 0xd0), INSN_CALL_COMPUTED, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"notrack jmp *%rax", B(0x3e, 0xff, 0xe0), INSN_JUMP_COMPUTED, INSN_NUMBER_UNSURE, false, 0, 0,
     0},
    {"ret", B(0xc3), INSN_END, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"ud2", B(0x0f, 0x0b), INSN_END, INSN_NUMBER_UNSURE, false, 0, 0, 0},
    {"hlt", B(0xf4), INSN_END, INSN_NUMBER_UNSURE, false, 0, 0, 0},
};

static const struct {
    const char *name;
    uint8_t bytes[16];
    unsigned size;
} none[] = {
    {"push %es", B(0x06)},
    {"a far call", B(0x9a, 0, 0, 0, 0, 0, 0)},
    {"nothing but prefixes", B(0x66, 0x66, 0x66)},
    {"sixteen bytes", B(0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
                        0x66, 0x66, 0x0f, 0x05)},
    {"VEX of a map there is not", B(0xc4, 0xe5, 0x7d, 0x0f, 0xc1, 4)},
};

int main(void)
{
    const struct isa *isa = isa_of(EM_X86_64);
    int wrong = 0, cut = 0;
    struct insn insn;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        unsigned size = isa->decode(rows[i].bytes, sizeof rows[i].bytes, &insn);
        bool is_target = insn.flow == INSN_BRANCH || insn.flow == INSN_JUMP ||
                         insn.flow == INSN_CALL || insn.refers;

        wrong +=
            !row(size == rows[i].size, "%s has %u bytes, not %u", rows[i].name, rows[i].size, size);
        wrong += !row(insn.flow == rows[i].flow, "%s leads %d, not %d", rows[i].name, rows[i].flow,
                      insn.flow);
        wrong += !row(insn.flow != INSN_ON || insn.number_is == rows[i].number_is,
                      "%s: number is %d, not %d", rows[i].name, rows[i].number_is, insn.number_is);
        wrong += !row(insn.number == rows[i].number, "%s sets %d", rows[i].name, insn.number);
        wrong += !row(insn.movable == rows[i].movable, "%s is movable: %d", rows[i].name,
                      rows[i].movable);
        wrong += !row(!is_target || insn.target == rows[i].target, "%s leads %jd away",
                      rows[i].name, (intmax_t)rows[i].target);
        wrong += !row(insn.relative == rows[i].relative, "%s: distance at %u", rows[i].name,
                      insn.relative);
        for (unsigned n = 0; n < rows[i].size; n++)
            cut += isa->decode(rows[i].bytes, n, &insn) != 0;
    }
    is_int(wrong, 0, "each instruction of the table is decoded correctly");
    is_int(cut, 0, "a truncated instruction is refused");
    wrong = 0;
    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        wrong += !row(!isa->decode(none[i].bytes, none[i].size, &insn), "%s", none[i].name);
    is_int(wrong, 0, "invalid instructions are refused");
    isa->decode((const uint8_t[]){0xb8, 1, 0, 0, 0}, 5, &insn);
    ok(insn.sets_number_only, "a number loaded by five bytes sets the number only");
    isa->decode((const uint8_t[]){0x48, 0xc7, 0xc0, 1, 0, 0, 0}, 7, &insn);
    ok(!insn.sets_number_only, "a number loaded by seven bytes is of another kind");
    ok(!isa_of(EM_386), "other machines have no decoder");
    return done_testing();
}
