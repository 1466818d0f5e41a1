/*
 * fsize.h: a file size limit (ulimit -f) is an error, not the end of the command.
 *
 * Passing RLIMIT_FSIZE sends SIGXFSZ, which would end flame with half a file left
 * behind. Ignored, the write fails with EFBIG and is told like any other.
 */
#ifndef FLAME_COMMON_FSIZE_H
#define FLAME_COMMON_FSIZE_H

/* Once, at start. */
void fsize_ignore_signal(void);
/* In a child about to execute somebody else's program: as we found it. */
void fsize_restore_signal(void);

#endif
