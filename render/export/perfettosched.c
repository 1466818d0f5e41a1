/*
 * All threads' events are sorted by time, and then go to processors. A bundle is a packet with
 * events of one processor as columns: messages FtraceEventBundle and CompactSched of Perfetto's
 * published protos.
 *
 * The reader infers what is not in the columns, and these rules follow from that:
 *
 * - it discards the first switch of a processor, which therefore is one to the idle task;
 * - whoever runs on a wake's processor is the waker. A wake by no traced thread is an interrupt on
 *   one more processor, on which only the idle task runs;
 * - it takes switches of a bundle before wakes at the same time. waitlist.h keeps wakes apart from
 *   the begins and ends of waits;
 * - processors have numbers below 4096, or the reader stops.
 *
 * So a wake is left out unless the waker runs and the sleeper sleeps: they may not, in a text from
 * elsewhere.
 */
#include "render/export/perfettosched.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/trace_format.h"
#include "render/export/protoout.h"
#include "render/framename.h"

#define CPUS_MAX 4095u /* for threads; the next one is for interrupts */
#define NO_CPU UINT32_MAX
#define BUNDLE_BYTES (16u << 10) /* of switch times or wake times */
#define BUNDLE_NAMES 64u
#define PRIORITY 120 /* that of a nice value of 0 */

enum { BUNDLE_CPU = 1, BUNDLE_SCHED = 4 }; /* FtraceEventBundle */
enum { EVENTS_BUNDLE = 1 };
enum { NAMES = 5 }; /* CompactSched: its columns are enum column */
enum { STATE_RUNNABLE = 0, STATE_ASLEEP = 1, STATE_DEAD = 16 };
enum { FLAG_INTERRUPT = 8 };

/* Columns of CompactSched by their fields; field 5 is NAMES. */
enum column {
    SWITCH_TIME = 1,
    SWITCH_STATE = 2,
    SWITCH_TID = 3,
    SWITCH_PRIORITY = 4,
    SWITCH_NAME = 6,
    WAKE_TIME = 7,
    WAKE_TID = 8,
    WAKE_CPU = 9,
    WAKE_PRIORITY = 10,
    WAKE_NAME = 11,
    WAKE_FLAGS = 12,
    COLUMNS = 13,
};

struct bundle {
    struct strbuf column[COLUMNS];
    uint64_t switch_ns, wake_ns; /* the last times in it */
    uint32_t *names;             /* threads with a name in it, in order; 0: the idle task */
    size_t nnames, names_room;
};

/* Kinds in the order in which events of one time take effect. */
enum event_kind { EVENT_WAKE, EVENT_RUN, EVENT_SLEEP, EVENT_END };

struct event {
    uint64_t at_ns;
    size_t index; /* of the wait that begins or ends, or for its thread's begin and end SIZE_MAX */
    uint32_t thread;
    uint32_t kind;
};

struct sched {
    struct perfettoout *p;
    const struct waitlist *w;
    uint64_t from_ns;
    struct event *events;
    size_t n, room;
    struct bundle *cpus;
    uint32_t ncpus;
    uint32_t *runs;      /* by processor: thread plus one; 0: the idle task */
    uint32_t *cpu_of;    /* by thread; NO_CPU: it does not run */
    uint64_t *since_ns;  /* by thread: since when it runs or sleeps */
    uint32_t interrupts; /* the processor for them */
    bool interrupted;    /* it is in use */
    uint64_t left_out;   /* wakers */
};

/* ---- bundles ---- */

static void flush(struct sched *s, uint32_t cpu)
{
    struct bundle *b = &s->cpus[cpu];
    struct strbuf message = STRBUF_INIT, columns = STRBUF_INIT, clean = STRBUF_INIT;

    if (!b->nnames)
        return;
    for (size_t i = 0; i < b->nnames; i++) {
        uint32_t id = b->names[i];
        const struct strbuf *name = id ? &s->w->lanes->threads[id - 1].name : NULL;

        if (name)
            framename_add_clean(&clean, name->buf ? name->buf : "", name->len);
        else
            strbuf_addstr(&clean, "swapper");
        protoout_message(&columns, NAMES, &clean);
    }
    for (unsigned i = 0; i < COLUMNS; i++)
        if (b->column[i].len)
            protoout_message(&columns, i, &b->column[i]);
    protoout_present(&message, BUNDLE_CPU, cpu);
    protoout_message(&message, BUNDLE_SCHED, &columns);
    perfettoout_packet(s->p, PERFETTO_SCHED, PERFETTO_FTRACE, &message, 0);
    b->nnames = 0;
    b->switch_ns = b->wake_ns = 0;
    strbuf_release(&message);
    strbuf_release(&columns);
    strbuf_release(&clean);
}

