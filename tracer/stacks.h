/*
 * stacks.h: the user stack of a stopped thread of another process, as a node of the
 * trace.
 *
 * One copy of registers and one of the stack for each event; the walk works on the
 * copy (unwind/walk.h), by rules from the unwind tables of the files that are mapped,
 * which are read from the files and shared by all processes that map them. libunwind
 * follows, over the same copy, what a rule cannot say.
 *
 * Not thread-safe.
 */
#ifndef FLAME_TRACER_STACKS_H
#define FLAME_TRACER_STACKS_H

#include <sys/types.h>

#include "tracer/offtrace.h"
#include "unwind/walk.h"

struct stacks;

/* An address space: what is mapped where in one process, counted by reference. */
struct space;

struct stacks *stacks_new(struct offtrace *to, int depth);
void stacks_free(struct stacks *s);

/* The space of a process not seen before, of one that has just run exec. Nothing is
 * read before the first stack. */
struct space *space_new(struct stacks *s, pid_t pid);
/* That of a process that fork (not clone(CLONE_VM)) just made of another: the same until
 * one of them changes. */
struct space *space_forked(struct space *parent, pid_t pid);
/* For a thread or process that shares it. */
struct space *space_share(struct space *sp);
void space_release(struct space *sp);
/* Code was mapped, unmapped or made executable: look again before the next stack. */
void space_changed(struct space *sp);
/* A small number, different for each address space there ever was. */
uint32_t space_number(const struct space *sp);

/* What an address lies in. `path` is borrowed until the space changes. */
enum space_area { SPACE_NOWHERE, SPACE_MODULE, SPACE_HEAP, SPACE_STACK, SPACE_ANON, SPACE_SHARED };
struct space_place {
    enum space_area area;
    const char *path;       /* SPACE_MODULE, SPACE_SHARED: the file's */
    uint64_t device, inode; /* SPACE_SHARED: of the file */
    uint64_t offset;        /* of the address in that file */
};
void space_where(struct space *sp, pid_t tid, uintptr_t addr, struct space_place *out);

/*
 * The stack of `tid`, which is stopped or asleep with these registers, as a node under
 * the root of trace thread `thread`. 0: it could not be read.
 */
uint32_t stacks_capture(struct stacks *s, struct space *sp, pid_t tid, uint16_t thread,
                        const struct walk_regs *regs);

/* Stacks that libunwind was asked for, and those nobody could follow to the end. */
uint64_t stacks_fallbacks(const struct stacks *s);
uint64_t stacks_lost(const struct stacks *s);

#endif
