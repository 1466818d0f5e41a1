#include "tracer/faults/faultrecord.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

#define RECORD_MAX 65536 /* its size has 16 bits */
/* What stands at the end of all records but samples: pid and tid, time, number of the event. */
#define TRAILER 24

/* Bytes that have not been read, [at, end). `missing` is set when more were wanted. */
struct bytes {
    const uint8_t *at, *end;
    bool missing;
};

static uint64_t take(struct bytes *b, size_t size)
{
    uint64_t value = 0;

    if ((size_t)(b->end - b->at) < size) {
        b->missing = true;
        b->at = b->end;
        return 0;
    }
    memcpy(&value, b->at, size);
    b->at += size;
    return value;
}

static uint64_t take64(struct bytes *b)
{
    return take(b, 8);
}

static uint32_t take32(struct bytes *b)
{
    return (uint32_t)take(b, 4);
}

/* All that is left: a text that ends with a NUL. */
static const char *take_text(struct bytes *b)
{
    const char *text = (const char *)b->at;

    if (!memchr(b->at, 0, (size_t)(b->end - b->at))) {
        b->missing = true;
        return NULL;
    }
    b->at = b->end;
    return text;
}

static void take_stack(struct bytes *b, struct fault_record *out)
{
    uint64_t room = take64(b), filled;

    if (!room)
        return;
    if (room > (size_t)(b->end - b->at)) {
        b->missing = true;
        return;
    }
    out->stack = b->at;
    b->at += room;
    filled = take64(b);
    if (filled > room)
        b->missing = true;
    out->stack_size = filled;
}

static void take_page(struct bytes *b, const struct perf_event_header *h, struct fault_record *out)
{
    uint64_t abi;

    out->event = take64(b);
    out->ip = take64(b);
    out->pid = take32(b);
    out->tid = take32(b);
    out->time = take64(b);
    out->addr = take64(b);
    out->in_kernel = (h->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    abi = take64(b);
    for (size_t i = 0; abi != PERF_SAMPLE_REGS_ABI_NONE && i < FAULT_REGS_COUNT; i++)
        out->regs[i] = take64(b);
    out->has_regs = abi == PERF_SAMPLE_REGS_ABI_64;
    take_stack(b, out);
}

static void take_mapping(struct bytes *b, struct fault_record *out)
{
    out->pid = take32(b);
    out->tid = take32(b);
    out->start = take64(b);
    out->size = take64(b);
    out->offset = take64(b);
    out->major = take32(b);
    out->minor = take32(b);
    out->inode = take64(b);
    take64(b); /* the inode's generation */
    out->prot = take32(b);
    out->flags = take32(b);
    out->name = take_text(b);
    if (out->start + out->size < out->start)
        b->missing = true;
}

static void take_fork(struct bytes *b, struct fault_record *out)
{
    out->pid = take32(b);
    out->parent_pid = take32(b);
    out->tid = take32(b);
    out->parent_tid = take32(b);
    out->time = take64(b);
}

static void take_name(struct bytes *b, struct fault_record *out)
{
    out->pid = take32(b);
    out->tid = take32(b);
    out->name = take_text(b);
}

static void take_lost(struct bytes *b, struct fault_record *out)
{
    take64(b); /* the event, which the trailer has as well */
    out->lost = take64(b);
}

/* FAULT_NONE: nobody asks for such a record. */
static enum fault_kind kind_of(const struct perf_event_header *h)
{
    switch (h->type) {
    case PERF_RECORD_SAMPLE:
        return FAULT_PAGE;
    case PERF_RECORD_LOST:
        return FAULT_LOST;
    case PERF_RECORD_FORK:
        return FAULT_FORK;
    case PERF_RECORD_EXIT:
        return FAULT_EXIT;
    case PERF_RECORD_COMM:
        return h->misc & PERF_RECORD_MISC_COMM_EXEC ? FAULT_EXEC : FAULT_NAME;
    case PERF_RECORD_MMAP2:
        return FAULT_MAPPING;
    default:
        return FAULT_NONE;
    }
}

/* The end of a record that is no sample. */
static void take_trailer(struct bytes *whole, struct fault_record *out)
{
    struct bytes b = {.at = whole->end, .end = whole->end + TRAILER};
    uint32_t pid = take32(&b), tid = take32(&b);

    out->time = take64(&b);
    out->event = take64(&b);
    if (out->kind == FAULT_LOST) {
        out->pid = pid;
        out->tid = tid;
    }
}

/* `size` is what the header says. False: it is no record of the kernel's. */
static bool parse(const uint8_t *record, const struct perf_event_header *h,
                  struct fault_record *out)
{
    struct bytes b = {.at = record + sizeof *h, .end = record + h->size};

    if (out->kind != FAULT_PAGE) {
        if ((size_t)(b.end - b.at) < TRAILER)
            return false;
        b.end -= TRAILER;
    }
    if (out->kind == FAULT_PAGE)
        take_page(&b, h, out);
    else if (out->kind == FAULT_LOST)
        take_lost(&b, out);
    else if (out->kind == FAULT_FORK || out->kind == FAULT_EXIT)
        take_fork(&b, out);
    else if (out->kind == FAULT_MAPPING)
        take_mapping(&b, out);
    else
        take_name(&b, out);
    if (b.missing || b.at != b.end)
        return false;
    if (out->kind != FAULT_PAGE)
        take_trailer(&b, out);
    return true;
}

static enum fault_kind give_up(struct fault_ring *r, struct fault_record *out)
{
    r->damaged = true;
    r->tail = r->head;
    *out = (struct fault_record){.kind = FAULT_DAMAGED};
    return FAULT_DAMAGED;
}

/* `size` bytes from `tail` on, in one piece. */
static const uint8_t *piece(struct fault_ring *r, size_t size)
{
    size_t at = r->tail & (r->size - 1), first = r->size - at;

    if (size <= first)
        return r->bytes + at;
    if (!r->straight)
        r->straight = xmalloc(RECORD_MAX);
    memcpy(r->straight, r->bytes + at, first);
    memcpy(r->straight + first, r->bytes, size - first);
    return r->straight;
}

enum fault_kind fault_ring_next(struct fault_ring *r, struct fault_record *out)
{
    struct perf_event_header h;

    if (r->damaged)
        return give_up(r, out);
    while (r->tail != r->head) {
        uint64_t there = r->head - r->tail;
        const uint8_t *record;

        if (there > r->size || there < sizeof h)
            return give_up(r, out);
        memcpy(&h, piece(r, sizeof h), sizeof h);
        if (h.size < sizeof h || h.size > there)
            return give_up(r, out);
        record = piece(r, h.size);
        *out = (struct fault_record){.kind = kind_of(&h)};
        if (out->kind != FAULT_NONE && !parse(record, &h, out))
            return give_up(r, out);
        r->tail += h.size;
        if (out->kind != FAULT_NONE)
            return out->kind;
    }
    *out = (struct fault_record){.kind = FAULT_NONE};
    return FAULT_NONE;
}

void fault_ring_release(struct fault_ring *r)
{
    free(r->straight);
    *r = (struct fault_ring){.bytes = NULL};
}
