/*
 * agent_state.h: the agent in a process, from outside: where it is mapped, and what is written into
 * its state.
 *
 *     text | data (agent_shared, agent_switch)      arena: tables | counts, places, index | the
 * rest
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

struct agent_table; /* a module's tables in the arena */

struct agent_state {
    struct agent_image blob;
    uintptr_t base; /* where the guest is mapped */
    uintptr_t arena, arena_size;
    uintptr_t tables_at, tables_end; /* what is left of flame's part */
    uintptr_t modules[2], places[2]; /* the two lists */
    uint32_t maps_now, maps_next;
    bool behind; /* modules have changed that the agent does not know of */
    struct agent_table *tables;
    size_t ntables, tables_room;
    uint64_t epoch;
    bool forget; /* rules it remembers may be of modules that are gone */
};

/* With all threads stopped: maps the agent, or finds one that is there from before, and the arena.
 * 0, or -errno with *why; -EAGAIN: it cannot be done in this stop. */
int agent_state_map(struct agent_state *g, const struct procmem *m, struct allstop *stop,
                    const struct sigreturn_frame_code *code, const struct maps_snapshot *maps,
                    const char **why);

/* Writes the data that the agent needs before it is switched on. */
bool agent_state_fill(struct agent_state *g, const struct procmem *m,
                      const uintptr_t real[AGENT_FUNCTIONS]);

/* Addresses of the hooks. */
void agent_state_hooks(const struct agent_state *g, uintptr_t hooks[AGENT_FUNCTIONS]);

/* Copies tables of modules that are new, and writes the list that is not in use. */
void agent_state_tables(struct agent_state *g, const struct procmem *m, struct agent_trace *trace,
                        const struct linkmap *l, const struct maps_snapshot *maps);
/* With all threads stopped: puts that list in use. */
void agent_state_switch_maps(struct agent_state *g, const struct procmem *m);
/* Puts a list with other mappings in use, while the process runs. */
void agent_state_places(struct agent_state *g, const struct procmem *m,
                        const struct maps_snapshot *maps);

void agent_state_record(const struct agent_state *g, const struct procmem *m, bool on);

/* With all threads stopped: whether no thread is in the agent; and unmaps the arena. */
bool agent_state_is_quiet(const struct agent_state *g, const struct procmem *m,
                          const struct allstop *stop);
bool agent_state_unmap(struct agent_state *g, const struct procmem *m, struct allstop *stop,
                       const struct sigreturn_frame_code *code);
/* Releases the agent: another flame may have it. */
void agent_state_disown(const struct agent_state *g, const struct procmem *m);

void agent_state_release(struct agent_state *g);

#endif
