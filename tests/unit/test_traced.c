/* The table of traced threads against a plain list, over ids as the kernel gives them out. */
#include <stdlib.h>

#include "tests/tap.h"
#include "tracer/traced.h"

#define N 3000

int main(void)
{
    struct traced *ts = traced_new();
    static struct thread *twin[N];
    static pid_t tids[N];
    bool same = true, order = true;
    unsigned seed = 1, seen = 0;
    size_t live = 0;

    ok(!traced_find(ts, 1) && !traced_find(ts, 0) && !traced_find(ts, (1 << 22) - 1) &&
           !traced_find(ts, 1 << 22) && !traced_find(ts, -1),
       "nothing is found in an empty table");
    for (int i = 0; i < N; i++)
        tids[i] = i < N / 2 ? 1 + i : (1 << 22) - 1 - i * 700;
    for (int round = 0; round < 20000; round++) {
        int i = (int)((seed = seed * 1103515245u + 12345u) >> 8) % N;

        if (twin[i]) {
            same &= traced_find(ts, tids[i]) == twin[i] && twin[i]->pid == i;
            traced_remove(ts, twin[i]);
            twin[i] = NULL;
            live--;
        } else {
            same &= !traced_find(ts, tids[i]);
            twin[i] = traced_add(ts, tids[i], i);
            live++;
        }
        same &= traced_count(ts) == live;
    }
    ok(same, "20,000 births and ends: each is found while it lives");
    for (struct thread *t = traced_first(ts); t; t = t->next) {
        order &= t == twin[t->pid] && (!t->next || t->next->prev == t);
        seen++;
    }
    ok(order && seen == live, "the list holds the same");
    for (int i = 0; i < N; i++)
        if (twin[i])
            traced_remove(ts, twin[i]);
    ok(!traced_first(ts) && traced_count(ts) == 0 && !traced_find(ts, tids[0]), "and empties");
    traced_free(ts);
    return done_testing();
}
