/*
 * Problem: at a free of a block that is not live, it must be known whether, where and by which
 * thread it was freed before. Each of the millions of correct frees must cost little.
 *
 * Algorithm: frees are numbered, and a record lies in the slot of its number, so the oldest is
 * overwritten. Records of one bucket are chained from the newest on by their numbers; a number that
 * is too old ends the chain, so no record is ever removed. A number is 0 while its record is
 * written, and is compared again after the record was read.
 *
 * Rejected: holding back the memory as well, as other checkers do. It would detect one more case: a
 * block is freed wrongly, malloc hands it out again, and its first owner frees it. That would be
 * reported at the first of the two wrong frees. But then the program's heap differs from one
 * without the recorder: more memory, other addresses, glibc's own checks at other moments, and
 * freed memory stays readable.
 */
#include "preload/sidetables/recent_frees.h"

#include "common/hash.h"
#include "common/pages.h"

struct record {
    uint64_t number; /* from 1 on; 0: no record, or one that is being written */
    uint64_t before; /* number of the previous record in the bucket; 0: none */
    struct freed f;
};

static struct record *records; /* FREED_MOST of them */
static uint64_t *newest;       /* by bucket, as many as there are records */
static uint64_t last;          /* number of the last free */

static void *sparse(size_t size)
{
    void *p = pages_alloc(size);

    if (p)
        pages_sparse(size);
    return p;
}

bool recent_frees_begin(void)
{
    if (!records)
        records = sparse(FREED_MOST * sizeof *records);
    if (!newest)
        newest = sparse(FREED_MOST * sizeof *newest);
    return records && newest;
}

static uint64_t *bucket_of(uintptr_t addr)
{
    return &newest[(addr >> 3) * HASH_GOLDEN >> 46];
}

_Static_assert(FREED_MOST == 1u << (64 - 46), "buckets");

static struct record *record_of(uint64_t number)
{
    return &records[number % FREED_MOST];
}

void recent_frees_note(const struct freed *f)
{
    uint64_t number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED), *bucket = bucket_of(f->addr);
    uint64_t before = __atomic_load_n(bucket, __ATOMIC_RELAXED);
    struct record *r = record_of(number);

    __atomic_store_n(&r->number, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    r->f = *f;
    do {
        r->before = before;
        __atomic_store_n(&r->number, number, __ATOMIC_RELEASE);
    } while (!__atomic_compare_exchange_n(bucket, &before, number, true, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

/* False: the record has been overwritten. */
static bool read_record(uint64_t number, struct record *out)
{
    const struct record *r = record_of(number);

    if (__atomic_load_n(&r->number, __ATOMIC_ACQUIRE) != number)
        return false;
    *out = *r;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&r->number, __ATOMIC_RELAXED) == number;
}

bool recent_frees_find(uintptr_t addr, struct freed *out, uint64_t *since)
{
    uint64_t number = __atomic_load_n(bucket_of(addr), __ATOMIC_ACQUIRE);
    struct record r;

    while (number && read_record(number, &r)) {
        if (r.f.addr == addr) {
            *out = r.f;
            *since = __atomic_load_n(&last, __ATOMIC_RELAXED) - number;
            return true;
        }
        number = r.before;
    }
    return false;
}

bool recent_frees_forgets(void)
{
    return __atomic_load_n(&last, __ATOMIC_RELAXED) > FREED_MOST;
}
