/*
 * sigxfsz.h: a file size limit (ulimit -f) is an error, not the end of the command.
 *
 * Passing RLIMIT_FSIZE sends SIGXFSZ, which would end flame with half a file left
 * behind. If the signal is ignored, the write fails with EFBIG, which is reported like any other
 * error.
 */
#ifndef FLAME_COMMON_SIGNALS_SIGXFSZ_H
#define FLAME_COMMON_SIGNALS_SIGXFSZ_H

/* To be called once, when flame starts. */
void sigxfsz_ignore(void);
/* Puts the signal back as flame found it: for a child that is about to execute another program. */
void sigxfsz_restore(void);

#endif
