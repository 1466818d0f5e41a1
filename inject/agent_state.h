/*
 * agent_state.h: the agent in a process, seen from outside: its addresses, and the data that flame
 * writes into it.
 *
 *   text | data (agent_shared, agent_switch)      arena: tables | counts, places, index | the rest
 *
 * flame writes the arena's first part: copies of unwind tables, and two lists of mappings, of which
 * one is in use while flame writes the other. The agent writes the rest.
 */
#ifndef FLAME_INJECT_AGENT_STATE_H
#define FLAME_INJECT_AGENT_STATE_H

#include "inject/allstop.h"
#include "inject/agent_image.h"
#include "inject/agent_trace.h"
#include "inject/linkmap.h"
#include "inject/maps_snapshot.h"
#include "inject/memory/procmem.h"

struct agent_table; /* copy of a module's tables in the arena */

struct agent_state {
    struct agent_image blob;
    uintptr_t base; /* address of the agent's mapping */
    uintptr_t arena, arena_size;
    uintptr_t tables_at, tables_end; /* free part of flame's part of the arena */
    uintptr_t modules[2], places[2]; /* the two lists */
    uint32_t maps_now, maps_next;
    bool behind; /* modules have changed, and the agent does not know it yet */
    struct agent_table *tables;
    size_t ntables, tables_room;
    uint64_t maps_count; /* number of lists of mappings so far */
    uint64_t epoch;
    bool forget; /* cached rules may belong to modules that were unloaded */
};

/* To be called while all threads are stopped: maps the agent, or finds one that was left behind,
 * and maps the arena. 0, or -errno with *why; -EAGAIN: it cannot be done in this stop. */
int agent_state_map(struct agent_state *g, const struct procmem *m, struct allstop *stop,
                    const struct sigreturn_frame_code *code, const struct maps_snapshot *maps,
                    const char **why);

/* Writes the data that the agent needs before it is switched on. */
bool agent_state_fill(struct agent_state *g, const struct procmem *m,
                      const uintptr_t real[AGENT_FUNCTIONS]);

/* Addresses of the hooks. */
void agent_state_hooks(const struct agent_state *g, uintptr_t hooks[AGENT_FUNCTIONS]);

/* Copies the tables of new modules, and writes the list that is not in use. */
void agent_state_tables(struct agent_state *g, const struct procmem *m, struct agent_trace *trace,
                        const struct linkmap *l, const struct maps_snapshot *maps);
/* To be called while all threads are stopped: switches to that list. */
void agent_state_switch_maps(struct agent_state *g, const struct procmem *m);
/* Switches to that list while the process runs. Cached rules of modules that were unloaded stay
 * until agent_state_switch_maps. */
void agent_state_add_maps(struct agent_state *g, const struct procmem *m);
/* Switches to a list with other mappings, while the process runs. */
void agent_state_places(struct agent_state *g, const struct procmem *m,
                        const struct maps_snapshot *maps);

/* Tells the agent of the interpreter that the process runs. */
void agent_state_python(const struct agent_state *g, const struct procmem *m,
                        const struct agent_python *python);

/* With all threads stopped: the leaves of the agent's shadow map, of which `leaves` has room for
 * AGENT_LEAVES; *n becomes their number. False: they cannot be read, or not all of them are
 * listed. */
bool agent_state_leaves(const struct agent_state *g, const struct procmem *m,
                        struct agent_leaf *leaves, size_t *n);

void agent_state_record(const struct agent_state *g, const struct procmem *m, bool on);

/* With all threads stopped: whether no thread is in the agent; and unmaps the arena. */
bool agent_state_is_quiet(const struct agent_state *g, const struct procmem *m,
                          const struct allstop *stop);
bool agent_state_unmap(struct agent_state *g, const struct procmem *m, struct allstop *stop,
                       const struct sigreturn_frame_code *code);
/* False: the process has ended, or has executed another program. */
bool agent_state_is_there(const struct agent_state *g, const struct procmem *m);
/* Releases the agent: another flame may have it. */
void agent_state_disown(const struct agent_state *g, const struct procmem *m);

void agent_state_release(struct agent_state *g);

#endif
