#define _GNU_SOURCE
#include "inproc/cutwrite.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

#include "common/kernel.h"
#include "common/sysnr.h"

#define NS_IN_S 1000000000u
#define NS_IN_US 1000u

static bool socket_option(int fd, int option, void *value, socklen_t size)
{
    socklen_t len = size;

    return kernel_call(SYS_getsockopt, fd, SOL_SOCKET, option, value, &len) == 0 && len == size;
}

/* Whether the socket is a byte stream whose send timeout is not over. A message is never written in
 * part. */
static bool may_send_on(int fd, uint64_t spent_ns)
{
    struct timeval limit;
    uint64_t ns;
    int type;

    if (!socket_option(fd, SO_TYPE, &type, sizeof type) || type != SOCK_STREAM ||
        !socket_option(fd, SO_SNDTIMEO, &limit, sizeof limit))
        return false;
    ns = (uint64_t)limit.tv_sec * NS_IN_S + (uint64_t)limit.tv_usec * NS_IN_US;
    return !ns || spent_ns < ns;
}

static bool has_failed(int fd)
{
    struct pollfd p = {.fd = fd};
    struct timespec none = {0, 0};

    return kernel_call(SYS_ppoll, &p, 1, &none) != 0;
}

enum cutwrite cutwrite_reason(int fd, uint64_t spent_ns)
{
    long flags = kernel_call(SYS_fcntl, fd, F_GETFL);
    struct stat st;

    if (flags < 0 || flags & O_NONBLOCK || kernel_fstat(fd, &st) < 0)
        return CUTWRITE_NOT;
    if (S_ISFIFO(st.st_mode))
        return has_failed(fd) ? CUTWRITE_NOT : CUTWRITE_PIPE;
    if (S_ISSOCK(st.st_mode) && may_send_on(fd, spent_ns) && !has_failed(fd))
        return CUTWRITE_SOCKET;
    return CUTWRITE_NOT;
}
