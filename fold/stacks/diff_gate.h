/*
 * diff_gate.h: a test whether a profile has grown too much against an earlier one.
 */
#ifndef FLAME_FOLD_STACKS_DIFF_GATE_H
#define FLAME_FOLD_STACKS_DIFF_GATE_H

#include "fold/stacks/stackset.h"
#include "fold/stacks/pattern.h"

struct diff_gate {
    double percent;
    struct pattern *frame; /* stacks that hold a frame that matches are watched; NULL: all */
};

/* Reads "5%", "2.5%:REGEX". False, with the reason appended to `why`, when the text has another
 * form. */
bool diff_gate_parse(struct diff_gate *g, const char *text, struct strbuf *why);
void diff_gate_release(struct diff_gate *g);

/* Whether there is a stack to be watched. Without one the gate has nothing to judge. */
bool diff_gate_watches(const struct diff_gate *g, const struct stackset *st);

/* Appends what is compared to `report`: a line with the number of the watched stacks and their
 * sums, and a line for those of them that have offsets for names which only one column has. */
void diff_gate_say(const struct diff_gate *g, const struct stackset *st, struct strbuf *report);

/*
 * Compares the columns of sorted stacks. With a regex the sum of the stacks
 * watched must not grow by more than `percent` of itself. Without one, neither
 * the sum of all stacks nor any frame (with what it calls) may grow by more than
 * `percent` of the sum of all. True when all is well; else appends to `report`
 * one line for the sum and one for each of the stacks that grew most.
 */
bool diff_gate_pass(const struct diff_gate *g, const struct stackset *st, struct strbuf *report);

#endif
