/*
 * Filters on stacks of ids.
 *
 * Problem: an expression a frame, hundreds of frames a stack, a million stacks; but few
 * different names. So each expression is matched once a name and the result cached, and places
 * are found once a name. Only --grep and --grep-v see whole stacks.
 *
 * Commands filter when stacks have been added up (filter_stacks): each different stack is
 * filtered once however many samples it had, and readers need no filter. The result is that of
 * filtering each sample, as no step depends on counts.
 */
#include "fold/stacks/filter.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/folded.h"
#include "common/options/values.h"
#include "fold/stacks/span.h"
#include "fold/stacks/pattern.h"

void filter_release(struct filter *f)
{
    for (size_t i = 0; i < f->npatterns; i++)
        pattern_free(f->patterns[i].pattern);
    free(f->patterns);
    free(f->known);
    free(f->places.of);
    free(f->shared);
    strbuf_release(&f->text);
    *f = (struct filter)FILTER_INIT;
}

/* ---- options ---- */

static int take_pattern(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct strbuf why = STRBUF_INIT;
    struct filter *f = at;
    struct pattern *p = pattern_new(given->value, &why);

    if (!p)
        flame_error(FLAME_USAGE, "%s: %s '%s' is no regular expression: %s", given->command,
                    given->name, given->value, why.buf);
    strbuf_release(&why);
    if (!p)
        return FLAME_USAGE;
    f->active = true;
    f->patterns = xreallocarray(f->patterns, f->npatterns + 1, sizeof *f->patterns);
    f->patterns[f->npatterns++] =
        (struct filter_pattern){(enum filter_kind)row->which, given->value, p};
    return FLAME_OK;
}

static int take_trim_root(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct filter *f = at;

    if (given->value)
        return take_pattern(at, row, given);
    f->active = f->trim_shared = true;
    return FLAME_OK;
}

static int take_by(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct filter *f = at;
    int i = opts_find_word(row->words, given->value);

    f->active = true;
    switch (i) {
    case 0:
    case 1:
    case 2:
        f->by = PLACE_MODULE + (enum place_kind)i;
        return FLAME_OK;
    case 3:
        f->by_thread = true;
        return FLAME_OK;
    case 4:
        f->by_process = true;
        return FLAME_OK;
    case 5:
        f->by = PLACE_NONE;
        return FLAME_OK;
    default:
        return opts_wrong_value(given, "module, file, line, thread, process or function");
    }
}

static int take_flag(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct filter *f = at;

    f->active = true;
    return opts_take_true((char *)at + row->which, row, given);
}

const struct opts_row filter_rows[] = {
    {.help = "Which stacks, and how much of them (REGEX and FRAME are regular expressions):"},
    {"grep", .arg = "REGEX", .help = "only stacks whose text 'a;b;c' matches", .take = take_pattern,
     .which = FILTER_GREP},
    {"grep-v", .arg = "REGEX", .help = "leave out those whose text matches", .take = take_pattern,
     .which = FILTER_GREP_V},
    {"focus", .arg = "FRAME", .help = "only stacks with such a frame: it, its callers, its callees",
     .take = take_pattern, .which = FILTER_FOCUS},
    {"prune", .arg = "FRAME",
     .help = "drop what stands above such a frame (it and its callers stay)", .take = take_pattern,
     .which = FILTER_PRUNE},
    {"trim-root", .arg = "[FRAME]",
     .help = "drop the callers of such a frame; without one, the frames at the root that all "
             "stacks share",
     .take = take_trim_root, .which = FILTER_TRIM_ROOT},
    {"by", .arg = "PLACE",
     .help = "frames become their module, file or line, or stay functions; or stacks stand on a "
             "frame for their thread or process",
     .take = take_by, .words = "module file line thread process function"},
    {"collapse-recursion", .help = "a frame that calls itself is one frame", .take = take_flag,
     .which = offsetof(struct filter, recursion)},
    {"from-caller", .help = "reverse stacks: from the leaf to its callers", .take = take_flag,
     .which = offsetof(struct filter, from_caller)},
    {0},
};

const struct opts_row filter_modules_rows[] = {
    {"modules", .help = "names say which module they are in: 'libc.so.6`malloc'", .take = take_flag,
     .which = offsetof(struct filter, modules)},
    {0},
};

