#define _GNU_SOURCE
#include "tracer/stacks/memory_pieces.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "common/alloc.h"
#include "common/hash.h"

#define SLOTS 4096u /* a power of two, and more than twice PIECES_MOST */
#define UNREAD UINT32_MAX
/* Bytes between two places that are read with them: copying so many takes less time than another
 * place of the call. */
#define GAP_MOST 1024u
/* Bytes that one call reads. */
#define BYTES_MOST ((size_t)256 * 1024)

struct memory_pieces {
    pid_t tid;
    struct memory_plan *plan;
    uint16_t slots[SLOTS]; /* numbers of pieces in the plan, from 1 on */
    uint8_t bytes[BYTES_MOST];
    uint32_t taken; /* of bytes */
    struct iovec places[PIECES_MOST];
};

struct memory_pieces *memory_pieces_new(void)
{
    return xcalloc(1, sizeof(struct memory_pieces));
}

void memory_pieces_free(struct memory_pieces *p)
{
    free(p);
}

void memory_plan_release(struct memory_plan *plan)
{
    free(plan->pieces);
    *plan = (struct memory_plan){0};
}

/* The slot of the piece, or the free one where it belongs. */
static uint16_t *slot_of(struct memory_pieces *p, uintptr_t at, size_t size)
{
    uint32_t i = (uint32_t)((at + size) * HASH_GOLDEN >> 32) & (SLOTS - 1);

    for (; p->slots[i]; i = (i + 1) & (SLOTS - 1)) {
        const struct piece *x = &p->plan->pieces[p->slots[i] - 1];

        if (x->at == at && x->size == size)
            break;
    }
    return &p->slots[i];
}

static int by_address(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

/* Gives the piece its place in p->bytes: in the range that is read last, or in a new one. A range
 * goes over to the next page only if a piece lies there, too. False: there is no room. */
static bool place(struct memory_pieces *p, struct piece *x, uint32_t *ranges)
{
    struct iovec *last = *ranges ? &p->places[*ranges - 1] : NULL;
    uintptr_t start = last ? (uintptr_t)last->iov_base : 0, end = last ? start + last->iov_len : 0;

    if (!last || x->at - start > end - start + GAP_MOST) {
        start = end = x->at;
        last = &p->places[(*ranges)++];
        *last = (struct iovec){(void *)x->at, 0}; /* NOLINT */
    }
    if (x->at + x->size > end) {
        if (p->taken + (x->at + x->size - end) > sizeof p->bytes)
            return false;
        last->iov_len = x->at + x->size - start;
        p->taken += (uint32_t)(x->at + x->size - end);
    }
    x->place = p->taken - (uint32_t)(start + last->iov_len - x->at);
    return true;
}

void memory_pieces_begin(struct memory_pieces *p, pid_t tid, struct memory_plan *plan)
{
    uint32_t n = 0, ranges = 0;
    struct iovec ours;
    ssize_t got;

    p->tid = tid;
    p->plan = plan;
    p->taken = 0;
    memset(p->slots, 0, sizeof p->slots);
    if (plan->sorted < plan->n)
        qsort(plan->pieces, plan->n, sizeof *plan->pieces, by_address);
    for (; n < plan->n && place(p, &plan->pieces[n], &ranges); n++) {
        struct piece *x = &plan->pieces[n];

        x->used = false;
        *slot_of(p, x->at, x->size) = (uint16_t)(n + 1);
    }
    plan->n = plan->sorted = n;
    if (!n)
        return;
    ours = (struct iovec){p->bytes, p->taken};
    got = process_vm_readv(tid, &ours, 1, p->places, ranges, 0);
    /* Nothing was read from the first place on that is not mapped. */
    for (uint32_t i = 0; i < n; i++)
        if (got < 0 || plan->pieces[i].place + plan->pieces[i].size > (size_t)got)
            plan->pieces[i].place = UNREAD;
}

static bool read_now(const struct memory_pieces *p, uintptr_t at, void *to, size_t size)
{
    struct iovec ours = {to, size}, theirs = {(void *)at, size}; /* NOLINT */

    return process_vm_readv(p->tid, &ours, 1, &theirs, 1, 0) == (ssize_t)size;
}

bool memory_pieces_read(struct memory_pieces *p, uintptr_t at, void *to, size_t size)
{
    struct memory_plan *plan = p->plan;
    uint16_t *slot = slot_of(p, at, size);
    struct piece *x;

    if (*slot) {
        x = &plan->pieces[*slot - 1];
        if (x->place != UNREAD) {
            memcpy(to, p->bytes + x->place, size);
            x->used = true;
            return true;
        }
        x->used = read_now(p, at, to, size);
        return x->used;
    }
    if (!read_now(p, at, to, size))
        return false;
    if (plan->n == PIECES_MOST || p->taken + size > sizeof p->bytes)
        return true;
    GROW(plan->pieces, plan->n, plan->room);
    x = &plan->pieces[plan->n++];
    *x = (struct piece){.at = at, .size = (uint32_t)size, .place = p->taken, .used = true};
    memcpy(p->bytes + p->taken, to, size);
    p->taken += (uint32_t)size;
    *slot = (uint16_t)plan->n;
    return true;
}

void memory_pieces_end(struct memory_pieces *p)
{
    struct memory_plan *plan = p->plan;
    uint32_t n = 0, sorted = 0;

    for (uint32_t i = 0; i < plan->n; i++) {
        if (i == plan->sorted)
            sorted = n;
        if (plan->pieces[i].used)
            plan->pieces[n++] = plan->pieces[i];
    }
    plan->sorted = plan->sorted >= plan->n ? n : sorted;
    plan->n = n;
}
