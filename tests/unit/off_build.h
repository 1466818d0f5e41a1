/*
 * off_build.h: traces of waiting made in memory, with trace_build.h.
 */
#ifndef FLAME_TESTS_UNIT_OFF_BUILD_H
#define FLAME_TESTS_UNIT_OFF_BUILD_H

#include "tests/unit/trace_build.h"

void ob_init(struct trace_build *b);

uint16_t ob_thread(struct trace_build *b, uint32_t pid, uint32_t tid, const char *comm);
/* A node with a text; parent 0: on a root of its own, of no thread. */
uint32_t ob_name(struct trace_build *b, enum trace_node_kind kind, const char *text,
                 uint32_t parent);
/* Names from "a/b/c", each on the one before. */
uint32_t ob_stack(struct trace_build *b, const char *frames, uint32_t parent);
uint32_t ob_waker(struct trace_build *b, uint32_t sleeper, uint32_t stack);
struct trace_off_row *ob_sleep(struct trace_build *b, uint32_t node, uint16_t thread,
                               enum trace_off_kind kind, uint64_t blocked_ns, uint64_t runq_ns);
struct trace_off_row *ob_oncpu(struct trace_build *b, uint32_t node, uint16_t thread,
                               uint64_t cpu_ns, uint64_t runq_ns);

/*
 * A small program: "app" (pid 100) with a worker thread of a hostile name. They sleep on a lock, a
 * queue, a disk, the network and a timer, with each other as wakers and without one. Stacks have
 * names only, but for `futex` (0: none), an address in module `exe` loaded with `bias`.
 */
struct off_sample {
    const char *exe;
    uint64_t bias, futex;
};
void ob_sample(struct trace_build *b, const struct off_sample *s);

#endif
