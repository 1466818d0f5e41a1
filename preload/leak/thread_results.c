/*
 * glibc tells debuggers by symbols of its own (nptl_db/structs.def) where in struct pthread the
 * fields are that they need: three numbers for each, how many bits an element has, how many there
 * are, and the offset. The result is not among them, but it is the word before schedparam, behind
 * which schedpolicy and start_routine follow at once (2.34 to 2.41). Where these are not next to
 * each other as they are there, nothing is believed. The records are in a list; a thread that was
 * joined, or has ended and was detached, is not. One that the program gave its stack is in another,
 * and its record is in the program's memory, which is looked at as such.
 *
 * Rejected: all of the record. The argument of the thread's function stays in it, so that a thread
 * that forgets to free it would seem to have kept it. Rejected: to stand before pthread_create, and
 * call the thread's function ourselves: one more frame in every stack of every thread.
 */
#include "preload/leak/thread_results.h"

#include <string.h>

#include "preload/runtime/next_symbol.h"

#define PRIVATE "GLIBC_PRIVATE"
#define WORD sizeof(uintptr_t)
#define THREADS_MAX ((size_t)1 << 20) /* a list that was caught in the middle of a change ends */

static struct {
    uintptr_t head;             /* 0: not known */
    uint32_t list, tid, result; /* offsets in a record */
} g;

/* The offset of a field of so many bits; UINT32_MAX: there is no such field. */
static uint32_t offset_of(const char *symbol, uint32_t bits)
{
    const uint32_t *field = next_symbol_find(symbol, PRIVATE);

    return field && field[0] == bits && field[1] == 1 ? field[2] : UINT32_MAX;
}

void thread_results_find(void)
{
    uint32_t priority = offset_of("_thread_db_pthread_schedparam_sched_priority", 32);
    uint32_t head = offset_of("_thread_db_rtld_global__dl_stack_used", 2 * 8 * WORD);
    uintptr_t loader = (uintptr_t)next_symbol_find("_rtld_global", PRIVATE);

    memset(&g, 0, sizeof g);
    g.list = offset_of("_thread_db_pthread_list", 2 * 8 * WORD);
    g.tid = offset_of("_thread_db_pthread_tid", 32);
    if (!loader || head == UINT32_MAX || priority == UINT32_MAX || priority < WORD ||
        g.list == UINT32_MAX || g.tid == UINT32_MAX ||
        offset_of("_thread_db_pthread_schedpolicy", 32) != priority + 4 ||
        offset_of("_thread_db_pthread_start_routine", 8 * WORD) != priority + 8)
        return;
    g.result = priority - (uint32_t)WORD;
    g.head = loader + head;
}

static bool has(const struct readable *r, uintptr_t at, size_t size)
{
    const struct readable_range *range = readable_at(r, at);

    return range && at % size == 0 && size <= range->hi - at;
}

static void visit_record(const struct readable *r, uintptr_t record,
                         void (*visit)(uintptr_t lo, uintptr_t hi))
{
    uintptr_t tid = record + g.tid, result = record + g.result;

    /* The kernel has wiped the number of one that has ended. */
    if (has(r, tid, sizeof(uint32_t)) && has(r, result, WORD) && *(const uint32_t *)tid == 0)
        visit(result, result + WORD);
}

void thread_results_each(const struct readable *r, void (*visit)(uintptr_t lo, uintptr_t hi))
{
    uintptr_t at = g.head;

    for (size_t n = 0; n < THREADS_MAX && has(r, at, WORD); n++) {
        at = *(const uintptr_t *)at;
        if (at == g.head)
            return;
        visit_record(r, at - g.list, visit);
    }
}
