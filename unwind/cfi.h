/*
 * cfi.h: call frame information, compiled to one small rule for one address.
 *
 * Source: DWARF 5 section 6.4 (call frame instructions), the LSB's .eh_frame and
 * .eh_frame_hdr (pointer encodings, augmentation "zRPLSB"), and the System V
 * ABI's x86-64 supplement, table 3.36 (register numbers); for aarch64, DWARF for the Arm 64-bit
 * Architecture (aadwarf64). Sections are of the processor that this is compiled for.
 *
 * The bytes come from a mapped ELF file, which may be damaged or hostile: every
 * read is checked against the section's bounds. Pure functions: no state, no
 * memory of their own, safe in signal handlers.
 */
#ifndef FLAME_UNWIND_CFI_H
#define FLAME_UNWIND_CFI_H

#include <stdbool.h>

#include "common/compiler.h"

/* Kind of the step from a frame to its caller's. */
enum rule_kind {
    RULE_UNSET = 0,   /* never a result: tables use it for "not known yet" */
    RULE_CFA_SP = 1,  /* CFA = sp + cfa_offset */
    RULE_CFA_BP = 2,  /* CFA = bp + cfa_offset */
    RULE_CFA_MEM = 3, /* CFA = *(bp + cfa_offset), a realigned stack */
    RULE_SIGNAL = 4,  /* a signal handler's return: all registers from the ucontext at sp */
    RULE_END = 5,     /* the outermost frame: its return address is undefined */
    RULE_COMPLEX = 6, /* a rule that this engine cannot describe */
    RULE_NONE = 7,    /* no unwind information covers the address */
    RULE_BOGUS = 8,   /* there is no code at the address */
    /* CFA = bp + cfa_offset, but the return address is at bp + 8 and the caller's bp at bp: code
     * reached by a jump that does not touch the red zone (patch/stub_x86_64.c) */
    RULE_CFA_FAR = 9,
    /* aarch64: CFA = sp + cfa_offset, and the return address is still in its register: a function
       that calls nothing, or has just begun */
    RULE_CFA_LR = 10,
};

/*
 * Offsets are bytes. On x86-64 the return address is at CFA - 8, except for RULE_CFA_FAR. On
 * aarch64 it follows the saved bp, at CFA + bp_offset + 8; if bp is not saved, it is at CFA +
 * bp_offset. Other layouts, which no compiler makes, are RULE_COMPLEX.
 */
struct rule {
    uint8_t kind;  /* enum rule_kind */
    bool bp_saved; /* the caller's bp is at CFA + bp_offset; otherwise bp is unchanged */
    bool bp_at_bp; /* RULE_CFA_MEM: it is at bp + bp_offset instead */
    int32_t cfa_offset;
    int32_t bp_offset;
};

/*
 * Unwind sections of one module, as mapped bytes. Rules are about addresses in
 * memory.
 */
struct cfi_section {
    const uint8_t *hdr; /* .eh_frame_hdr; NULL when there is none */
    size_t hdr_size;
    uintptr_t lo, hi; /* the module's mapped range: nothing outside is read */
    /* The bytes lo..hi are a .debug_frame section instead, whose addresses are those of the file
     * (there is no hdr then). */
    bool debug_frame;
};

/*
 * End of the last run through a long function's instructions, so that a run for a later address
 * need not begin at the function's start. A function of a thousand calls has thousands of
 * instructions, and each of its addresses would cost a run through all of them. All zero is empty.
 * A memo belongs to one section, and is valid as long as the section's bytes do not change.
 */
struct cfi_memo {
    const uint8_t *fde; /* NULL: empty */
    const uint8_t *at;  /* the instruction to continue with */
    uintptr_t loc;      /* address from which on `row` holds, up to that instruction */
    int64_t row[10];
};

/* The rule for the instruction at `pc` (for a return address: the address - 1). RULE_NONE: no FDE
 * covers it. */
struct rule cfi_rule_at(const struct cfi_section *s, uintptr_t pc);

/* Like cfi_rule_at, with a memo that only the caller uses during the call. */
struct rule cfi_rule_from(const struct cfi_section *s, uintptr_t pc, struct cfi_memo *memo);

/* The rule for `pc` by an FDE that is already known. */
struct rule cfi_rule_of(const struct cfi_section *s, const uint8_t *fde, uintptr_t pc);

/* Start of the function that the instruction at `pc` belongs to, by its FDE. False: no FDE covers
 * it. */
bool cfi_function_at(const struct cfi_section *s, uintptr_t pc, uintptr_t *start);

/*
 * Walks a .debug_frame section. *at is the entry to read, at first s->lo, and is moved to the next
 * one. True: the entry was an FDE for [*start, *end), found at *fde. False: it was another entry;
 * or, if *at is NULL, the section has ended or is damaged.
 */
bool cfi_next_fde(const struct cfi_section *s, const uint8_t **at, const uint8_t **fde,
                  uintptr_t *start, uintptr_t *end);

#endif
