/*
 * got_slots.h: the import slots of a process that lead to its allocator, and what is written into
 * them.
 *
 * A slot is changed only if it is certain where it leads: to the function that the loader's search
 * order gives for its name, or, while it is not bound yet, into its own module, in a process in
 * which one module alone defines malloc. All others are left alone and counted: a library with an
 * allocator of its own (RTLD_DEEPBIND, another name space) must not get blocks of two.
 */
#ifndef FLAME_INJECT_GOT_SLOTS_H
#define FLAME_INJECT_GOT_SLOTS_H

#include "inject/agent/agent.h"
#include "inject/linkmap.h"
#include "inject/maps_snapshot.h"

struct got_slot {
    uintptr_t at;
    uintptr_t map; /* of its module: struct link_map */
    uint64_t had;  /* what it had when it was written to */
    uint64_t now;  /* what it has, as far as is known */
    uint8_t which; /* enum agent_function */
    bool lazy, ours, wanted;
};

struct got_slots {
    uintptr_t real[AGENT_FUNCTIONS]; /* 0: the process does not have that function */
    uintptr_t hooks[AGENT_FUNCTIONS];
    bool several; /* modules define malloc */
    struct got_slot *slot;
    size_t n, room;
    size_t written, strangers;
    struct linked *seen; /* modules whose slots are in it */
    size_t nseen, seen_room;
};

/* Finds the allocator. False: there is no malloc or no free. */
bool got_slots_allocator(struct got_slots *s, const struct procmem *m, const struct linkmap *l);

/* Finds the slots of modules that are new, and forgets those of modules that are gone. */
void got_slots_find(struct got_slots *s, const struct procmem *m, const struct linkmap *l,
                    const struct maps_snapshot *maps);

/* Whether there are slots that lead to the allocator, as they have been bound since they were
 * looked at last, or that do not lead to the hooks any more: another module has come to lie where
 * theirs was. */
bool got_slots_differ(struct got_slots *s, const struct procmem *m);

/* While all threads stand: has those slots lead to the hooks that are as they were when they were
 * found; and gives back what those had that lead there. */
void got_slots_write(struct got_slots *s, const struct procmem *m);
void got_slots_restore(struct got_slots *s, const struct procmem *m);

void got_slots_release(struct got_slots *s);

#endif
