/*
 * Metadata of a trace: the program, the files that were mapped, the blocks that were inherited.
 *
 * Records lie one behind the other from the start of a metadata segment until one of type 0. Types
 * that this version does not know are skipped: records that a reader must not ignore are announced
 * in the header's feature bits.
 */
#include "common/trace/trace_reader_impl.h"
#include "common/trace/trace_intervals.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/alloc.h"

int trace_string_at(const struct trace_source *src, uint64_t at, struct trace_string *out)
{
    const struct trace_part *part = trace_part_at(src, at);
    struct trace_meta meta;
    uint64_t room;

    if (at % 8 != 0 || at < sizeof(struct trace_header) || at >= src->len)
        return -1;
    if (!part)
        return 0;
    room = part->size - (at - part->at);
    if (part->type != TRACE_SEG_META || at - part->at < sizeof(struct trace_segment) ||
        room < sizeof meta)
        return -1;
    memcpy(&meta, src->data + at, sizeof meta);
    if (meta.type == TRACE_META_END)
        return 0;
    if (meta.type != TRACE_META_STRING || meta.size > room - sizeof meta)
        return -1;
    out->s = (const char *)src->data + at + sizeof meta;
    out->len = meta.size;
    return 1;
}

static int add_module(const struct trace_source *src, struct trace *t, uint64_t at, uint32_t size)
{
    const uint8_t *payload = src->data + at + sizeof(struct trace_meta);
    struct trace_module m;

    if (size < sizeof m)
        return trace_damaged(src, at, "a module record of %" PRIu32 " bytes", size);
    memcpy(&m, payload, sizeof m);
    if (m.start >= m.end)
        return trace_damaged(src, at, "a module that ends before it begins");
    if (m.build_id_size > TRACE_BUILD_ID_MAX)
        return trace_damaged(src, at, "a build-id of %" PRIu32 " bytes", m.build_id_size);
    GROW(t->modules, t->nmodules, t->priv->modules_room);
    t->modules[t->nmodules].m = m;
    t->modules[t->nmodules++].path = xmemdup0(payload + sizeof m, size - sizeof m);
    return 0;
}

static void add_arg(struct trace *t, const uint8_t *s, uint32_t len)
{
    GROW(t->args, t->nargs, t->priv->args_room);
    t->args[t->nargs++] = (struct trace_string){(const char *)s, len};
}

static int add_origin(const struct trace_source *src, struct trace *t, uint64_t at, uint32_t size)
{
    const uint8_t *payload = src->data + at + sizeof(struct trace_meta);
    struct trace_origin_view *o;

    if (size < sizeof o->facts)
        return trace_damaged(src, at, "an origin's record of %" PRIu32 " bytes", size);
    t->origins = xreallocarray(t->origins, t->norigins + 1, sizeof *t->origins);
    o = &t->origins[t->norigins++];
    memcpy(&o->facts, payload, sizeof o->facts);
    o->path = xmemdup0(payload + sizeof o->facts, size - sizeof o->facts);
    return 0;
}

static int add_inherited(const struct trace_source *src, struct trace *t, uint64_t at,
                         uint32_t size)
{
    const uint8_t *s = src->data + at + sizeof(struct trace_meta), *end = s + size;
    struct trace_inherited head;
    uint64_t row = 0, step;

    if (size < sizeof head)
        return trace_damaged(src, at, "an inheritance of %" PRIu32 " bytes", size);
    memcpy(&head, s, sizeof head);
    s += sizeof head;
    if (head.origin >= t->norigins)
        return trace_damaged(src, at, "inherited from origin %" PRIu32 " of %zu", head.origin,
                             t->norigins);
    if (head.entries > size / 3)
        return trace_damaged(src, at, "%" PRIu32 " entries in %" PRIu32 " bytes", head.entries,
                             size);
    t->inherited =
        xreallocarray(t->inherited, t->ninherited + head.entries + 1, sizeof *t->inherited);
    for (uint32_t i = 0; i < head.entries; i++) {
        struct trace_inherited_row *r = &t->inherited[t->ninherited];

        if (!trace_take_number(&s, end, &step) || !trace_take_number(&s, end, &r->blocks) ||
            !trace_take_number(&s, end, &r->bytes) || step > UINT32_MAX || row + step > UINT32_MAX)
            return trace_damaged(src, at, "entry %" PRIu32 " of an inheritance makes no sense", i);
        row += step;
        r->origin = head.origin;
        r->row = (uint32_t)row;
        t->ninherited++;
    }
    return 0;
}

