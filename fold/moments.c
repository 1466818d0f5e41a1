/*
 * A trace is reduced to a moment when it is read, before it is added to others: the live bytes
 * of a row then become its allocated bytes, with nothing freed; for growth, the bytes live at
 * the first moment become its freed bytes. So all later stages work as on any trace.
 */
#include "fold/moments.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/options/values.h"
#include "common/trace/trace_builder.h"
#include "common/trace/trace_origins.h"
#include "fold/fold_options.h"
#include "fold/analysis/regiontimes.h"

#define SECOND 1000000000u
#define US ((uint64_t)1000)

/* ---- options ---- */

static int take_time(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct fold_time *t = at;

    (void)row;
    t->given = true;
    return opts_parse_time(given->value, SECOND, &t->asked_ns)
               ? 0
               : opts_wrong_value(given, "a time from the beginning of the recording, such as 10, "
                                         "1.5s or 500ms");
}

#define AT(member) offsetof(struct fold_when, member)

const struct opts_row fold_when_rows[] = {
    {.help = "Of traces with moments (flame mem --moments), at a TIME like 12.5s or 300ms:"},
    {"at", .arg = "TIME", .help = "what was live, or with --view mmap mapped, at that moment",
     .take = take_time, .at = AT(at)},
    {"from", .arg = "TIME", .help = "by how much that had grown from then on", .take = take_time,
     .at = AT(from)},
    {"to", .arg = "TIME", .help = "until then (default: the last moment)", .take = take_time,
     .at = AT(to)},
    {.help = "Of views of waiting --from and --to are a range of the time, and"},
    {"ends-in", .arg = "THREAD",
     .help = "of the critical path, the thread in which it ends (number or name)",
     .take = opts_take_text, .at = AT(ends_in)},
    {.help = "Of traces of waiting of programs that mark regions (flamemem(3)):"},
    {"region", .arg = "NAME", .help = "only the time in which that region was open",
     .take = opts_take_text, .at = AT(region)},
    {0},
};

const struct opts_row fold_path_rows[] = {
    {"from", .arg = "TIME",
     .help = "the path of a range of the time, such as 1.5s or 300ms: its beginning",
     .take = take_time, .at = AT(from)},
    {"to", .arg = "TIME", .help = "the range's end", .take = take_time, .at = AT(to)},
    {"ends-in", .arg = "THREAD", .help = "the path to the end of that thread (number or name)",
     .take = opts_take_text, .at = AT(ends_in)},
    {"region", .arg = "NAME",
     .help = "the paths of all regions of that name, which the program marks (flamemem(3))",
     .take = opts_take_text, .at = AT(region)},
    {0},
};

/* ---- views ---- */

static int settle_times(const struct fold_when *w, const char *command)
{
    if (w->at.given && (w->from.given || w->to.given))
        return flame_error(FLAME_USAGE,
                           "%s: --at is one moment, --from and --to are two; ask for one or two",
                           command);
    if (w->to.given && !w->from.given)
        return flame_error(
            FLAME_USAGE,
            "%s: --to needs --from, or a --view of waiting; what was live at a moment is --at TIME",
            command);
    if (w->from.given && w->to.given && w->from.asked_ns > w->to.asked_ns)
        return flame_error(FLAME_USAGE, "%s: --from is later than --to; turn them round", command);
    return 0;
}

/* A range of the time, for a view of waiting. */
static int settle_range(struct fold_when *w, const struct view *view, const char *command)
{
    w->range = true;
    w->path = view->of_path;
    if (strcmp(command, "diff") == 0)
        return flame_error(FLAME_USAGE,
                           "diff: of waits neither --at, --from, --to nor --ends-in; fold each "
                           "trace with them, and compare the texts");
    if (w->ends_in && !w->path)
        return flame_error(FLAME_USAGE, "%s: --ends-in is of the critical path: --view critical",
                           command);
    if (w->at.given)
        return flame_error(FLAME_USAGE,
                           "%s: --at is a moment, waits are of a range: --from and --to", command);
    if (!view->in_parts)
        return flame_error(FLAME_USAGE, "%s: --view %s is of whole sleeps and not of a range",
                           command, view->name);
    if (w->from.given && w->to.given && w->from.asked_ns >= w->to.asked_ns)
        return flame_error(FLAME_USAGE, "%s: --from is not before --to; give a later --to",
                           command);
    return 0;
}

