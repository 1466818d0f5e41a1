/*
 *     recorder ──► trace ──► a look, every second ──► text ──► the viewer
 *     liverecorder.h         livelook.h               livepicture.h
 *
 * The trace is whole at any instant, so reading it needs no help from the recorder or the process.
 * The last two readings are stored; the next one replaces the older.
 */
#include "driver/live/liveview.h"

#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/basename.h"
#include "common/clock.h"
#include "common/options/values.h"
#include "common/strbuf.h"
#include "driver/live/livelook.h"
#include "driver/live/livepicture.h"
#include "driver/run/launch.h"
#include "driver/rundir/rundir.h"
#include "render/view/screen.h"
#include "render/view/viewer.h"
#include "tracer/objects/proctask.h"

#define SECOND_NS 1000000000

/* Readings take at most a fourth of the time. */
#define REST 3

struct live {
    const struct liveview_options *o;
    struct rundir dir;
    struct liveoutput output; /* the command's */
    struct liverecorder recorder;
    struct livelook look;
    struct livetext texts[2]; /* the last two readings; their paths are owned */
    unsigned looks;           /* number of readings that have succeeded */
    uint64_t start_ns, began_ns, due_ns;
    struct livepicture *picture;
    struct livepicture_options how;
    struct fold_options fold;
    struct strbuf name, label; /* name: of the process, the command or the trace */
    /* The wanted view, and the one that is shown instead while the wanted one is empty. */
    struct strbuf view, shown;
    bool was_interval, last; /* last: the recorder has ended, and this is the last reading */
};

static const char attached[] = "what it allocated before is not known";

/* --stops overrides -w, in any order. */
static int take_what(void *at, const struct opts_row *row, const struct opts_given *given)
{
    enum live_what *what = at;

    (void)given;
    if ((enum live_what)row->which > *what)
        *what = (enum live_what)row->which;
    return 0;
}

#define AT(member) offsetof(struct liveview_options, member)

const struct opts_row liveview_rows[] = {
    {"attach", 'p', "PID", "the process", .take = opts_take_pid, .at = AT(pid)},
    {"waits", 'w', NULL, "what its threads wait for, without stopping them (default: memory)",
     .take = take_what, .at = AT(what), .which = LIVE_WAITS},
    {"stops", 0, NULL, "the same, by stopping them: all sleeps, and who ended them",
     .take = take_what, .at = AT(what), .which = LIVE_WAITS_STOPS},
    {0},
};

/* ---- readings ---- */

static const char *ended(const struct live *l)
{
    return !l->recorder.ended ? "" : l->o->trace ? ": the recording has ended" : " has ended";
}

static void say_where(struct live *l, uint64_t now)
{
    strbuf_clear(&l->label);
    strbuf_addf(&l->label, "%s%s, %" PRIu64 " s", l->name.buf, ended(l),
                (now - l->start_ns) / SECOND_NS);
    l->how.label = l->label.buf; /* the text may have moved */
    if (l->picture)
        l->picture->whole.label = l->picture->since.label = l->label.buf;
}

static const char *note_of(const struct live *l)
{
    return l->recorder.result && l->o->what == LIVE_MEMORY && l->o->pid ? attached : "";
}

static const struct view_source *source_of(const struct live *l, bool interval)
{
    return interval ? &l->picture->since : &l->picture->whole;
}

static void begin_look(struct live *l, uint64_t now)
{
    l->last = liverecorder_has_ended(&l->recorder, (pid_t)l->o->pid);
    l->began_ns = now;
    if (!livelook_begin(&l->look, l->recorder.trace, l->texts[l->looks % 2].path, &l->fold))
        l->last = false; /* it is retried */
}

static void set(struct strbuf *sb, const char *s)
{
    strbuf_clear(sb);
    strbuf_addstr(sb, s);
}

/* A view in which nothing is counted yet comes back when something is, unless another was chosen.
 */
static void note_view(struct live *l, const struct viewmodel *m)
{
    if (strcmp(viewmodel_column(m)->name, l->shown.buf) != 0)
        set(&l->view, viewmodel_column(m)->name);
}

static void take_view(struct live *l, struct viewmodel *m)
{
    uint32_t column = livepicture_find(l->picture, l->view.buf);

    if (column != m->column)
        viewmodel_take_column(m, column);
    set(&l->shown, viewmodel_column(m)->name);
}

/* After a failed reading, as of a trace that is just being created, the next one follows. No
 * reading follows the last one: it fails when the recorder left no trace, and then the picture
 * remains, with a label that says that the process has ended. */
static void end_look(struct live *l, struct viewmodel *m)
{
    struct livepicture *old = l->picture, *next;
    uint64_t now, rest;

    if (livelook_end(&l->look, &l->texts[l->looks % 2].ns)) {
        const struct livetext *before = l->looks ? &l->texts[(l->looks + 1) % 2] : NULL;

        say_where(l, clock_ns(CLOCK_MONOTONIC));
        next = livepicture_new(&l->texts[l->looks % 2], before, &l->how);
        if (next) {
            note_view(l, m);
            l->picture = next;
            l->looks++;
            viewmodel_feed(m, source_of(l, m->interval));
            take_view(l, m);
            livepicture_free(old);
        }
    }
    if (l->last && l->o->trace && !m->message.len)
        strbuf_addf(&m->message, "%s%s; q leaves this view", l->name.buf, ended(l));
    if (l->last && l->picture == old) {
        say_where(l, clock_ns(CLOCK_MONOTONIC));
        viewmodel_feed(m, source_of(l, m->interval));
    }
    now = clock_ns(CLOCK_MONOTONIC);
    rest = (now - l->began_ns) * REST;
    l->due_ns = l->began_ns + l->o->every_ns;
    if (l->due_ns < now + rest)
        l->due_ns = now + rest;
}