static int add_title(const struct trace_source *src, struct trace *t, uint64_t at, uint32_t size)
{
    const uint8_t *payload = src->data + at + sizeof(struct trace_meta);
    struct trace_title *title;

    if (size < sizeof title->pid)
        return trace_damaged(src, at, "a title's record of %" PRIu32 " bytes", size);
    GROW(t->titles, t->ntitles, t->title_room);
    title = &t->titles[t->ntitles++];
    memcpy(&title->pid, payload, sizeof title->pid);
    title->text =
        (struct trace_string){(const char *)payload + sizeof title->pid, size - sizeof title->pid};
    return 0;
}

static void add_region(const struct trace_source *src, struct trace *t, uint64_t at, uint32_t size)
{
    GROW(t->regions, t->nregions, t->region_room);
    t->regions[t->nregions++] = xmemdup0(src->data + at + sizeof(struct trace_meta), size);
}

/* Mark that a record belongs to: a new one, or the last one, which the record continues. */
static struct trace_mark_view *mark_of(struct trace *t, const char *name, size_t len,
                                       uint64_t number)
{
    struct trace_mark_view *m = t->nmarks ? &t->marks[t->nmarks - 1] : NULL;

    if (m && m->number == number && strlen(m->name) == len && memcmp(m->name, name, len) == 0)
        return m;
    GROW(t->marks, t->nmarks, t->mark_room);
    m = &t->marks[t->nmarks++];
    *m = (struct trace_mark_view){
        .name = xmemdup0(name, len), .number = number, .at = (double)number};
    return m;
}

static int add_mark(const struct trace_source *src, struct trace *t, uint64_t at, uint32_t size)
{
    const uint8_t *s = src->data + at + sizeof(struct trace_meta), *end = s + size;
    struct trace_mark_view *m;
    struct trace_mark head;
    uint64_t row = 0, step, blocks, bytes;

    if (size < sizeof head)
        return trace_damaged(src, at, "a mark of %" PRIu32 " bytes", size);
    memcpy(&head, s, sizeof head);
    s += sizeof head;
    if (head.name_size > size - sizeof head || memchr(s, '\0', head.name_size))
        return trace_damaged(src, at, "a mark whose name makes no sense");
    m = mark_of(t, (const char *)s, head.name_size, head.number);
    s += head.name_size;
    for (uint32_t i = 0; i < head.entries; i++) {
        if (!trace_take_number(&s, end, &step) || !trace_take_number(&s, end, &blocks) ||
            !trace_take_number(&s, end, &bytes) || step > UINT32_MAX || row + step > UINT32_MAX)
            return trace_damaged(src, at, "entry %" PRIu32 " of a mark makes no sense", i);
        row += step;
        GROW(m->entries, m->n, m->room);
        m->entries[m->n++] = (struct trace_mark_entry){
            (uint32_t)row, (int64_t)trace_unfold_sign(bytes), (int64_t)trace_unfold_sign(blocks)};
    }
    return 0;
}

