/*
 * ptraced.h: what the event source knows of each thread it traces, found by thread id
 * in constant time.
 */
#ifndef FLAME_TRACER_PTRACE_PTRACED_H
#define FLAME_TRACER_PTRACE_PTRACED_H

#include <stdbool.h>
#include <sys/types.h>

#include "tracer/ptrace/callregs.h"
#include "tracer/sleeps/event.h"
#include "tracer/things/proctask.h"

/* A call that was taken back and is made again (retry.h). */
struct retry {
    uintptr_t pc; /* where it ended; 0 when it has been entered again, or there is none */
    int nr;
    uint64_t since; /* when it was made first */
    uint64_t from; /* when it was taken back, with what was left of its timeout then; 0: with all */
    uint64_t done; /* bytes it had written */
    bool quiet;    /* done: to a socket, */
    bool broken;   /* and the rest brought a SIGPIPE that is to be dropped */
    unsigned nregs; /* arguments that are not what the program made them: */
    struct {
        unsigned at; /* which */
        uint64_t held;
    } reg[2];
};

struct ptraced {
    pid_t tid, pid;
    struct ptraced *prev, *next;

    bool begun;        /* the client was told of its beginning; so for all that is "told" here */
    bool foreign;      /* runs a 32-bit program, whose calls have other numbers */
    bool muted;        /* traced because it must be, but nothing is told of it */
    bool limbo;        /* stopped at birth; who made it is not known yet */
    bool at_stop;      /* registers and memory can be read */
    bool watched;      /* went on from its last stop so that it stops at its next call, or at the
                          end of the present one */
    bool in_call;      /* the next system call stop is the exit of call `nr` */
    bool told;         /* the entry of that call was told */
    bool maps;         /* the call changes mappings, so its entry is told at its exit */
    bool mended;       /* it was not told, but a signal that is ignored must not end it */
    bool interrupting; /* PTRACE_INTERRUPT was sent and no stop has come since */
    bool loose;        /* the thread stopped for something else before PTRACE_INTERRUPT stopped it:
                          the interrupt may still cut short the call that it makes next */
    bool sampling;     /* the stop that PTRACE_INTERRUPT brings is to be a sample */
    bool fresh;        /* attached to, and has not stood once since */
    bool put_off;      /* fresh, and not interrupted either (attach.c) */
    bool timed;        /* fresh, in a call with a timeout that it entered at `entered` */
    bool unseen;       /* fresh, and was told to be in a call that it may have left since */
    bool may_go;       /* stands at the exit of a call, where source_go_on may let it go on */
    bool clean;        /* at_stop: nothing is under way, it can be let go of */
    bool departing;    /* was interrupted so that it can be let go of (leave.c) */
    bool end_told;     /* its end was told; it is let go of with the end of this process */
    bool stopped;      /* by job control */
    bool halted;       /* job control stopped it since its present or last call began */

    int nr; /* of the present call; of a restarted one, what it was at first */
    uint64_t args[6];
    uint64_t entered; /* since when its timeout counts: its entry, or when it was taken back; 0:
                         that is not known */
    struct cut_call cut;
    struct cut_call seen; /* fresh: what it slept in when it was seen before it was interrupted */
    struct retry retry;
    uint64_t stood_since;  /* at_stop: since when, or since the last event told of it */
    uint64_t stop_began;   /* at_stop */
    uint64_t let_go;       /* when it was let go from its last stop */
    struct off_span held;  /* since the last event told of it */
    uint64_t held_more_ns; /* so much longer it may have stood */
    struct callregs regs;  /* at its last stop with registers */
    bool have_regs;
    uint64_t turns;       /* put_off: off_sched.turns at the last look at it */
    long slept;           /* put_off: how often it had gone to sleep then, */
    uint64_t ran_by_then; /* and its time on CPUs when that was new */
    uint64_t asleep;      /* fresh: when it was seen asleep in the call it was interrupted in */
    uint64_t birth_ns;    /* limbo: since when */
    int birth_status;     /* limbo: its stop */
};

struct ptraced_table;

/* Lives as long as the process. */
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
