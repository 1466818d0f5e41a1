/*
 * glibc has symbols for debuggers (nptl_db/structs.def) that describe fields of struct pthread.
 * Each holds three numbers: the bits of an element, the number of elements, and the offset. The
 * result is not among these fields, but it is the word before schedparam, which schedpolicy and
 * start_routine follow at once (2.34 to 2.41). If the three are not adjacent, the layout is unknown
 * and no results are read.
 *
 * The records are in a list, without threads that were joined, or that have ended and were
 * detached. A thread whose stack the program supplied is in another list; its record is in the
 * program's memory, which is scanned anyway.
 *
 * Rejected: scanning the whole record. It still contains the argument of the thread's function, so
 * a block that the thread forgets to free would count as reachable.
 *
 * Rejected: interposing pthread_create and calling the thread's function from the recorder. That
 * adds one frame to every stack of every thread.
 */
#include "preload/leak/thread_results.h"

#include <string.h>

#include "preload/runtime/next_symbol.h"

#define PRIVATE "GLIBC_PRIVATE"
#define WORD sizeof(uintptr_t)
#define THREADS_MAX ((size_t)1 << 20) /* ends a walk of a list that changes meanwhile */

static struct {
    uintptr_t head;             /* 0: not known */
    uint32_t list, tid, result; /* offsets of the fields in a record */
} g;

/* Offset of a field with elements of `bits` bits. UINT32_MAX: there is no such field. */
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

    /* The kernel clears the id of a thread that has ended. */
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
