#define _GNU_SOURCE
#include "inject/got_slots.h"

#include <stdlib.h>
#include <sys/uio.h>

#include "common/alloc.h"
#include "inject/agent_image.h"

#define AT_ONCE 256u /* slots read by one call */

bool got_slots_allocator(struct got_slots *s, const struct procmem *m, const struct linkmap *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct linked *k = &l->modules[i];

        /* Before 2.35 glibc's loader defines a malloc, too, behind the C library's. */
        if (k->bias == l->loader)
            continue;
        for (size_t f = 0; f < AGENT_FUNCTIONS; f++) {
            uintptr_t at = linked_defines(k, m, agent_image_functions[f]);

            if (f == AGENT_MALLOC && at && s->real[f])
                s->several = true;
            if (at && !s->real[f])
                s->real[f] = at;
        }
    }
    return s->real[AGENT_MALLOC] && s->real[AGENT_FREE];
}

/* ---- finding ---- */

struct finding {
    struct got_slots *s;
    const struct procmem *m;
    const struct linked *k;
};

static void add(void *arg, uintptr_t at, size_t which, bool lazy)
{
    struct finding *f = arg;
    struct got_slots *s = f->s;

    if (!s->real[which])
        return;
    GROW(s->slot, s->n, s->room);
    s->slot[s->n++] =
        (struct got_slot){.at = at, .map = f->k->map, .which = (uint8_t)which, .lazy = lazy};
}

static bool is_there(const struct linkmap *l, const struct linked *k)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->modules[i].map == k->map && l->modules[i].bias == k->bias &&
            l->modules[i].dyn == k->dyn)
            return true;
    return false;
}

static void forget_gone(struct got_slots *s, const struct linkmap *l)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->nseen; i++) {
        if (is_there(l, &s->seen[i])) {
            s->seen[kept++] = s->seen[i];
            continue;
        }
        for (size_t k = 0; k < s->n; k++)
            if (s->slot[k].map == s->seen[i].map)
                s->slot[k--] = s->slot[--s->n];
    }
    s->nseen = kept;
}

static bool is_seen(const struct got_slots *s, const struct linked *k)
{
    for (size_t i = 0; i < s->nseen; i++)
        if (s->seen[i].map == k->map && s->seen[i].bias == k->bias && s->seen[i].dyn == k->dyn)
            return true;
    return false;
}

/* Reads the present values of all slots. Slots that cannot be read get 0, which is never a wanted
 * value. */
static void read_all(struct got_slots *s, const struct procmem *m)
{
    for (size_t i = 0; i < s->n; i += AT_ONCE) {
        struct iovec theirs[AT_ONCE], ours;
        uint64_t values[AT_ONCE];
        size_t n = s->n - i < AT_ONCE ? s->n - i : AT_ONCE;

        for (size_t k = 0; k < n; k++)
            theirs[k] = (struct iovec){(void *)s->slot[i + k].at, sizeof values[0]};
        ours = (struct iovec){values, n * sizeof values[0]};
        if (process_vm_readv(m->pid, &ours, 1, theirs, n, 0) != (ssize_t)ours.iov_len)
            for (size_t k = 0; k < n; k++)
                if (!procmem_read(m, s->slot[i + k].at, &values[k], sizeof values[k]))
                    values[k] = 0;
        for (size_t k = 0; k < n; k++)
            s->slot[i + k].now = values[k];
    }
}

/* Whether a slot must be written to, by its present value. */
static bool is_wanted(const struct got_slots *s, const struct got_slot *x,
                      const struct maps_snapshot *maps)
{
    if (x->now == s->real[x->which])
        return true;
    return x->lazy && !s->several && x->now != s->hooks[x->which] &&
           maps_snapshot_same_file(maps, x->at, x->now);
}

/* Whether the slot leads to a module that itself has a slot for the same function. In a program
 * that is not position-independent, a function's address is that of the program's own jump through
 * its slot. */
static bool leads_on(const struct got_slots *s, const struct got_slot *x,
                     const struct maps_snapshot *maps)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->slot[i].which == x->which && maps_snapshot_same_file(maps, s->slot[i].at, x->now))
            return true;
    return false;
}

/* Takes over a slot that a killed flame left behind. */
static bool adopt(struct got_slots *s, struct got_slot *x)
{
    x->had = s->real[x->which];
    s->written++;
    return true;
}

void got_slots_find(struct got_slots *s, const struct procmem *m, const struct linkmap *l,
                    const struct maps_snapshot *maps)
{
    forget_gone(s, l);
    for (size_t i = 0; i < l->n; i++) {
        const struct linked *k = &l->modules[i];
        struct finding f = {.s = s, .m = m, .k = k};

        if (k->bias == l->loader || is_seen(s, k))
            continue;
        GROW(s->seen, s->nseen, s->seen_room);
        s->seen[s->nseen++] = *k;
        linked_slots(k, m, agent_image_functions, AGENT_FUNCTIONS, add, &f);
    }
    read_all(s, m);
    s->strangers = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct got_slot *x = &s->slot[i];

        x->ours = x->now && x->now == s->hooks[x->which] && (x->ours || adopt(s, x));
        x->wanted = is_wanted(s, x, maps);
        if (x->wanted || x->now == s->hooks[x->which])
            continue;
        if (!(x->lazy && maps_snapshot_same_file(maps, x->at, x->now)) && !leads_on(s, x, maps))
            s->strangers++;
    }
}

bool got_slots_differ(struct got_slots *s, const struct procmem *m)
{
    read_all(s, m);
    for (size_t i = 0; i < s->n; i++) {
        const struct got_slot *x = &s->slot[i];

        if (x->now == s->real[x->which] || (x->ours && x->now != s->hooks[x->which]))
            return true;
    }
    return false;
}

size_t got_slots_unhooked(struct got_slots *s, const struct procmem *m)
{
    size_t n = 0;

    read_all(s, m);
    for (size_t i = 0; i < s->n; i++)
        n += s->slot[i].now == s->real[s->slot[i].which];
    return n;
}

/* ---- writing ---- */

void got_slots_write(struct got_slots *s, const struct procmem *m)
{
    for (size_t i = 0; i < s->n; i++) {
        struct got_slot *x = &s->slot[i];
        uint64_t hook = s->hooks[x->which], now;

        /* The loader may have bound it since it was found. */
        if (!x->wanted || !procmem_read(m, x->at, &now, sizeof now) ||
            (now != x->now && now != s->real[x->which]))
            continue;
        if (procmem_write(m, x->at, &hook, sizeof hook)) {
            x->had = now;
            x->ours = true;
            s->written++;
        }
        x->wanted = false;
    }
}

void got_slots_restore(struct got_slots *s, const struct procmem *m)
{
    read_all(s, m);
    for (size_t i = 0; i < s->n; i++) {
        const struct got_slot *x = &s->slot[i];
        uint64_t had = x->ours ? x->had : s->real[x->which];

        if (x->now && x->now == s->hooks[x->which])
            procmem_write(m, x->at, &had, sizeof had);
    }
}

void got_slots_release(struct got_slots *s)
{
    free(s->slot);
    free(s->seen);
    *s = (struct got_slots){.n = 0};
}