enum place_kind filter_places(const struct filter *f)
{
    return f->modules && !f->by ? PLACE_MODULE : f->by;
}

static const char *kind_name(enum filter_kind kind)
{
    const struct opts_row *row = filter_rows;

    while (!row->name || row->which != (int)kind)
        row++;
    return row->name;
}

/* ---- one stack ---- */

static bool ask(struct filter *f, const struct filter_pattern *p, const char *s, size_t len)
{
    int answer = pattern_matches(p->pattern, s, len);

    if (answer < 0 && !f->gave_up)
        f->gave_up = p;
    return answer > 0;
}

static bool name_matches(struct filter *f, const struct stackset *names, size_t pattern,
                         uint32_t id)
{
    size_t at = (size_t)id * f->npatterns + pattern, len;

    GROW_FILLED(f->known, at, f->nknown, -1);
    if (f->known[at] < 0) {
        const char *s = stackset_text(names, id, &len);

        f->known[at] = ask(f, &f->patterns[pattern], s, place_name_len(s, len));
    }
    return f->known[at] > 0;
}

/* The lowest frame that matches; n: none does. */
static size_t find_frame(struct filter *f, const struct stackset *names, size_t pattern,
                         const uint32_t *ids, size_t n)
{
    size_t i = 0;

    while (i < n && !name_matches(f, names, pattern, ids[i]))
        i++;
    return i;
}

static void make_text(struct filter *f, const struct stackset *names, const uint32_t *ids, size_t n)
{
    strbuf_clear(&f->text);
    for (size_t i = 0; i < n; i++) {
        size_t len;
        const char *s = stackset_text(names, ids[i], &len);

        if (i)
            strbuf_addch(&f->text, ';');
        strbuf_add(&f->text, s, place_name_len(s, len));
    }
}

static bool is_wanted(struct filter *f, const struct stackset *names, const uint32_t *ids, size_t n)
{
    bool have_text = false;

    for (size_t k = 0; k < f->npatterns; k++) {
        const struct filter_pattern *p = &f->patterns[k];

        if (p->kind == FILTER_FOCUS && find_frame(f, names, k, ids, n) == n)
            return false;
        if (p->kind != FILTER_GREP && p->kind != FILTER_GREP_V)
            continue;
        if (!have_text)
            make_text(f, names, ids, n);
        have_text = true;
        if (ask(f, p, f->text.buf, f->text.len) != (p->kind == FILTER_GREP))
            return false;
    }
    return true;
}

static uint32_t place_of(struct filter *f, struct stackset *names, uint32_t id)
{
    size_t len;
    const char *s = stackset_text(names, id, &len);

    strbuf_clear(&f->text);
    if (f->by && place_find(f->by, s, len, &f->text)) {
        f->placed++;
    } else {
        f->unplaced++;
        strbuf_clear(&f->text);
        strbuf_add(&f->text, s, place_name_len(s, len));
    }
    return stackset_name(names, f->text.buf, f->text.len);
}

static void to_places(struct filter *f, struct stackset *names, uint32_t *ids, size_t *n)
{
    size_t to = 0;

    for (size_t i = 0; i < *n; i++) {
        uint32_t *place = idmap_at(&f->places, ids[i]), id;
        size_t len;
        const char *s = stackset_text(names, ids[i], &len);

        if (to > 0 && place_is_below(s, len))
            continue;
        if (!*place)
            *place = place_of(f, names, ids[i]) + 1;
        id = *place - 1;
        /* A frame that keeps its name is not merged: a function that calls itself has nothing to
           do with places. */
        if (to > 0 && ids[to - 1] == id && f->by != PLACE_LINE && id != ids[i])
            continue;
        ids[to++] = id;
    }
    *n = to;
}

/* "COMM-PID/TID" to "COMM-PID". */
static void to_process(struct stackset *names, uint32_t *root)
{
    size_t len;
    const char *s = stackset_text(names, *root, &len);
    size_t slash = len, pid;

    while (slash > 0 && is_digit_ch(s[slash - 1]))
        slash--;
    if (slash == len || slash < 2 || s[slash - 1] != '/')
        return;
    for (pid = slash - 1; pid > 0 && is_digit_ch(s[pid - 1]);)
        pid--;
    if (pid == slash - 1 || pid < 2 || s[pid - 1] != '-')
        return;
    {
        char *name = xmemdup0(s, slash - 1);

        *root = stackset_name(names, name, slash - 1);
        free(name);
    }
}

