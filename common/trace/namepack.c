/*
 * Names of a trace's addresses in memory: sorted arrays, one a module.
 *
 * The traces of a build have nearly the same names, and thousands of them are added up. So names
 * that exist already are not added again, and new ones are sorted in when they have become a
 * quarter.
 */
#include "common/trace/namepack.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/namepack_impl.h"

struct namepack *namepack_new(void)
{
    struct namepack *p = xcalloc(1, sizeof *p);

    GROW_TO(p->strings, 1, p->strings_room);
    p->strings[0] = NULL;
    p->nstrings = 1;
    return p;
}

void namepack_free(struct namepack *p)
{
    struct namepack_module *m, *next;

    if (!p)
        return;
    HASH_ITER (hh, p->modules, m, next) {
        HASH_DEL(p->modules, m);
        free(m->places);
        free(m->objects);
        free(m->key);
        free(m);
    }
    HASH_CLEAR(hh, p->by_text);
    for (size_t i = 1; i < p->nstrings; i++)
        free(p->strings[i]);
    free(p->strings);
    free(p->frames);
    free(p->made);
    free(p);
}

/* ---- in order ---- */

/* Order by address, then the most frames first, then the one that was added first. */
static int by_place(const void *a, const void *b)
{
    const struct namepack_place *x = a, *y = b;

    if (x->vaddr != y->vaddr)
        return x->vaddr < y->vaddr ? -1 : 1;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static int by_object(const void *a, const void *b)
{
    const struct namepack_object *x = a, *y = b;

    return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

static int by_code(const void *a, const void *b)
{
    const struct namepack_code *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

static void sort_places(struct namepack_module *m)
{
    size_t kept = 0;

    if (m->nplaces)
        qsort(m->places, m->nplaces, sizeof *m->places, by_place);
    for (size_t i = 0; i < m->nplaces; i++)
        if (kept && m->places[kept - 1].vaddr == m->places[i].vaddr)
            m->places[kept - 1].flags |= m->places[i].flags;
        else
            m->places[kept++] = m->places[i];
    m->nplaces = m->sorted_places = kept;
}

static void sort_objects(struct namepack_module *m)
{
    size_t kept = 0;

    if (m->nobjects)
        qsort(m->objects, m->nobjects, sizeof *m->objects, by_object);
    for (size_t i = 0; i < m->nobjects; i++)
        if (!kept || m->objects[kept - 1].vaddr != m->objects[i].vaddr)
            m->objects[kept++] = m->objects[i];
    m->nobjects = m->sorted_objects = kept;
}

/* The place at an address among the sorted places, or NULL. */
static struct namepack_place *sorted_place(const struct namepack_module *m, uint64_t vaddr)
{
    size_t lo = 0, hi = m->sorted_places;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (m->places[mid].vaddr < vaddr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < m->sorted_places && m->places[lo].vaddr == vaddr ? &m->places[lo] : NULL;
}

static struct namepack_object *sorted_object(const struct namepack_module *m, uint64_t vaddr)
{
    struct namepack_object key = {.vaddr = vaddr};

    return m->sorted_objects ? bsearch(&key, m->objects, m->sorted_objects, sizeof key, by_object)
                             : NULL;
}

static bool is_much(size_t n, size_t sorted)
{
    return n - sorted > sorted / 4 + 64;
}

/* ---- modules, strings and places ---- */

char *namepack_key(const char *path, const uint8_t *id, size_t id_len, uint32_t layout, size_t *len)
{
    struct strbuf key = STRBUF_INIT;

    strbuf_add(&key, path, strlen(path) + 1);
    if (id_len)
        strbuf_add(&key, id, id_len);
    else
        strbuf_add(&key, &layout, sizeof layout);
    return strbuf_detach(&key, len);
}

struct namepack_module *namepack_module(struct namepack *p, const char *path, const uint8_t *id,
                                        size_t id_len, uint32_t layout)
{
    struct namepack_module *m;
    size_t len;
    char *key = namepack_key(path, id, id_len, layout, &len);

    HASH_FIND(hh, p->modules, key, len, m);
    if (m) {
        free(key);
        return m;
    }
    m = xcalloc(1, sizeof *m);
    m->key = key;
    m->key_len = len;
    m->path = key;
    m->id = (const uint8_t *)key + strlen(path) + 1;
    m->id_len = id_len;
    m->layout = id_len ? 0 : layout;
    HASH_ADD_KEYPTR(hh, p->modules, m->key, m->key_len, m);
    return m;
}

const struct namepack_module *namepack_find_module(const struct namepack *p, const char *path,
                                                   const uint8_t *id, size_t id_len,
                                                   uint32_t layout)
{
    struct namepack_module *m;
    size_t len;
    char *key = namepack_key(path, id, id_len, layout, &len);

    HASH_FIND(hh, p->modules, key, len, m);
    free(key);
    return m;
}

void namepack_set_state(struct namepack_module *m, enum namepack_state state)
{
    m->state = state;
}

enum namepack_state namepack_state(const struct namepack_module *m)
{
    return m->state;
}

uint32_t namepack_add_string(struct namepack *p, const char *s, size_t len)
{
    struct namepack_string *known;

    HASH_FIND(hh, p->by_text, s, len, known);
    if (known)
        return known->number;
    known = xcalloc(1, sizeof *known + len + 1);
    known->number = (uint32_t)p->nstrings;
    known->len = len;
    memcpy(known->text, s, len);
    HASH_ADD_KEYPTR(hh, p->by_text, known->text, len, known);
    GROW(p->strings, p->nstrings, p->strings_room);
    p->strings[p->nstrings++] = known;
    return known->number;
}

struct namepack_text namepack_string(const struct namepack *p, uint32_t string)
{
    if (!string || string >= p->nstrings)
        return (struct namepack_text){"", 0};
    return (struct namepack_text){p->strings[string]->text, p->strings[string]->len};
}

void namepack_add_place(struct namepack *p, struct namepack_module *m, uint64_t vaddr,
                        uint32_t flags, const struct namepack_frame *frames, size_t n)
{
    struct namepack_place *known = sorted_place(m, vaddr);

    if (known && known->n >= n) {
        known->flags |= flags;
        return;
    }
    GROW(m->places, m->nplaces, m->places_room);
    m->places[m->nplaces++] = (struct namepack_place){
        .vaddr = vaddr, .first = (uint32_t)p->nframes, .n = (uint32_t)n, .flags = flags};
    GROW_TO(p->frames, p->nframes + n, p->frames_room);
    for (size_t i = 0; i < n; i++)
        p->frames[p->nframes++] = frames[i];
    if (is_much(m->nplaces, m->sorted_places))
        sort_places(m);
}

void namepack_add_object(struct namepack_module *m, const struct namepack_object *o)
{
    if (sorted_object(m, o->vaddr))
        return;
    GROW(m->objects, m->nobjects, m->objects_room);
    m->objects[m->nobjects++] = *o;
    if (is_much(m->nobjects, m->sorted_objects))
        sort_objects(m);
}

void namepack_add_made(struct namepack *p, uint32_t pid, uint64_t addr, uint32_t name)
{
    GROW(p->made, p->nmade, p->made_room);
    p->made[p->nmade++] = (struct namepack_code){addr, pid, name};
}

/* Number in p of a string of another pack; of_string caches it. */
static uint32_t moved(struct namepack *p, const struct namepack *from, uint32_t string,
                      uint32_t *of_string)
{
    if (string && !of_string[string])
        of_string[string] =
            namepack_add_string(p, from->strings[string]->text, from->strings[string]->len);
    return of_string[string];
}

static void add_module(struct namepack *p, const struct namepack *from,
                       const struct namepack_module *m, uint32_t *of_string)
{
    struct namepack_module *to = namepack_module(p, m->path, m->id, m->id_len, m->layout);
    struct namepack_frame *frames = NULL;
    size_t room = 0;

    /* If one of the packs was made with the file at hand, names are not lost. */
    if ((!to->nplaces && !to->nobjects) || m->state < to->state)
        to->state = m->state;
    for (size_t i = 0; i < m->nplaces; i++) {
        const struct namepack_place *place = &m->places[i];

        GROW_TO(frames, place->n, room);
        for (uint32_t k = 0; k < place->n; k++) {
            frames[k] = from->frames[place->first + k];
            frames[k].name = moved(p, from, frames[k].name, of_string);
            frames[k].path = moved(p, from, frames[k].path, of_string);
        }
        namepack_add_place(p, to, place->vaddr, place->flags, frames, place->n);
    }
    free(frames);
    for (size_t i = 0; i < m->nobjects; i++) {
        struct namepack_object o = m->objects[i];

        o.name = moved(p, from, o.name, of_string);
        namepack_add_object(to, &o);
    }
}

void namepack_add(struct namepack *p, const struct namepack *from)
{
    uint32_t *of_string = xcalloc(from->nstrings, sizeof *of_string);

    for (const struct namepack_module *m = from->modules; m; m = m->hh.next)
        add_module(p, from, m, of_string);
    for (size_t i = 0; i < from->nmade; i++)
        namepack_add_made(p, from->made[i].pid, from->made[i].addr,
                          moved(p, from, from->made[i].name, of_string));
    free(of_string);
}

void namepack_finish(struct namepack *p)
{
    size_t kept = 0;

    for (struct namepack_module *m = p->modules; m; m = m->hh.next) {
        sort_places(m);
        sort_objects(m);
    }
    if (p->nmade)
        qsort(p->made, p->nmade, sizeof *p->made, by_code);
    for (size_t i = 0; i < p->nmade; i++)
        if (!kept || by_code(&p->made[kept - 1], &p->made[i]) != 0)
            p->made[kept++] = p->made[i];
    p->nmade = kept;
}

/* ---- questions ---- */

const struct namepack_place *namepack_place(const struct namepack_module *m, uint64_t vaddr)
{
    return sorted_place(m, vaddr);
}

const struct namepack_object *namepack_object(const struct namepack_module *m, uint64_t vaddr)
{
    return sorted_object(m, vaddr);
}

const struct namepack_frame *namepack_frames(const struct namepack *p,
                                             const struct namepack_place *place)
{
    return p->frames + place->first;
}

uint32_t namepack_made(const struct namepack *p, uint32_t pid, uint64_t addr)
{
    struct namepack_code key = {.addr = addr, .pid = pid}, *found;

    found = p->nmade ? bsearch(&key, p->made, p->nmade, sizeof key, by_code) : NULL;
    return found ? found->name : 0;
}

bool namepack_has_made(const struct namepack *p, uint32_t pid)
{
    for (size_t i = 0; i < p->nmade; i++)
        if (p->made[i].pid == pid)
            return true;
    return false;
}

const struct namepack_module *namepack_next(const struct namepack *p,
                                            const struct namepack_module *m)
{
    return m ? m->hh.next : p->modules;
}

const char *namepack_path(const struct namepack_module *m)
{
    return m->path;
}

const struct namepack_place *namepack_place_at(const struct namepack_module *m, size_t i)
{
    return i < m->nplaces ? &m->places[i] : NULL;
}

const struct namepack_object *namepack_object_at(const struct namepack_module *m, size_t i)
{
    return i < m->nobjects ? &m->objects[i] : NULL;
}

const struct namepack_code *namepack_made_at(const struct namepack *p, size_t i)
{
    return i < p->nmade ? &p->made[i] : NULL;
}

struct namepack_counts namepack_count(const struct namepack *p)
{
    struct namepack_counts c = {.strings = p->nstrings - 1};

    for (const struct namepack_module *m = p->modules; m; m = m->hh.next) {
        c.modules++;
        for (size_t i = 0; i < m->nplaces; i++) {
            c.places += (m->places[i].flags & NAMEPACK_ASKED) != 0;
            c.named += m->places[i].n > 0;
        }
    }
    return c;
}
