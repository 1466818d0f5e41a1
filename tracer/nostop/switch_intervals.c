#include "tracer/nostop/switch_intervals.h"

static bool ends(struct switch_interval *n, uint64_t from, uint64_t to, bool wants,
                 struct switch_interval_over *over)
{
    *over = (struct switch_interval_over){from, to, wants};
    n->wait_ns += wants ? to - from : 0;
    return true;
}

bool switch_interval_leaves(struct switch_interval *n, uint64_t time, bool wants,
                            struct switch_interval_over *over)
{
    if (n->unpaired && time <= n->came) { /* read late: the thread has come since */
        n->unpaired = false;
        return ends(n, time, n->came, wants, over);
    }
    if (n->away && time <= n->left) { /* read late: the thread has come, and left again */
        n->twice = time < n->left;
        n->earlier = (struct switch_interval_over){.from = time, .wants = wants};
        return false;
    }
    n->twice = n->away;
    if (n->twice)
        n->earlier = (struct switch_interval_over){.from = n->left, .wants = n->wants};
    else if (n->came && time > n->came)
        n->ran_ns += time - n->came;
    n->unpaired = false;
    n->away = true;
    n->wants = wants;
    n->left = time;
    return false;
}

bool switch_interval_comes(struct switch_interval *n, uint64_t time,
                           struct switch_interval_over *over)
{
    if (n->away && time < n->left) { /* read late: the thread has left since */
        bool reported = n->twice && time >= n->earlier.from;

        n->twice = false;
        if (!reported)
            return false;
        n->ran_ns += n->left - time;
        return ends(n, n->earlier.from, time, n->earlier.wants, over);
    }
    n->came = time;
    n->twice = false;
    n->unpaired = !n->away;
    if (!n->away)
        return false;
    n->away = false;
    return ends(n, n->left, time, n->wants, over);
}

void switch_interval_found(struct switch_interval *n, uint64_t time, bool away)
{
    n->away = away;
    n->wants = n->unpaired = n->twice = false;
    if (away)
        n->left = time;
    else
        n->came = time;
}
