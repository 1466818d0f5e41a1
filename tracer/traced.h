/*
 * traced.h: what the event source knows of each thread it traces, found by thread id
 * in constant time.
 */
#ifndef FLAME_TRACER_TRACED_H
#define FLAME_TRACER_TRACED_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

#include "tracer/proctask.h"

/* A call the kernel interrupted and may go on with. */
struct cut_call {
    bool is;
    int nr;
    uint64_t args[6];
    uintptr_t pc, sp;
};

/* A call that was taken back and is made again (again.h). */
struct again {
    uintptr_t pc; /* where it ended; 0 when it has been entered again, or there is none */
    int nr;
    uint64_t since; /* when it was made first */
    uint64_t done;  /* bytes it had written */
    unsigned nregs; /* arguments that are not what the program made them: */
    struct {
        size_t at; /* offset in user_regs_struct */
        uint64_t held;
    } reg[2];
};

struct thread {
    pid_t tid, pid;
    struct thread *prev, *next;

    bool begun;        /* its beginning was told */
    bool foreign;      /* runs a 32-bit program: its calls' numbers are others */
    bool muted;        /* traced because it must be, but nothing is told of it */
    bool limbo;        /* stopped at birth; who made it is not known yet */
    bool at_stop;      /* registers and memory can be read */
    bool in_call;      /* the next system call stop is the exit of call `nr` */
    bool told;         /* the entry of that call was told */
    bool maps;         /* what is told of that call is told at its exit */
    bool interrupting; /* PTRACE_INTERRUPT was sent and no stop has come since */
    bool loose;        /* another stop than its own came; its effect on calls may still do */
    bool sampling;     /* that stop is to be a sample */
    bool put_off;      /* attached to, but not stopped yet (attach.c) */
    bool unseen;       /* its beginning was told in a call whose exit was not */
    bool stopped;      /* by job control */
    bool halted;       /* was, since its present or last call began */

    int nr; /* of the present call, the first identity if restarted */
    uint64_t args[6];
    uint64_t entered; /* when, as it goes on after a cut */
    struct cut_call cut;
    struct again again;
    struct user_regs_struct regs; /* at its last stop with registers */
    bool have_regs;
    uint64_t turns;          /* put_off: task_sched.turns at the last look at it */
    struct task_sched sched; /* put_off: at time `looked` */
    uint64_t looked;
    uint64_t birth_ns; /* limbo: since when */
    int birth_status;  /* limbo: its stop */
    void *user;        /* the client's own */
};

struct traced;

struct traced *traced_new(void);
void traced_free(struct traced *ts);
/* NULL: no such thread. */
struct thread *traced_find(const struct traced *ts, pid_t tid);
/* The tid must not be there yet. */
struct thread *traced_add(struct traced *ts, pid_t tid, pid_t pid);
void traced_remove(struct traced *ts, struct thread *t);
size_t traced_count(const struct traced *ts);
/* For walks: the first, then ->next; take ->next before removing. */
struct thread *traced_first(const struct traced *ts);

#endif
