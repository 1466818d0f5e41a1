#define _GNU_SOURCE
#include "driver/run/record_attach.h"

#include <inttypes.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/error.h"
#include "driver/kept/attached_heap.h"
#include "driver/monitor/growthsignal.h"
#include "driver/run/runsummary.h"
#include "driver/run/runtimes.h"
#include "fold/viewtable.h"
#include "inject/attachment.h"
#include "render/text/value.h"
#include "tracer/objects/proctask.h"

/* State of the recording; a process makes one at a time. */
static struct attachment_sum sum;
static char comm[16];
static volatile sig_atomic_t ended;

static void end(int sig)
{
    (void)sig;
    ended = 1;
}

static const int ends[RECORD_ATTACH_ENDS] = {SIGINT, SIGTERM, SIGHUP};

/* Whether the trace of an attached process has the view. */
static bool is_recorded(const struct view *v)
{
    return !v->need || v->need->feature == TRACE_FEATURE_PEAK ||
           v->need->feature == TRACE_FEATURE_LEAKS || v->need->feature == TRACE_FEATURE_KEPT ||
           (v->need->feature == TRACE_FEATURE_RESIDENT && strcmp(v->name, "slack") != 0);
}

int record_attach_check(const struct run_options *o)
{
    struct strbuf views = STRBUF_INIT;
    const char *what = NULL;

    if (o->libc_mappings)
        what = "--libc-mappings";
    if (o->sample)
        what = "--sample";
    if (o->max_disk)
        what = "--max-disk";
    if (o->snapshots)
        what = "--snapshots";
    if (o->ancestors)
        what = "--ancestors";
    if (o->lifetimes)
        what = "--lifetimes";
    if (what)
        return flame_error(FLAME_USAGE, "%s: %s is for commands, without -p", o->me, what);
    if (view_find(o->view)->recorder == TRACE_RECORDER_MEM && !is_recorded(view_find(o->view))) {
        view_list_some(&views, TRACE_RECORDER_MEM, is_recorded);
        flame_error(FLAME_USAGE,
                    "%s: --view %s is for commands, without -p; a process that is attached to has "
                    "%s",
                    o->me, o->view, views.buf);
        strbuf_release(&views);
        return FLAME_USAGE;
    }
    return 0;
}

/* Takes moments if they are due. It follows attachment_look(), which brings the latest events
 * into the trace. */
static void look_at_moments(struct record_attach *x, struct recording *r,
                            const struct run_options *o)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (r->moments && !o->pace.on_signal && now >= x->due)
        x->due = now + (uint64_t)momentwatch_look(r->moments) * 1000000u;
}

static void begin_moments(struct record_attach *x, struct recording *r, const struct run_options *o)
{
    if (!o->moments)
        return;
    r->taken.moments = r->moments = momentwatch_new(r->rundir.path, &o->pace);
    if (o->pace.on_signal)
        x->signals = growthsignal_start(o->pace.on_signal, momentwatch_look_now, r->moments);
}

/* These signals end the recording, and the process is detached as it was before. */
static void take_signals(struct record_attach *x)
{
    struct sigaction ending = {.sa_handler = end};

    ended = 0;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        sigaction(ends[i], &ending, &x->before[i]);
}

static void put_back_signals(const struct record_attach *x)
{
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        sigaction(ends[i], &x->before[i], NULL);
}

int record_attach_begin(struct record_attach *x, struct recording *r, const struct run_options *o)
{
    uint32_t asks = view_asks(view_find(o->view));
    struct attachment_options options = {
        .pid = o->attach,
        .ours = getpid(),
        .depth = o->depth ? o->depth : 0,
        .no_python = o->no_python,
        .leaks = asks & VIEW_ASKS_SCAN,
        .resident = o->rss || asks & VIEW_ASKS_RESIDENT,
        .kept = o->kept || asks & VIEW_ASKS_KEEPERS ? attached_heap_rows : NULL,
        .no_stops_between = x->other_tracer,
        .starts_later = true};
    struct strbuf path = STRBUF_INIT;
    int status = rundir_open(&r->rundir, o->me, o->output, 0);

    if (status)
        return status;
    strbuf_addf(&path, "%s/attached.%d.0.flame", r->rundir.path, (int)o->attach);
    options.trace = path.buf;
    task_comm(o->attach, comm);
    take_signals(x);
    r->run.start_ns = clock_ns(CLOCK_MONOTONIC);
    status = attachment_begin(&x->attachment, &options);
    if (status)
        put_back_signals(x);
    strbuf_release(&path);
    return status;
}

