#include "tracer/inproc/pace.h"

#include "inproc/ring.h"

/* A ring that has filled up to here is read twice as often, and one below the other half as often:
 * so full it is not too full then, with some to spare, or the two would take turns. */
#define MUCH (RING_WORDS / 8)
#define LITTLE (RING_WORDS / 20)
/* The next reading may be too late if it is not soon. */
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
