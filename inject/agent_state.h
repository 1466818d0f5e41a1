/*
 * agent_state.h: the agent in a process, from outside: where it is mapped, and what is written into
 * its state.
 *
 *     text | data (guest_state, guest_switch)      arena: tables | counts, places, index | the rest
 *
 * The arena's first part is flame's to write: copies of unwind tables, and two lists of mappings,
 * of which one is in use while the other is written. The rest is the agent's.
 */
#ifndef FLAME_INJECT_AGENT_STATE_H
#define FLAME_INJECT_AGENT_STATE_H

#include "inject/allstop.h"
#include "inject/agent_image.h"
#include "inject/agent_trace.h"
#include "inject/linkmap.h"
#include "inject/maps_snapshot.h"
#include "inject/procmem.h"

struct guest_table; /* a module's tables in the arena */

struct gueststate {
    struct blob blob;
    uintptr_t base; /* where the guest is mapped */
    uintptr_t arena, arena_size;
    uintptr_t tables_at, tables_end; /* what is left of flame's part */
    uintptr_t modules[2], places[2]; /* the two lists */
    uint32_t maps_now, maps_next;
    bool behind; /* modules have changed that the agent does not know of */
    struct guest_table *tables;
    size_t ntables, tables_room;
    uint64_t epoch;
    bool forget; /* rules it remembers may be of modules that are gone */
};

/* With all threads stopped: maps the agent, or finds one that is there from before, and the arena.
 * 0, or -errno with *why; -EAGAIN: it cannot be done in this stop. */
int gueststate_map(struct gueststate *g, const struct procmem *m, struct allstop *stop,
                   const struct wayback_code *code, const struct mapsnow *maps, const char **why);

/* Writes the data that the agent needs before it is switched on. */
bool gueststate_fill(struct gueststate *g, const struct procmem *m,
                     const uintptr_t real[GUEST_FUNCTIONS]);

/* Addresses of the hooks. */
void gueststate_hooks(const struct gueststate *g, uintptr_t hooks[GUEST_FUNCTIONS]);

/* Copies tables of modules that are new, and writes the list that is not in use. */
void gueststate_tables(struct gueststate *g, const struct procmem *m, struct guesttrace *trace,
                       const struct linkmap *l, const struct mapsnow *maps);
/* With all threads stopped: puts that list in use. */
void gueststate_switch_maps(struct gueststate *g, const struct procmem *m);
/* Puts a list with other mappings in use, while the process runs. */
void gueststate_places(struct gueststate *g, const struct procmem *m, const struct mapsnow *maps);

void gueststate_record(const struct gueststate *g, const struct procmem *m, bool on);

/* With all threads stopped: whether no thread is in the agent; and unmaps the arena. */
bool gueststate_is_quiet(const struct gueststate *g, const struct procmem *m,
                         const struct allstop *stop);
bool gueststate_unmap(struct gueststate *g, const struct procmem *m, struct allstop *stop,
                      const struct wayback_code *code);
/* Releases the agent: another flame may have it. */
void gueststate_disown(const struct gueststate *g, const struct procmem *m);

void gueststate_release(struct gueststate *g);

#endif
