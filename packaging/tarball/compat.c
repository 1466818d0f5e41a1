/*
 * compat.c: functions that objects compiled with a new glibc's headers call and that glibc 2.17
 * does not have, made from those that it has. They are hidden, so linked libraries keep their own.
 *
 * Before 2.33, stat and its like were inline functions around __xstat. Here they are the system
 * calls, because struct stat is the kernel's on x86-64 and aarch64. Programs compiled with 2.38 or
 * later call strtol and scanf by names with isoc23. Those also accept 0b101, which flame's inputs
 * are not meant to have.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

struct stat;
struct statx;

HIDDEN int stat(const char *path, struct stat *st);
HIDDEN int lstat(const char *path, struct stat *st);
HIDDEN int fstat(int fd, struct stat *st);
HIDDEN int fstatat(int dir, const char *path, struct stat *st, int flags);
HIDDEN ssize_t getdents64(int fd, void *buf, size_t size);
HIDDEN int statx(int dir, const char *path, int flags, unsigned mask, struct statx *stx);
HIDDEN int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
HIDDEN int memfd_create(const char *name, unsigned flags);
HIDDEN ssize_t getrandom(void *buf, size_t size, unsigned flags);

int stat(const char *path, struct stat *st)
{
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, 0);
}

int lstat(const char *path, struct stat *st)
{
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int fstat(int fd, struct stat *st)
{
    return (int)syscall(SYS_fstat, fd, st);
}

int fstatat(int dir, const char *path, struct stat *st, int flags)
{
    return (int)syscall(SYS_newfstatat, dir, path, st, flags);
}

/* Since 2.30. */
ssize_t getdents64(int fd, void *buf, size_t size)
{
    return syscall(SYS_getdents64, fd, buf, size);
}

/* Since 2.28. */
int statx(int dir, const char *path, int flags, unsigned mask, struct statx *stx)
{
    return (int)syscall(SYS_statx, dir, path, flags, mask, stx);
}

/* Since 2.28. */
int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

/* Since 2.27. */
int memfd_create(const char *name, unsigned flags)
{
    return (int)syscall(SYS_memfd_create, name, flags);
}

/* Since 2.25. */
ssize_t getrandom(void *buf, size_t size, unsigned flags)
{
    return syscall(SYS_getrandom, buf, size, flags);
}

#define NUMBER(type, name)                                                                         \
    type old_##name(const char *text, char **end, int base) __asm__(#name);                        \
    HIDDEN type new_##name(const char *text, char **end, int base) __asm__("__isoc23_" #name);     \
    type new_##name(const char *text, char **end, int base)                                        \
    {                                                                                              \
        return old_##name(text, end, base);                                                        \
    }

NUMBER(long, strtol)
NUMBER(unsigned long, strtoul)
NUMBER(long long, strtoll)
NUMBER(unsigned long long, strtoull)

/* sscanf with the numbers of before C23. */
int old_vsscanf(const char *text, const char *format, va_list list) __asm__("__isoc99_vsscanf");
HIDDEN int new_sscanf(const char *text, const char *format, ...) __asm__("__isoc23_sscanf");

int new_sscanf(const char *text, const char *format, ...)
{
    va_list list;
    int n;

    va_start(list, format);
    n = old_vsscanf(text, format, list);
    va_end(list);
    return n;
}
