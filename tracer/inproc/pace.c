#include "tracer/inproc/pace.h"

#include "inproc/ring.h"

/* A ring that has filled beyond MUCH is read twice as often, and one below LITTLE half as often.
 * LITTLE is less than half of MUCH, so that the rate does not alternate between two values. */
#define MUCH (RING_WORDS / 8)
#define LITTLE (RING_WORDS / 20)
/* Fill above which the next reading may come too late, unless it is soon. */
#define NEARLY_ALL (RING_WORDS / 2)

uint64_t pace_next(uint64_t ns, uint32_t fill)
{
    if (fill > NEARLY_ALL)
        return PACE_LEAST_NS;
    if (fill > MUCH)
        ns /= 2;
    else if (fill < LITTLE)
        ns *= 2;
    return ns < PACE_LEAST_NS ? PACE_LEAST_NS : ns > PACE_MOST_NS ? PACE_MOST_NS : ns;
}