/* The mark's entries follow, in records of their own. */
static int add_mark_time(const struct trace_source *src, struct trace *t, uint64_t at,
                         uint32_t size)
{
    const uint8_t *s = src->data + at + sizeof(struct trace_meta);
    struct trace_mark_time head;

    if (size < sizeof head || memchr(s + sizeof head, '\0', size - sizeof head))
        return trace_damaged(src, at, "a mark's time of %" PRIu32 " bytes makes no sense", size);
    memcpy(&head, s, sizeof head);
    mark_of(t, (const char *)s + sizeof head, size - sizeof head, head.number)->monotonic_ns =
        head.monotonic_ns;
    return 0;
}

/* Validates the moment's entries, so that later readers need not. */
static int add_moment(const struct trace_source *src, struct trace *t, uint64_t at, uint32_t size)
{
    const uint8_t *s = src->data + at + sizeof(struct trace_meta), *end = s + size;
    struct trace_moment head;
    uint64_t row = 0, step, number;

    if (size < sizeof head)
        return trace_damaged(src, at, "a moment of %" PRIu32 " bytes", size);
    memcpy(&head, s, sizeof head);
    s += sizeof head;
    GROW(t->moments, t->nmoments, t->moment_room);
    t->moments[t->nmoments++] =
        (struct trace_moment_view){.m = head, .changes = s, .size = (uint32_t)(end - s)};
    for (uint32_t i = 0; i < head.entries; i++) {
        if (!trace_take_number(&s, end, &step) || !trace_take_number(&s, end, &number) ||
            !trace_take_number(&s, end, &number) || step > UINT32_MAX || row + step > UINT32_MAX)
            return trace_damaged(src, at, "entry %" PRIu32 " of a moment makes no sense", i);
        row += step;
    }
    return 0;
}

/* Validates the intervals, so that later readers need not. */
static int add_intervals(const struct trace_source *src, struct trace *t, uint64_t at,
                         uint32_t size)
{
    const uint8_t *s = src->data + at + sizeof(struct trace_meta), *end;
    struct trace_intervals_view v;
    struct trace_interval one;
    uint64_t before;

    if (size < sizeof v.head)
        return trace_damaged(src, at, "intervals of %" PRIu32 " bytes", size);
    memcpy(&v.head, s, sizeof v.head);
    if (v.head.state == TRACE_INTERVALS_SPARE)
        return 0;
    if (v.head.state != TRACE_INTERVALS_USED || v.head.bytes > size - sizeof v.head ||
        t->header.recorder != TRACE_RECORDER_OFF)
        return trace_damaged(src, at, "intervals that make no sense");
    s += sizeof v.head;
    v.entries = s;
    end = s + v.head.bytes;
    before = v.head.base_ns;
    for (uint32_t i = 0; s < end; i++)
        if (!trace_interval_take(&s, end, &one, &before))
            return trace_damaged(src, at, "interval %" PRIu32 " of a record makes no sense", i);
    GROW(t->intervals, t->nintervals, t->interval_room);
    t->intervals[t->nintervals++] = v;
    return 0;
}

static int add_life(const struct trace_source *src, struct trace *t, uint64_t at, uint32_t size)
{
    struct trace_life life;

    if (size != sizeof life)
        return trace_damaged(src, at, "a thread's life of %" PRIu32 " bytes", size);
    memcpy(&life, src->data + at + sizeof(struct trace_meta), sizeof life);
    if (life.begin_ns > life.end_ns || t->header.recorder != TRACE_RECORDER_OFF)
        return trace_damaged(src, at, "a thread's life that makes no sense");
    GROW(t->lives, t->nlives, t->life_room);
    t->lives[t->nlives++] = life;
    return 0;
}

static int add_region_time(const struct trace_source *src, struct trace *t, uint64_t at,
                           uint32_t size)
{
    struct trace_region_time r;

    if (size != sizeof r)
        return trace_damaged(src, at, "a region's time of %" PRIu32 " bytes", size);
    memcpy(&r, src->data + at + sizeof(struct trace_meta), sizeof r);
    if (r.begin_ns > r.end_ns || r.region >= t->nregions ||
        t->header.recorder != TRACE_RECORDER_OFF)
        return trace_damaged(src, at, "a region's time that makes no sense");
    GROW(t->region_times, t->nregion_times, t->region_time_room);
    t->region_times[t->nregion_times++] = r;
    return 0;
}

