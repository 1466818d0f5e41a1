/*
 * Problem: when is a file complete? Its writer may have forked, executed another program, be a
 * zombie, or be in a namespace with another number.
 *
 * Algorithm: the kernel is asked for a read lease on the file. It gives one only if no process has
 * the file open for writing, and a shared mapping counts as open until it is gone. So a lease that
 * is granted, and released at once, shows that there is no writer.
 *
 * Rejected: checking whether the process exists, because another process may have its number, its
 * namespace may differ, and a process that executes another program keeps its number.
 */
#define _GNU_SOURCE
#include "driver/rundir/open_writers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/vfs.h>

#include "common/compiler.h"

bool writers_are_detectable(int fd)
{
    static const unsigned long kinds[] = {
        0xef53,     /* ext2, 3 and 4 */
        0x01021994, /* tmpfs */
        0x58465342, /* XFS */
        0x9123683e, /* btrfs */
        0xf2f52010, /* F2FS */
    };
    struct statfs fs;
    bool known = false;

    if (fstatfs(fd, &fs) < 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        known = known || (unsigned long)fs.f_type == kinds[i];
    return known;
}

bool has_no_writers(int fd)
{
    /* Without this, the kernel would report a broken lease by a signal that ends us. */
    if (fcntl(fd, F_SETSIG, SIGURG) < 0 || fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
        return false;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return true;
}
