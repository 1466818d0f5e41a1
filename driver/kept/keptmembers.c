#include "driver/kept/keptmembers.h"

#include <inttypes.h>

#include "common/hash.h"
#include "common/strbuf.h"
#include "driver/kept/keptchild.h"
#include "fold/members/members.h"

#define REMEMBERED 1000000u

/* Questions that have been asked: file, build-id, address in the file, offset. */
static struct {
    struct asked {
        char *key;
        const char *name; /* NULL: there is none */
    } * asked;
    uint32_t n;
    size_t room;
    struct hashslots known;
} g;

struct questions {
    struct keptmember *m;
    uint32_t *which; /* members that no answer is known of */
    uint32_t *place; /* of each: its place in g.asked */
    size_t n;
    struct members *members; /* the child's */
};

static uint32_t hash_of(const char *key)
{
    return (uint32_t)(fnv_bytes(FNV_BASIS, key, strlen(key)) * HASH_GOLDEN >> 32);
}

static bool make_key(const struct keptnames *names, const struct keptmember *m, struct strbuf *key)
{
    struct kept_module module;

    if (!names->space->module(names->space->arg, m->at, &module))
        return false;
    strbuf_clear(key);
    strbuf_addf(key, "%s %" PRIx64 " %" PRIx32 " ", module.path,
                (uint64_t)(m->at - module.bias - m->offset), m->offset);
    for (uint32_t i = 0; i < module.build_id_size; i++)
        strbuf_addf(key, "%02x", module.build_id[i]);
    return true;
}

/* The place of a question. *is_new: it has not been asked. False: there is no place. */
static bool place_of(const char *key, uint32_t *place, bool *is_new)
{
    uint32_t hash = hash_of(key);

    if (!g.known.slots)
        hashslots_init(&g.known, 1024);
    *is_new = false;
    for (size_t i = hashslots_first(&g.known, hash); hashslots_at(&g.known, i, place);
         i = hashslots_next(&g.known, i))
        if (strcmp(g.asked[*place].key, key) == 0)
            return true;
    if (g.n == REMEMBERED)
        return false;
    *is_new = true;
    *place = g.n;
    GROW(g.asked, g.n, g.room);
    g.asked[g.n] = (struct asked){.key = xstrdup(key)};
    hashslots_add(&g.known, hash, g.n++);
    return true;
}

/* ---- by a child ---- */

static void answer(void *opaque, struct keptnames *k, size_t i, struct strbuf *to)
{
    struct questions *q = opaque;
    const struct keptmember *m = &q->m[q->which[i]];
    const char *path;
    uint64_t vaddr;
    struct symbol_module *module = keptnames_module(k, m->at, &vaddr, &path);

    if (!q->members)
        q->members = members_new(k->symbols);
    if (module)
        members_name(q->members, module, vaddr - m->offset, m->offset, to);
}

static void take(void *opaque, size_t i, const char *text, size_t len)
{
    struct questions *q = opaque;

    if (len)
        g.asked[q->place[i]].name = xmemdup0(text, len);
}

void keptmembers_name(struct keptnames *names, struct keptmember *m, size_t n)
{
    struct questions q = {.m = m};
    struct keptchild work = {.answer = answer, .take = take, .opaque = &q};
    uint32_t *places = xreallocarray(NULL, n + 1, sizeof *places);
    struct strbuf key = STRBUF_INIT;

    q.which = xreallocarray(NULL, n + 1, sizeof *q.which);
    q.place = xreallocarray(NULL, n + 1, sizeof *q.place);
    for (size_t i = 0; i < n; i++) {
        bool is_new = false;

        places[i] = UINT32_MAX;
        if (!make_key(names, &m[i], &key) || !place_of(key.buf, &places[i], &is_new))
            continue;
        if (is_new) {
            q.which[q.n] = (uint32_t)i;
            q.place[q.n++] = places[i];
        }
    }
    work.n = q.n;
    if (q.n)
        keptchild_run(names, &work);
    for (size_t i = 0; i < n; i++)
        m[i].name = places[i] == UINT32_MAX ? NULL : g.asked[places[i]].name;
    strbuf_release(&key);
    free(places);
    free(q.which);
    free(q.place);
}