static int settle_region(const struct fold_options *opt, const char *command)
{
    const struct view *view = opt->view ? view_find(opt->view) : off_views;

    if (fold_when_given(opt->when))
        return flame_error(FLAME_USAGE,
                           "%s: --region says when; leave out --at, --from, --to and --ends-in",
                           command);
    if (view->recorder == TRACE_RECORDER_OFF && !view->in_parts)
        return flame_error(FLAME_USAGE, "%s: --view %s is of whole sleeps and not of regions",
                           command, view->name);
    if (view->of_path && strcmp(command, "diff") == 0)
        return flame_error(FLAME_USAGE,
                           "diff: of the critical path no --region; fold each trace with it, and "
                           "compare the texts");
    return 0;
}

static bool has_moments(const struct view *v)
{
    return v->grown != NULL;
}

int fold_when_settle(struct fold_options *opt, const char *command)
{
    struct strbuf views = STRBUF_INIT;
    const struct view *view = opt->view ? view_find(opt->view) : NULL;
    struct fold_when *w = opt->when;
    int status;

    if (w && w->region)
        return settle_region(opt, command);
    if (!w || !fold_when_given(w))
        return 0;
    if (view && view->recorder == TRACE_RECORDER_OFF)
        return settle_range(w, view, command);
    if (w->ends_in)
        return flame_error(FLAME_USAGE, "%s: --ends-in is of the critical path: --view critical",
                           command);
    status = settle_times(w, command);
    if (status)
        return status;
    w->any_view = !view;
    if (!view)
        view = view_find(opt->view = "live");
    if (!view->grown) {
        view_list_some(&views, TRACE_RECORDER_MEM, has_moments);
        flame_error(FLAME_USAGE,
                    "%s: --view %s is of the whole recording; moments have the views %s", command,
                    opt->view, views.buf);
        strbuf_release(&views);
        return FLAME_USAGE;
    }
    opt->all_views = false;
    if (w->from.given)
        opt->views = view->grown;
    return 0;
}

/* ---- one trace ---- */

static uint64_t monotonic_of(const struct trace *t, uint64_t ns)
{
    uint64_t most = UINT64_MAX - t->time_zero_ns;

    return t->time_zero_ns + (ns > most ? most : ns);
}

static void note_shown(struct fold_time *time, const struct trace *t, uint64_t ns)
{
    const struct trace_moment_view *m = trace_moment_at(t, ns);
    uint64_t shown;

    if (!trace_is_there(t, ns))
        return;
    shown = trace_moment_shown(t, m ? m->m.monotonic_ns : t->header.start_monotonic_ns);
    if (shown > time->shown_ns)
        time->shown_ns = shown;
    if (!time->traces || shown < time->oldest_ns) {
        free(time->oldest);
        time->oldest = xstrdup(t->path);
        time->oldest_ns = shown;
    }
    time->traces++;
}

static struct trace_amount *live_at(struct fold_time *time, const struct trace *t, uint64_t ns)
{
    struct trace_amount *live = xcalloc(t->row_limit, sizeof *live);

    note_shown(time, t, ns);
    trace_moments_live(t, ns, live);
    return live;
}

static bool is_counted(const struct trace_row *r)
{
    return trace_row_used(r) && (trace_row_counts(r) || r->flags & TRACE_ROW_MAPPED);
}

