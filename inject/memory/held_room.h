/*
 * held_room.h: size of a copy of a process's memory (held_memory.h), and whether this machine has
 * room for one.
 */
#ifndef FLAME_INJECT_MEMORY_HELD_ROOM_H
#define FLAME_INJECT_MEMORY_HELD_ROOM_H

#include <stdint.h>
#include <sys/types.h>

/* A process is not copied if more than this is resident, or more than one part in HELD_SHARE of the
 * available memory. */
#define HELD_MOST ((uint64_t)2 << 30)
#define HELD_SHARE 4u

/* Size of a copy of `resident` bytes, with some to spare, as the process goes on until it is
 * stopped. 0: nothing is resident, or it is too much of the `available` bytes. */
uint64_t held_room_for(uint64_t resident, uint64_t available);

/* Size of a copy of a process that runs. 0: none is to be made, or what is resident is not known.
 * Swapped memory counts as resident. */
uint64_t held_room(pid_t pid);

#endif
