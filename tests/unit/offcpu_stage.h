/*
 * offcpu_stage.h: a stage for the state machine of flame off: events in one line each, a world that
 * answers from tables, and a list of the sleeps that it emits.
 *
 * Times are in microseconds. The first argument of a call names the object (stage_object), except
 * for futexes, whose address is their name. At STAGE_FUTEXES there is an array of struct
 * futex_waitv that lists 0x10, 0x20 and so on. A thread's stack is 1000 * tid + the number of the
 * call it is in (of the entry last seen).
 */
#ifndef FLAME_TESTS_UNIT_OFFCPU_STAGE_H
#define FLAME_TESTS_UNIT_OFFCPU_STAGE_H

#include "tracer/offcpu/offcpu.h"

/* The sink adds this to a sleeper's stack for the call's frame. */
#define STAGE_SLEPT 1000000
#define STAGE_FUTEXES 0x1000

void stage_open(uint64_t min_block_us, unsigned depth);
void stage_open_unstopped(void); /* for a no-stop source; min_block 0, depth 8 */
void stage_close(void);          /* with or without offcpu_finish */

/* Descriptor (or semaphore, queue) `fd` is this object, for every thread. */
void stage_object(unsigned fd, enum off_object_kind kind, uint64_t a, unsigned side);
/* Call on `fd` sleeps on the set of these descriptors. */
void stage_set(unsigned fd, const unsigned *members, size_t n, unsigned wants);
/* The process of this thread, and of no other, has these descriptors open. */
void stage_holds(pid_t tid, const unsigned *members, size_t n);
void stage_peer(const char *name);
/* The stacks of threads with the same number, not 0, are alike. */
void stage_likeness(pid_t tid, uint32_t like);
/* The scheduler's figures of a thread from now on, in microseconds. */
void stage_sched(pid_t tid, uint64_t cpu, uint64_t runq, uint64_t turns);

/* The number of pages that it has asked for. */
void stage_faults(pid_t tid, uint64_t faults);

void stage_begin(uint64_t at, pid_t tid, pid_t pid, pid_t parent); /* parent 0: not newborn */
void stage_begin_in(uint64_t at, pid_t tid, pid_t pid, int nr, uint64_t a0);
void stage_end(uint64_t at, pid_t tid);
void stage_plain(enum off_event_kind kind, uint64_t at, pid_t tid, pid_t pid);
void stage_exec(uint64_t at, pid_t pid, pid_t old);
void stage_signal(uint64_t at, pid_t tid, int signal, int code, pid_t sender);
void stage_caught(uint64_t at, pid_t tid, int signal, pid_t sender); /* by a handler */
struct stage_args {
    uint64_t a[6];
};
#define ARGS(...)                                                                                  \
    (struct stage_args)                                                                            \
    {                                                                                              \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
void stage_entry(uint64_t at, pid_t tid, int nr, struct stage_args args);
void stage_restarted(uint64_t at, pid_t tid, int nr, struct stage_args args);
void stage_wake(uint64_t at, pid_t tid, int nr, struct stage_args args); /* no exit comes */
void stage_exit(uint64_t at, pid_t tid, int64_t result);
void stage_finish(uint64_t at);
/* An event from another source. */
void stage_event(const struct off_event *e);
/* The tracer has stopped the thread of the next event `times` times before it, `us` in all. */
void stage_held(uint64_t us, uint64_t longest_us, uint64_t times);
/* The thread has waited for room in its ring before its next event. */
void stage_room(uint64_t us, uint64_t longest_us, uint64_t times);
/* Adds time for which the thread may have been stopped as well. */
void stage_held_more(uint64_t us);

/* ---- what came out ---- */

size_t stage_sleeps(void);
const struct off_sleep *stage_sleep(size_t i);
const struct off_sleep *stage_last(void); /* an empty one if there is none */
/* "12 13 [timer]": the chain of the last sleep. */
const char *stage_chain(void);
const char *stage_chain_of(size_t sleep);
size_t stage_oncpus(void);
const struct off_oncpu *stage_oncpu(size_t i);
/* A thread's time outside sleeps, of one kind; the sum of all reports. */
struct off_span stage_rest(pid_t tid, enum off_other_time kind);
/* Questions to the world since the last call of this. */
struct stage_asked {
    unsigned stacks, objects, scheds;
};
struct stage_asked stage_asked(void);

/* A pid for a thread that is not a leader: threads 10..19 are of process 10, and so on. */
pid_t stage_pid(pid_t tid);

#endif