static int work(void *arg, struct viewmodel *m, int *fd, int *status)
{
    struct live *l = arg;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    (void)status;
    if (m->interval != l->was_interval) {
        l->was_interval = m->interval;
        viewmodel_feed(m, source_of(l, m->interval));
    }
    *fd = l->look.child ? l->look.done : -1;
    if (l->look.child) {
        struct pollfd p = {l->look.done, POLLIN, 0};

        if (poll(&p, 1, 0) == 0)
            return -1;
        end_look(l, m);
        *fd = -1;
        now = clock_ns(CLOCK_MONOTONIC);
    }
    if (m->paused || l->last)
        return -1;
    if (now < l->due_ns)
        return (int)((l->due_ns - now) / 1000000) + 1;
    begin_look(l, now);
    *fd = l->look.child ? l->look.done : -1;
    return l->look.child ? -1 : 1000;
}

/* ---- the run ---- */

static void take_first_look(struct live *l, struct viewmodel *m)
{
    begin_look(l, clock_ns(CLOCK_MONOTONIC));
    if (l->look.child)
        end_look(l, m);
    l->due_ns = l->began_ns + l->o->every_ns;
}

static int watch(struct live *l, int *signal)
{
    struct viewer_work doing = {work, l};
    struct viewmodel m;
    int status;

    l->how.note = note_of(l);
    l->how.filter = l->o->filter;
    l->how.wrappers = l->o->wrappers;
    say_where(l, l->start_ns);
    l->picture = livepicture_new_empty(&l->how);
    viewmodel_init(&m, source_of(l, false), 0);
    m.live = true;
    set(&l->view, l->o->view ? l->o->view : "");
    m.interval = l->o->interval;
    m.mode = l->o->table ? VIEW_MODE_TABLE : VIEW_MODE_GRAPH;
    m.sort = l->o->sort;
    take_first_look(l, &m);
    status = viewer_run(&m, l->o->me, &doing, signal);
    livelook_stop(&l->look);
    viewmodel_release(&m);
    livepicture_free(l->picture);
    return status;
}

static void set_fold(struct live *l)
{
    const struct input_of_traces *of = l->o->of_traces;

    l->fold = (struct fold_options){.all_views = true, .no_hint = true, .quiet = true, .own = true};
    if (of) {
        l->fold.pid = of->pid;
        l->fold.tid = of->tid;
        l->fold.idle = of->idle;
        l->fold.ages = of->ages;
    }
    if (l->o->filter)
        fold_options_for(&l->fold, l->o->filter);
}

static void name_texts(struct live *l)
{
    for (size_t i = 0; i < ARRAY_LEN(l->texts); i++) {
        struct strbuf path = STRBUF_INIT;

        strbuf_addf(&path, "%s/" RUNDIR_LOOK "%zu", l->dir.path, i);
        l->texts[i].path = strbuf_detach(&path, NULL);
    }
}

/* 0, or an enum flame_exit: there is nothing to see. */
static int begin(struct live *l)
{
    const struct liveview_options *o = l->o;
    struct liverecorder *r = &l->recorder;
    const char *dir = l->dir.path;
    char comm[16];
    int status;

    l->start_ns = clock_ns(CLOCK_MONOTONIC);
    if (o->pid) {
        task_comm((pid_t)o->pid, comm);
        strbuf_addf(&l->name, "%s %u", comm, o->pid);
        return liverecorder_begin(r, (pid_t)o->pid, o->what, dir);
    }
    strbuf_addstr(&l->name, base_name(o->trace ? o->trace : o->command[0]));
    if (o->trace)
        return liverecorder_follow(r, o->trace, o->what);
    status = liveoutput_open(&l->output, dir);
    return status ? status : liverecorder_start(r, o->command, &l->output, o->what, dir);
}

/* Waits until the command ends; flame ends in the same way. */
static int end_command(struct live *l, int signal, int status)
{
    struct liverecorder *r = &l->recorder;
    int own;

    if (r->child) {
        r->wait_status = liveoutput_follow(&l->output, r->child, signal, l->name.buf);
        r->child = 0;
    }
    own = launch_exit_status(r->wait_status);
    return own ? own : status;
}

static int run(struct live *l)
{
    const struct liveview_options *o = l->o;
    int status = screen_check(o->me), signal = 0, wait_status = 0;

    if (!status)
        status = rundir_open(&l->dir, "live", "/tmp/", 0);
    if (status)
        return status;
    name_texts(l);
    status = begin(l);
    if (!status)
        status = watch(l, &signal);
    if (o->command) {
        status = end_command(l, signal, status);
        wait_status = l->recorder.wait_status;
    }
    liveoutput_close(&l->output);
    liverecorder_end(&l->recorder);
    rundir_close(&l->dir);
    if (o->command)
        launch_die_alike(wait_status);
    else
        screen_die_of(signal);
    return status;
}

int liveview(const struct liveview_options *o)
{
    struct live l = {.o = o,
                     .recorder = {.me = o->me},
                     .output = {-1, -1},
                     .name = STRBUF_INIT,
                     .label = STRBUF_INIT,
                     .view = STRBUF_INIT,
                     .shown = STRBUF_INIT};
    int status;

    set_fold(&l);
    status = run(&l);
    for (size_t i = 0; i < ARRAY_LEN(l.texts); i++)
        free((char *)l.texts[i].path);
    strbuf_release(&l.name);
    strbuf_release(&l.label);
    strbuf_release(&l.view);
    strbuf_release(&l.shown);
    return status;
}
