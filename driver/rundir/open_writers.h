/*
 * open_writers.h: whether any process can still write to a file.
 */
#ifndef FLAME_DRIVER_RUNDIR_OPEN_WRITERS_H
#define FLAME_DRIVER_RUNDIR_OPEN_WRITERS_H

#include <stdbool.h>

/*
 * Whether the kernel can report writers of files on the file system of `fd`. It cannot if a mapping
 * has another inode than the file, as in overlays, or where writers may be on other machines, as in
 * network file systems.
 */
bool writers_are_detectable(int fd);

/*
 * Whether no process can write any more, by a descriptor or a shared mapping, to the file that is
 * open for reading as `fd`. False when that cannot be known.
 */
bool has_no_writers(int fd);

#endif
