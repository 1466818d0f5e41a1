/*
 * Names of a trace's addresses as bytes, see namepack.h.
 *
 * The bytes are outside input: a count is valid only if enough bytes are left for its items, the
 * number of a string only if there are so many strings.
 */
#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/namepack_impl.h"

#define VERSION 1u
#define PATHS_LEAST 65536u /* bytes; and sixteen times what there is in all */

/* ---- to bytes ---- */

static void put(struct strbuf *out, uint64_t n)
{
    uint8_t bytes[10];

    strbuf_add(out, bytes, (size_t)(trace_put_number(bytes, n) - bytes));
}

static void put_module(const struct namepack *p, const struct namepack_module *m, uint32_t path,
                       struct strbuf *out)
{
    uint64_t last = 0;

    put(out, path);
    put(out, m->id_len);
    if (m->id_len)
        strbuf_add(out, m->id, m->id_len);
    else
        put(out, m->layout);
    put(out, m->state);
    put(out, m->nplaces);
    for (size_t i = 0; i < m->nplaces; i++) {
        const struct namepack_place *place = &m->places[i];

        put(out, place->vaddr - last);
        last = place->vaddr;
        put(out, place->flags);
        put(out, place->n);
        for (uint32_t k = 0; k < place->n; k++) {
            const struct namepack_frame *f = &p->frames[place->first + k];

            put(out, f->name);
            put(out, f->path);
            put(out, f->line);
        }
    }
    put(out, m->nobjects);
    last = 0;
    for (size_t i = 0; i < m->nobjects; i++) {
        const struct namepack_object *o = &m->objects[i];

        put(out, o->vaddr - last);
        last = o->vaddr;
        put(out, o->name);
        put(out, o->offset);
        put(out, o->size);
    }
}

static void put_string(struct strbuf *out, const char *s, size_t len)
{
    put(out, len);
    strbuf_add(out, s, len);
}

void namepack_encode(const struct namepack *p, struct strbuf *out)
{
    size_t nmodules = HASH_COUNT(p->modules);
    uint32_t path = (uint32_t)p->nstrings;

    put(out, VERSION);
    put(out, p->nstrings - 1 + nmodules);
    for (size_t i = 1; i < p->nstrings; i++)
        put_string(out, p->strings[i]->text, p->strings[i]->len);
    for (const struct namepack_module *m = p->modules; m; m = m->hh.next)
        put_string(out, m->path, strlen(m->path));
    put(out, nmodules);
    for (const struct namepack_module *m = p->modules; m; m = m->hh.next)
        put_module(p, m, path++, out);
    put(out, p->nmade);
    for (size_t i = 0; i < p->nmade; i++) {
        put(out, p->made[i].pid);
        put(out, p->made[i].addr);
        put(out, p->made[i].name);
    }
}

/* ---- from bytes ---- */

struct reading {
    struct namepack *p;
    const uint8_t *at, *end;
    uint32_t *strings; /* numbers in p, by the bytes' own numbers; [0] is none */
    uint64_t nstrings; /* strings, number 0 included */
    size_t paths;      /* bytes of modules' paths that may still come: each module has a copy */
};

static bool take(struct reading *r, uint64_t *n)
{
    return trace_take_number(&r->at, r->end, n);
}

/* Reads a number of items, each of which takes at least `least` bytes. */
static bool take_count(struct reading *r, size_t least, uint64_t *n)
{
    return take(r, n) && *n <= (uint64_t)(r->end - r->at) / least;
}

static bool take_string(struct reading *r, uint32_t *string, bool may_be_none)
{
    uint64_t n;

    if (!take(r, &n) || n >= r->nstrings || (!n && !may_be_none))
        return false;
    *string = r->strings[n];
    return true;
}

static bool take_u32(struct reading *r, uint32_t *out)
{
    uint64_t n;

    if (!take(r, &n) || n > UINT32_MAX)
        return false;
    *out = (uint32_t)n;
    return true;
}

