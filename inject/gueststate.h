/*
 * gueststate.h: the guest in a process, from outside: where it is mapped, and what is written into
 * its state.
 *
 *     text | data (guest_state, guest_switch)      arena: tables | counts, places, index | the rest
 *
 * The arena's first part is flame's to write: copies of unwind tables, and the two lists that say
 * what is mapped, of which one holds while the other is written. The rest is the guest's.
 */
#ifndef FLAME_INJECT_GUESTSTATE_H
#define FLAME_INJECT_GUESTSTATE_H

#include "inject/allstop.h"
#include "inject/blob.h"
#include "inject/guesttrace.h"
#include "inject/linkmap.h"
#include "inject/mapsnow.h"
#include "inject/procmem.h"

struct guest_table; /* a module's tables in the arena */

struct gueststate {
    struct blob blob;
    uintptr_t base; /* where the guest is mapped */
    uintptr_t arena, arena_size;
    uintptr_t tables_at, tables_end; /* what is left of flame's part */
    uintptr_t modules[2], places[2]; /* the two lists */
    uint32_t maps_now, maps_next;
    bool behind; /* modules have changed that it does not know of */
    struct guest_table *tables;
    size_t ntables, tables_room;
    uint64_t epoch;
    bool forget; /* rules it remembers may be of modules that are gone */
};

/* While all stand: maps the guest, or finds one that is there from before, and the arena. 0, or
 * -errno with *why; -EAGAIN: it cannot be done in this stop. */
int gueststate_map(struct gueststate *g, const struct procmem *m, struct allstop *stop,
                   const struct wayback_code *code, const struct mapsnow *maps, const char **why);

/* Writes what the guest needs before it is switched on. */
bool gueststate_fill(struct gueststate *g, const struct procmem *m,
                     const uintptr_t real[GUEST_FUNCTIONS]);

/* Where the hooks are. */
void gueststate_hooks(const struct gueststate *g, uintptr_t hooks[GUEST_FUNCTIONS]);

/* Copies tables of modules that are new, and writes the list that does not hold. */
void gueststate_tables(struct gueststate *g, const struct procmem *m, struct guesttrace *trace,
                       const struct linkmap *l, const struct mapsnow *maps);
/* While all stand: that list holds from now on. */
void gueststate_switch_maps(struct gueststate *g, const struct procmem *m);
/* The same list with other mappings, while the process runs. */
void gueststate_places(struct gueststate *g, const struct procmem *m, const struct mapsnow *maps);

void gueststate_record(const struct gueststate *g, const struct procmem *m, bool on);

/* While all stand: whether no thread is in the guest; and unmaps the arena. */
bool gueststate_is_quiet(const struct gueststate *g, const struct procmem *m,
                         const struct allstop *stop);
bool gueststate_unmap(struct gueststate *g, const struct procmem *m, struct allstop *stop,
                      const struct wayback_code *code);
/* Another flame may have it. */
void gueststate_disown(const struct gueststate *g, const struct procmem *m);

void gueststate_release(struct gueststate *g);

#endif
