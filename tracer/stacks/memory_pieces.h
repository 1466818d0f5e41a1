/*
 * memory_pieces.h: small pieces of another process's memory.
 *
 * The memory that a thread's stack needs is much the same as for its stack before. So a plan, one
 * for each thread, has the places of the last time, and they are read together, by one system call,
 * those near to each other with what is between them. Any other place costs a call of its own.
 *
 * Not thread-safe.
 */
#ifndef FLAME_TRACER_STACKS_MEMORY_PIECES_H
#define FLAME_TRACER_STACKS_MEMORY_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Places that one call can read (IOV_MAX). */
#define PIECES_MOST 1024u
/* Limit of the bytes of a piece. */
#define PIECE_MOST 4096u

struct piece {
    uintptr_t at;
    uint32_t size;
    uint32_t place; /* of its bytes; UINT32_MAX: they could not be read */
    bool used;      /* for the present stack */
};

/* All zero at first. */
struct memory_plan {
    struct piece *pieces;
    uint32_t n, sorted; /* the first ones are in the order of their addresses */
    size_t room;
};

struct memory_pieces;

struct memory_pieces *memory_pieces_new(void);
void memory_pieces_free(struct memory_pieces *p);

/* Begins a stack of thread `tid`: reads what the plan says. */
void memory_pieces_begin(struct memory_pieces *p, pid_t tid, struct memory_plan *plan);
/* Copies `size` bytes, PIECE_MOST at most, from address `at`, which may be any value. False: not
 * all of them can be read. */
bool memory_pieces_read(struct memory_pieces *p, uintptr_t at, void *to, size_t size);
/* Ends the stack: the plan is what was read for it. */
void memory_pieces_end(struct memory_pieces *p);

void memory_plan_release(struct memory_plan *plan);

#endif
