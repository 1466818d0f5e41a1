/*
 * cfi_row.h: the state of cfi.c at one address of a function, before it becomes a rule: the
 * location of the CFA and of the three relevant registers. Internal to unwind/; pure functions.
 */
#ifndef FLAME_UNWIND_CFI_ROW_H
#define FLAME_UNWIND_CFI_ROW_H

#include <stdbool.h>
#include <stdint.h>

enum where { SAME, AT_CFA, AT_BP, UNDEFINED, ELSEWHERE };

struct reg {
    enum where where;
    int64_t offset;
};

enum cfa_form { CFA_REGISTER, CFA_MEMORY_BP, CFA_OTHER };

struct row {
    enum cfa_form form;
    uint64_t reg;
    int64_t offset;
    struct reg bp, ra, sp;
};

/* Whether a rule has room for the offset. */
static inline bool fits(int64_t offset)
{
    return offset >= INT32_MIN / 16 && offset <= INT32_MAX / 16;
}

#endif
