/*
 * A trace is identified by its header, as its file may be reused by another process when the
 * process has ended.
 *
 * A process has ended when its pid is gone. It has executed another program when a younger trace is
 * of the same process; the older trace is complete then, too.
 */
#define _GNU_SOURCE
#include "driver/monitor/momentwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/options/values.h"
#include "common/procpath.h"
#include "common/strbuf.h"
#include "common/trace/wrapping.h"
#include "driver/rundir/rundir.h"
#include "driver/monitor/live_rows.h"
#include "driver/monitor/momentfile.h"

#define MS ((uint64_t)1000000)
#define SECOND ((uint64_t)1000000000)
#define AUTO_LEAST (10 * MS)
#define AUTO_MOST (1000 * MS)
#define AUTO_SHARE 64u /* time that has passed / this = pause between two moments */
#define SHORT_SEGMENTS (TRACE_SHORT_SEGMENTS + 2u) /* which take ids as long ones do */
#define BYTES_EVERY (20 * MS)
#define LOOK_SHARE 19u /* a pause is at least so many times as long as the round before it */

/* A process, or the program that it ran before an exec. */
struct taking {
    struct trace_header header;
    char *path;
    struct live_rows glance;
    struct momentfile *file;      /* NULL: no moment was kept yet */
    int64_t kept_bytes;           /* live and mapped at the moment that was kept last */
    struct trace_change *waiting; /* changes since then; by row */
    size_t nwaiting, waiting_room;
    uint64_t latest_ns; /* the moment that was kept last */
    bool over;
};

struct momentwatch {
    pthread_mutex_t lock; /* of all fields below that are not fixed */
    char *dir;            /* fixed, as are the next two; NULL: one trace */
    struct moment_pace pace;
    uint64_t pid_namespace; /* 0: not known */
    uint64_t zero_ns;       /* when the first process began; before that, when the watch began */
    bool kept;              /* a moment was kept; zero_ns is fixed then */
    struct taking **list;
    size_t n, room;
    uint64_t taken;
    int error;
};

static struct taking *find(struct momentwatch *w, const struct trace_header *h)
{
    for (size_t i = w->n; i-- > 0;)
        if (w->list[i]->header.pid == h->pid &&
            w->list[i]->header.start_monotonic_ns == h->start_monotonic_ns)
            return w->list[i];
    return NULL;
}

static struct taking *find_or_add(struct momentwatch *w, const struct trace_header *h,
                                  const char *path)
{
    struct taking *k = find(w, h);

    if (k)
        return k;
    /* The tracer, for example, may need time before the command starts; times count from the
     * command's start. */
    if (!w->kept && (!w->n || h->start_monotonic_ns < w->zero_ns))
        w->zero_ns = h->start_monotonic_ns;
    k = xcalloc(1, sizeof *k);
    k->header = *h;
    k->path = xstrdup(path);
    GROW(w->list, w->n, w->room);
    w->list[w->n++] = k;
    return k;
}

static void forget(struct taking *k)
{
    live_rows_release(&k->glance);
    momentfile_close(k->file);
    free(k->waiting);
    free(k->path);
    free(k);
}

/* ---- the process ---- */

