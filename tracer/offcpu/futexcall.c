#include "tracer/offcpu/futexcall.h"

#include <linux/futex.h>

#include "common/sysnr.h"

/* Size of struct futex_waitv, which glibc 2.31's kernel headers do not have. */
#define WAITV_SIZE 24

/* Count of threads that the call wakes. The kernel takes a count below one as one, except where it
 * wakes and moves. */
static int at_least(int n, int least)
{
    return n < least ? least : n;
}

static void other_at(struct futex_call *out, uint64_t a0, uint64_t a1)
{
    out->other[0] = a0;
    out->other[1] = a1;
}

static void read_futex(const uint64_t args[6], struct futex_call *out)
{
    int wakes = (int)args[2];

    switch (args[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT_BITSET:
        out->mask = (uint32_t)args[5];
        __attribute__((fallthrough));
    case FUTEX_WAIT:
        out->does = FUTEX_WAITS;
        break;
    case FUTEX_WAKE_BITSET:
        out->mask = (uint32_t)args[5];
        __attribute__((fallthrough));
    case FUTEX_WAKE:
        out->does = FUTEX_WAKES;
        out->wakes = at_least(wakes, 1);
        break;
    case FUTEX_UNLOCK_PI:
        out->does = FUTEX_WAKES;
        out->wakes = 1;
        break;
    case FUTEX_WAKE_OP:
        out->does = FUTEX_WAKES_AT_TWO;
        out->wakes = at_least(wakes, 1);
        out->second = at_least((int)args[3], 1);
        other_at(out, args[4], (args[1] & FUTEX_PRIVATE_FLAG) | FUTEX_WAKE);
        break;
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_CMP_REQUEUE_PI:
        out->does = FUTEX_MOVES;
        out->wakes = at_least(wakes, 0);
        out->second = at_least((int)args[3], 0);
        other_at(out, args[4], (args[1] & FUTEX_PRIVATE_FLAG) | FUTEX_WAKE);
        break;
    default:
        break;
    }
}

void futex_call_read(int nr, const uint64_t args[6], struct futex_call *out)
{
    *out = (struct futex_call){.does = FUTEX_DOES_NOTHING, .mask = UINT32_MAX};
    switch (nr) {
    case SYS_futex:
        read_futex(args, out);
        break;
    case SYS_futex_waitv:
        out->does = FUTEX_WAITS;
        break;
    case SYS_futex_wait: /* address, value, mask, flags */
        out->does = FUTEX_WAITS;
        out->mask = (uint32_t)args[2];
        break;
    case SYS_futex_wake: /* address, mask, count, flags: a count of 0 wakes none */
        out->does = FUTEX_WAKES;
        out->mask = (uint32_t)args[1];
        out->wakes = (int)args[2] ? at_least((int)args[2], 1) : 0;
        break;
    case SYS_futex_requeue: /* two struct futex_waitv, flags, count to wake, count to move */
        out->does = FUTEX_MOVES;
        out->wakes = at_least((int)args[2], 0);
        out->second = at_least((int)args[3], 0);
        other_at(out, args[0] + WAITV_SIZE, args[1]);
        break;
    default:
        break;
    }
}

bool futex_call_lists(int nr, const uint64_t args[6])
{
    return nr == SYS_futex_requeue || (nr == SYS_futex_waitv && (uint32_t)args[1] == 1);
}