static int set_lost_regions(const struct trace_source *src, struct trace *t, uint64_t at,
                            uint32_t size)
{
    if (size != sizeof t->lost_regions)
        return trace_damaged(src, at, "a count of regions of %" PRIu32 " bytes", size);
    memcpy(&t->lost_regions, src->data + at + sizeof(struct trace_meta), size);
    return 0;
}

static int set_time_zero(const struct trace_source *src, struct trace *t, uint64_t at,
                         uint32_t size)
{
    if (size != sizeof t->time_zero_ns)
        return trace_damaged(src, at, "a beginning of the recording of %" PRIu32 " bytes", size);
    memcpy(&t->time_zero_ns, src->data + at + sizeof(struct trace_meta), size);
    return 0;
}

static int add_names(const struct trace_source *src, struct trace *t, uint64_t at, uint32_t size)
{
    if (!t->names)
        t->names = namepack_new();
    if (!namepack_decode(t->names, src->data + at + sizeof(struct trace_meta), size))
        return trace_damaged(src, at, "the names of addresses make no sense");
    return 0;
}

static int add_misuse(const struct trace_source *src, struct trace *t, uint64_t at, uint32_t size)
{
    struct trace_misuse m;

    if (size != sizeof m)
        return trace_damaged(src, at, "a misuse record of %" PRIu32 " bytes", size);
    memcpy(&m, src->data + at + sizeof(struct trace_meta), sizeof m);
    if (!m.kind || m.kind >= TRACE_MISUSE_KINDS || m.call >= TRACE_CALLS ||
        m.freed_by >= TRACE_CALLS || m.made_by >= TRACE_MADES || m.where >= TRACE_WHERES)
        return trace_damaged(src, at, "a misuse of no known kind");
    GROW(t->misuses, t->nmisuses, t->misuse_room);
    t->misuses[t->nmisuses++] = m;
    return 0;
}

/* A failed measurement does not replace an earlier one that has rows. */
static int add_resident(const struct trace_source *src, struct trace *t, uint64_t at, uint32_t size)
{
    struct trace_resident r;

    if (size != sizeof r)
        return trace_damaged(src, at, "a record of resident memory of %" PRIu32 " bytes", size);
    memcpy(&r, src->data + at + sizeof(struct trace_meta), sizeof r);
    if (!r.error || !t->resident.monotonic_ns)
        t->resident = r;
    return 0;
}

/* Order by process. Titles of one process lie in memory in the order in which they were written. */
static int by_pid(const void *a, const void *b)
{
    const struct trace_title *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->text.s > y->text.s) - (x->text.s < y->text.s);
}

/* Removes all titles but the last of each process. */
static void sort_titles(struct trace *t)
{
    size_t kept = 0;

    if (t->ntitles)
        qsort(t->titles, t->ntitles, sizeof *t->titles, by_pid);
    for (size_t i = 0; i < t->ntitles; i++)
        if (i + 1 == t->ntitles || t->titles[i + 1].pid != t->titles[i].pid)
            t->titles[kept++] = t->titles[i];
    t->ntitles = kept;
}

static int by_time(const void *a, const void *b)
{
    const struct trace_moment_view *x = a, *y = b;

    if (x->m.monotonic_ns != y->m.monotonic_ns)
        return x->m.monotonic_ns < y->m.monotonic_ns ? -1 : 1;
    return (x->changes > y->changes) - (x->changes < y->changes);
}

static void set_string(char **to, const uint8_t *s, uint32_t len)
{
    free(*to);
    *to = xmemdup0(s, len);
}

