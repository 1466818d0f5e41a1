/*
 * got_slots.h: the import slots of a process that lead to its allocator, and the values written to
 * them.
 *
 * A slot is changed only if its target is certain. Either it leads to the function that the
 * loader's search order gives for its name. Or it is not bound yet and leads into its own module,
 * in a process in which only one module defines malloc. All other slots are left alone and counted:
 * a library with an allocator of its own (RTLD_DEEPBIND, another name space) must not get blocks of
 * two allocators.
 */
#ifndef FLAME_INJECT_GOT_SLOTS_H
#define FLAME_INJECT_GOT_SLOTS_H

#include "inject/agent/agent.h"
#include "inject/linkmap.h"
#include "inject/maps_snapshot.h"

struct got_slot {
    uintptr_t at;
    uintptr_t map; /* its module's struct link_map */
    uint64_t had;  /* value before it was written to */
    uint64_t now;  /* present value, as far as it is known */
    uint8_t which; /* enum agent_function */
    bool lazy, ours, wanted;
};

struct got_slots {
    uintptr_t real[AGENT_FUNCTIONS]; /* 0: the process does not have that function */
    uintptr_t hooks[AGENT_FUNCTIONS];
    bool several; /* more than one module defines malloc */
    struct got_slot *slot;
    size_t n, room;
    size_t written, strangers;
    struct linked *seen; /* modules whose slots are listed */
    size_t nseen, seen_room;
};

/* Finds the allocator. False: there is no malloc or no free. */
bool got_slots_allocator(struct got_slots *s, const struct procmem *m, const struct linkmap *l);

/* Finds the slots of new modules, and forgets those of unloaded modules. */
void got_slots_find(struct got_slots *s, const struct procmem *m, const struct linkmap *l,
                    const struct maps_snapshot *maps);

/* Whether a slot has been bound to the allocator since the last reading, or does not lead to the
 * hooks any more because another module was mapped at its address. */
bool got_slots_differ(struct got_slots *s, const struct procmem *m);

/* Number of slots that lead past the hooks to the allocator. */
size_t got_slots_unhooked(struct got_slots *s, const struct procmem *m);

/* To be called while all threads are stopped. got_slots_write makes the slots lead to the hooks, if
 * they still have the value that was found. got_slots_restore gives slots that lead to the hooks
 * their earlier values. */
void got_slots_write(struct got_slots *s, const struct procmem *m);
void got_slots_restore(struct got_slots *s, const struct procmem *m);

void got_slots_release(struct got_slots *s);

#endif
