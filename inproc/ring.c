#include "inproc/ring.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#define LOOK_NS 100000000
#define LOOKS 20       /* checks without a sign of the reader */
#define LOOKS_MOST 100 /* in all */

bool ring_wait(struct ring *r, const struct ring_control *c, unsigned words, const uint32_t *beat,
               patch_enter_kernel *enter)
{
    const struct timespec look = {0, LOOK_NS};
    const struct patch_call sleep = {
        .number = SYS_futex,
        .args = {(unsigned long)&r->waits, FUTEX_WAIT, 1, (unsigned long)&look}};
    uint32_t last = __atomic_load_n(beat, __ATOMIC_RELAXED), now;

    for (int all = 0, looks = 0; looks < LOOKS && all < LOOKS_MOST; looks++, all++) {
        __atomic_store_n(&r->waits, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&c->closed, __ATOMIC_SEQ_CST))
            return false;
        /* The reader moves the tail first, and reads `waits` afterwards. */
        if (r->head + words - __atomic_load_n(&c->tail, __ATOMIC_SEQ_CST) <= RING_WORDS) {
            __atomic_store_n(&r->waits, 0, __ATOMIC_RELAXED);
            return true;
        }
        enter(&sleep);
        now = __atomic_load_n(beat, __ATOMIC_RELAXED);
        if (now != last)
            looks = -1;
        last = now;
    }
    return false;
}
