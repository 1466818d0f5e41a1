#include "tests/unit/made_waits.h"

#include "common/trace/trace_intervals.h"
#include "common/trace/trace_reader.h"

void made_begin(struct made *m)
{
    *m = (struct made){.before = MADE_ZERO,
                       .log.head = {.base_ns = MADE_ZERO, .state = TRACE_INTERVALS_USED}};
    ob_init(&m->b);
    tb_header(&m->b)->pid = 0; /* as of a command */
    tb_header(&m->b)->start_monotonic_ns = MADE_ZERO;
}

uint16_t made_thread(struct made *m, uint32_t tid, const char *comm, uint64_t from, uint64_t to,
                     uint16_t parent)
{
    struct trace_life life = {.begin_ns = MADE_ZERO + from * MS, .end_ns = MADE_ZERO + to * MS};

    life.thread = ob_thread(&m->b, 100, tid, comm);
    life.parent = parent;
    tb_meta(&m->b, TRACE_META_LIFE, &life, sizeof life);
    return life.thread;
}

uint32_t made_on(struct made *m, uint16_t thread, const char *frames)
{
    return ob_stack(&m->b, frames, tb_root(&m->b, 0, thread));
}

uint32_t made_woken(struct made *m, uint32_t sleeper, uint16_t waker, const char *frames)
{
    return ob_waker(&m->b, sleeper, made_on(m, waker, frames));
}

void made_note(struct made *m, uint32_t kind, uint64_t from, uint64_t to, uint64_t ns,
               uint64_t runq)
{
    const struct trace_interval i = {.row = m->b.arrays[TRACE_SEG_ROWS].next - 1,
                                     .kind = kind,
                                     .begin_ns = MADE_ZERO + from * MS,
                                     .end_ns = MADE_ZERO + to * MS,
                                     .ns = ns * MS,
                                     .runq_ns = runq * MS,
                                     .times = 1,
                                     .longest_ns = ns * MS};
    uint8_t *at = m->log.entries + m->log.head.bytes;

    m->log.head.bytes += (uint32_t)(trace_interval_put(at, &i, &m->before) - at);
}

void made_slept(struct made *m, uint32_t node, uint16_t thread, enum trace_off_kind kind,
                uint64_t from, uint64_t to, uint64_t runq)
{
    ob_sleep(&m->b, node, thread, kind, (to - from - runq) * MS, runq * MS);
    made_note(m, TRACE_INTERVAL_SLEEP, from, to, to - from - runq, runq);
}

void made_ran(struct made *m, uint16_t thread, uint64_t from, uint64_t to, uint64_t cpu)
{
    ob_oncpu(&m->b, tb_root(&m->b, 0, thread), thread, cpu * MS, 0);
    made_note(m, TRACE_INTERVAL_SHARE, from, to, cpu, 0);
}

char *made_fold(struct made *m, const char *view, const struct fold_when *when)
{
    struct fold_when own = when ? *when : (struct fold_when){.range = false};
    struct fold_options opt = {
        .view = view, .quiet = true, .symbols.no_inline = true, .when = when ? &own : NULL};
    struct strbuf out = STRBUF_INIT;
    struct trace *t = NULL;

    own.path = strcmp(view, "critical") == 0; /* as fold_when_settle does */
    tb_meta(&m->b, TRACE_META_INTERVALS, &m->log, sizeof m->log.head + m->log.head.bytes);
    if (trace_load_bytes("test", m->b.data, m->b.len, false, &t) ||
        fold_when_apply(&opt, t, NULL) || fold_loaded(&opt, &t, 1, &out)) {
        strbuf_clear(&out);
        strbuf_addstr(&out, "refused");
    }
    trace_free(t);
    tb_release(&m->b);
    return strbuf_detach(&out, NULL);
}
