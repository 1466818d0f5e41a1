#define _GNU_SOURCE
#include "inproc/rseq.h"

#include <sys/resource.h>
#include <time.h>

#define RSEQ_SIZE 20
#define RSEQ_SIGNATURE 0x53053053u

/* Sleeps that may be over before they have begun. */
#define TRIES 100
#define SLEEP_NS 20000

/* One byte that is never executed, and its abort handler, 8 bytes before it, is not either. The
 * kernel requires the signature before the handler, and that all of it can be read. */
static const struct {
    uint32_t signature;
    uint8_t code[12];
} nothing = {RSEQ_SIGNATURE, {0}};

struct rseq_section rseq_never __attribute__((aligned(32)));

bool rseq_begin(void)
{
    if (!&__rseq_size || !&__rseq_offset || __rseq_size < RSEQ_SIZE)
        return false;
    rseq_never.start = (uintptr_t)&nothing.code[8];
    rseq_never.length = 1;
    rseq_never.abort = (uintptr_t)nothing.code;
    return true;
}

static long sleeps_now(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

bool rseq_tells(void)
{
    const struct timespec instant = {0, SLEEP_NS};
    bool tells = false, slept = false;

    if (!rseq_begin())
        return false;
    for (int i = 0; i < TRIES && !slept; i++) {
        long before = sleeps_now();

        rseq_arm();
        nanosleep(&instant, NULL);
        tells = !rseq_stayed();
        slept = sleeps_now() != before;
    }
    *rseq_at() = 0;
    return tells && slept;
}
