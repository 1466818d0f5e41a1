/*
 * recorder.h: stands between the event source, the state machine and the trace. It hands events
 * to the machine, answers what the machine asks of its world (world.h), and writes the sleeps that
 * it finds (struct off_sink), with the frames of calls on top of stacks.
 *
 * Not thread-safe.
 */
#ifndef FLAME_TRACER_RECORDER_H
#define FLAME_TRACER_RECORDER_H

#include "tracer/stacks/capture.h"
#include "tracer/stacks/given.h"
#include "tracer/things/objects.h"
#include "tracer/sleeps/replayworld.h"
#include "tracer/ptrace/source.h"
#include "tracer/quiet/quiet.h"
#include "tracer/tracee.h"

/* The frames of calls on pipes and connections that were told last, by stack and descriptor. */
#define RECORDER_FRAMES 256

struct recorder_frame {
    uint32_t below, node; /* 0: none */
    int nr, fd;
    pid_t pid;
    struct off_object object;
};

struct recorder {
    struct offtrace *trace;
    struct stacks *stacks;
    struct objects *objects;
    struct tracees *tracees;
    struct source *source; /* NULL: */
    struct quiet *quiet;   /* threads are not stopped, and sleepers looked at */
    struct offcpu *machine;
    uint64_t began;       /* the first event; 0: none yet */
    uint64_t *elapsed_ns; /* since then, as far as is known, for who outlives this process */
    struct replay_writer *replay; /* FLAME_DEBUG=replay; or NULL */
    bool keep_numbers;            /* in the names of objects */
    bool kernel;                  /* kernel stacks are wanted, and may be read */
    bool guests;                  /* libraries of flame's are in the command */

    const struct off_event *event; /* the one being handled */
    uint32_t noted;                /* if the thread noted it: its stack, or 0 (recorder_noted); */
    bool is_noted;
    uint32_t readings;   /* goes up when the scheduler's figures are to be read again */
    struct given *given; /* NULL: no thread notes its calls */
    /* The last answer about an object, for the frame of a waking call. */
    struct off_object object;
    size_t set_size;
    pid_t object_tid;
    int object_nr;
    bool named; /* the sleep that ends with this event has its call's name already: */
    struct strbuf name;
    struct strbuf text; /* of the frame that is being made; kept for its memory */
    struct recorder_frame frames[RECORDER_FRAMES];
};

/* `machine`, `elapsed_ns`, and `source` or `quiet`, are set afterwards. */
void recorder_init(struct recorder *r, struct offtrace *trace, int depth);
void recorder_release(struct recorder *r);
/* The run has gone on until `now`. */
void recorder_goes_on(struct recorder *r, uint64_t now);

struct off_world recorder_world(struct recorder *r);
/* With FLAME_DEBUG=replay: a world that logs what is asked of this one. Else this one. */
struct off_world recorder_logged(struct recorder *r, const struct off_world *world,
                                 const struct offcpu_options *options);
struct off_sink recorder_sink(struct recorder *r);

/* Reads what stacks of this thread will need, see struct source_client. */
void recorder_prepare(struct recorder *r, pid_t pid, pid_t tid,
                      const struct user_regs_struct *regs);
/* The thread sleeps in this call, and may wake: reads what will be asked of the sleep, for an
 * OFF_ENTRY that is `looked`. */
void recorder_glimpse(struct recorder *r, pid_t tid, const struct task_call *call);
/* Its process may have mapped code, which no event tells. */
void recorder_mapped(struct recorder *r, pid_t pid);
/* Hands the event to the machine, and does what follows from it for address spaces, objects
 * and names. */
void recorder_event(struct recorder *r, const struct off_event *e);
/* Libraries of flame's are in the command: what they wait for is not what the program waits for. */
void recorder_expect_guests(struct recorder *r);
/* The same, and threads note calls of theirs (tracer/rings/inside.h). */
void recorder_expect_notes(struct recorder *r);
/* Such an event, told later than it was: what is asked about it is answered from the number of its
 * stack (r->given) and from figures of the scheduler that are split up. Raise r->readings before
 * those that are told at a time. False: the thread is not known. */
bool recorder_noted(struct recorder *r, const struct off_event *e, uint32_t stack);
/* The thread has said that of itself, at `time`. */
void recorder_region(struct recorder *r, pid_t tid, enum ring_region what, const char *name,
                     size_t len, uint64_t time);
/* Reads the kernel stack of each thread that sleeps, once in a call. */
void recorder_look(struct recorder *r);
/* The trace ends. */
void recorder_finish(struct recorder *r, uint64_t now);

#endif
