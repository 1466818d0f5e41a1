/*
 * Stacks on disk beyond a bound on memory.
 *
 * Problem: a fleet's stacks are more than a machine's memory, and their sum must be that of one
 * set, to the byte. Runs of sorted stacks are merged as sort -m merges lines, but with their
 * counts apart, as exact decimals; the lines are made at the end. So lines wait for others
 * (orderedlines.c) over all stacks, not run by run.
 *
 * Rejected: runs of folded lines, merged by sort. Lines repeat what the line before has, which
 * is most of it: gen_folded's stacks take 918 bytes each as lines and a third of that here. And
 * a database in a file: random writes for each stack, where this writes and reads in order.
 */
#include "fold/spill/spill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/options/values.h"
#include "common/files/outfile.h"
#include "fold/stacks/orderedlines.h"
#include "fold/spill/spillrun.h"

const struct opts_row spill_rows[] = {
    {"max-memory", .arg = "SIZE",
     .help = "keep stacks beyond SIZE bytes (512m, 4g) on disk, in TMPDIR, until they are written",
     .take = opts_take_bytes},
    {0},
};

void spill_release(struct spill *s)
{
    for (size_t i = 0; i < s->nruns; i++)
        fclose(s->runs[i].f);
    free(s->runs);
    s->runs = NULL;
    s->nruns = s->alloc = 0;
}

static const char *directory(void)
{
    const char *dir = getenv("TMPDIR");

    return dir && *dir ? dir : "/tmp";
}

static int fail(struct spill *s, int err)
{
    bool wrong = err == -ENOENT || err == -ENOTDIR || err == -EACCES || err == -EROFS;

    if (!s->status)
        s->status = flame_error(wrong ? FLAME_USAGE : FLAME_FAILED,
                                "%s: cannot keep stacks there, which --max-memory asks for: %s; "
                                "set TMPDIR to a directory with more room",
                                directory(), strerror(-err));
    return s->status;
}

int spill_check(const struct spill *s, const char *command)
{
    if (s->limit && s->filter && s->filter->trim_shared)
        return flame_error(FLAME_USAGE,
                           "%s: --trim-root has to see all stacks at once; name a FRAME, or leave "
                           "out --max-memory",
                           command);
    return FLAME_OK;
}

bool spill_is_due(const struct spill *s, const struct stackset *st, bool names_stay)
{
    /* Filtering makes another set, while the first one is there. */
    uint64_t limit = s->filter && s->filter->active ? s->limit / 2 : s->limit;
    size_t names, stacks;

    if (!s->limit || s->status || stackset_len(st) == 0)
        return false;
    stackset_bytes(st, &names, &stacks);
    return names + stacks > limit && (!names_stay || stacks > limit / 4);
}

/* ---- runs ---- */

/* A run that is being written. */
struct writing {
    FILE *f;
    struct strbuf before;
};

static int put_stack(void *to, struct spillrun_stack *s)
{
    struct writing *w = to;

    return spillrun_put(w->f, &w->before, s);
}

static int put_set(struct writing *w, struct stackset *st)
{
    struct stackset_line line = STACKSET_LINE_INIT;
    struct stackset_stack of;
    int err = 0;

    stackset_sort(st);
    for (size_t i = 0; i < stackset_len(st) && !err; i++) {
        struct spillrun_stack s;

        stackset_get(st, i, &of);
        stackset_line_set(&line, st, i);
        s = (struct spillrun_stack){line.text,     of.n > 0, of.has_first,
                                    of.has_second, of.count, of.second};
        err = spillrun_put(w->f, &w->before, &s);
    }
    stackset_line_release(&line);
    return err;
}

/* Ends a run: all of it has to be on its way to the disk before its stacks are forgotten. */
static int keep_run(struct spill *s, struct writing *w, unsigned level, int err)
{
    strbuf_release(&w->before);
    if (!err && fflush(w->f) != 0)
        err = -errno;
    if (err) {
        fclose(w->f);
        return fail(s, err);
    }
    GROW(s->runs, s->nruns, s->alloc);
    s->runs[s->nruns++] = (struct spill_run){w->f, level};
    return FLAME_OK;
}

/* Makes the last `n` runs one. */
static int merge_last(struct spill *s, size_t n)
{
    struct writing w = {NULL, STRBUF_INIT};
    FILE *files[SPILL_RUNS];
    unsigned level = s->runs[s->nruns - 1].level + 1;
    int err;

    for (size_t i = 0; i < n; i++)
        files[i] = s->runs[s->nruns - n + i].f;
    err = spillrun_create(directory(), &w.f);
    if (err)
        return fail(s, err);
    err = spillrun_merge(files, n, put_stack, &w);
    if (!err) {
        for (size_t i = 0; i < n; i++)
            fclose(files[i]);
        s->nruns -= n;
    }
    return keep_run(s, &w, level, err);
}

