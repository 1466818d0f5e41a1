/*
 * Problem: a chain of thirty functions is a hundred words in as many places, which the kernel reads
 * for us in calls that cost more than the words.
 *
 * Algorithm: what was read for a thread's last stack is read again by one call (memory_pieces.h),
 * and the chain is followed in these pieces; usually all are there. A name is made when a code
 * object is first seen. Later its version number says that it is the same, or in 3.11 the
 * addresses, lengths and hashes of its texts.
 *
 * Rejected: the thread-specific data by which the interpreter itself finds a thread's state, as its
 * place depends on the C library, and 3.15 has none.
 */
#define _GNU_SOURCE
#include "tracer/stacks/python_chain.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/hash.h"
#include "common/procpath.h"
#include "tracer/stacks/python_names.h"

/* Limits of what the lists of a process may make us read. */
#define INTERPRETERS_MOST 64
#define THREADS_MOST 65536
#define CODES 8192u /* a power of two */

/* A thread, as it was at its last stack. */
struct known_thread {
    pid_t tid;
    pid_t inner;         /* its number in the innermost PID namespace, where the interpreter is */
    uintptr_t state;     /* its PyThreadState; 0: it has none */
    uint64_t generation; /* of the list of threads when that was found out */
    uint32_t misses;     /* stacks since then */
    struct memory_plan plan;
};

/* A code object, as it was when its name was made. */
struct known_code {
    struct python_process process;
    struct code_identity identity;
    const struct python_name *name; /* NULL: it represents no function of the program */
};

struct python_chains {
    struct memory_pieces *pieces;
    struct known_thread *threads; /* by trace thread */
    size_t threads_room;
    struct known_code codes[CODES];
    struct python_names *names;
    struct python_function *functions;
    size_t n, room;
};

/* State of the reading of one chain. */
struct reading {
    struct python_chains *c;
    const struct python_process *p;
    const struct pylayout *l;
    struct known_thread *t;
};

struct python_chains *python_chains_new(void)
{
    struct python_chains *c = xcalloc(1, sizeof *c);

    c->pieces = memory_pieces_new();
    c->names = python_names_new();
    return c;
}

void python_chains_free(struct python_chains *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->threads_room; i++)
        memory_plan_release(&c->threads[i].plan);
    memory_pieces_free(c->pieces);
    python_names_free(c->names);
    free(c->threads);
    free(c->functions);
    free(c);
}

const struct python_name *python_chains_intern(struct python_chains *c, const char *text,
                                               size_t len)
{
    return python_names_intern(c->names, text, len);
}

const struct python_name *python_chains_name(const struct python_chains *c, uint32_t number)
{
    return python_names_at(c->names, number);
}

static bool word(const struct reading *r, uintptr_t at, uintptr_t *to)
{
    return at % sizeof *to == 0 && memory_pieces_read(r->c->pieces, at, to, sizeof *to);
}

/* ---- the thread's state ---- */

/* The thread's number in the innermost PID namespace that it is in. */
static pid_t inner_tid(pid_t tid)
{
    FILE *f = fopen(proc_path(tid, "status").s, "re");
    char line[512];
    long inner = tid;

    while (f && fgets(line, sizeof line, f)) {
        const char *last;

        if (strncmp(line, "NSpid:", 6) != 0)
            continue;
        last = strrchr(line, '\t');
        inner = last ? strtol(last, NULL, 10) : tid;
        break;
    }
    if (f)
        fclose(f);
    return (pid_t)inner;
}

static bool is_state_of(const struct reading *r, uintptr_t state)
{
    uintptr_t native;

    return word(r, state + r->l->state_thread + 8, &native) && native == (uintptr_t)r->t->inner;
}

/* The thread's state in the interpreter; 0: it has none there. */
static uintptr_t state_in(const struct reading *r, uintptr_t interpreter)
{
    uintptr_t state;

    if (!word(r, interpreter + r->l->interp_threads, &state))
        return 0;
    for (int i = 0; state && i < THREADS_MOST; i++) {
        if (is_state_of(r, state))
            return state;
        if (!word(r, state + PYLAYOUT_STATE_NEXT, &state))
            break;
    }
    return 0;
}

/* A number that differs when there is a new thread. */
static uint64_t generation_of(const struct reading *r, uintptr_t interpreter)
{
    uintptr_t count;

    return word(r, interpreter + r->l->interp_threads - 8, &count)
               ? (count + interpreter) * HASH_GOLDEN + 1
               : 1;
}

static uintptr_t find_state(const struct reading *r)
{
    struct known_thread *t = r->t;
    uintptr_t interpreter, state = 0;
    uint64_t generation;

    if (t->state && is_state_of(r, t->state))
        return t->state;
    if (!word(r, r->p->at.runtime + r->l->runtime_interpreters, &interpreter) || !interpreter)
        return 0;
    generation = generation_of(r, interpreter);
    /* A thread enters its number into its state some time after the state is in the list. */
    if (!t->state && t->generation == generation) {
        t->misses++;
        if (t->misses & (t->misses - 1))
            return 0;
    }
    for (int i = 0; interpreter && !state && i < INTERPRETERS_MOST; i++) {
        state = state_in(r, interpreter);
        if (!word(r, interpreter + r->l->interp_next, &interpreter))
            break;
    }
    t->state = state;
    t->generation = generation;
    return state;
}

/* ---- names ---- */

static bool same_process(const struct python_process *a, const struct python_process *b)
{
    return a->pid == b->pid && a->epoch == b->epoch && a->at.runtime == b->at.runtime;
}

