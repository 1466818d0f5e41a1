/*
 * wake_direction.h: the direction in which data flows in a call on a descriptor or queue: a wake
 * must bring what the sleeper waits for.
 */
#ifndef FLAME_TRACER_OFFCPU_WAKE_DIRECTION_H
#define FLAME_TRACER_OFFCPU_WAKE_DIRECTION_H

#include "tracer/offcpu/offcpu_ops.h"

enum wake_direction {
    WAKE_DATA = OFF_WANTS_DATA, /* sleeper: reads; waker: writes */
    WAKE_ROOM = OFF_WANTS_ROOM, /* sleeper: writes; waker: reads */
    WAKE_HANGUP = 1u << 2,      /* waker: closes, shuts down: ends all waits at both ends */
    WAKE_ALL = WAKE_DATA | WAKE_ROOM,
};

/* Directions, as bits, of a thread that sleeps in call `nr`, and of one that wakes others by it. */
unsigned wake_direction_of_sleep(int nr);
unsigned wake_direction_of_waking(int nr);

#endif
