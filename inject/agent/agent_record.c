/*
 * Lanes, stacks and their counters.
 *
 * Stacks are found by an index of numbers, open addressing, in which nothing is ever taken out.
 * A lane's stacks are looked for by its own thread only, so two threads never add the same one,
 * and a slot is claimed by one exchange. When the index, the numbers or the arena are used up,
 * what has no stack is counted as lost.
 */
#include "inject/agent/agent.h"

#include "common/pages.h"
#include "preload/shadow/shadow.h"
#include "common/processor/arch.h"

#define ROOM ((uintptr_t)65536)

struct guest_state guest_state;
struct guest_switch guest_switch;

static struct guest_lane *find_lane(uintptr_t thread)
{
    size_t at = (thread >> 6) * 0x9e3779b97f4a7c15u >> 52;

    for (size_t tries = 0; tries < GUEST_LANES; tries++, at++) {
        struct guest_lane *lane = &guest_state.lanes[at & (GUEST_LANES - 1)];
        uintptr_t there = __atomic_load_n(&lane->thread, __ATOMIC_RELAXED);

        if (likely(there == thread))
            return lane;
        if (!there && __atomic_compare_exchange_n(&lane->thread, &there, thread, false,
                                                  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return lane;
        if (there == thread)
            return lane;
    }
    __atomic_fetch_add(&guest_state.unlaned, 1, __ATOMIC_RELAXED);
    return NULL;
}

struct guest_lane *guest_enter(uintptr_t sp, uintptr_t *before)
{
    struct guest_lane *lane = find_lane(arch_thread_pointer());

    if (unlikely(!lane))
        return NULL;
    *before = lane->inside;
    /* A hook deeper in the same stack is called by a signal handler, or by the allocator. One
     * whose frame is not above any more was left by a longjmp. */
    if (unlikely(*before && sp <= *before)) {
        lane->skipped++;
        return NULL;
    }
    __atomic_store_n(&lane->inside, sp, __ATOMIC_RELEASE);
    if (unlikely(!lane->pcs) && !(lane->pcs = pages_alloc(GUEST_DEPTH * sizeof *lane->pcs))) {
        lane->lost++;
        guest_leave(lane, *before);
        return NULL;
    }
    return lane;
}

static uint32_t hash_stack(uint32_t lane, uint64_t epoch, const uint64_t *pcs, uint32_t n)
{
    uint64_t h = (lane | epoch << 16) * 0x9e3779b97f4a7c15u;

    for (uint32_t i = 0; i < n; i++)
        h = (h ^ pcs[i]) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32);
}

static bool same_stack(uint32_t id, uint32_t lane, uint64_t epoch, uint32_t hash,
                       const uint64_t *pcs, uint32_t n)
{
    const struct guest_stack *s = guest_state.places[id];

    if (s->hash != hash || s->lane != lane || s->n != n || s->epoch != epoch)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (s->pcs[i] != pcs[i])
            return false;
    return true;
}

/* Room for a stack, from pieces that are the lane's alone. */
static struct guest_stack *stack_room(struct guest_lane *lane, uint32_t n)
{
    uint64_t size = sizeof(struct guest_stack) + n * sizeof(uint64_t);
    struct guest_stack *s;

    if (lane->room_end - lane->room < size) {
        uintptr_t fresh = (uintptr_t)pages_alloc(ROOM);

        if (!fresh)
            return NULL;
        lane->room = fresh;
        lane->room_end = fresh + ROOM;
    }
    s = (struct guest_stack *)lane->room;
    lane->room += size;
    return s;
}

/* A new stack's number; 0: there is no room. */
static uint32_t add_stack(struct guest_lane *lane, uint32_t number, uint64_t epoch, uint32_t hash,
                          uint32_t n, uint32_t flags)
{
    struct guest_stack *s;
    uint64_t id;

    if (__atomic_load_n(&guest_state.nstacks, __ATOMIC_RELAXED) >= GUEST_STACKS - GUEST_LANES)
        return 0;
    s = stack_room(lane, n);
    if (!s)
        return 0;
    *s = (struct guest_stack){.lane = number, .n = n, .hash = hash, .flags = flags, .epoch = epoch};
    for (uint32_t i = 0; i < n; i++)
        s->pcs[i] = lane->pcs[i];
    id = __atomic_add_fetch(&guest_state.nstacks, 1, __ATOMIC_RELAXED);
    if (id >= GUEST_STACKS)
        return 0;
    __atomic_store_n(&guest_state.places[id], s, __ATOMIC_RELEASE);
    return (uint32_t)id;
}

/* The number of the stack in lane->pcs. */
static uint32_t find_stack(struct guest_lane *lane, uint32_t n, uint32_t flags)
{
    uint32_t number = (uint32_t)(lane - guest_state.lanes);
    uint64_t epoch = __atomic_load_n(&guest_state.epoch, __ATOMIC_RELAXED);
    uint32_t hash = hash_stack(number, epoch, lane->pcs, n), id = 0;

    for (uint32_t at = hash, tries = 0; tries < GUEST_INDEX; at++, tries++) {
        uint32_t *slot = &guest_state.index[at & (GUEST_INDEX - 1)];
        uint32_t there = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

        if (there) {
            if (same_stack(there, number, epoch, hash, lane->pcs, n))
                return there;
            continue;
        }
        if (!id && !(id = add_stack(lane, number, epoch, hash, n, flags)))
            return 0;
        if (__atomic_compare_exchange_n(slot, &there, id, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return id;
    }
    return 0;
}

void guest_freed(struct guest_lane *lane, uintptr_t block, const struct block *known)
{
    struct guest_count *c = &guest_state.counts[known->row];

    if (guest_state.places[known->row]->lane == (uint32_t)(lane - guest_state.lanes)) {
        c->free_bytes += known->size;
        c->free_calls++;
        if (lane->last == block)
            c->temp_calls++;
    } else {
        __atomic_fetch_add(&c->foreign_bytes, known->size, __ATOMIC_RELAXED);
        __atomic_fetch_add(&c->foreign_calls, 1, __ATOMIC_RELAXED);
    }
}

void guest_allocated(struct guest_lane *lane, void *block, uint64_t size, const uintptr_t *caller)
{
    uint32_t flags, n = guest_walk(lane, caller, &flags), id = find_stack(lane, n, flags);
    struct block b = {.row = id, .size = size}, old;
    struct guest_count *c;

    /* A block that was freed where nobody saw it. */
    if (unlikely(shadow_take((uintptr_t)block, &old)))
        guest_freed(lane, 0, &old);
    if (unlikely(!id)) {
        lane->lost++;
        lane->lost_bytes += size;
        return;
    }
    c = &guest_state.counts[id];
    c->alloc_bytes += size;
    c->alloc_calls++;
    lane->last = (uintptr_t)block;
    if (unlikely(!shadow_put((uintptr_t)block, b)))
        guest_freed(lane, 0, &b); /* nobody will know it when it is freed */
}

bool guest_takes(void *block, struct block *known)
{
    return shadow_take((uintptr_t)block, known);
}

void guest_keeps(void *block, const struct block *known)
{
    shadow_put((uintptr_t)block, *known);
}
