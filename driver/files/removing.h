/*
 * removing.h: what is in the directory of a run goes away, whatever programs have put there.
 *
 * Safe in a signal handler: system calls only, on a stack of some 20 KiB at most.
 */
#ifndef FLAME_DRIVER_FILES_REMOVING_H
#define FLAME_DRIVER_FILES_REMOVING_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Removes all that is in the directory `path`, but for the files of these names (NULL: none):
 * links, pipes, and directories down to a depth no run makes; nothing behind a link. Then the
 * directory itself, unless something has stayed. What cannot be removed stays.
 */
void removing_directory(const char *path, char *const *kept, size_t nkept);

#endif