/* The place of a thread's name (0: the idle task's) in a bundle. Bundles have few names. */
static uint64_t name_in(struct bundle *b, uint32_t id)
{
    for (size_t i = b->nnames; i-- > 0;)
        if (b->names[i] == id)
            return i;
    GROW(b->names, b->nnames, b->names_room);
    b->names[b->nnames] = id;
    return b->nnames++;
}

/* The processor's bundle with room for an event of one more thread. */
static struct bundle *bundle_of(struct sched *s, uint32_t cpu)
{
    struct bundle *b = &s->cpus[cpu];

    if (b->nnames >= BUNDLE_NAMES || b->column[SWITCH_TIME].len > BUNDLE_BYTES ||
        b->column[WAKE_TIME].len > BUNDLE_BYTES)
        flush(s, cpu);
    return b;
}

static uint32_t tid_of(const struct sched *s, uint32_t id)
{
    return id ? s->w->threads[id - 1].tid : 0;
}

/* Adds a switch to a thread (plus one; 0: to the idle task), from one that is in `state` now. */
static void add_switch(struct sched *s, uint32_t cpu, uint64_t at_ns, uint64_t state, uint32_t id)
{
    struct bundle *b = bundle_of(s, cpu);
    uint64_t name = name_in(b, id);

    at_ns += s->from_ns;
    protoout_varint(&b->column[SWITCH_TIME], at_ns - b->switch_ns);
    protoout_varint(&b->column[SWITCH_STATE], state);
    protoout_varint(&b->column[SWITCH_TID], tid_of(s, id));
    protoout_varint(&b->column[SWITCH_PRIORITY], PRIORITY);
    protoout_varint(&b->column[SWITCH_NAME], name);
    b->switch_ns = at_ns;
    s->runs[cpu] = id;
}

static void add_wake(struct sched *s, uint32_t cpu, uint64_t at_ns, unsigned flags, uint32_t id)
{
    struct bundle *b = bundle_of(s, cpu);
    uint64_t name = name_in(b, id);

    at_ns += s->from_ns;
    protoout_varint(&b->column[WAKE_TIME], at_ns - b->wake_ns);
    protoout_varint(&b->column[WAKE_TID], tid_of(s, id));
    protoout_varint(&b->column[WAKE_CPU], 0);
    protoout_varint(&b->column[WAKE_PRIORITY], PRIORITY);
    protoout_varint(&b->column[WAKE_NAME], name);
    protoout_varint(&b->column[WAKE_FLAGS], flags);
    b->wake_ns = at_ns;
}

/* ---- events ---- */

static void add_event(struct sched *s, uint64_t at_ns, uint32_t thread, size_t index, uint32_t kind)
{
    GROW(s->events, s->n, s->room);
    s->events[s->n++] =
        (struct event){.at_ns = at_ns, .thread = thread, .index = index, .kind = kind};
}

/* Whether a wait continues the one before it, which was a part. */
static bool continues(const struct waitlist_wait *before, const struct waitlist_wait *one)
{
    return before && before->kind == TRACE_INTERVAL_PART && before->end_ns == one->begin_ns;
}

static void add_thread(struct sched *s, uint32_t thread)
{
    const struct waitlist_thread *t = &s->w->threads[thread];
    const struct waitlist_wait *before = NULL;

    add_event(s, t->begin_ns, thread, SIZE_MAX, EVENT_RUN);
    for (size_t i = t->first; i < t->first + t->n; i++) {
        const struct waitlist_wait *one = &s->w->waits[i];

        if (!one->alone)
            continue;
        if (continues(before, one))
            s->n--; /* the end of `before` */
        else
            add_event(s, one->begin_ns, thread, i, EVENT_SLEEP);
        if (one->wake_ns || (one->runq_ns && one->runq_ns < one->end_ns - one->begin_ns))
            add_event(s, one->wake_ns ? one->wake_ns : one->end_ns - one->runq_ns, thread, i,
                      EVENT_WAKE);
        add_event(s, one->end_ns, thread, i, EVENT_RUN);
        before = one;
    }
    add_event(s, t->end_ns, thread, SIZE_MAX, EVENT_END);
}

