/*
 * address_space.h: the address space of a traced process: its mappings, its modules in the trace,
 * and the rules to walk by.
 *
 * It is read from /proc when it is first needed and again after it has changed. A forked process
 * shares its parent's until one of them changes. Not thread-safe.
 */
#ifndef FLAME_TRACER_STACKS_ADDRESS_SPACE_H
#define FLAME_TRACER_STACKS_ADDRESS_SPACE_H

#include <sys/types.h>

#include "common/procmaps.h"
#include "tracer/stacks/image.h"
#include "tracer/objects/address_kind.h"
#include "tracer/output/offtrace.h"

/* State that all spaces share: the trace and the images. */
struct spaces;
/* An address space, counted by reference. */
struct space;

struct spaces *spaces_new(struct offtrace *to);
/*
 * From now on mappings come from `maps` and not from /proc, as processes may have ended or run on.
 * `maps` calls `visit` as procmaps_each does. space_changed marks mappings that must be read again.
 */
typedef void space_maps(void *arg, pid_t pid, bool (*visit)(const struct procmap *m, void *arg),
                        void *visit_arg);
void spaces_receive_maps(struct spaces *s, space_maps *maps, void *arg);
/* All spaces must have been released. */
void spaces_free(struct spaces *s);

/* The space of a process that is new or has just run exec. Nothing is read before the first stack
 * is taken. */
struct space *space_new(struct spaces *s, pid_t pid);
/* The space of a process that fork (not clone(CLONE_VM)) just made: it is shared with the parent
 * until one of them changes. */
struct space *space_forked(struct space *parent, pid_t pid);
/* Another reference, for a thread or process that shares the space. */
struct space *space_share(struct space *sp);
void space_release(struct space *sp);
/* Code was mapped, unmapped or made executable: the mappings are read again before the next
 * stack. */
void space_changed(struct space *sp);

/*
 * Finds the place of `addr`; the path is borrowed until the next call about the space. `tid` is a
 * thread of the space that is stopped or asleep. SPACE_STACK is its stack or any stack seen before.
 * A module is added to the trace, so that a TRACE_NODE_FUTEX may name the address. A mapping made
 * since the last reading is found only if it changed the size of the address space.
 */
void space_where(struct space *sp, pid_t tid, uintptr_t addr, struct space_place *out);

/* The process that the space was made for; its threads, and processes that share its memory, are in
 * it. */
pid_t space_pid(const struct space *sp);

/* ---- for the walk ---- */

/* Makes the space ready; false when its mappings cannot be read. `tid` as above. */
bool space_prepare(struct space *sp, pid_t tid);

/* After space_prepare: the rules by address in memory, and the epoch of stacks found by them. Valid
 * until the next space_prepare or space_doubt. */
struct rules *space_rules(struct space *sp);
uint32_t space_epoch(const struct space *sp);

/* Must be called when the walk met an address that is not mapped. True: the maps were read again,
 * and the walk must be repeated. That happens at most once after a change. */
bool space_doubt(struct space *sp, pid_t tid);

/* The image at `addr`, and in *bias the number to subtract from the address; NULL: none. Adds the
 * module to the trace. */
struct image *space_image(struct space *sp, uintptr_t addr, uintptr_t *bias);
/* The interpreter in the modules that stacks have met, by addresses in memory. False: none. */
bool space_python(const struct space *sp, struct image_python *python);
/* Whether there is code at `addr`. */
bool space_is_code(const struct space *sp, uintptr_t addr);

/* Marks the mapping at `addr`, a stack pointer, as a stack. */
void space_note_stack(struct space *sp, uintptr_t addr);
/* Makes the space ready and marks the mapping of a thread's present stack, which may be newer than
 * the last reading. False: the thread runs, or has ended, so its stack is unknown. */
bool space_note_own_stack(struct space *sp, pid_t tid);

#endif
