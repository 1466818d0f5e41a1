/*
 * inproc_source.h: the second source of events of a run: what threads note of their own calls.
 *
 * Puts together the memory of the run (inproc/reader/shm_server.h), the list of the calls that are
 * noted, and what makes events of records (ringevents.h). The first source, ptrace, goes on beside
 * it and is the clock of both: whoever hears of a stop first asks for all that was noted up to
 * then.
 *
 * Which calls are noted: those of which all that will be asked can still be known when they are
 * told, some milliseconds late: what a descriptor is stays so until a call that stops, and what
 * the arguments of poll, select, connect and sendto point to comes with the record, and so does the
 * path of an open that has slept. So none whose object is said by other memory (rename), none that
 * changes what descriptors or addresses mean (dup, mmap, close but of plain files,
 * inproc/plain_fds.h): they stop, and what was noted before them is told before they happen.
 *
 * Not thread-safe. Allocates.
 */
#ifndef FLAME_TRACER_INPROC_INPROC_SOURCE_H
#define FLAME_TRACER_INPROC_INPROC_SOURCE_H

#include "inproc/ring.h"
#include "tracer/offcpu/event.h"

/* How old a record is at least when it is told between stops. */
#define INPROC_LATE_NS 1000000u

struct inproc;

struct inproc_client {
    void *arg;
    /* A stack of the thread, outermost return address first: a number for it, not 0. Borrowed. */
    uint32_t (*stack)(void *arg, pid_t tid, const uint64_t *pcs, size_t n);
    /* An event, with the number of its stack; signals have none. False: nobody knows the thread,
       and its calls are to stop from now on. */
    bool (*event)(void *arg, const struct off_event *e, uint32_t stack);
    /* The thread has said that of itself; the name need not end with a NUL. */
    void (*region)(void *arg, pid_t tid, enum ring_region what, const char *name, size_t len,
                   uint64_t time);
};

/* NULL, with *why a part of a sentence: there is no such source here. */
struct inproc *inproc_new(const struct inproc_client *client, const char **why);

/* Where calls return to that are noted (inproc/gate.h). */
uintptr_t inproc_lets_by(const struct inproc *i);

/* Where in their page calls return to that are noted and marked (inproc/syscall_mark.h); 0: none
 * are. */
uintptr_t inproc_marked(const struct inproc *i);

/* "NAME=VALUE" for the command's environment. Lives as long as *i. */
const char *inproc_environment(const struct inproc *i);

/* Tells all that was noted up to this time. */
void inproc_drain(struct inproc *i, uint64_t until);

/* How long until that is to be done again if nobody stops, in ns (tracer/inproc/pace.h). To be
 * asked each time after that. */
uint64_t inproc_beat(struct inproc *i);

/* An event of ptrace is about to be told. True: it is told later, by the client's `event`. */
bool inproc_stopped(struct inproc *i, const struct off_event *e);

/* As source_client's `born` and `gone` (tracer/ptrace/source.h), after inproc_drain. */
void inproc_clone(struct inproc *i, pid_t parent, pid_t child, uint64_t flags);
/* As source_client's `handled`. */
void inproc_signal(struct inproc *i, pid_t tid, uint64_t now);
void inproc_exit(struct inproc *i, pid_t tid);
/* All threads of the process have ended, or it runs another program. */
void inproc_process_exit(struct inproc *i, pid_t pid);

/* A line on standard error for each reason for which processes could not note their calls. */
void inproc_print_unsupported(const struct inproc *i);

/* Nothing is read any more, and no thread waits for that: all calls stop. */
void inproc_end(struct inproc *i);

#endif
