/*
 * made_waits.h: traces of waiting made in memory in which each wait has its time. Times are
 * milliseconds from the beginning.
 */
#ifndef FLAME_TESTS_UNIT_MADE_WAITS_H
#define FLAME_TESTS_UNIT_MADE_WAITS_H

#include "fold/fold.h"
#include "tests/unit/off_build.h"

#define MS 1000000u
#define MADE_ZERO ((uint64_t)1000 * MS)

/* The intervals are put together until the trace is read. */
struct made {
    struct trace_build b;
    struct {
        struct trace_intervals head;
        uint8_t entries[32768];
    } log;
    uint64_t before;
};

void made_begin(struct made *m);

/* A thread of process 100. */
uint16_t made_thread(struct made *m, uint32_t tid, const char *comm, uint64_t from, uint64_t to,
                     uint16_t parent);
/* The stack "a/b/c" of a thread, and that stack with a waker's. */
uint32_t made_on(struct made *m, uint16_t thread, const char *frames);
uint32_t made_woken(struct made *m, uint32_t sleeper, uint16_t waker, const char *frames);

/* An interval of the row that was made last. */
void made_note(struct made *m, uint32_t kind, uint64_t from, uint64_t to, uint64_t ns,
               uint64_t runq);
/* A sleep, the last `runq` of it awake and waiting for a CPU. */
void made_slept(struct made *m, uint32_t node, uint16_t thread, enum trace_off_kind kind,
                uint64_t from, uint64_t to, uint64_t runq);
/* A share of a stretch of time, on a CPU. */
void made_ran(struct made *m, uint16_t thread, uint64_t from, uint64_t to, uint64_t cpu);

/* Folds one view of the trace and releases it; "refused", or text for the caller to free. */
char *made_fold(struct made *m, const char *view, const struct fold_when *when);

#endif
