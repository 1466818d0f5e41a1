/*
 * cfi_rule_aarch64.h: converts a row to a rule. Internal to unwind/; pure functions.
 */
#ifndef FLAME_UNWIND_CFI_RULE_AARCH64_H
#define FLAME_UNWIND_CFI_RULE_AARCH64_H

#include "common/processor/arch.h"
#include "unwind/cfi.h"
#include "unwind/cfi_row.h"

static inline struct rule to_rule(const struct row *row)
{
    const struct rule complex = {.kind = RULE_COMPLEX};
    struct rule rule = {.cfa_offset = (int32_t)row->offset};
    bool bp_kept = row->bp.where == SAME || row->bp.where == UNDEFINED;
    int64_t at;

    if (row->ra.where == UNDEFINED)
        return (struct rule){.kind = RULE_END};
    if (!fits(row->offset) || row->sp.where != SAME)
        return complex;
    if (row->form == CFA_MEMORY_BP)
        rule.kind = RULE_CFA_MEM;
    else if (row->form == CFA_REGISTER && row->reg == ARCH_CFI_SP)
        rule.kind = RULE_CFA_SP;
    else if (row->form == CFA_REGISTER && row->reg == ARCH_CFI_BP)
        rule.kind = RULE_CFA_BP;
    else
        return complex;
    if (row->ra.where == SAME) {
        rule.kind = RULE_CFA_LR;
        return bp_kept && row->form == CFA_REGISTER && row->reg == ARCH_CFI_SP ? rule : complex;
    }
    if (row->ra.where != AT_CFA || (!bp_kept && row->bp.where != AT_CFA))
        return complex;
    at = bp_kept ? row->ra.offset : row->bp.offset;
    if (!fits(at) || (!bp_kept && row->ra.offset != at + 8))
        return complex;
    rule.bp_saved = !bp_kept;
    rule.bp_offset = (int32_t)at;
    return rule;
}

#endif
