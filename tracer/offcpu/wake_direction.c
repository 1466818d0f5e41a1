#include "tracer/offcpu/wake_direction.h"

#include "tracer/offcpu/calls.h"

static enum call_flow flow(int nr)
{
    const struct call *c = call_find(nr);

    return c ? (enum call_flow)c->flow : CALL_EITHER;
}

unsigned role_sleeping(int nr)
{
    switch (flow(nr)) {
    case CALL_TAKES:
        return ROLE_DATA;
    case CALL_PUTS:
        return ROLE_ROOM;
    default:
        return ROLE_ALL;
    }
}

/* The role of a waker is the opposite of a sleeper's: it brings what the sleeper waits for. */
unsigned role_waking(int nr)
{
    switch (flow(nr)) {
    case CALL_TAKES:
        return ROLE_ROOM;
    case CALL_PUTS:
        return ROLE_DATA;
    case CALL_ENDS:
        return ROLE_ALL | ROLE_HANGUP;
    default:
        return ROLE_ALL;
    }
}
