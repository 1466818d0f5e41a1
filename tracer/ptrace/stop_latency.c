#include "tracer/ptrace/stop_latency.h"

#include <fcntl.h>
#include <unistd.h>

#include "tracer/objects/proctask.h"

#define BEAT_NS 100000000u
/* The machine is loaded when the tracer spends more than a hundredth of its time waiting. */
#define LOADED_PART 100
/* A wait as short as this one cannot contain a delay that is worth a reading. */
#define SHORT_NS 50000u
/* A wait as long as this one is always worth a reading: the load may just have come. */
#define LONG_NS 1000000u
/* A reading as old as this one may be without delays that the tracer had since: while it worked, or
 * in waits that were too short for a reading. */
#define OLD_NS 200000u

void stop_latency_init(struct stop_latency *n)
{
    *n = (struct stop_latency){.schedstat = -1};
}

/* Time for which this thread has waited for a CPU since it began; the previous value when it cannot
 * be read. */
static uint64_t read_delayed(struct stop_latency *n, uint64_t now)
{
    struct off_sched sched;

    n->read = now;
    if (n->schedstat < 0)
        n->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (n->schedstat < 0 || !task_sched_read(n->schedstat, &sched))
        return n->delayed;
    return sched.runq_ns;
}

void stop_latency_none(struct stop_latency *n, uint64_t now)
{
    n->nobody = now;
}

static void beat(struct stop_latency *n, uint64_t now)
{
    n->delayed = read_delayed(n, now);
    n->loaded = (n->delayed - n->beat_delayed) * LOADED_PART > now - n->beat;
    n->beat = now;
    n->beat_delayed = n->delayed;
}

void stop_latency_waits(struct stop_latency *n, uint64_t now)
{
    if (now - n->beat >= BEAT_NS)
        beat(n, now);
    else if (now - n->read > (n->loaded ? SHORT_NS : OLD_NS))
        n->delayed = read_delayed(n, now);
}

uint64_t stop_latency_woken(struct stop_latency *n, uint64_t now, bool by_signal,
                            uint64_t *earliest)
{
    uint64_t slept = now - n->nobody, before = n->delayed, waited = 0;

    if (slept > (n->loaded ? SHORT_NS : LONG_NS)) {
        n->delayed = read_delayed(n, now);
        waited = n->delayed - before;
    }
    n->nobody = now - (waited < slept ? waited : slept);
    *earliest = n->nobody;
    return by_signal ? now - (now - n->nobody) / 2 : n->nobody;
}

uint64_t stop_latency_found(struct stop_latency *n, uint64_t now, uint64_t *earliest)
{
    *earliest = n->nobody;
    return now - (now - n->nobody) / 2;
}
