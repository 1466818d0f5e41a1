/*
 * findingrules.h: the functions of the table in findings.c, by their input.
 *
 * Each reads one column of a tree and adds its finding with look_say, or none. `base` is the
 * weight of its row; a share of the total (0 to 1), times 10, is added to it, so that of equal
 * rows the larger part comes first.
 */
#ifndef FLAME_RENDER_FINDINGS_FINDINGRULES_H
#define FLAME_RENDER_FINDINGS_FINDINGRULES_H

#include "render/findings/treelook.h"

struct rule {
    const char *name;
    const char *views; /* blank-separated; "*": any that no other row but another "*" is for */
    void (*find)(struct look *k, const struct rule *r, uint32_t column);
    double base;
    const char *says; /* beginning of the rule's sentence, where that differs by view; or NULL */
};

/* memoryrules.c */
void rule_owner(struct look *k, const struct rule *r, uint32_t column);
void rule_leaks(struct look *k, const struct rule *r, uint32_t column);
void rule_churn(struct look *k, const struct rule *r, uint32_t column);
void rule_turnover(struct look *k, const struct rule *r, uint32_t column);
void rule_untouched(struct look *k, const struct rule *r, uint32_t column);
void rule_keeper(struct look *k, const struct rule *r, uint32_t column);

/* growthrules.c */
void rule_grows(struct look *k, const struct rule *r, uint32_t column);
void rule_compare(struct look *k, const struct rule *r, uint32_t column);

/* waitrules.c */
void rule_lock(struct look *k, const struct rule *r, uint32_t column);
void rule_waits(struct look *k, const struct rule *r, uint32_t column);
void rule_wakeup(struct look *k, const struct rule *r, uint32_t column);
void rule_runq(struct look *k, const struct rule *r, uint32_t column);

/* stackrules.c */
void rule_few(struct look *k, const struct rule *r, uint32_t column);
void rule_recursion(struct look *k, const struct rule *r, uint32_t column);

#endif