/* The number of the last runs that were merged as often as the last one. */
static size_t of_last_level(const struct spill *s)
{
    size_t n = 1;

    while (n < s->nruns && s->runs[s->nruns - n - 1].level == s->runs[s->nruns - 1].level)
        n++;
    return n;
}

static int put_run(struct spill *s, struct stackset *st)
{
    struct writing w = {NULL, STRBUF_INIT};
    int err = spillrun_create(directory(), &w.f), status;

    if (err)
        return fail(s, err);
    s->two |= stackset_two(st);
    status = keep_run(s, &w, 0, put_set(&w, st));
    while (!status && of_last_level(s) == SPILL_RUNS)
        status = merge_last(s, SPILL_RUNS);
    return status;
}

/* Stacks kept and dropped are those of all sets together. */
static void filter_set(struct filter *f, struct stackset **st)
{
    uint64_t kept = f->kept, dropped = f->dropped;

    filter_stacks(f, st);
    filter_forget_names(f);
    f->kept += kept;
    f->dropped += dropped;
}

int spill_take(struct spill *s, struct stackset **st, bool names_stay)
{
    struct stackset *next = names_stay ? stackset_new_named(*st) : stackset_new();
    int status;

    if (s->filter && s->filter->active)
        filter_set(s->filter, st);
    status = put_run(s, *st);
    stackset_free(*st);
    *st = next;
    return status;
}

int spill_settle(struct spill *s, struct stackset **st)
{
    int status = s->status;

    if (!status && s->nruns && stackset_len(*st))
        status = spill_take(s, st, false);
    /* The last ones are the smallest. */
    while (!status && s->nruns > SPILL_RUNS)
        status = merge_last(s, s->nruns - SPILL_RUNS + 1 < SPILL_RUNS ? s->nruns - SPILL_RUNS + 1
                                                                      : SPILL_RUNS);
    return status;
}

/* ---- writing ---- */

/* A stack is held until the next one is known, which shows whether its line has to wait. */
struct lines {
    struct orderedlines out;
    enum stackset_sorting sort;
    struct spillrun_stack last;
    bool has_last;
    size_t full; /* counts that are at their end */
};

/* A stack of no frame begins all. */
static bool starts_with(const struct spillrun_stack *s, const struct strbuf *b)
{
    const struct strbuf *a = &s->text;

    if (!s->frames)
        return true;
    return b->len > a->len && (unsigned char)b->buf[a->len] <= ' ' &&
           memcmp(a->buf, b->buf, a->len) == 0;
}

static void put_last(struct lines *l, const struct strbuf *next)
{
    const struct spillrun_stack *s = &l->last;

    if (!l->has_last)
        return;
    l->full += s->first.whole == UINT64_MAX || s->second.whole == UINT64_MAX;
    orderedlines_add(&l->out, &s->text, &s->first, &s->second,
                     l->sort == BY_LINE && next && starts_with(s, next));
}

static int put_line(void *to, struct spillrun_stack *s)
{
    struct lines *l = to;
    struct spillrun_stack last = l->last;

    put_last(l, &s->text);
    l->last = *s;
    s->text = last.text; /* its memory, for the next */
    l->has_last = true;
    return 0;
}

static int write_lines(struct spill *s, enum stackset_sorting sort, FILE *f, size_t *full)
{
    struct lines l = {.sort = sort, .last = SPILLRUN_STACK_INIT};
    FILE *files[SPILL_RUNS];
    int err;

    for (size_t i = 0; i < s->nruns; i++)
        files[i] = s->runs[i].f;
    orderedlines_init(&l.out, f, s->two);
    err = spillrun_merge(files, s->nruns, put_line, &l);
    put_last(&l, NULL);
    orderedlines_finish(&l.out);
    strbuf_release(&l.last.text);
    *full = l.full;
    return err;
}

int spill_write_file(struct spill *s, const struct stackset_heading *heading,
                     enum stackset_sorting sort, const char *path)
{
    struct outfile out;
    size_t full;
    int err = outfile_open(&out, path);

    if (err)
        return flame_cannot_write(path, err);
    stackset_heading_write(heading, s->two, out.f);
    err = write_lines(s, sort, out.f, &full);
    if (err) {
        outfile_abort(&out);
        return fail(s, err);
    }
    err = outfile_commit(&out);
    stackset_report_full(full);
    return err ? flame_cannot_write(path, err) : FLAME_OK;
}
