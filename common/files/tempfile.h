/*
 * tempfile.h: temporary files that become others, and are removed when a signal ends the process.
 *
 * SIGINT, SIGTERM, SIGHUP and SIGPIPE get a handler if they have none when a file is made. It
 * removes the files that this process has made, and the process dies of the signal. A handler that
 * is set otherwise, and ends the process, calls tempfile_remove_all. Forked children inherit the
 * handler and leave their parent's files alone.
 *
 * Thread-safe. Files beyond TEMPFILE_MOST at a time stay when a signal ends the process.
 */
#ifndef FLAME_COMMON_FILES_TEMPFILE_H
#define FLAME_COMMON_FILES_TEMPFILE_H

#define TEMPFILE_MOST 16

/* Makes a file as mkostemp does, with O_CLOEXEC: `name` ends in XXXXXX, which are replaced. `name`
 * stays where it is until tempfile_forget. Returns the descriptor, or -errno. */
int tempfile_make(char *name);

/* To be called once the file has another name or is removed; with the same pointer. */
void tempfile_forget(const char *name);

/* Removes all files that this process made and has not forgotten. Async-signal-safe; the process
 * must end soon. */
void tempfile_remove_all(void);

#endif
