/*
 * Numbers of the names that a program gives. A program may tag each request, so a name is found by
 * its hash. The texts are read in the trace, because the recorder needs no other copy of them.
 */
#include "preload/store/user_names.h"

#include "common/hash.h"
#include "common/pages.h"
#include "preload/store/store.h"

#define FIRST_SIZE 128u

static struct {
    struct spinlock lock;
    uint32_t n, size; /* of `names`, a hash table; a power of two, or 0 */
    struct name {
        const char *text; /* NULL: the slot is free */
        uint32_t len, hash, number;
    } * names;
} g;

static struct name *place_of(const char *text, uint32_t len, uint32_t hash)
{
    uint32_t at = hash & (g.size - 1);

    for (; g.names[at].text; at = (at + 1) & (g.size - 1))
        if (g.names[at].hash == hash && g.names[at].len == len &&
            memcmp(g.names[at].text, text, len) == 0)
            break;
    return &g.names[at];
}

static bool make_room(void)
{
    uint32_t size = g.size;
    struct name *old = g.names;

    if (g.n < size / 2)
        return true;
    g.size = size ? 2 * size : FIRST_SIZE;
    g.names = pages_alloc(g.size * sizeof *g.names);
    if (!g.names) {
        g.names = old;
        g.size = size;
        return false;
    }
    for (uint32_t i = 0; i < size; i++)
        if (old[i].text)
            *place_of(old[i].text, old[i].len, old[i].hash) = old[i];
    if (old)
        pages_free(old, size * sizeof *old);
    return true;
}

/* Finds a name, or adds it. Numbers are in the order of the file, so the lock is held until the
 * record is made. */
static struct name *find_or_add(const char *text, uint32_t len)
{
    uint32_t hash = (uint32_t)fnv_bytes(FNV_BASIS, text, len);
    struct name *name;

    if (!make_room())
        return NULL;
    name = place_of(text, len, hash);
    if (!name->text) {
        const char *there =
            trace_writer_meta(&store.writer, TRACE_META_REGION, text, len, NULL, 0, NULL);

        if (!there)
            return NULL;
        *name = (struct name){there, len, hash, g.n++};
    }
    return name;
}

uint32_t user_names_number(const char *name)
{
    const struct name *found;
    uint32_t number;

    spinlock_take(&g.lock);
    found = find_or_add(name, (uint32_t)strlen(name));
    number = found ? found->number : UINT32_MAX;
    spinlock_drop(&g.lock);
    return number;
}

/* Forgets all names. A thread that the child does not have may have been changing them, so
 * nothing is freed. */
void user_names_after_fork(void)
{
    if (g.lock.held || g.n)
        memset(&g, 0, sizeof g);
}
