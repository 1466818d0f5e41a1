/*
 * plainfile.h: opens files that must be regular ones, where another user may have put something
 * else: a pipe, on which the open would wait, a device, which may be endless, or a link to either.
 *
 * Thread-safe; makes system calls only.
 */
#ifndef FLAME_COMMON_FILES_PLAINFILE_H
#define FLAME_COMMON_FILES_PLAINFILE_H

#include <errno.h>

/* Error of plainfile_open and plainfile_openat: the file of that name is no plain file. */
#define PLAINFILE_IS_NONE (-ENOTSUP)

/*
 * Opens `path`, which is relative to the directory `dir` (AT_FDCWD: the present one). `flags` are
 * those of open: the access mode, and O_NOFOLLOW to refuse links. It creates no file, does not
 * wait, and touches no pipe or device. Returns a descriptor that is closed on exec;
 * PLAINFILE_IS_NONE; or -errno.
 */
int plainfile_openat(int dir, const char *path, int flags);
int plainfile_open(const char *path, int flags);

/* Text of an error for a message: "no plain file", or errno's text. */
const char *plainfile_why(int err);

#endif
