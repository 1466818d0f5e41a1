/*
 * Problem: the recorder's operator new precedes all others in every process. A C program may load
 * C++ libraries by dlopen, each with its own dependencies: libstdc++, an allocator, an operator of
 * its own. A block must be freed by the delete that belongs to its new. Otherwise a program crashes
 * that works without the recorder.
 *
 * Algorithm: the loader's own. The libraries that the program started with are searched first, in
 * their order, after this one. If none of them has the function, the lists in which the loader
 * searches for the caller's module do (unwind/scopes.h). Those answers are cached by the return
 * address of the call, until a module is unloaded.
 *
 * Rejected: dlsym(RTLD_NEXT), because it takes a lock whose holder may wait for this thread, and it
 * sees only what the program started with. The closure of what the caller's module needs, because
 * libstdc++ itself calls operator new, and does not need the allocator that it is used with. The
 * first module that has the function: see above.
 */
#define _GNU_SOURCE
#include "common/hash.h"
#include "preload/runtime/next_operators.h"

#include <link.h>

#include "unwind/dynsym.h"
#include "common/env/loaderlist.h"
#include "unwind/modules.h"
#include "unwind/scopes.h"

#define PLACES 1024u /* a power of two */

extern const ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

#define NAME(name) #name,
static const char *const names[] = {NEXT_OPERATOR_NAMES(NAME, NAME)};
#undef NAME

next_operators_at next_operators_known[NEXT_OPERATOR_COUNT];

static next_operators_at known_to_watch[NEXT_OPERATOR_COUNT];
static bool watched;

static struct {
    const struct link_map *self;       /* NULL: not found yet */
    const struct link_map *last_start; /* last of the modules that the program started with */
} loaded;

/* Cached answer for a call. `both` is key ^ at, so a half-written entry matches no key. */
static FLAME_BULK struct place {
    uintptr_t both;
    next_operators_at at;
} places[PLACES];

/* ---- modules ---- */

/* Finds this library, and the last module that the program started with. It is a constructor, so
 * nothing has been loaded by dlopen yet; a first call of an operator may come earlier and calls it,
 * too. */
__attribute__((constructor)) static void learn(void)
{
    const struct link_map *m, *self = NULL, *last = NULL;

    if (__atomic_load_n(&loaded.self, __ATOMIC_ACQUIRE))
        return;
    for (m = loaderlist()->r_map; m; last = m, m = m->l_next)
        if (m->l_ld == own_dynamic)
            self = m;
    __atomic_store_n(&loaded.last_start, last, __ATOMIC_RELAXED);
    __atomic_store_n(&loaded.self, self, __ATOMIC_RELEASE);
}

static next_operators_at find_in(const struct link_map *m, enum next_operator_id id)
{
    struct dynsym d;
    uintptr_t at;

    dynsym_open(&d, m);
    at = dynsym_find(&d, names[id]);
    return at && dynsym_find(&d, "malloc") ? at | NEXT_OPERATOR_OWN : at;
}

static next_operators_at find_at_start(enum next_operator_id id)
{
    const struct link_map *m = loaded.self;
    next_operators_at at = 0;

    while (m && m != loaded.last_start && !at) {
        m = m->l_next;
        at = m ? find_in(m, id) : 0;
    }
    return at;
}

/* Whether the loader finds this library before `m`, so that `m` may have a next definition. */
static bool is_beneath(const struct link_map *m)
{
    for (const struct link_map *at = loaderlist()->r_map; at && at != loaded.self; at = at->l_next)
        if (at == m)
            return false;
    return m != loaded.self;
}

static next_operators_at find_in_scope(const struct scope *s, enum next_operator_id id)
{
    next_operators_at at = 0;

    for (unsigned i = 0; i < s->n && !at; i++)
        at = is_beneath(s->list[i]) ? find_in(s->list[i], id) : 0;
    return at;
}

/* Search without the loader's lists: the caller's module itself, then all others in the order in
 * which they were loaded. */
static next_operators_at guess(const struct link_map *caller, enum next_operator_id id)
{
    next_operators_at at = caller && is_beneath(caller) ? find_in(caller, id) : 0;

    for (const struct link_map *m = loaded.last_start; m && !at; m = m->l_next)
        at = is_beneath(m) ? find_in(m, id) : 0;
    return at;
}

static next_operators_at find_for(enum next_operator_id id, uintptr_t caller)
{
    const struct link_map *m = modules_link_map(caller);
    /* Code in no module, such as a JIT's, searches where the program does. */
    const struct scope *const *scopes = scopes_of(m ? m : loaderlist()->r_map);
    next_operators_at at = 0;

    if (!scopes)
        return guess(m, id);
    while (*scopes && !at)
        at = find_in_scope(*scopes++, id);
    return at;
}

/* ---- cache by caller ---- */

static next_operators_at by_caller(enum next_operator_id id, uintptr_t caller)
{
    uintptr_t key = caller | (uintptr_t)(id + 1) << 56;
    struct place *p = &places[key * HASH_GOLDEN >> 54 & (PLACES - 1)];
    next_operators_at at = __atomic_load_n(&p->at, __ATOMIC_RELAXED);

    if (likely((__atomic_load_n(&p->both, __ATOMIC_RELAXED) ^ at) == key))
        return at;
    at = find_for(id, caller);
    __atomic_store_n(&p->at, at, __ATOMIC_RELAXED);
    __atomic_store_n(&p->both, key ^ at, __ATOMIC_RELAXED);
    return at;
}

void next_operators_invalidate(void)
{
    for (uint32_t i = 0; i < PLACES; i++)
        if (places[i].both)
            __atomic_store_n(&places[i].both, 0, __ATOMIC_RELAXED);
}

void next_operators_watch(void)
{
    __atomic_store_n(&watched, true, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < NEXT_OPERATOR_COUNT; i++)
        __atomic_store_n(&next_operators_known[i], 0, __ATOMIC_RELAXED);
}

next_operators_at next_operator(enum next_operator_id id, uintptr_t caller)
{
    next_operators_at *known =
        __atomic_load_n(&watched, __ATOMIC_ACQUIRE) ? known_to_watch : next_operators_known;
    next_operators_at at = __atomic_load_n(&known[id], __ATOMIC_RELAXED);

    if (unlikely(!at)) {
        learn();
        at = find_at_start(id);
        if (!at)
            at = NEXT_OPERATOR_OWN;
        __atomic_store_n(&known[id], at, __ATOMIC_RELAXED);
    }
    return likely(at != NEXT_OPERATOR_OWN) ? at : by_caller(id, caller);
}