/* NULL: nothing was live before. */
static void set_rows(struct trace *t, const struct trace_amount *now,
                     const struct trace_amount *before)
{
    struct trace_builder grow = trace_builder_begin(t);

    for (uint32_t id = 0; id < t->row_limit; id++) {
        struct trace_row *row = trace_builder_row_at(&grow, id);

        if (!is_counted(row))
            continue;
        row->alloc_bytes = now[id].bytes;
        row->alloc_calls = now[id].blocks;
        row->free_bytes = before ? before[id].bytes : 0;
        row->free_calls = before ? before[id].blocks : 0;
        row->temp_calls = 0;
    }
}

static const char *option_of(const struct fold_when *w)
{
    return w->at.given && !w->compared ? "at" : "from";
}

static int refuse_without(const struct fold_when *w, const char *path)
{
    return flame_error(FLAME_USAGE,
                       "%s: --%s: no moments were taken of it; record it with 'flame mem "
                       "--moments -o x.flame', or use 'flame watch' while it runs",
                       path, option_of(w));
}

static int refuse(const struct fold_when *w, const struct trace *t)
{
    if (t->header.recorder != TRACE_RECORDER_MEM && w->any_view && !w->at.given)
        return flame_error(FLAME_USAGE,
                           "%s: a trace of waiting; say which view of the range is wanted, such as "
                           "--view off",
                           t->path);
    if (t->header.recorder != TRACE_RECORDER_MEM)
        return flame_error(FLAME_USAGE, "%s: a trace of waiting; --%s is for traces of 'flame mem'",
                           t->path, option_of(w));
    return refuse_without(w, t->path);
}

/* Leaves out a trace without moments, if other traces have some: its live memory at the moment is
 * not known. */
static void leave_out(struct fold_when *w, struct trace *t)
{
    struct trace_amount *nothing = xcalloc(t->row_limit, sizeof *nothing);

    if (!w->without++)
        w->first = xstrdup(t->path);
    set_rows(t, nothing, NULL);
    free(nothing);
}

int fold_when_check(struct fold_when *w)
{
    int status = 0;

    if (!w || !w->without)
        return 0;
    if (!w->with)
        status = refuse_without(w, w->first);
    else if (!w->reported)
        flame_warn("--%s: no moments were taken of %zu of %zu traces (%s%s), which are left out",
                   option_of(w), w->without, w->without + w->with, w->first,
                   w->without > 1 ? "..." : "");
    free(w->first);
    w->first = NULL;
    w->with = w->without = 0;
    return status;
}

static void inherit(const struct fold_options *opt, struct trace *t, struct trace_origins *origins)
{
    struct trace_origins *own = origins ? NULL : trace_origins_new();

    if (!opt->own)
        trace_inherit_and_warn(t, origins ? origins : own, opt->quiet);
    trace_origins_free(own);
}

static void add_seconds(struct strbuf *sb, uint64_t ns)
{
    size_t len;

    strbuf_addf(sb, "%" PRIu64 ".%06" PRIu64, ns / SECOND, ns % SECOND / US);
    for (len = sb->len; sb->buf[len - 1] == '0'; len--)
        ;
    strbuf_setlen(sb, sb->buf[len - 1] == '.' ? len - 1 : len);
}

/* Refuses a range that begins after the recording's end, and warns of waits that are in no range.
 */
static int check_range(const struct fold_when *w, const struct trace *t)
{
    uint64_t end = t->header.end_monotonic_ns, lost_ns = 0;
    struct strbuf sb = STRBUF_INIT;

    if (w->from.given && end > t->time_zero_ns && monotonic_of(t, w->from.asked_ns) >= end) {
        add_seconds(&sb, end - t->time_zero_ns);
        flame_error(FLAME_USAGE,
                    "%s: --from: nothing was recorded then; the recording ends at %s s", t->path,
                    sb.buf);
        strbuf_release(&sb);
        return FLAME_USAGE;
    }
    for (size_t i = 0; i < t->nintervals; i++)
        if (t->intervals[i].head.lost_ns > lost_ns)
            lost_ns = t->intervals[i].head.lost_ns;
    if (lost_ns >= 1000 * US)
        flame_warn("%s: when threads waited is not known of %" PRIu64
                   " ms (--last, or no room: --lanes); these are in no range",
                   t->path, lost_ns / (1000 * US));
    return 0;
}

