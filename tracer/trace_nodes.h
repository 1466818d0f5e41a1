/*
 * trace_nodes.h: nodes of the trace for what the recorder has to tell: threads' roots, their
 * stacks, and on top of them the call that a thread sleeps in or wakes by, and the kernel's
 * functions.
 *
 * Not thread-safe. Nodes are 0 where there is none, or no room for it in the trace.
 */
#ifndef FLAME_TRACER_TRACE_NODES_H
#define FLAME_TRACER_TRACE_NODES_H

#include "tracer/offcpu_recorder.h"

/* Writes the title of the process, if it has given itself another one. */
void recorder_name_process(struct recorder *r, struct tracee_process *p);
/* The number of the thread's record, which is made when it is first asked for. */
uint16_t recorder_thread(struct recorder *r, struct tracee *t);
/* The root of the thread's stacks. */
uint32_t recorder_node_root(struct recorder *r, struct tracee *t);

/* Whether the event at hand is of this thread, which noted it itself. */
bool recorder_is_logged(const struct recorder *r, const struct tracee *t);
/* The stack the thread has now. 0: it has none that can be asked for. */
uint32_t recorder_node_stack(struct recorder *r, struct tracee *t);
/* That it could not be had, as a stack. */
uint32_t recorder_node_unknown(struct recorder *r, struct tracee *t);

/*
 * The call for who is to say what it is on. If the thread noted it, and noted what it points to,
 * that counts. A sleep that a signal ended is told when the next call begins: what was noted of
 * the call before is kept until then. Lends `args`.
 */
struct objects_call recorder_node_call(const struct recorder *r, const struct tracee *t, int nr,
                                       const uint64_t args[6]);
/* The frame of a call, which is on `object`, one of `set_size`, on top of a stack. */
uint32_t recorder_node_with_call(struct recorder *r, struct tracee *t, uint32_t node, int nr,
                                 const uint64_t args[6], const struct off_object *object,
                                 size_t set_size);

/* Reads the kernel's part of the stack of a thread that sleeps into t->kernel, a line a name,
 * outermost first. Not permitted: clears r->kernel. */
void recorder_read_kernel_stack(struct recorder *r, struct tracee *t);
/* Its frames on top of a stack. */
uint32_t recorder_node_with_kernel(struct recorder *r, const struct tracee *t, uint32_t node);

#endif
