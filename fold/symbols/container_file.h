/*
 * container_file.h: files of processes in another mount namespace, as in a container.
 *
 * The path of a module is that of its process. In another mount namespace it names another file, or
 * none; /proc/PID/root leads to the right one while the process lives.
 */
#ifndef FLAME_FOLD_SYMBOLS_CONTAINER_FILE_H
#define FLAME_FOLD_SYMBOLS_CONTAINER_FILE_H

#include "fold/symbols/elfsym.h"

/* Whether process `pid` lives, and in another mount namespace than flame. 0 is no process. */
bool container_file_is_elsewhere(uint32_t pid);

/* The file at `path` of such a process; NULL: there is none, or the process is no such process. The
 * caller compares the build-id, because the number may be another process's by now. */
struct elfsym *container_file_open(uint32_t pid, const char *path);

#endif
