#include "tracer/roles.h"

#include <sys/syscall.h>

#include "common/compiler.h"

unsigned role_sleeping(int nr)
{
    switch (nr) {
    case SYS_read:
    case SYS_readv:
    case SYS_pread64:
    case SYS_preadv:
    case SYS_preadv2:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_mq_timedreceive:
    case SYS_msgrcv:
        return ROLE_DATA;
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_sendfile:
    case SYS_vmsplice:
    case SYS_connect:
    case SYS_mq_timedsend:
    case SYS_msgsnd:
        return ROLE_ROOM;
    default:
        return ROLE_ALL;
    }
}

unsigned role_waking(int nr)
{
    switch (nr) {
    case SYS_close:
    case SYS_dup2:
    case SYS_dup3:
    case SYS_shutdown:
        return ROLE_ALL | ROLE_HANGUP;
    default: /* what one waits for is what the other brings */
        switch (role_sleeping(nr)) {
        case ROLE_DATA:
            return ROLE_ROOM;
        case ROLE_ROOM:
            return ROLE_DATA;
        default:
            return ROLE_ALL;
        }
    }
}