/* Resident bytes; 0: it has ended, is a zombie, or may not be read. */
static uint64_t resident(const struct momentwatch *w, const struct trace_header *h)
{
    unsigned long long pages = 0;
    FILE *f;

    if (h->pid_namespace && w->pid_namespace && h->pid_namespace != w->pid_namespace)
        return 0;
    f = fopen(proc_path((pid_t)h->pid, "statm").s, "re");
    if (!f)
        return 0;
    if (fscanf(f, "%*u %llu", &pages) != 1)
        pages = 0;
    fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The time when the process executed another program, if that is known; else 0. */
static uint64_t execution_of(const struct momentwatch *w, const struct trace_header *h)
{
    uint64_t when = 0;

    for (size_t i = 0; i < w->n; i++) {
        const struct trace_header *other = &w->list[i]->header;

        if (other->pid == h->pid && other->pid_namespace == h->pid_namespace &&
            other->start_monotonic_ns > h->start_monotonic_ns &&
            (!when || other->start_monotonic_ns < when))
            when = other->start_monotonic_ns;
    }
    return when;
}

static bool has_gone(const struct momentwatch *w, const struct trace_header *h)
{
    return !(h->pid_namespace && w->pid_namespace && h->pid_namespace != w->pid_namespace) &&
           kill((pid_t)h->pid, 0) != 0 && errno == ESRCH;
}

/* ---- a moment ---- */

static int by_row(const void *a, const void *b)
{
    const struct trace_change *x = a, *y = b;

    return (x->row > y->row) - (x->row < y->row);
}

/* Collects all changes since the moment that was kept last. */
static void gather(struct taking *k)
{
    size_t n = 0;

    for (size_t i = 0; i < k->glance.n; i++) {
        GROW(k->waiting, k->nwaiting, k->waiting_room);
        k->waiting[k->nwaiting++] = k->glance.changes[i];
    }
    if (k->nwaiting > k->glance.n)
        qsort(k->waiting, k->nwaiting, sizeof *k->waiting, by_row);
    for (size_t i = 0; i < k->nwaiting; i++)
        if (n && k->waiting[n - 1].row == k->waiting[i].row) {
            k->waiting[n - 1].bytes += k->waiting[i].bytes;
            k->waiting[n - 1].blocks += k->waiting[i].blocks;
        } else {
            k->waiting[n++] = k->waiting[i];
        }
    k->nwaiting = n;
}

static bool differs_enough(const struct momentwatch *w, const struct taking *k)
{
    int64_t by = wrapping_sub(k->glance.bytes, k->kept_bytes);

    return !w->pace.every_bytes || !k->file || wrapping_size(by) >= w->pace.every_bytes;
}

static void keep(struct momentwatch *w, struct taking *k, struct trace_moment m)
{
    struct strbuf path = STRBUF_INIT;
    int err;

    if (!k->file) {
        strbuf_addf(&path, "%s" TRACE_MOMENTS_ENDING, k->path);
        k->file = momentfile_new(path.buf, &k->header, w->zero_ns, MOMENTFILE_BUDGET);
        w->kept = true;
        strbuf_release(&path);
    }
    err = k->file ? momentfile_add(k->file, m, k->waiting, k->nwaiting) : -errno;
    if (err && !w->error)
        w->error = -err;
    w->taken += !err;
    k->nwaiting = 0;
    k->kept_bytes = k->glance.bytes;
}

/* Takes a moment of a trace. `any`: also if too little has changed; `ended`: the process is known
 * to have ended. */
static void take(struct momentwatch *w, struct taking *k, bool any, bool ended)
{
    uint64_t begun = clock_ns(CLOCK_MONOTONIC), executed;
    struct trace_moment m = {0};

    if (k->over)
        return;
    executed = execution_of(w, &k->header);
    m.rss_bytes = executed ? 0 : resident(w, &k->header);
    ended |= executed || has_gone(w, &k->header);
    if (!live_rows_read(&k->glance, k->path, &k->header))
        return;
    gather(k);
    if (!any && !ended && !differs_enough(w, k))
        return;
    m.monotonic_ns = executed ? executed : begun + (clock_ns(CLOCK_MONOTONIC) - begun) / 2;
    if (m.monotonic_ns <= k->latest_ns)
        m.monotonic_ns = k->latest_ns + 1;
    m.flags = ended ? TRACE_MOMENT_LAST : 0;
    k->latest_ns = m.monotonic_ns;
    k->over = ended;
    keep(w, k, m);
}

static void find_trace(const char *path, void *arg)
{
    struct trace_header h;

    if (live_rows_header(path, &h))
        find_or_add(arg, &h, path);
}

/* Takes moments of all traces. `any`: also if too little has changed. */
static void look(struct momentwatch *w, bool any)
{
    pthread_mutex_lock(&w->lock);
    /* New traces are found before any moment is taken: a younger trace shows that its process has
     * executed another program. */
    if (w->dir)
        rundir_each_trace(w->dir, find_trace, w);
    for (size_t i = 0; i < w->n; i++)
        take(w, w->list[i], any, false);
    pthread_mutex_unlock(&w->lock);
}

void momentwatch_look_now(void *w)
{
    look(w, true);
}

/* ---- when ---- */

bool moment_pace_parse(const char *s, struct moment_pace *pace)
{
    size_t len = s ? strlen(s) : 0;
    bool bytes = len && strchr("kKmMgG", s[len - 1]);

    *pace = (struct moment_pace){0};
    if (!s)
        return true;
    if (bytes)
        return opts_parse_bytes(s, &pace->every_bytes) && pace->every_bytes;
    return opts_parse_time(s, SECOND, &pace->every_ns) && pace->every_ns >= MS;
}

static uint64_t distance(const struct momentwatch *w)
{
    uint64_t passed = (clock_ns(CLOCK_MONOTONIC) - w->zero_ns) / AUTO_SHARE;

    if (w->pace.every_ns)
        return w->pace.every_ns;
    if (w->pace.every_bytes)
        return BYTES_EVERY;
    return passed < AUTO_LEAST ? AUTO_LEAST : passed > AUTO_MOST ? AUTO_MOST : passed;
}

unsigned momentwatch_first(const struct momentwatch *w)
{
    return (unsigned)(distance(w) / MS);
}

unsigned momentwatch_look(void *arg)
{
    struct momentwatch *w = arg;
    uint64_t begun = clock_ns(CLOCK_MONOTONIC), took, apart = distance(w), pause;
    uint64_t work = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    look(w, w->pace.every_bytes == 0);
    took = clock_ns(CLOCK_MONOTONIC) - begun;
    pause = took < apart ? apart - took : 0;
    /* If other processes use the CPUs, a round takes longer without costing them more: so only its
     * CPU time counts. */
    work = clock_ns(CLOCK_THREAD_CPUTIME_ID) - work;
    if (pause < work * LOOK_SHARE)
        pause = work * LOOK_SHARE;
    return pause < MS ? 1 : (unsigned)(pause / MS);
}

/* ---- all of them ---- */

static struct momentwatch *make(const struct moment_pace *pace, uint64_t zero_ns)
{
    struct momentwatch *w = xcalloc(1, sizeof *w);
    struct stat st;

    w->pace = *pace;
    w->zero_ns = zero_ns;
    w->pid_namespace = stat(proc_path(PROC_SELF, "ns/pid").s, &st) == 0 ? st.st_ino : 0;
    pthread_mutex_init(&w->lock, NULL);
    return w;
}

struct momentwatch *momentwatch_new(const char *dir, const struct moment_pace *pace)
{
    struct momentwatch *w = make(pace, clock_ns(CLOCK_MONOTONIC));

    w->dir = xstrdup(dir);
    return w;
}

struct momentwatch *momentwatch_of(const char *path, const struct trace_header *h,
                                   const struct moment_pace *pace)
{
    struct momentwatch *w = make(pace, h->start_monotonic_ns);

    find_or_add(w, h, path);
    return w;
}

int momentwatch_go_on(struct momentwatch *w)
{
    struct taking *k = w->list[0];
    struct momentfile_limits limits = {.budget = MOMENTFILE_BUDGET};
    struct momentfile_had had;
    struct stat st;
    struct strbuf path = STRBUF_INIT;
    int err;

    strbuf_addf(&path, "%s" TRACE_MOMENTS_ENDING, k->path);
    if (stat(k->path, &st) == 0)
        limits.rows = (uint32_t)(((uint64_t)st.st_size / TRACE_SEGMENT_SIZE + SHORT_SEGMENTS)
                                 << TRACE_ROW_SHIFT);
    err = momentfile_go_on(&k->file, path.buf, &k->header, &limits, &had);
    strbuf_release(&path);
    if (!k->file) {
        free(had.of_row);
        return -err;
    }
    k->glance.seen = had.of_row;
    k->glance.seen_room = had.n;
    for (size_t i = 0; i < had.n; i++)
        k->glance.bytes = wrapping_add(k->glance.bytes, (int64_t)had.of_row[i].bytes);
    k->kept_bytes = k->glance.bytes;
    k->latest_ns = had.latest_ns;
    return 0;
}

void momentwatch_end(struct momentwatch *w)
{
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->n; i++)
        take(w, w->list[i], true, true);
    pthread_mutex_unlock(&w->lock);
}

uint64_t momentwatch_taken(const struct momentwatch *w)
{
    return w->taken;
}

void momentwatch_free(struct momentwatch *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->n; i++)
        forget(w->list[i]);
    free(w->list);
    free(w->dir);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static void drop(struct momentwatch *w, struct taking *k)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->list[i] == k)
            w->list[i] = w->list[--w->n];
    forget(k);
}

void momentwatch_give(struct momentwatch *w, struct trace *t, bool ended)
{
    struct strbuf path = STRBUF_INIT;
    struct taking *k;

    if (!w || t->header.recorder != TRACE_RECORDER_MEM)
        return;
    pthread_mutex_lock(&w->lock);
    k = find_or_add(w, &t->header, t->path);
    take(w, k, true, ended);
    if (ended)
        drop(w, k);
    pthread_mutex_unlock(&w->lock);
    trace_moments_beside(t);
    if (ended) {
        strbuf_addf(&path, "%s" TRACE_MOMENTS_ENDING, t->path);
        unlink(path.buf);
        strbuf_release(&path);
    }
}

int momentwatch_error(const struct momentwatch *w)
{
    return w ? w->error : 0;
}
