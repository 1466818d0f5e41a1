/*
 * Metadata of a trace: what ran, and which files were mapped where.
 *
 * Records stand one behind the other from the start of a metadata segment until
 * one of type 0. Types this version does not know are stepped over: what a
 * reader must not ignore is announced in the header's feature bits instead.
 */
#include "common/trace_check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/strbuf.h"

int trace_string_at(const struct trace_source *src, uint64_t at, struct trace_string *out)
{
    uint64_t segment = at / TRACE_SEGMENT_SIZE;
    struct trace_segment seg;
    struct trace_header h;
    struct trace_meta meta;
    uint64_t first, room;

    if (at % 8 != 0 || segment >= src->segments)
        return -1;
    memcpy(&h, src->data, sizeof h);
    first = segment == 0 ? h.header_size : sizeof seg;
    room = TRACE_SEGMENT_SIZE - at % TRACE_SEGMENT_SIZE;
    if (at % TRACE_SEGMENT_SIZE < first || room < sizeof meta)
        return -1;
    if (!trace_segment_at(src, (uint32_t)segment, &seg))
        return 0;
    if (seg.type != TRACE_SEG_META)
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
    /* A power of two of them is room for twice as many. */
    if ((t->nmodules & (t->nmodules - 1)) == 0)
        t->modules =
            xreallocarray(t->modules, t->nmodules ? t->nmodules * 2 : 1, sizeof *t->modules);
    t->modules[t->nmodules].m = m;
    t->modules[t->nmodules++].path = xmemdup0(payload + sizeof m, size - sizeof m);
    return 0;
}

static void add_arg(struct trace *t, const uint8_t *s, uint32_t len)
{
    if ((t->nargs & (t->nargs - 1)) == 0)
        t->args = xreallocarray(t->args, t->nargs ? t->nargs * 2 : 1, sizeof *t->args);
    t->args[t->nargs++] = (struct trace_string){(const char *)s, len};
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
    struct trace_segment seg;

    for (uint32_t i = 0; i < src->segments; i++) {
        uint64_t begin = (uint64_t)i * TRACE_SEGMENT_SIZE;
        uint64_t first = i == 0 ? t->header.header_size : sizeof seg;
        int err;

        if (!trace_segment_at(src, i, &seg) || seg.type != TRACE_SEG_META)
            continue;
        err = check_segment(src, t, begin + first, begin + TRACE_SEGMENT_SIZE);
        if (err)
            return err;
    }
    if (t->nmodules)
        qsort(t->modules, t->nmodules, sizeof *t->modules, by_start);
    priv->modules = trace_modules_index(t);
    if (!t->exe)
        t->exe = xstrdup("");
    if (!t->comm)
        t->comm = xstrdup("");
    return 0;
}
