#define _GNU_SOURCE
#include "preload/runtime/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/kernel.h"
#include "common/termtext.h"
#include "preload/runtime/run_status_client.h"

static bool hushed;

void log_disable(void)
{
    hushed = true;
}

void log_line(const char *first, ...)
{
    char line[1024] = "libflamemem: ";
    size_t at = strlen(line);
    va_list ap;

    /* In a sandbox the trace counts such events, so no message is needed. */
    if (hushed || kernel_gatekeeper || run_status_over())
        return;
    va_start(ap, first);
    for (const char *s = first; s; s = va_arg(ap, const char *))
        at += termtext_copy(line + at, sizeof line - 1 - at, s, strlen(s));
    va_end(ap);
    line[at++] = '\n';
    kernel_call(SYS_write, STDERR_FILENO, line, at);
}

const char *log_unsigned(struct log_number *n, uint64_t value)
{
    char *p = n->text + sizeof n->text - 1;

    *p = '\0';
    do
        *--p = (char)('0' + value % 10);
    while (value /= 10);
    return p;
}

const char *log_errno(int err)
{
    switch (err) {
    case EACCES:
    case EPERM:
        return "permission denied";
    case ENOENT:
        return "no such directory";
    case ENOTDIR:
        return "not a directory";
    case ENOSPC:
        return "no space left on the disk";
    case EDQUOT:
        return "a quota, or max-disk, leaves no more room";
    case EROFS:
        return "the file system is read-only";
    case EFBIG:
        return "the file would pass the size limit";
    case EMFILE:
    case ENFILE:
        return "no file descriptor left";
    case ENOMEM:
        return "no memory or address space left";
    case ENAMETOOLONG:
        return "the path is too long";
    case ESTALE:
        return "the file was moved or replaced";
    case EEXIST:
        return "the file exists";
    case ENOTSUP:
        return "there is something there that is no regular file";
    case ELOOP:
        return "the path is a symbolic link";
    default:
        return "the system refused";
    }
}