static const struct python_name *name_of(const struct reading *r, uintptr_t code)
{
    struct known_code *known =
        &r->c->codes[((code ^ (uint64_t)r->p->pid << 40) * HASH_GOLDEN >> 40) & (CODES - 1)];
    struct code_identity identity;

    if (!code_identity_read(&identity, r->c->pieces, r->l, code))
        return NULL;
    if (same_process(&known->process, r->p) && code_identity_same(&known->identity, &identity))
        return known->name;
    *known =
        (struct known_code){.process = *r->p,
                            .identity = identity,
                            .name = python_names_make(r->c->names, r->c->pieces, r->l, &identity)};
    return known->name;
}

/* ---- the chain ---- */

static void add(struct python_chains *c, uintptr_t mark, const struct python_name *name)
{
    GROW(c->functions, c->n, c->room);
    c->functions[c->n++] = (struct python_function){mark, name};
}

/* Moves to the innermost frame of the native frame whose _PyCFrame is `cframe`. False: there is
 * none. */
static bool enter_cframe(const struct reading *r, uintptr_t cframe, uintptr_t *frame)
{
    uintptr_t outer;

    return cframe && word(r, cframe + r->l->cframe_previous, &outer) && outer &&
           word(r, cframe + r->l->cframe_current, frame) && *frame;
}

/* The parts of a _PyInterpreterFrame that are needed. */
struct frame {
    uintptr_t code, previous;
    bool entry;
};

static bool read_frame(const struct reading *r, uintptr_t at, struct frame *f)
{
    const struct pylayout *l = r->l;
    uint8_t bytes[UINT8_MAX + 1];
    size_t size = (size_t)l->frame_entry + 1;

    if (at % sizeof at || size > sizeof bytes || !memory_pieces_read(r->c->pieces, at, bytes, size))
        return false;
    memcpy(&f->code, bytes + l->frame_code, sizeof f->code);
    memcpy(&f->previous, bytes + l->frame_previous, sizeof f->previous);
    f->code &= ~(uintptr_t)l->code_tags;
    f->entry = bytes[l->frame_entry] >= l->entry_is;
    return true;
}

/* Up to 3.11 each native frame has a _PyCFrame on the C stack, which leads to its innermost frame.
 */
static void follow_cframes(const struct reading *r, uintptr_t cframe)
{
    uintptr_t at;
    struct frame f;

    while (r->c->n < PYTHON_FUNCTIONS_MOST && enter_cframe(r, cframe, &at)) {
        do {
            if (!read_frame(r, at, &f))
                return;
            add(r->c, cframe, name_of(r, f.code));
            at = f.previous;
        } while (!f.entry && at && r->c->n < PYTHON_FUNCTIONS_MOST);
        if (!f.entry || !word(r, cframe + r->l->cframe_previous, &cframe))
            return;
    }
}

/* From 3.12 on a frame that lies on the C stack itself, and belongs to no function, follows those
 * that a native frame runs. */
static void follow_frames(const struct reading *r, uintptr_t at)
{
    struct python_chains *c = r->c;
    size_t first = 0;
    struct frame f;

    for (int i = 0; at && i < (int)PYTHON_FUNCTIONS_MOST && read_frame(r, at, &f); i++) {
        if (f.entry) {
            for (; first < c->n; first++)
                c->functions[first].mark = at;
        } else {
            add(c, 0, name_of(r, f.code));
        }
        at = f.previous;
    }
}

static void follow(const struct reading *r)
{
    const struct pylayout *l = r->l;
    uintptr_t state = find_state(r), chain, inner;

    if (!state || !word(r, state + l->state_frames, &chain) || !chain)
        return;
    if (l->entry_is_a_frame)
        follow_cframes(r, chain);
    else if (!l->has_cframes)
        follow_frames(r, chain);
    else if (word(r, chain + l->cframe_current, &inner))
        follow_frames(r, inner);
}

static struct known_thread *thread_at(struct python_chains *c, uint16_t thread, pid_t tid)
{
    struct known_thread *t;

    GROW_FILLED(c->threads, thread, c->threads_room, 0);
    t = &c->threads[thread];
    if (t->tid == tid)
        return t;
    memory_plan_release(&t->plan);
    *t = (struct known_thread){.tid = tid, .inner = inner_tid(tid)};
    return t;
}

static size_t read_chain(struct python_chains *c, const struct python_process *p, pid_t tid,
                         struct known_thread *t, const struct python_function **functions)
{
    struct reading r = {.c = c, .p = p, .t = t};
    unsigned long version;

    c->n = 0;
    *functions = c->functions;
    if (!p->at.version)
        return 0;
    memory_pieces_begin(c->pieces, tid, &r.t->plan);
    if (memory_pieces_read(c->pieces, p->at.version, &version, sizeof version) &&
        (r.l = pylayout_of((uint32_t)(version >> 16))))
        follow(&r);
    memory_pieces_end(c->pieces);
    *functions = c->functions;
    return c->n;
}

size_t python_chain_read(struct python_chains *c, const struct python_process *p, pid_t tid,
                         uint16_t thread, const struct python_function **functions)
{
    return read_chain(c, p, tid, thread_at(c, thread, tid), functions);
}

size_t python_chain_read_as(struct python_chains *c, const struct python_process *p, pid_t tid,
                            pid_t inner, const struct python_function **functions)
{
    struct known_thread *t = thread_at(c, 0, tid);

    t->inner = inner;
    return read_chain(c, p, tid, t, functions);
}
