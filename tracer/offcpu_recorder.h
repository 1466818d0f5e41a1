/*
 * offcpu_recorder.h: connects the event source, the state machine and the trace. It passes events
 * to the machine and answers the machine's queries (offcpu_ops.h). It writes the sleeps that the
 * machine finds (struct offcpu_output), with the frames of calls on top of stacks.
 *
 * Not thread-safe.
 */
#ifndef FLAME_TRACER_OFFCPU_RECORDER_H
#define FLAME_TRACER_OFFCPU_RECORDER_H

#include "tracer/stacks/capture.h"
#include "tracer/stacks/inproc_stacks.h"
#include "tracer/objects/objects.h"
#include "tracer/offcpu/replay_ops.h"
#include "tracer/ptrace/source.h"
#include "tracer/nostop/nostop.h"
#include "tracer/sleep_watch.h"
#include "tracer/source_ops.h"
#include "tracer/tracee.h"

/* Cache of the newest frames of calls on pipes and connections, by stack and descriptor. */
#define RECORDER_FRAMES 256

struct recorder_frame {
    uint32_t below, node; /* 0: none */
    int nr, fd;
    pid_t pid;
    struct off_object object;
};

/* The event that is being handled. */
struct recorder_event {
    const struct off_event *event; /* NULL: none is */
    bool is_logged;                /* its thread logged it (recorder_logged_event) */
    uint32_t logged_stack;         /* is_logged: number of its stack; 0: none */
    bool named; /* recorder.name already has the name of the call whose sleep it ends */
    /* The last answer about an object, for the frame of a waking call. */
    struct {
        pid_t tid; /* 0: there was none */
        int nr;
        struct off_object object;
        size_t set_size;
    } answer;
};

struct recorder {
    struct offtrace *trace;
    struct stacks *stacks;
    struct objects *objects;
    struct tracees *tracees;
    const struct source_ops *ops; /* of the run; of a logged event: source_ops_logged */
    struct source *stops;         /* source that stops threads; NULL: `samples` is the source */
    struct nostop *samples;       /* source that samples sleepers; NULL: `stops` is the source */
    struct offcpu *machine;
    uint64_t began;            /* time of the first event; 0: none yet */
    struct sleep_watch *watch; /* NULL: no sleeps are noted */
    uint64_t *elapsed_ns;      /* time since `began`, as far as known, in memory of the process that
                                  outlives this one */
    struct replay_writer *replay; /* FLAME_DEBUG=replay; or NULL */
    bool keep_numbers;            /* numbers stay in the names of objects */
    bool kernel;                  /* kernel stacks are wanted, and may be read */
    bool own_libraries;           /* libraries of flame are in the command */

    struct recorder_event at_hand;
    uint32_t readings;           /* counter of readings of the scheduler's figures */
    struct inproc_stacks *given; /* NULL: no thread logs its calls */
    struct strbuf name;          /* if at_hand.named; kept for its memory */
    struct strbuf text;          /* of the frame that is being made; kept for its memory */
    struct recorder_frame frames[RECORDER_FRAMES];
};

/* `machine` and `elapsed_ns` are set afterwards, and one of the next two is called. */
void recorder_init(struct recorder *r, struct offtrace *trace, int depth);
/* Events come from stops of ptrace, and from what threads log if that is expected
 * (recorder_expect_logged_calls, before). */
void recorder_use_stops(struct recorder *r, struct source *s);
/* Events come from samples; no thread is stopped. */
void recorder_use_samples(struct recorder *r, struct nostop *q);
void recorder_release(struct recorder *r);
/* Does what was asked for in r->watch: no more times are kept from now on. Returns whether that
 * has just been asked. */
bool recorder_freeze(struct recorder *r, uint64_t now);
/* The run has continued until `now`. */
void recorder_advance(struct recorder *r, uint64_t now);

struct offcpu_ops recorder_ops(struct recorder *r);
/* With FLAME_DEBUG=replay: ops that log the queries to `world`. Else `world`. */
struct offcpu_ops recorder_logged(struct recorder *r, const struct offcpu_ops *world,
                                  const struct offcpu_options *options);
struct offcpu_output recorder_output(struct recorder *r);

/* Reads what stacks of this thread will need, see struct source_client. */
void recorder_prepare(struct recorder *r, pid_t pid, pid_t tid,
                      const struct user_regs_struct *regs);
/* Samples a thread that sleeps in this call, and may wake. Reads the data about the sleep that the
 * machine will query, for an OFF_ENTRY that is `sampled`. */
void recorder_sample_sleeper(struct recorder *r, pid_t tid, const struct task_call *call);
/* The process may have mapped code, which no event shows. */
void recorder_mapped(struct recorder *r, pid_t pid);
/* Passes the event to the machine, and updates address spaces, objects and names. */
void recorder_event(struct recorder *r, const struct off_event *e);
/* Stacks of stopped and sleeping threads have functions of Python. */
void recorder_name_python(struct recorder *r);
/* Libraries of flame are in the command: their waits are not the program's waits. */
void recorder_expect_own_libraries(struct recorder *r);
/* Like recorder_expect_own_libraries, and threads log calls (tracer/inproc/inproc_source.h). */
void recorder_expect_logged_calls(struct recorder *r);
/* Handles a logged event, which comes later than it happened. Queries about it are answered from
 * the number of its stack (r->given) and from scheduler figures that are split among events. Raise
 * r->readings before each group of events that are emitted together. False: the thread is unknown.
 */
bool recorder_logged_event(struct recorder *r, const struct off_event *e, uint32_t stack);
/* The thread began or ended a region, or marked a pass, at `time`. */
void recorder_region(struct recorder *r, pid_t tid, enum ring_region what, const char *name,
                     size_t len, uint64_t time);
/* Reads the kernel stack of each sleeping thread, once in a call. */
void recorder_read_kernel_stacks(struct recorder *r);
/* The trace ends. */
void recorder_finish(struct recorder *r, uint64_t now);

#endif
