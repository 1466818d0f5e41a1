/*
 * Any bytes as what a program has written into a ring, and any end: the reader finds damage or
 * records, which fit what the records before them said.
 */
#include <stdlib.h>

#include "inproc/reader/ring_reader.h"
#include "inproc/shm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t stacks;
static uint64_t functions; /* the client's values for them are from 1 << 62 | 1 on */

static volatile uint64_t read_all; /* so that a sanitizer sees each address being read */

static uint32_t take_stack(void *arg, pid_t tid, const uint64_t *pcs, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++) {
        uint64_t function = pcs[i] & ~RING_IS_FUNCTION;

        if (pcs[i] & RING_IS_FUNCTION && (!function || function > functions))
            abort();
        read_all += pcs[i];
    }
    if (tid <= 0 || !n || n > RING_STACK_MAX)
        abort();
    return ++stacks;
}

static uint64_t take_function(void *arg, const char *name, size_t len)
{
    (void)arg;
    if (len > RING_FUNCTION_MAX)
        abort();
    for (size_t i = 0; i < len; i++)
        read_all += (uint8_t)name[i];
    return RING_IS_FUNCTION | ++functions;
}

static void check(const struct ring_reader *r, enum ring_result what)
{
    size_t at = 0;

    for (size_t words; (what == RING_ENTERED || what == RING_LEFT) && at < r->nmemory;
         at += words) { /* whole pieces */
        if (r->nmemory - at <= 2 || !r->memory[at + 1])
            abort();
        words = 2 + r->memory[at + 1] / 8 + (r->memory[at + 1] % 8 != 0);
        if (words > r->nmemory - at)
            abort();
    }
    if (r->nmemory > RING_PIECES * (RING_MOST_WORDS - 1))
        abort();
    if (r->tid <= 0 || r->pid <= 0 || r->call.nr < 0 || r->call.nr >= SHM_CALLS ||
        r->call.stack > stacks || r->nopen > RINGS_NESTED || r->call.begin > r->time ||
        (what == RING_ENTERED && !r->passed && !r->nopen))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct ring_client client = {.stack = take_stack, .function = take_function};
    static struct ring ring;
    static struct ring_control control;
    static struct ring_reader reader;
    enum ring_result what;
    uint64_t last = 0, words;

    if (size < 8)
        return 0;
    memset(&ring, 0, offsetof(struct ring, words));
    memset(&control, 0, sizeof control);
    memcpy(&ring.head, data, 8);
    words = (size - 8) / 8;
    if (words > RING_WORDS)
        words = RING_WORDS;
    memset(ring.words, 0, sizeof ring.words);
    memcpy(ring.words, data + 8, words * 8);
    stacks = 0;
    functions = 0;
    ring_reader_init(&reader, &ring, &control);
    while ((what = ring_next(&reader, 0, &client)) == RING_ENTERED || what == RING_LEFT ||
           what == RING_MARKER || what == RING_DELAYED) {
        if (what == RING_MARKER && (reader.region.len > RING_NAME_MAX ||
                                    memchr(reader.region.name, '\0', reader.region.len)))
            abort();
        check(&reader, what);
        if (reader.time < last || reader.tail > ring.head)
            abort();
        last = reader.time;
    }
    if ((what == RING_DAMAGED) != (reader.damage != NULL) ||
        (what == RING_DAMAGED) != control.closed)
        abort();
    ring_give_room(&reader);
    ring_reader_release(&reader);
    return 0;
}
