/*
 * heldfds.h: the objects that a process closes when it ends, or runs another program.
 *
 * Not thread-safe. No function here stops or changes a tracee.
 */
#ifndef FLAME_TRACER_OBJECTS_HELDFDS_H
#define FLAME_TRACER_OBJECTS_HELDFDS_H

#include "tracer/objects/fds.h"

struct heldfds {
    struct off_object *object; /* owned; {NULL, 0, 0} at first, freed by the owner of the struct */
    size_t n, room;
};

/*
 * Finds the pipes, sockets and files (as OFF_ON_LOCK: their locks end with them) that the process
 * has open, as its thread `tid` sees them. With `by_exec` only those that exec closes. At most
 * OFF_SET_MAX; none, if they cannot be read.
 */
void heldfds_look(struct heldfds *h, struct fds *f, pid_t pid, pid_t tid, bool by_exec);

#endif