bool filter_stack(struct filter *f, struct stackset *names, uint32_t *ids, size_t *n)
{
    if (!is_wanted(f, names, ids, *n)) {
        f->dropped++;
        return false;
    }
    f->kept++;
    for (size_t k = 0; k < f->npatterns; k++)
        if (f->patterns[k].kind == FILTER_PRUNE) {
            size_t at = find_frame(f, names, k, ids, *n);

            if (at < *n)
                *n = at + 1;
        }
    for (size_t k = 0; k < f->npatterns; k++)
        if (f->patterns[k].kind == FILTER_TRIM_ROOT) {
            size_t at = find_frame(f, names, k, ids, *n);

            if (at < *n) {
                *n -= at;
                memmove(ids, ids + at, *n * sizeof *ids);
            }
        }
    if (f->by)
        to_places(f, names, ids, n);
    if (f->by_process && !f->by_thread && *n > 0)
        to_process(names, &ids[0]);
    if (f->recursion) {
        size_t to = 0;

        for (size_t i = 0; i < *n; i++)
            if (to == 0 || ids[to - 1] != ids[i])
                ids[to++] = ids[i];
        *n = to;
    }
    return true;
}

void filter_note_shared(struct filter *f, const uint32_t *ids, size_t n)
{
    size_t same = 0, most = n > 0 ? n - 1 : 0;

    if (!f->shared_known) {
        f->shared_known = true;
        f->shared = xreallocarray(f->shared, n, sizeof *f->shared);
        if (n > 0)
            memcpy(f->shared, ids, n * sizeof *f->shared);
        f->nshared = most;
        return;
    }
    while (same < f->nshared && same < most && f->shared[same] == ids[same])
        same++;
    f->nshared = same;
}

static void settle_leaf(struct stackset *names, uint32_t *ids, size_t *n)
{
    struct strbuf safe = STRBUF_INIT;
    const char *s;
    size_t len;

    while (*n > 0 && stackset_is_empty(names, ids[*n - 1]))
        --*n;
    if (*n == 0)
        return;
    s = stackset_text(names, ids[*n - 1], &len);
    if (!folded_ends_in_count(s, len))
        return;
    folded_add_frame(&safe, s, len);
    ids[*n - 1] = stackset_name(names, safe.buf, safe.len);
    strbuf_release(&safe);
}

uint32_t *filter_finish_stack(const struct filter *f, struct stackset *names, uint32_t *ids,
                              size_t *n)
{
    if (f->trim_shared && f->nshared < *n) {
        ids += f->nshared;
        *n -= f->nshared;
    }
    for (size_t i = 0, j = *n; f->from_caller && i + 1 < j; i++) {
        uint32_t id = ids[--j];

        ids[j] = ids[i];
        ids[i] = id;
    }
    settle_leaf(names, ids, n);
    return ids;
}

void filter_forget_names(struct filter *f)
{
    free(f->known);
    f->known = NULL;
    f->nknown = 0;
    free(f->places.of);
    f->places = (struct idmap){NULL, 0};
}

void filter_restart(struct filter *f)
{
    filter_forget_names(f);
    f->nshared = 0;
    f->shared_known = false;
    f->gave_up = NULL;
    f->placed = f->unplaced = f->kept = f->dropped = 0;
    memset(f->left_out, 0, sizeof f->left_out);
}

int filter_check(const struct filter *f, const char *command)
{
    if (f->gave_up)
        return flame_error(FLAME_USAGE,
                           "%s: --%s '%s' takes too long on a name here; write a simpler one",
                           command, kind_name(f->gave_up->kind), f->gave_up->text);
    if (f->by && f->unplaced && !f->placed)
        return flame_error(FLAME_USAGE, "%s: --by: no frame here says where its code lies",
                           command);
    if (f->active && !f->kept && f->dropped)
        flame_warn("%s: the filters leave none of %" PRIu64 " stacks", command, f->dropped);
    return FLAME_OK;
}
