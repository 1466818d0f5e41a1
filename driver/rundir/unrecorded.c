#include "driver/rundir/unrecorded.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "render/text/value.h"

static int by_pid(const void *pa, const void *pb)
{
    const struct unrecorded_process *a = pa, *b = pb;

    return (a->pid > b->pid) - (a->pid < b->pid);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static int by_times(const void *pa, const void *pb)
{
    const struct unrecorded_program *a = pa, *b = pb;

    if (a->times != b->times)
        return a->times < b->times ? 1 : -1;
    return strcmp(a->name, b->name);
}

static void add_program(struct unrecorded *n, const struct run_status_process *note)
{
    struct unrecorded_program *p;
    char name[sizeof p->name] = "";

    memcpy(name, note->name, strnlen(note->name, sizeof note->name));
    if (note->pid)
        n->process[n->nprocesses++] =
            (struct unrecorded_process){note->pid, (enum unrecorded_why)note->why};
    for (size_t i = 0; i < n->nprograms; i++) {
        p = &n->programs[i];
        if (p->why == note->why && p->err == note->err && strcmp(p->name, name) == 0) {
            p->times++;
            return;
        }
    }
    n->programs = xreallocarray(n->programs, n->nprograms + 1, sizeof *n->programs);
    p = &n->programs[n->nprograms++];
    *p = (struct unrecorded_program){.why = note->why, .err = note->err, .times = 1};
    memcpy(p->name, name, sizeof name);
}

/* Sorts them and removes duplicates. */
static size_t distinct(uint32_t *pids, size_t n)
{
    size_t kept = 0;

    if (n)
        qsort(pids, n, sizeof *pids, by_number);
    for (size_t i = 0; i < n; i++)
        if (!kept || pids[kept - 1] != pids[i])
            pids[kept++] = pids[i];
    return kept;
}

/* A forked child that is not recorded may execute a program, whose name it then has. */
static bool is_named_again(const struct run_status *notes, size_t i)
{
    const struct run_status_process *note = &notes->notes[i];

    if (note->why != UNRECORDED_NOT_FOLLOWED || !note->pid)
        return false;
    for (size_t k = i + 1; k < RUN_STATUS_MAX; k++)
        if (notes->notes[k].pid == note->pid && notes->notes[k].why == UNRECORDED_NOT_FOLLOWED)
            return true;
    return false;
}

void unrecorded_read(struct unrecorded *n, const struct run_status_file *f, uint64_t most)
{
    struct run_status *notes = xmalloc(sizeof *notes);
    struct strbuf wrong = STRBUF_INIT;

    *n = (struct unrecorded){0};
    run_status_file_read(f, most, notes, &wrong);
    if (wrong.len)
        n->overwritten = strbuf_detach(&wrong, NULL);
    strbuf_release(&wrong);
    n->process = xcalloc(RUN_STATUS_MAX, sizeof *n->process);
    for (size_t i = 0; i < RUN_STATUS_MAX; i++)
        if (notes->notes[i].why != UNRECORDED_NONE && notes->notes[i].why < UNRECORDED_REASONS &&
            !is_named_again(notes, i))
            add_program(n, &notes->notes[i]);
    n->full_ns = notes->disk_full_ns;
    if (notes->used > RUN_STATUS_MAX)
        n->unnamed = notes->used - RUN_STATUS_MAX;
    unrecorded_sort(n);
    free(notes);
}

void unrecorded_add_process(struct unrecorded *n, const char *name, uint32_t pid,
                            enum unrecorded_why why)
{
    struct run_status_process note = {.pid = pid, .why = (uint16_t)why};

    memcpy(note.name, name, strnlen(name, sizeof note.name));
    n->process = xreallocarray(n->process, n->nprocesses + 1, sizeof *n->process);
    add_program(n, &note);
}

void unrecorded_sort(struct unrecorded *n)
{
    if (n->nprocesses)
        qsort(n->process, n->nprocesses, sizeof *n->process, by_pid);
    if (n->nprograms)
        qsort(n->programs, n->nprograms, sizeof *n->programs, by_times);
}

void unrecorded_release(struct unrecorded *n)
{
    free(n->programs);
    free(n->process);
    free(n->overwritten);
    *n = (struct unrecorded){0};
}

size_t unrecorded_processes(const struct unrecorded *n, const uint32_t *pids, size_t npids)
{
    uint32_t *sorted = xcalloc(npids, sizeof *sorted);
    size_t others = 0, count;

    memcpy(sorted, pids, npids * sizeof *sorted);
    count = distinct(sorted, npids);
    for (size_t i = 0; i < n->nprocesses; i++)
        if (!i || n->process[i].pid != n->process[i - 1].pid)
            others += !bsearch(&n->process[i].pid, sorted, count, sizeof *sorted, by_number);
    free(sorted);
    return others + n->unnamed;
}

bool unrecorded_is_doubt(enum unrecorded_why why)
{
    return why != UNRECORDED_NOT_FOLLOWED && why != UNRECORDED_NOT_BEGUN &&
           why != UNRECORDED_DAMAGED;
}

/* ---- text ---- */

static const char *because(enum unrecorded_why why)
{
    switch (why) {
    case UNRECORDED_STATIC:
        return "linked statically";
    case UNRECORDED_MACHINE:
        return "of another word size or processor";
    case UNRECORDED_MUSL:
        return "uses musl";
    case UNRECORDED_GNU:
        return "uses the GNU C library";
    case UNRECORDED_SANITIZER:
        return "built with a sanitizer";
    case UNRECORDED_SETUID:
        return "set-user-id";
    case UNRECORDED_SETGID:
        return "set-group-id";
    case UNRECORDED_CAPABILITIES:
        return "has file capabilities";
    case UNRECORDED_ENVIRONMENT:
        return "started with an environment without the recorder";
    case UNRECORDED_USER:
        return "another user, who may not write the recording";
    case UNRECORDED_OUT_OF_SIGHT:
        return "in another root directory";
    case UNRECORDED_COVERED:
        return "a mount covers where the recording is";
    case UNRECORDED_SANDBOX:
        return "forked in a sandbox";
    case UNRECORDED_NOT_FOLLOWED:
        return "left out, as --no-follow says";
    case UNRECORDED_NOT_BEGUN:
        return "ended as it began";
    case UNRECORDED_DAMAGED:
        return "its trace cannot be read";
    default:
        return "the recorder could not start";
    }
}

void unrecorded_add(struct strbuf *sb, const struct unrecorded *n, size_t most)
{
    size_t more = n->unnamed;

    for (size_t i = 0; i < n->nprograms; i++) {
        const struct unrecorded_program *p = &n->programs[i];

        if (i >= most) {
            more += p->times;
            continue;
        }
        strbuf_addf(sb, "%s%s (%s", i ? ", " : "", p->name, because(p->why));
        if (p->why == UNRECORDED_FAILED && p->err)
            strbuf_addf(sb, ": %s", strerror(p->err));
        strbuf_addch(sb, ')');
        if (p->times > 1) {
            strbuf_addch(sb, ' ');
            value_add_number(sb, (struct folded_count){.whole = p->times}, true);
            strbuf_addstr(sb, " times");
        }
    }
    if (more) {
        strbuf_addstr(sb, n->nprograms ? " and " : "");
        value_add_number(sb, (struct folded_count){.whole = more}, true);
        strbuf_addstr(sb, " more");
    }
}
