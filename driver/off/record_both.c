/*
 * record_both.c: the recorder of memory and the tracer of waits in one running process.
 *
 * Both need ptrace, and a thread has one tracer at a time. The recorder of memory needs it only in
 * short stops. So it attaches before the tracer begins, and detaches when the tracer is gone. In
 * between it makes no stop: its counters are read without ptrace, but slots of libraries that the
 * process loads meanwhile are not written. A tracer that stops no thread (--no-stops) leaves ptrace
 * free, so then these slots are written as usual.
 *
 * The tracer decides when the recording begins and ends. Memory is recorded from the moment at
 * which the tracer has all threads.
 *
 * Rejected: stops by the tracing process on behalf of the recorder, because the rules of both for
 * when a thread may be stopped, and for the loader at rest, would have to be one.
 */
#include "driver/off/record_both.h"

#include "driver/off/record_off.h"
#include "driver/run/record_attach.h"

/* Follows the process until the tracer ends. */
static void follow(struct record_attach *memory, struct tracer *tracer, struct recording *r,
                   const struct run_options *run)
{
    enum tracer_state state;
    bool started = false;

    if (record_attach_is_asked_to_end())
        tracer_request_end(tracer);
    while ((state = tracer_poll(tracer, RECORD_ATTACH_LOOK_NS)) != TRACER_OVER) {
        if (state != TRACER_TRACES)
            continue;
        if (!started)
            record_attach_start(memory, r, run);
        started = true;
        record_attach_look(memory, r, run);
    }
}

static int trace(struct record_attach *memory, struct recording *r, const struct off_options *o)
{
    struct record_off waits = {.tracer = NULL};
    int status;

    record_attach_code(memory, &waits.agent, &waits.agent_end);
    status = record_off_begin(&waits, r, o, NULL, NULL, NULL);
    if (!status) {
        follow(memory, waits.tracer, r, &o->run);
        status = record_off_end(&waits, r);
    }
    record_off_release(&waits);
    return status;
}

int record_both_attached(struct recording *r, const struct run_options *run)
{
    const struct off_options *o = (const struct off_options *)run;
    struct record_attach memory = {.other_tracer = !o->tracer.no_stops};
    int status = record_attach_begin(&memory, r, run), ended;

    if (status)
        return status;
    status = trace(&memory, r, o);
    ended = record_attach_end(&memory, r, run);
    return status ? status : ended;
}
