/*
 * Few stacks have to be placed. In those, the look-up of each frame takes a lock that all threads
 * share, and searches a table of all modules. So a thread caches the results for the addresses that
 * it looked up last.
 */
#include "preload/runtime/placing.h"

#include "common/hash.h"
#include "common/pages.h"
#include "common/trace_format.h"
#include "unwind/modules.h"

#define KNOWN 256u
#define FIRST_ROOM 128u

struct placing_memory {
    uint32_t epoch;
    struct {
        uintptr_t pc; /* 0: the slot is free */
        uint64_t placed;
    } known[KNOWN];
    uintptr_t pcs[];
};

static size_t size_of(uint32_t room)
{
    return sizeof(struct placing_memory) + room * sizeof(uintptr_t);
}

void placing_release(struct placing *p)
{
    if (p->memory)
        pages_free(p->memory, size_of(p->room));
    *p = (struct placing){.memory = NULL};
}

static bool make_room(struct placing *p, uint32_t n)
{
    uint32_t room = n < FIRST_ROOM ? FIRST_ROOM : 2 * n;
    struct placing_memory *memory;

    if (n <= p->room)
        return true;
    memory = pages_alloc(size_of(room));
    if (!memory)
        return false;
    placing_release(p);
    *p = (struct placing){memory, room};
    return true;
}

static bool is_address(uintptr_t pc)
{
    return pc > 4095 && pc < TRACE_PLACED_BEGIN;
}

static uint64_t place(struct placing_memory *m, uintptr_t pc)
{
    size_t at = (pc * HASH_GOLDEN >> 56) % KNOWN;

    if (m->epoch != modules_epoch()) {
        m->epoch = modules_epoch();
        for (size_t i = 0; i < KNOWN; i++)
            m->known[i].pc = 0;
    }
    if (m->known[at].pc != pc) {
        m->known[at].placed = modules_place(pc);
        m->known[at].pc = pc;
    }
    return m->known[at].placed;
}

bool placing_do(struct placing *p, const uintptr_t **pcs, uint32_t n, void (*look)(uintptr_t pc))
{
    const uintptr_t *from = *pcs;

    if (likely(!modules_moved(from, n)))
        return true;
    if (!make_room(p, n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        p->memory->pcs[i] = from[i];
        if (!is_address(from[i]) || !modules_moved(&from[i], 1))
            continue;
        look(from[i]);
        p->memory->pcs[i] = place(p->memory, from[i]);
    }
    *pcs = p->memory->pcs;
    return true;
}
