/*
 * cfi_rule_x86_64.h: converts a row to a rule. Internal to unwind/; pure functions.
 */
#ifndef FLAME_UNWIND_CFI_RULE_X86_64_H
#define FLAME_UNWIND_CFI_RULE_X86_64_H

#include "common/processor/arch.h"
#include "unwind/cfi.h"
#include "unwind/cfi_row.h"

/* A frame pointer with the return address above it, as after a call, but the CFA is further out. */
static inline bool is_far(const struct row *row)
{
    return row->form == CFA_REGISTER && row->reg == ARCH_CFI_BP && row->sp.where == SAME &&
           row->ra.where == AT_CFA && row->bp.where == AT_CFA && row->bp.offset == -row->offset &&
           row->ra.offset == 8 - row->offset;
}

static inline struct rule to_rule(const struct row *row)
{
    const struct rule complex = {.kind = RULE_COMPLEX};
    struct rule rule = {.cfa_offset = (int32_t)row->offset};

    if (row->ra.where == UNDEFINED)
        return (struct rule){.kind = RULE_END};
    if (fits(row->offset) && row->offset > 16 && is_far(row))
        return (struct rule){.kind = RULE_CFA_FAR, .cfa_offset = rule.cfa_offset};
    if (row->ra.where != AT_CFA || row->ra.offset != -8 || !fits(row->offset) ||
        row->sp.where != SAME)
        return complex;
    if (row->form == CFA_MEMORY_BP)
        rule.kind = RULE_CFA_MEM;
    else if (row->form == CFA_REGISTER && row->reg == ARCH_CFI_SP)
        rule.kind = RULE_CFA_SP;
    else if (row->form == CFA_REGISTER && row->reg == ARCH_CFI_BP)
        rule.kind = RULE_CFA_BP;
    else
        return complex;
    switch (row->bp.where) {
    case SAME:
    case UNDEFINED: /* the caller does not need it, so the walk does not either */
        break;
    case AT_CFA:
        rule.bp_saved = true;
        break;
    case AT_BP:
        rule.bp_saved = rule.bp_at_bp = true;
        break;
    default:
        return complex;
    }
    if (!fits(row->bp.offset))
        return complex;
    rule.bp_offset = (int32_t)row->bp.offset;
    return rule;
}

#endif
