#include "tracer/offcpu/wake_direction.h"

#include "tracer/offcpu/calls.h"

static enum call_flow flow(int nr)
{
    const struct call *c = call_find(nr);

    return c ? (enum call_flow)c->flow : CALL_EITHER;
}

unsigned wake_direction_of_sleep(int nr)
{
    switch (flow(nr)) {
    case CALL_TAKES:
        return WAKE_DATA;
    case CALL_PUTS:
        return WAKE_ROOM;
    default:
        return WAKE_ALL;
    }
}

/* The direction of a waker is the opposite of a sleeper's: it brings what the sleeper waits for. */
unsigned wake_direction_of_waking(int nr)
{
    switch (flow(nr)) {
    case CALL_TAKES:
        return WAKE_ROOM;
    case CALL_PUTS:
        return WAKE_DATA;
    case CALL_ENDS:
        return WAKE_ALL | WAKE_HANGUP;
    default:
        return WAKE_ALL;
    }
}