int fold_when_apply(const struct fold_options *opt, struct trace *t, struct trace_origins *origins)
{
    struct fold_when *w = opt->when;
    struct trace_amount *now, *before = NULL;
    uint64_t last;
    int status;

    if (w && w->region)
        return regiontimes_apply(t, w->region);
    if (!w || !fold_when_given(w))
        return 0;
    if (w->range && t->header.recorder == TRACE_RECORDER_OFF) {
        status = check_range(w, t);
        if (status || w->path)
            return status;
    }
    if (w->range)
        return regiontimes_apply_range(t, w->from.given ? monotonic_of(t, w->from.asked_ns) : 0,
                                       w->to.given ? monotonic_of(t, w->to.asked_ns) : UINT64_MAX);
    status = trace_moments_beside(t);
    if (!status && !t->nmoments && w->several && t->header.recorder == TRACE_RECORDER_MEM) {
        leave_out(w, t);
        return 0;
    }
    if (!status && !t->nmoments)
        status = refuse(w, t);
    if (status)
        return status;
    w->with++;
    inherit(opt, t, origins);
    last = t->moments[t->nmoments - 1].m.monotonic_ns;
    w->traces++;
    if (trace_moment_shown(t, last) > w->last_ns)
        w->last_ns = trace_moment_shown(t, last);
    if (w->at.given || w->last) {
        now = live_at(&w->at, t, w->last ? last : monotonic_of(t, w->at.asked_ns));
    } else {
        before = live_at(&w->from, t, monotonic_of(t, w->from.asked_ns));
        now = live_at(&w->to, t, w->to.given ? monotonic_of(t, w->to.asked_ns) : last);
    }
    set_rows(t, now, before);
    free(now);
    free(before);
    return 0;
}

/* ---- headings and messages ---- */

static void say(const struct fold_when *w, const struct fold_time *time, const char *what)
{
    struct strbuf asked = STRBUF_INIT, shown = STRBUF_INIT;

    if (!time->given)
        return;
    add_seconds(&asked, time->asked_ns);
    add_seconds(&shown, time->traces ? time->oldest_ns : w->last_ns);
    if (!time->traces)
        flame_warn("%s: no recorded process was there %s s after the beginning; the last moment of "
                   "any is at %s s",
                   what, asked.buf, shown.buf);
    else if (time->asked_ns > time->oldest_ns + 1000 * US && time->traces == 1)
        flame_warn("%s: the moment at %s s, the last one at or before %s s", what, shown.buf,
                   asked.buf);
    else if (time->asked_ns > time->oldest_ns + 1000 * US)
        flame_warn("%s: of %zu traces the last moment each at or before %s s; the oldest is at %s "
                   "s (%s)",
                   what, time->traces, asked.buf, shown.buf, time->oldest);
    strbuf_release(&asked);
    strbuf_release(&shown);
}

void fold_when_say(const struct fold_when *w)
{
    if (!w || !w->traces)
        return;
    say(w, &w->at, "--at");
    say(w, &w->from, "--from");
    say(w, &w->to, "--to");
}

static void add_time(const struct fold_when *w, const struct fold_time *t, const char *key,
                     struct strbuf *sb)
{
    bool as_asked = w->as_asked || !t->traces;

    if (!t->given && (as_asked || t == &w->at))
        return;
    strbuf_addf(sb, " %s=", key);
    add_seconds(sb, as_asked ? t->asked_ns : t->shown_ns);
}

void fold_when_add(const struct fold_when *w, struct strbuf *sb)
{
    if (!w || w->unnamed)
        return;
    add_time(w, &w->at, "time", sb);
    if (w->from.given || w->range) {
        add_time(w, &w->from, "from", sb);
        add_time(w, &w->to, "to", sb);
    }
}

void fold_when_release(struct fold_when *w)
{
    free(w->at.oldest);
    free(w->from.oldest);
    free(w->to.oldest);
    free(w->first);
    *w = (struct fold_when){0};
}