static int in_order(const void *pa, const void *pb)
{
    const struct event *a = pa, *b = pb;

    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* ---- processors ---- */

static void begin_cpu(struct sched *s, uint32_t cpu)
{
    add_switch(s, cpu, 0, STATE_RUNNABLE, 0);
}

static void run(struct sched *s, uint32_t thread, uint64_t at_ns)
{
    uint32_t cpu = 0;

    while (cpu < s->ncpus && s->runs[cpu])
        cpu++;
    if (s->cpu_of[thread] != NO_CPU || cpu == s->interrupts)
        return;
    if (cpu == s->ncpus) {
        begin_cpu(s, cpu);
        s->ncpus++;
    }
    add_switch(s, cpu, at_ns, STATE_RUNNABLE, thread + 1);
    s->cpu_of[thread] = cpu;
    s->since_ns[thread] = at_ns;
}

static void stop(struct sched *s, uint32_t thread, uint64_t at_ns, uint64_t state)
{
    uint32_t cpu = s->cpu_of[thread];

    if (cpu == NO_CPU)
        return;
    add_switch(s, cpu, at_ns, state, 0);
    s->cpu_of[thread] = NO_CPU;
    s->since_ns[thread] = at_ns;
}

/* Adds a wake by an interrupt, as of a timer. */
static void interrupt(struct sched *s, uint64_t at_ns, uint32_t thread)
{
    if (!s->interrupted)
        begin_cpu(s, s->interrupts);
    s->interrupted = true;
    add_wake(s, s->interrupts, at_ns, FLAG_INTERRUPT, thread + 1);
}

static void wake(struct sched *s, const struct event *e)
{
    const struct waitlist_wait *one = &s->w->waits[e->index];
    uint32_t waker = one->wake_ns ? waitlist_row(s->w, one)->waker : 0;
    bool asleep = s->cpu_of[e->thread] == NO_CPU && s->since_ns[e->thread] < e->at_ns;
    bool awake = waker && s->cpu_of[waker - 1] != NO_CPU && s->since_ns[waker - 1] < e->at_ns;

    s->left_out += waker && !(asleep && awake);
    if (asleep && awake)
        add_wake(s, s->cpu_of[waker - 1], e->at_ns, 0, e->thread + 1);
    else if (asleep)
        interrupt(s, e->at_ns, e->thread);
}

static void replay(struct sched *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct event *e = &s->events[i];

        if (e->kind == EVENT_WAKE)
            wake(s, e);
        else if (e->kind == EVENT_RUN)
            run(s, e->thread, e->at_ns);
        else
            stop(s, e->thread, e->at_ns, e->kind == EVENT_END ? STATE_DEAD : STATE_ASLEEP);
    }
    for (uint32_t cpu = 0; cpu < s->ncpus; cpu++)
        flush(s, cpu);
    flush(s, s->interrupts);
}

void perfettosched_write(struct perfettoout *p, const struct waitlist *w, uint64_t from_ns)
{
    size_t nthreads = w->lanes->nthreads;
    struct sched s = {.p = p, .w = w, .from_ns = from_ns};

    s.interrupts = nthreads < CPUS_MAX ? (uint32_t)nthreads : CPUS_MAX;
    s.cpus = xcalloc(s.interrupts + 1u, sizeof *s.cpus);
    s.runs = xcalloc(s.interrupts + 1u, sizeof *s.runs);
    s.since_ns = xcalloc(nthreads + 1, sizeof *s.since_ns);
    s.cpu_of = xcalloc(nthreads + 1, sizeof *s.cpu_of);
    memset(s.cpu_of, 0xff, (nthreads + 1) * sizeof *s.cpu_of);
    for (uint32_t i = 0; i < nthreads; i++)
        if (w->threads[i].tid && w->threads[i].end_ns && w->lanes->threads[i].uses <= 1)
            add_thread(&s, i);
    if (s.n)
        qsort(s.events, s.n, sizeof *s.events, in_order);
    replay(&s);
    if (s.left_out)
        flame_warn("perfetto: wakes left out of thread states: %" PRIu64
                   ", by threads that share a "
                   "record",
                   s.left_out);
    for (uint32_t cpu = 0; cpu <= s.interrupts; cpu++) {
        for (unsigned i = 0; i < COLUMNS; i++)
            strbuf_release(&s.cpus[cpu].column[i]);
        free(s.cpus[cpu].names);
    }
    free(s.cpus);
    free(s.runs);
    free(s.since_ns);
    free(s.cpu_of);
    free(s.events);
}
