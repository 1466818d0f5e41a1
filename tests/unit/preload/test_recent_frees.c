/* Records of freed blocks, compared with a list of all frees; and with several threads. */
#include "preload/sidetables/recent_frees.h"

#include <pthread.h>
#include <stdlib.h>

#include "preload/sidetables/alloc_family.h"
#include "tests/tap.h"

#define FREES (3 * FREED_MOST)
#define ADDRESSES 50000u
#define BASE ((uintptr_t)1 << 40)

static uint32_t newest[ADDRESSES]; /* number of the newest free of it, from 1 on; 0: none */
static uint32_t seed = 7;

static uint32_t next(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

static uintptr_t addr_of(uint32_t i)
{
    return BASE + (uintptr_t)i * 8;
}

static void note(uint32_t i, uint32_t number)
{
    recent_frees_note(&(struct freed){.addr = addr_of(i),
                                      .size = number,
                                      .alloc_row = i,
                                      .free_row = number & 0xffff,
                                      .missed = number >> 16,
                                      .thread = (uint16_t)(number % 7),
                                      .call = (uint8_t)(number % 5),
                                      .made = (uint8_t)(number % 3)});
}

static bool is_right(uint32_t i, uint32_t last)
{
    uint32_t want = newest[i];
    bool known = want && last - want < FREED_MOST;
    struct freed f;
    uint64_t since;

    if (recent_frees_find(addr_of(i), &f, &since) != known)
        return false;
    return !known || (f.size == want && since == last - want && f.addr == addr_of(i) &&
                      f.alloc_row == i && f.free_row == (want & 0xffff) && f.missed == want >> 16 &&
                      f.thread == want % 7 && f.call == want % 5 && f.made == want % 3);
}

/* A few addresses come often, most never again. So records are dropped while their address is still
 * remembered, and while it is not. */
static uint32_t draw(uint32_t number)
{
    return number % 3 ? next() % 100 : next() % (number < FREED_MOST ? ADDRESSES : ADDRESSES / 2);
}

static void in_order(void)
{
    size_t wrong = 0;
    struct freed f;
    uint64_t since;

    ok(!recent_frees_find(addr_of(1), &f, &since), "an address without a free is not found");
    ok(!recent_frees_forgets(), "no free is dropped before the first one");
    for (uint32_t number = 1; number <= FREES; number++) {
        uint32_t i = draw(number), other = next() % ADDRESSES;

        note(i, number);
        newest[i] = number;
        wrong += WRONG(!is_right(i, number), number);
        wrong += WRONG(!is_right(other, number), number);
        if (number == FREED_MOST)
            wrong += WRONG(recent_frees_forgets(), number);
        if (number == FREED_MOST + 1)
            wrong += WRONG(!recent_frees_forgets(), number);
    }
    for (uint32_t i = 0; i < ADDRESSES; i++)
        wrong += WRONG(!is_right(i, FREES), i);
    is_int(wrong, 0,
           "the newest free of an address is found while it is among the last FREED_MOST");
}

/* ---- threads ---- */

#define THREADS 4u
#define EACH 40000u /* all of them together are remembered */

static uintptr_t own_addr(uint32_t thread, uint32_t i)
{
    return BASE * 2 + ((uintptr_t)i * THREADS + thread) * 16;
}

static void *note_many(void *arg)
{
    uint32_t thread = *(uint32_t *)arg;

    for (uint32_t i = 0; i < EACH; i++)
        recent_frees_note(&(struct freed){
            .addr = own_addr(thread, i), .size = i, .alloc_row = thread, .free_row = ~i});
    return NULL;
}

static void at_once(void)
{
    uint32_t number[THREADS];
    pthread_t t[THREADS];
    size_t wrong = 0;

    for (uint32_t i = 0; i < THREADS; i++) {
        number[i] = i;
        pthread_create(&t[i], NULL, note_many, &number[i]);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (uint32_t thread = 0; thread < THREADS; thread++)
        for (uint32_t i = 0; i < EACH; i++) {
            struct freed f;
            uint64_t since;

            wrong += WRONG(!recent_frees_find(own_addr(thread, i), &f, &since) || f.size != i ||
                               f.alloc_row != thread || f.free_row != ~i,
                           i);
        }
    is_int(wrong, 0, "%u threads at once: each free is found with all its fields", THREADS);
}

/* ---- which allocation family made the blocks of a row ---- */

static void families(void)
{
    alloc_family_note(5, TRACE_MADE_NEW);
    alloc_family_note(5, TRACE_MADE_NEW);
    alloc_family_note(6, TRACE_MADE_MALLOC);
    alloc_family_note(6, TRACE_MADE_NEW_ARRAY);
    is_int(alloc_family_of(4), TRACE_MADE_UNKNOWN, "a row without a note has no allocation family");
    is_int(alloc_family_of(5), TRACE_MADE_NEW,
           "a row with equal notes has their allocation family");
    is_int(alloc_family_of(6), TRACE_MADE_UNKNOWN,
           "a row with different notes has no allocation family");
    alloc_family_note(6, TRACE_MADE_MALLOC);
    alloc_family_note(6, TRACE_MADE_MALLOC);
    is_int(alloc_family_of(6), TRACE_MADE_UNKNOWN,
           "a row with different notes keeps no allocation family");
    is_int(alloc_family_of((1u << 26) - 1), TRACE_MADE_UNKNOWN,
           "the last possible row has no allocation family");
}

int main(void)
{
    ok(recent_frees_begin() && alloc_family_begin(),
       "memory for frees and allocation families is mapped");
    in_order();
    at_once();
    families();
    return done_testing();
}
