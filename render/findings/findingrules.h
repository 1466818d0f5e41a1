/*
 * findingrules.h: the functions of the table in findings.c, by what they look at.
 *
 * Each looks at one column of a tree and says what it finds with look_say, or nothing. `base` is
 * what its row weighs; a share of the whole (0 to 1) is added to that, times 10, so that of equal
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
    const char *says; /* what the rule's sentence begins with, where that is by view; or NULL */
};

/* memoryrules.c */
void rule_owner(struct look *k, const struct rule *r, uint32_t column);
void rule_leaks(struct look *k, const struct rule *r, uint32_t column);
void rule_churn(struct look *k, const struct rule *r, uint32_t column);
void rule_turnover(struct look *k, const struct rule *r, uint32_t column);
void rule_untouched(struct look *k, const struct rule *r, uint32_t column);

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