void record_attach_start(struct record_attach *x, struct recording *r, const struct run_options *o)
{
    attachment_record(x->attachment);
    if (!o->quiet)
        flame_warn("recording %s (process %d)%s; what it allocated before is not known", comm,
                   (int)o->attach, o->attach_ns ? "" : ", until Ctrl-C");
    begin_moments(x, r, o);
}

bool record_attach_look(struct record_attach *x, struct recording *r, const struct run_options *o)
{
    if (!attachment_look(x->attachment))
        return false;
    look_at_moments(x, r, o);
    return true;
}

int record_attach_end(struct record_attach *x, struct recording *r, const struct run_options *o)
{
    int status = attachment_end(x->attachment, &sum);

    growthsignal_stop(x->signals);
    if (r->moments)
        momentwatch_look_now(r->moments);
    r->run.elapsed_ns = clock_ns(CLOCK_MONOTONIC) - r->run.start_ns;
    if (!status && o->jit_names)
        runtimes_ask_running(r, &(pid_t){(pid_t)o->attach}, 1);
    put_back_signals(x);
    return status;
}

void record_attach_code(const struct record_attach *x, uintptr_t *begin, uintptr_t *end)
{
    attachment_code(x->attachment, begin, end);
}

bool record_attach_is_asked_to_end(void)
{
    return ended;
}

static void wait_for_end(struct record_attach *x, struct recording *r, const struct run_options *o)
{
    uint64_t ns = o->attach_ns, until = clock_ns(CLOCK_MONOTONIC) + ns;

    while (!ended) {
        uint64_t now = clock_ns(CLOCK_MONOTONIC), left = until - now;

        if (ns && now >= until)
            return;
        left = ns && left < RECORD_ATTACH_LOOK_NS ? left : RECORD_ATTACH_LOOK_NS;
        nanosleep(&(struct timespec){0, (long)left}, NULL);
        if (!record_attach_look(x, r, o))
            return;
    }
}

int record_attach(struct recording *r, const struct run_options *o)
{
    struct record_attach x = {.attachment = NULL};
    int status = record_attach_begin(&x, r, o);

    if (status)
        return status;
    record_attach_start(&x, r, o);
    wait_for_end(&x, r, o);
    return record_attach_end(&x, r, o);
}

static void add_bytes(struct strbuf *sb, uint64_t n)
{
    value_add_both(sb, (struct folded_count){.whole = n}, "bytes");
}

/* Prints how calls were hooked: slots and stops. */
static void print_how(void)
{
    struct strbuf sb = STRBUF_INIT;

    value_add_counted(&sb, sum.slots, "import slot", "import slots");
    strbuf_addstr(&sb, " led to the recorder");
    if (sum.strangers) {
        strbuf_addstr(&sb, "; ");
        value_add_counted(&sb, sum.strangers, "slot that leads", "slots that lead");
        strbuf_addstr(&sb, " to another allocator or function was left alone");
    }
    strbuf_addstr(&sb, "; all threads were stopped ");
    value_add_counted(&sb, sum.stops, "time", "times");
    strbuf_addf(&sb, ", %.2f ms in the median, %.2f ms at most", (double)sum.median_ns / 1e6,
                (double)sum.longest_ns / 1e6);
    flame_warn("%s", sb.buf);
    strbuf_release(&sb);
}

/* Prints how many slots were left alone as the tracer of waits had the threads. */
static void print_unhooked(void)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addstr(&sb, "not recorded: calls by ");
    value_add_counted(&sb, sum.unhooked, "import slot", "import slots");
    strbuf_addstr(&sb, " of libraries that it loaded or bound meanwhile, as slots are written only "
                       "while no other tracer has its threads; --no-stops has them");
    flame_warn("%s", sb.buf);
    strbuf_release(&sb);
}

