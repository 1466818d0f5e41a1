/*
 * space.h: the address space of a traced process: what is mapped where, which modules
 * of it are in the trace, and the rules to walk by.
 *
 * It is read from /proc when it is first needed and again after it has changed. A forked
 * process shares its parent's until one of them changes. Not thread-safe.
 */
#ifndef FLAME_TRACER_STACKS_SPACE_H
#define FLAME_TRACER_STACKS_SPACE_H

#include <sys/types.h>

#include "common/procmaps.h"
#include "tracer/stacks/image.h"
#include "tracer/things/spaceplace.h"
#include "tracer/trace/offtrace.h"

/* What all spaces have in common: the trace and the images. */
struct spaces;
/* An address space, counted by reference. */
struct space;

struct spaces *spaces_new(struct offtrace *to);
/*
 * From now on processes are not asked what they have mapped, as they may have ended or gone on:
 * `maps` is, which calls `visit` as procmaps_each does, and space_changed says when that is due.
 */
typedef void space_maps(void *arg, pid_t pid, bool (*visit)(const struct procmap *m, void *arg),
                        void *visit_arg);
void spaces_are_told(struct spaces *s, space_maps *maps, void *arg);
/* All spaces must have been released. */
void spaces_free(struct spaces *s);

/* The space of a process that is new to us or has just run exec. Nothing is read before the
 * first stack is taken. */
struct space *space_new(struct spaces *s, pid_t pid);
/* That of a process that fork (not clone(CLONE_VM)) just made of another: the same until
 * one of them changes. */
struct space *space_forked(struct space *parent, pid_t pid);
/* For a thread or process that shares it. */
struct space *space_share(struct space *sp);
void space_release(struct space *sp);
/* Code was mapped, unmapped or made executable: look again before the next stack. */
void space_changed(struct space *sp);

/*
 * Says what is at `addr`; the path is lent until the next call about the space. `tid` is a thread
 * of the space that is stopped or asleep. SPACE_STACK is its stack or any stack seen before. A
 * module is noted in the trace, so that a TRACE_NODE_FUTEX may name the address. A mapping made
 * since the last look is found only if it changed the size of the address space.
 */
void space_where(struct space *sp, pid_t tid, uintptr_t addr, struct space_place *out);

/* ---- for the walk ---- */

/* Makes the space ready; false when its mappings cannot be read. `tid` as above. */
bool space_prepare(struct space *sp, pid_t tid);

/* After space_prepare: the rules by address in memory, and the epoch that stacks found
 * by them belong to. Valid until the next space_prepare or space_refresh. */
struct rules *space_rules(struct space *sp);
uint32_t space_epoch(const struct space *sp);

/* To be called when the walk met an address at which nothing is mapped. True: the maps were
 * read again, and the walk is to be done again. That happens at most once after a change. */
bool space_doubt(struct space *sp, pid_t tid);

/* The image at `addr` and what to take from the address; NULL: none. Notes the module. */
struct image *space_image(struct space *sp, uintptr_t addr, uintptr_t *bias);
/* Whether there is code at `addr`. */
bool space_is_code(const struct space *sp, uintptr_t addr);

/* Says that the mapping at `addr`, a stack pointer, is a stack. */
void space_note_stack(struct space *sp, uintptr_t addr);
/* Makes the space ready and says the same of where a thread's stack is now, which may have been
 * mapped since the last look. False: it runs, or is gone, and that is not known. */
bool space_note_own_stack(struct space *sp, pid_t tid);

#endif