static int check_segment(const struct trace_source *src, struct trace *t, uint64_t at, uint64_t end)
{
    while (end - at >= sizeof(struct trace_meta)) {
        const uint8_t *payload = src->data + at + sizeof(struct trace_meta);
        struct trace_meta meta;
        int err = 0;

        memcpy(&meta, src->data + at, sizeof meta);
        if (meta.type == TRACE_META_END)
            break;
        if (meta.size > end - at - sizeof meta)
            return trace_damaged(src, at,
                                 "a metadata record of %" PRIu32 " bytes leaves its "
                                 "segment",
                                 meta.size);
        switch (meta.type) {
        case TRACE_META_EXE:
            set_string(&t->exe, payload, meta.size);
            break;
        case TRACE_META_COMM:
            set_string(&t->comm, payload, meta.size);
            break;
        case TRACE_META_ARG:
            add_arg(t, payload, meta.size);
            break;
        case TRACE_META_MODULE:
            err = add_module(src, t, at, meta.size);
            break;
        case TRACE_META_ORIGIN:
            err = add_origin(src, t, at, meta.size);
            break;
        case TRACE_META_INHERITED:
            err = add_inherited(src, t, at, meta.size);
            break;
        case TRACE_META_TITLE:
            err = add_title(src, t, at, meta.size);
            break;
        case TRACE_META_REGION:
            add_region(src, t, at, meta.size);
            break;
        case TRACE_META_MARK:
            err = add_mark(src, t, at, meta.size);
            break;
        case TRACE_META_MARK_TIME:
            err = add_mark_time(src, t, at, meta.size);
            break;
        case TRACE_META_MISUSE:
            err = add_misuse(src, t, at, meta.size);
            break;
        case TRACE_META_RESIDENT:
            err = add_resident(src, t, at, meta.size);
            break;
        case TRACE_META_MOMENT:
            err = add_moment(src, t, at, meta.size);
            break;
        case TRACE_META_INTERVALS:
            err = add_intervals(src, t, at, meta.size);
            break;
        case TRACE_META_LIFE:
            err = add_life(src, t, at, meta.size);
            break;
        case TRACE_META_REGION_TIME:
            err = add_region_time(src, t, at, meta.size);
            break;
        case TRACE_META_REGIONS_LOST:
            err = set_lost_regions(src, t, at, meta.size);
            break;
        case TRACE_META_TIME_ZERO:
            err = set_time_zero(src, t, at, meta.size);
            break;
        case TRACE_META_NAMES:
            err = add_names(src, t, at, meta.size);
            break;
        }
        if (err)
            return err;
        at += sizeof meta + (((uint64_t)meta.size + 7) & ~(uint64_t)7);
    }
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct trace_module *x = &((const struct trace_module_view *)a)->m;
    const struct trace_module *y = &((const struct trace_module_view *)b)->m;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->first_epoch > y->first_epoch) - (x->first_epoch < y->first_epoch);
}

int trace_check_meta(const struct trace_source *src, struct trace *t)
{
    struct trace_private *priv = t->priv;

    for (size_t i = 0; i < src->nparts; i++) {
        const struct trace_part *p = &src->parts[i];
        int err;

        if (p->type != TRACE_SEG_META)
            continue;
        err = check_segment(src, t, p->at + sizeof(struct trace_segment), p->at + p->size);
        if (err)
            return err;
    }
    if (t->nmodules)
        qsort(t->modules, t->nmodules, sizeof *t->modules, by_start);
    sort_titles(t);
    if (t->names)
        namepack_finish(t->names);
    if (!t->time_zero_ns)
        t->time_zero_ns = t->header.start_monotonic_ns;
    if (t->nmoments)
        qsort(t->moments, t->nmoments, sizeof *t->moments, by_time);
    priv->modules = trace_modules_index(t);
    if (!t->exe)
        t->exe = xstrdup("");
    if (!t->comm)
        t->comm = xstrdup("");
    return 0;
}
