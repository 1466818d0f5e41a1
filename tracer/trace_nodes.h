/*
 * trace_nodes.h: nodes of the trace that the recorder needs: threads' roots, their stacks, and on
 * top of them the call that a thread sleeps in or wakes by, and the kernel's functions.
 *
 * Not thread-safe. A node is 0 where there is none, or no room for it in the trace.
 */
#ifndef FLAME_TRACER_TRACE_NODES_H
#define FLAME_TRACER_TRACE_NODES_H

#include "tracer/offcpu_recorder.h"

/* Writes the title of the process, if the process has changed it. */
void recorder_name_process(struct recorder *r, struct tracee_process *p);
/* Number of the thread's record, which is made at the first call. */
uint16_t recorder_thread(struct recorder *r, struct tracee *t);
/* Root of the thread's stacks. */
uint32_t recorder_node_root(struct recorder *r, struct tracee *t);

/* Whether the event that is being handled is a call that this thread logged itself. */
bool recorder_is_logged(const struct recorder *r, const struct tracee *t);
/* Present stack of a thread that is at a stop, or was attached to in a call and sleeps. 0: it
 * cannot be read. */
uint32_t recorder_node_stopped(struct recorder *r, struct tracee *t);
/* A stack that the thread has logged: its number in r->given. */
uint32_t recorder_node_logged(struct recorder *r, struct tracee *t, uint32_t stack);
/* A stack that represents one that could not be read. */
uint32_t recorder_node_unknown(struct recorder *r, struct tracee *t);

/*
 * The call as objects.h needs it. If the thread logged the call, and the memory that its arguments
 * point to, that copy is used. A sleep that a signal ended is emitted when the next call begins, so
 * the copy of the previous call is stored until then. Borrows `args`.
 */
struct objects_call recorder_node_call(const struct recorder *r, const struct tracee *t, int nr,
                                       const uint64_t args[6]);
/* Frame of a call on `object`, a set of `set_size` members or a single object, on top of a stack.
 */
uint32_t recorder_node_with_call(struct recorder *r, struct tracee *t, uint32_t node, int nr,
                                 const uint64_t args[6], const struct off_object *object,
                                 size_t set_size);

/* The object of the thread's call, see offcpu_ops.object. Stored for the frame of a waking call. */
void recorder_object_of_call(struct recorder *r, struct tracee *t, int nr, const uint64_t args[6],
                             struct off_object *out, struct off_set *set);
/* The stack `node` with the frame of the call by which the thread wakes another, if the event at
 * hand is such a call; else `node`. */
uint32_t recorder_node_waking_call(struct recorder *r, struct tracee *t, uint32_t node);

/* Reads the kernel stack of a sleeping thread into t->kernel, a name a line, outermost first. If
 * that is not permitted, clears r->kernel. */
void recorder_read_kernel_stack(struct recorder *r, struct tracee *t);
/* The frames of t->kernel on top of a stack. */
uint32_t recorder_node_with_kernel(struct recorder *r, const struct tracee *t, uint32_t node);

#endif
