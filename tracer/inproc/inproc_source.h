/*
 * inproc_source.h: the second event source of a run: the calls that threads log themselves.
 *
 * It joins the shared memory of the run (inproc/reader/shm_server.h), the list of logged calls, and
 * the maker of events from records (ringevents.h). The first source, ptrace, runs beside it and is
 * the clock of both: a client that handles a stop first drains all that was logged up to then.
 *
 * A call is logged if all facts that are needed about it are still known when its record is read,
 * some milliseconds later. A descriptor's object stays the same until a call that stops. The memory
 * to which the arguments of poll, select, connect and sendto point comes with the record, and so
 * does the path of an open that has slept. So two kinds of calls stop instead. One has its object
 * in other memory (rename). The other changes what descriptors or addresses mean (dup, mmap, close
 * except of plain files, inproc/plain_fds.h); all that was logged before it is emitted before it
 * happens.
 *
 * Not thread-safe. Allocates.
 */
#ifndef FLAME_TRACER_INPROC_INPROC_SOURCE_H
#define FLAME_TRACER_INPROC_INPROC_SOURCE_H

#include "inproc/ring.h"
#include "tracer/offcpu/event.h"

/* Age from which on a record is emitted between stops. */
#define INPROC_LATE_NS 1000000u

struct inproc;

struct inproc_client {
    void *arg;
    /* Returns a number for a stack of the thread, outermost return address first; not 0. The stack
     * is borrowed. */
    uint32_t (*stack)(void *arg, pid_t tid, const uint64_t *pcs, size_t n);
    /* Returns what stacks have in the place of a function of Python; 0: no functions are asked for.
     * NULL: as 0, and programs are told so. The name is borrowed. */
    uint64_t (*function)(void *arg, const char *name, size_t len);
    /* Handles an event, with the number of its stack; signals have none. False: the thread is
     * unknown, and its calls must stop from now on. */
    bool (*event)(void *arg, const struct off_event *e, uint32_t stack);
    /* Handles a region that the thread has logged about itself; the name need not end with a NUL.
     */
    void (*region)(void *arg, pid_t tid, enum ring_region what, const char *name, size_t len,
                   uint64_t time);
};

/* NULL: this source is not possible here; *why is the reason, as a part of a sentence. */
struct inproc *inproc_new(const struct inproc_client *client, const char **why);

/* Return address of the calls that are logged (inproc/gate.h). */
uintptr_t inproc_lets_by(const struct inproc *i);

/* Return address, within its page, of marked calls that are logged (inproc/syscall_mark.h); 0: no
 * calls are marked. */
uintptr_t inproc_marked(const struct inproc *i);

/* "NAME=VALUE" for the command's environment. Lives as long as *i. */
const char *inproc_environment(const struct inproc *i);

/* Emits all that was logged up to this time. */
void inproc_drain(struct inproc *i, uint64_t until);

/* Time until the next drain if no thread stops, in ns (tracer/inproc/pace.h). Must be called after
 * each drain. */
uint64_t inproc_beat(struct inproc *i);

/* An event of ptrace is about to be emitted. True: it is emitted later, by the client's `event`. */
bool inproc_stopped(struct inproc *i, const struct off_event *e);

/* As source_client's `born` and `gone` (tracer/ptrace/source.h), after inproc_drain. */
void inproc_clone(struct inproc *i, pid_t parent, pid_t child, uint64_t flags);
/* As source_client's `handled`. */
void inproc_signal(struct inproc *i, pid_t tid, uint64_t now);
void inproc_exit(struct inproc *i, pid_t tid);
/* All threads of the process have ended, or it runs another program. */
void inproc_process_exit(struct inproc *i, pid_t pid);

/* Prints a line on standard error for each reason for which processes could not log their calls. */
void inproc_print_unsupported(const struct inproc *i);

/* Ends the source: no ring is read any more, no thread waits for that, and all calls stop. */
void inproc_end(struct inproc *i);

#endif
