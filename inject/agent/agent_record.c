/*
 * Lanes, stacks and their counters.
 *
 * Stacks are found by an index of their numbers, with open addressing, from which nothing is ever
 * removed. Only a lane's own thread searches for its stacks, so two threads never add the same
 * stack, and a slot is claimed by one exchange. When the index, the numbers or the arena are used
 * up, events without a stack count as lost.
 */
#include "inject/agent/agent.h"

#include "common/hash.h"
#include "common/pages.h"
#include "preload/shadow/shadow.h"
#include "common/processor/arch.h"

#define ROOM ((uintptr_t)65536)

struct agent_shared agent_shared;
struct agent_switch agent_switch;
/* The names by which flame finds them in the agent. */
extern AGENT_SEEN struct agent_shared agent_seen_shared __attribute__((alias("agent_shared")));
extern AGENT_SEEN struct agent_switch agent_seen_switch __attribute__((alias("agent_switch")));

static struct agent_lane *find_lane(uintptr_t thread)
{
    size_t at = (thread >> 6) * HASH_GOLDEN >> 52;

    for (size_t tries = 0; tries < AGENT_LANES; tries++, at++) {
        struct agent_lane *lane = &agent_shared.lanes[at & (AGENT_LANES - 1)];
        uintptr_t there = __atomic_load_n(&lane->thread, __ATOMIC_RELAXED);

        if (likely(there == thread))
            return lane;
        if (!there && __atomic_compare_exchange_n(&lane->thread, &there, thread, false,
                                                  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return lane;
        if (there == thread)
            return lane;
    }
    __atomic_fetch_add(&agent_shared.unlaned, 1, __ATOMIC_RELAXED);
    return NULL;
}

struct agent_lane *agent_enter(uintptr_t sp, uintptr_t *before)
{
    struct agent_lane *lane = find_lane(arch_thread_pointer());

    if (unlikely(!lane))
        return NULL;
    *before = lane->inside;
    /* A hook deeper in the same stack is called by a signal handler, or by the allocator. If its
     * frame is not below the outer hook's any more, a longjmp left that hook. */
    if (unlikely(*before && sp <= *before)) {
        lane->skipped++;
        return NULL;
    }
    __atomic_store_n(&lane->inside, sp, __ATOMIC_RELEASE);
    if (unlikely(!lane->pcs) && !(lane->pcs = pages_alloc(AGENT_DEPTH * sizeof *lane->pcs))) {
        lane->lost++;
        agent_leave(lane, *before);
        return NULL;
    }
    return lane;
}

static uint32_t hash_stack(uint32_t lane, uint64_t epoch, const uint64_t *pcs, uint32_t n)
{
    uint64_t h = (lane | epoch << 16) * HASH_GOLDEN;

    for (uint32_t i = 0; i < n; i++)
        h = (h ^ pcs[i]) * HASH_GOLDEN;
    return (uint32_t)(h >> 32);
}

static bool same_stack(uint32_t id, uint32_t lane, uint64_t epoch, uint32_t hash,
                       const uint64_t *pcs, uint32_t n)
{
    const struct agent_stack *s = agent_shared.places[id];

    if (s->hash != hash || s->lane != lane || s->n != n || s->epoch != epoch)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (s->pcs[i] != pcs[i])
            return false;
    return true;
}

/* Room for a stack, from pieces that belong to the lane. */
static struct agent_stack *stack_room(struct agent_lane *lane, uint32_t n)
{
    uint64_t size = sizeof(struct agent_stack) + n * sizeof(uint64_t);
    struct agent_stack *s;

    if (lane->room_end - lane->room < size) {
        uintptr_t fresh = (uintptr_t)pages_alloc(ROOM);

        if (!fresh)
            return NULL;
        lane->room = fresh;
        lane->room_end = fresh + ROOM;
    }
    s = (struct agent_stack *)lane->room;
    lane->room += size;
    return s;
}

/* Adds a stack and returns its number. 0: there is no room. */
static uint32_t add_stack(struct agent_lane *lane, uint32_t number, uint64_t epoch, uint32_t hash,
                          uint32_t n, uint32_t flags)
{
    struct agent_stack *s;
    uint64_t id;

    if (__atomic_load_n(&agent_shared.nstacks, __ATOMIC_RELAXED) >= AGENT_STACKS - AGENT_LANES)
        return 0;
    s = stack_room(lane, n);
    if (!s)
        return 0;
    *s = (struct agent_stack){.lane = number, .n = n, .hash = hash, .flags = flags, .epoch = epoch};
    for (uint32_t i = 0; i < n; i++)
        s->pcs[i] = lane->pcs[i];
    id = __atomic_add_fetch(&agent_shared.nstacks, 1, __ATOMIC_RELAXED);
    if (id >= AGENT_STACKS)
        return 0;
    __atomic_store_n(&agent_shared.places[id], s, __ATOMIC_RELEASE);
    return (uint32_t)id;
}

/* The number of the stack in lane->pcs. */
static uint32_t find_stack(struct agent_lane *lane, uint32_t n, uint32_t flags)
{
    uint32_t number = (uint32_t)(lane - agent_shared.lanes);
    uint64_t epoch = __atomic_load_n(&agent_shared.epoch, __ATOMIC_RELAXED);
    uint32_t hash = hash_stack(number, epoch, lane->pcs, n), id = 0;

    for (uint32_t at = hash, tries = 0; tries < AGENT_INDEX; at++, tries++) {
        uint32_t *slot = &agent_shared.index[at & (AGENT_INDEX - 1)];
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

void agent_freed(struct agent_lane *lane, uintptr_t block, const struct block *known)
{
    struct agent_count *c = &agent_shared.counts[known->row];

    if (agent_shared.places[known->row]->lane == (uint32_t)(lane - agent_shared.lanes)) {
        c->free_bytes += known->size;
        c->free_calls++;
        if (lane->last == block)
            c->temp_calls++;
    } else {
        __atomic_fetch_add(&c->foreign_bytes, known->size, __ATOMIC_RELAXED);
        __atomic_fetch_add(&c->foreign_calls, 1, __ATOMIC_RELAXED);
    }
}

void agent_allocated(struct agent_lane *lane, void *block, uint64_t size, const uintptr_t *caller)
{
    uint32_t flags, n = agent_walk(lane, caller, &flags), id;
    struct block b = {.size = size}, old;
    struct agent_count *c;

    if (unlikely(agent_shared.python.version))
        n = agent_with_python(lane, n, &flags);
    id = find_stack(lane, n, flags);
    b.row = id;

    /* The block at this address was freed without a hook. */
    if (unlikely(shadow_take((uintptr_t)block, &old)))
        agent_freed(lane, 0, &old);
    if (unlikely(!id)) {
        lane->lost++;
        lane->lost_bytes += size;
        return;
    }
    c = &agent_shared.counts[id];
    c->alloc_bytes += size;
    c->alloc_calls++;
    lane->last = (uintptr_t)block;
    if (unlikely(!shadow_put((uintptr_t)block, b)))
        agent_freed(lane, 0, &b); /* its free will not be recognised */
}

bool agent_takes(void *block, struct block *known)
{
    return shadow_take((uintptr_t)block, known);
}

void agent_keeps(void *block, const struct block *known)
{
    shadow_put((uintptr_t)block, *known);
}
