/*
 * ptraced.h: the event source's record of each thread it traces, found by thread id in constant
 * time.
 */
#ifndef FLAME_TRACER_PTRACE_PTRACED_H
#define FLAME_TRACER_PTRACE_PTRACED_H

#include <stdbool.h>
#include <sys/types.h>

#include "tracer/ptrace/callregs.h"
#include "tracer/offcpu/event.h"
#include "tracer/objects/proctask.h"

/* A call that was taken back and is made again (retry.h). */
struct retry {
    uintptr_t pc; /* return address of the call; 0: it has been entered again, or there is none */
    int nr;
    uint64_t since; /* time of the first attempt */
    uint64_t from;  /* when it was taken back and its timeout shortened; 0: not */
    uint64_t done;  /* bytes it had written */
    bool quiet;  /* with done: the bytes went to a socket, whose SIGPIPE may have to be dropped */
    bool broken; /* the rest of the write brought a SIGPIPE that must be dropped */
    unsigned nregs; /* number of arguments that differ from the program's */
    struct {
        unsigned at; /* index of the argument */
        uint64_t held;
    } reg[2];
};

struct ptraced {
    pid_t tid, pid;
    struct ptraced *prev, *next;

    bool begun;        /* its beginning was emitted to the client */
    bool foreign;      /* runs a 32-bit program, whose calls have other numbers */
    bool muted;        /* traced because it must be, but none of its events are emitted */
    bool limbo;        /* stopped at its first stop; its parent is not known yet */
    bool at_stop;      /* registers and memory can be read */
    bool watched;      /* resumed to stop at its next call, or at the end of the present one */
    bool in_call;      /* the next system call stop is the exit of call `nr` */
    bool reported;     /* the entry of that call was emitted */
    bool maps;         /* the call changes mappings, so its entry is emitted at its exit */
    bool mended;       /* the call was not emitted, but a signal that is ignored must not end it */
    bool interrupting; /* PTRACE_INTERRUPT was sent and no stop has come since */
    bool loose;        /* the thread stopped for something else before PTRACE_INTERRUPT stopped it:
                          the interrupt may still cut short the call that it makes next */
    bool sampling;     /* the stop that PTRACE_INTERRUPT brings must be a sample */
    bool fresh;        /* attached to, and has not been stopped since */
    bool put_off;      /* fresh, and not interrupted either (attach.c) */
    bool timed;        /* fresh, in a call with a timeout that it entered at `entered` */
    bool unseen;       /* fresh; a call was emitted that it may have left since */
    bool may_go;       /* stopped at the exit of a call, where source_resume may resume it */
    bool clean;        /* at_stop: no work on it is pending, so it can be detached */
    bool departing;    /* was interrupted in order to be detached (detach.c) */
    bool end_emitted;  /* its end was emitted; it is detached when this process ends */
    bool stopped;      /* by job control */
    bool halted;       /* job control stopped it since its present or last call began */

    int nr; /* of the present call; of a restarted one, the number of the original call */
    uint64_t args[6];
    uint64_t entered; /* start of the call's timeout: its entry, or when it was taken back; 0: not
                         known */
    struct cut_call cut;
    struct cut_call seen; /* fresh: the call it slept in just before it was interrupted */
    struct retry retry;
    uint64_t stood_since;  /* at_stop: start of the stop, or its last emitted event */
    uint64_t stop_began;   /* at_stop */
    uint64_t let_go;       /* when it was resumed from its last stop */
    struct off_span held;  /* stopped time since its last emitted event */
    uint64_t held_more_ns; /* upper bound of the stopped time beyond `held` */
    struct callregs regs;  /* at its last stop with registers */
    bool have_regs;
    uint64_t turns;       /* put_off: off_sched.turns at the last check */
    long slept;           /* put_off: its voluntary context switches at the last check */
    uint64_t ran_by_then; /* put_off: its CPU time when `slept` last changed */
    uint64_t asleep;      /* fresh: when it was seen asleep in the call it was interrupted in */
    uint64_t birth_ns;    /* limbo: time of its first stop */
    int birth_status;     /* limbo: its stop */
};

struct ptraced_table;

/* Lives as long as the tracing process. */
struct ptraced_table *ptraced_new(void);
/* NULL: no such thread. */
struct ptraced *ptraced_find(const struct ptraced_table *ts, pid_t tid);
/* The tid must not be there yet. */
struct ptraced *ptraced_add(struct ptraced_table *ts, pid_t tid, pid_t pid);
void ptraced_remove(struct ptraced_table *ts, struct ptraced *t);
size_t ptraced_count(const struct ptraced_table *ts);
/* For walks: the first, then ->next; take ->next before removing. */
struct ptraced *ptraced_first(const struct ptraced_table *ts);

#endif