static void print_look(bool leaks)
{
    struct strbuf sb = STRBUF_INIT;

    if (sum.unlooked)
        flame_warn("its memory was not searched: %s", sum.unlooked);
    if (!sum.looked)
        return;
    if (sum.broken)
        flame_warn("blocks are missing: malloc's memory could not be followed to its end, as the "
                   "program has overwritten it or has data of its own there");
    if (sum.resident.bytes) {
        strbuf_addstr(&sb, "resident at the end: ");
        add_bytes(&sb, sum.resident.bytes);
        strbuf_addstr(&sb, "; of that in blocks allocated while it was recorded: ");
        add_bytes(&sb, sum.resident.blocks);
        flame_warn("%s", sb.buf);
        strbuf_setlen(&sb, 0);
    }
    if (leaks) {
        if (sum.leaks.blocks)
            value_add_blocks(&sb, sum.leaks.bytes, sum.leaks.blocks);
        else
            strbuf_addstr(&sb, "nothing");
        strbuf_addstr(&sb, " leaked; looked for leaks in ");
        add_bytes(&sb, sum.scanned);
        strbuf_addstr(&sb, " of its memory; leaks that freed memory still leads to are not found, "
                           "and blocks freed unseen count as leaks");
        flame_warn("%s", sb.buf);
    }
    flame_warn("its threads were stopped for %.2f ms more to look at its memory",
               (double)sum.look_ns / 1e6);
    strbuf_release(&sb);
}

bool record_attach_has(const char *view)
{
    return !sum.unlooked || !(view_asks(view_find(view)) &
                              (VIEW_ASKS_SCAN | VIEW_ASKS_RESIDENT | VIEW_ASKS_KEEPERS));
}

bool record_attach_lacks(const struct run_options *o)
{
    if (o->kind == RUN_OUTPUT_TRACE || recording_wants_all(o) || record_attach_has(o->view))
        return false;
    flame_error(FLAME_FAILED,
                "%s: %s is not written: there is no view %s, as its memory was not searched (%s)",
                o->me, o->output, o->view, sum.unlooked);
    return true;
}

void record_attach_print(const struct recording *r, const struct run_options *o)
{
    struct strbuf sb = STRBUF_INIT;
    struct run_summary s;

    run_summary_make(&s, r);
    strbuf_addf(&sb, "%s (process %d): allocated ", comm, (int)o->attach);
    add_bytes(&sb, s.t.alloc_bytes);
    strbuf_addstr(&sb, " in ");
    value_add_counted(&sb, s.t.alloc_calls, "call", "calls");
    strbuf_addstr(&sb, " while it was recorded; of that live at most ");
    add_bytes(&sb, s.peak_bytes);
    strbuf_addstr(&sb, ", at the end ");
    value_add_blocks(&sb, s.t.live_bytes, s.t.live_blocks);
    flame_warn("%s", sb.buf);
    strbuf_release(&sb);
    flame_warn("not known: what it allocated before, and calls by pointers that it had taken of "
               "malloc and free (dlsym, tables of functions)");
    print_how();
    run_summary_print_unnamed_python(&r->taken);
    runtimes_print_unnamed(r);
    if (sum.lost)
        flame_warn("lost for want of room: %" PRIu64 " calls", sum.lost);
    print_look(view_asks(view_find(o->view)) & VIEW_ASKS_SCAN);
    if (sum.unhooked)
        print_unhooked();
    if (sum.executed)
        flame_warn("it executed another program while it was recorded: of that no memory is "
                   "recorded, and of its last moment before (%u ms) some may be missing",
                   RECORD_ATTACH_LOOK_NS / 1000000u);
    else if (sum.gone)
        flame_warn("it ended while it was recorded: what it did in its last moment (%u ms) may be "
                   "missing",
                   RECORD_ATTACH_LOOK_NS / 1000000u);
    if (sum.left_hooks[0])
        flame_warn("%s, so its calls still come by the recorder, which hands them on and records "
                   "nothing",
                   sum.left_hooks);
}
