/*
 * keptchild.h: names that need debug information, found in a child process.
 *
 * libdwarf does not survive all debug information (fold/fold_in_child.h). The process that records
 * must not end by it, so only children read it.
 */
#ifndef FLAME_DRIVER_KEPT_KEPTCHILD_H
#define FLAME_DRIVER_KEPT_KEPTCHILD_H

#include "common/strbuf.h"
#include "driver/kept/keptnames.h"

struct keptchild {
    size_t n; /* number of questions */
    /* Runs in the child, whose `k->symbols` reads debug information. Appends the answer. */
    void (*answer)(void *opaque, struct keptnames *k, size_t i, struct strbuf *to);
    /* Runs in this process, in order of the questions. `text` has a NUL behind it. */
    void (*take)(void *opaque, size_t i, const char *text, size_t len);
    void *opaque;
};

/*
 * Has a child answer all questions. If it dies, or takes more than 30 seconds of CPU time, a line
 * on standard error names the module that it was reading, and another child goes on without that
 * one's debug information. Returns the number of questions that have an answer: all, unless no
 * child can be made or one died of something else.
 */
size_t keptchild_run(struct keptnames *k, const struct keptchild *c);

#endif