static bool take_strings(struct reading *r)
{
    uint64_t n, len;

    if (!take_count(r, 1, &n) || n >= UINT32_MAX)
        return false;
    r->nstrings = n + 1;
    r->strings = xcalloc((size_t)n + 1, sizeof *r->strings);
    for (uint64_t i = 1; i <= n; i++) {
        if (!take_count(r, 1, &len))
            return false;
        r->strings[i] = namepack_add_string(r->p, (const char *)r->at, (size_t)len);
        r->at += len;
    }
    return true;
}

static bool take_place(struct reading *r, struct namepack_module *m, uint64_t *vaddr,
                       struct namepack_frame **frames, size_t *room)
{
    uint64_t step, n;
    uint32_t flags;

    if (!take(r, &step) || !take_u32(r, &flags) || !take_count(r, 3, &n) ||
        n > UINT32_MAX - r->p->nframes)
        return false;
    *vaddr += step;
    GROW_TO(*frames, (size_t)n, *room);
    for (uint64_t k = 0; k < n; k++)
        if (!take_string(r, &(*frames)[k].name, false) ||
            !take_string(r, &(*frames)[k].path, true) || !take_u32(r, &(*frames)[k].line))
            return false;
    namepack_add_place(r->p, m, *vaddr, flags, *frames, (size_t)n);
    return true;
}

static bool take_objects(struct reading *r, struct namepack_module *m)
{
    uint64_t n, step, vaddr = 0;

    if (!take_count(r, 4, &n))
        return false;
    for (uint64_t i = 0; i < n; i++) {
        struct namepack_object o;

        if (!take(r, &step) || !take_string(r, &o.name, false) || !take(r, &o.offset) ||
            !take(r, &o.size))
            return false;
        o.vaddr = vaddr += step;
        namepack_add_object(m, &o);
    }
    return true;
}

static bool take_module(struct reading *r)
{
    struct namepack_frame *frames = NULL;
    struct namepack_module *m;
    uint32_t path, layout = 0, state;
    uint64_t id_len, n, vaddr = 0;
    const uint8_t *id;
    size_t room = 0;
    bool good = true;

    if (!take_string(r, &path, false) || !take_count(r, 1, &id_len) || id_len > TRACE_BUILD_ID_MAX)
        return false;
    id = r->at;
    r->at += id_len;
    if ((!id_len && !take_u32(r, &layout)) || !take_u32(r, &state) || state > NAMEPACK_GONE ||
        !take_count(r, 3, &n) || strlen(r->p->strings[path]->text) != r->p->strings[path]->len ||
        r->p->strings[path]->len > r->paths)
        return false;
    r->paths -= r->p->strings[path]->len;
    m = namepack_module(r->p, r->p->strings[path]->text, id, (size_t)id_len, layout);
    m->state = (enum namepack_state)state;
    for (uint64_t i = 0; i < n && good; i++)
        good = take_place(r, m, &vaddr, &frames, &room);
    free(frames);
    return good && take_objects(r, m);
}

static bool take_all(struct reading *r)
{
    uint64_t version, n, addr;
    uint32_t pid, name;

    if (!take(r, &version) || version != VERSION || !take_strings(r) || !take_count(r, 5, &n))
        return false;
    for (uint64_t i = 0; i < n; i++)
        if (!take_module(r))
            return false;
    if (!take_count(r, 3, &n))
        return false;
    for (uint64_t i = 0; i < n; i++) {
        if (!take_u32(r, &pid) || !take(r, &addr) || !take_string(r, &name, false))
            return false;
        namepack_add_made(r->p, pid, addr, name);
    }
    return r->at == r->end;
}

bool namepack_decode(struct namepack *p, const uint8_t *data, size_t len)
{
    struct reading r = {.p = p, .at = data, .end = data + len, .paths = 16 * len + PATHS_LEAST};
    bool good = take_all(&r);

    free(r.strings);
    return good;
}
