/* Compares the table of traced threads with a plain list, over ids as the kernel gives them out. */
#include <stdlib.h>

#include "tests/tap.h"
#include "tracer/ptrace/ptraced.h"

#define N 3000

int main(void)
{
    static struct ptraced_table *ts; /* never freed */
    static struct ptraced *twin[N];
    static pid_t tids[N];
    bool same = true, order = true;
    unsigned seed = 1, seen = 0;
    size_t live = 0;

    ts = ptraced_new();
    ok(!ptraced_find(ts, 1) && !ptraced_find(ts, 0) && !ptraced_find(ts, (1 << 22) - 1) &&
           !ptraced_find(ts, 1 << 22) && !ptraced_find(ts, -1),
       "an empty table finds no thread");
    for (int i = 0; i < N; i++)
        tids[i] = i < N / 2 ? 1 + i : (1 << 22) - 1 - i * 700;
    for (int round = 0; round < 20000; round++) {
        int i = (int)((seed = seed * 1103515245u + 12345u) >> 8) % N;

        if (twin[i]) {
            same &= row(ptraced_find(ts, tids[i]) == twin[i] && twin[i]->pid == i,
                        "round %d: live thread %d is found", round, tids[i]);
            ptraced_remove(ts, twin[i]);
            twin[i] = NULL;
            live--;
        } else {
            same &= row(!ptraced_find(ts, tids[i]), "round %d: ended thread %d is not found", round,
                        tids[i]);
            twin[i] = ptraced_add(ts, tids[i], i);
            live++;
        }
        same &=
            row(ptraced_count(ts) == live, "round %d: the table counts %zu threads", round, live);
    }
    ok(same, "a thread is found exactly while it lives, over 20,000 births and ends");
    for (struct ptraced *t = ptraced_first(ts); t; t = t->next) {
        order &= row(t == twin[t->pid] && (!t->next || t->next->prev == t),
                     "thread %d is in its place in the list", t->tid);
        seen++;
    }
    ok(order && seen == live, "the list holds the same threads as the table");
    for (int i = 0; i < N; i++)
        if (twin[i])
            ptraced_remove(ts, twin[i]);
    ok(!ptraced_first(ts) && ptraced_count(ts) == 0 && !ptraced_find(ts, tids[0]),
       "the table is empty after the last removal");
    return done_testing();
}
