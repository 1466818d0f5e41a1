/*
 * remove_rundir.h: removes the directory of a run with all that programs have put into it.
 *
 * Safe in a signal handler: system calls only, on a stack of some 20 KiB at most.
 */
#ifndef FLAME_DRIVER_RUNDIR_REMOVE_RUNDIR_H
#define FLAME_DRIVER_RUNDIR_REMOVE_RUNDIR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Removes all files in the directory `path` except those with the names in `kept` (NULL: none):
 * links, pipes, and directories down to a depth that no run makes. It follows no link. Then it
 * removes the directory itself, unless a file remains. A file that cannot be removed is skipped.
 */
void remove_rundir_files(const char *path, char *const *kept, size_t nkept);

#endif
