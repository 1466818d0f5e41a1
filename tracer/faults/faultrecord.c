#include "tracer/faults/faultrecord.h"

/* Size of the trailer that ends every record but a sample: pid and tid, time, number of the
 * event. */
#define TRAILER 24

static void take_stack(struct perf_bytes *b, struct fault_record *out)
{
    uint64_t room = perf_take64(b), filled;

    if (!room)
        return;
    if (room > (size_t)(b->end - b->at)) {
        b->missing = true;
        return;
    }
    out->stack = b->at;
    b->at += room;
    filled = perf_take64(b);
    if (filled > room)
        b->missing = true;
    out->stack_size = filled;
}

static void take_page(struct perf_bytes *b, const struct perf_event_header *h,
                      struct fault_record *out)
{
    uint64_t abi;

    out->event = perf_take64(b);
    out->ip = perf_take64(b);
    out->pid = perf_take32(b);
    out->tid = perf_take32(b);
    out->time = perf_take64(b);
    out->addr = perf_take64(b);
    out->in_kernel = (h->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    abi = perf_take64(b);
    for (size_t i = 0; abi != PERF_SAMPLE_REGS_ABI_NONE && i < FAULT_REGS_COUNT; i++)
        out->regs[i] = perf_take64(b);
    out->has_regs = abi == PERF_SAMPLE_REGS_ABI_64;
    take_stack(b, out);
}

static void take_mapping(struct perf_bytes *b, struct fault_record *out)
{
    out->pid = perf_take32(b);
    out->tid = perf_take32(b);
    out->start = perf_take64(b);
    out->size = perf_take64(b);
    out->offset = perf_take64(b);
    out->major = perf_take32(b);
    out->minor = perf_take32(b);
    out->inode = perf_take64(b);
    perf_take64(b); /* the inode's generation */
    out->prot = perf_take32(b);
    out->flags = perf_take32(b);
    out->name = perf_take_text(b);
    if (out->start + out->size < out->start)
        b->missing = true;
}

static void take_fork(struct perf_bytes *b, struct fault_record *out)
{
    out->pid = perf_take32(b);
    out->parent_pid = perf_take32(b);
    out->tid = perf_take32(b);
    out->parent_tid = perf_take32(b);
    out->time = perf_take64(b);
}

static void take_name(struct perf_bytes *b, struct fault_record *out)
{
    out->pid = perf_take32(b);
    out->tid = perf_take32(b);
    out->name = perf_take_text(b);
}

static void take_lost(struct perf_bytes *b, struct fault_record *out)
{
    perf_take64(b); /* the event, which the trailer also has */
    out->lost = perf_take64(b);
}

/* Kind of a record. FAULT_NONE: a record that fault_ring_next() does not return. */
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

/* Reads the trailer of a record that is not a sample. */
static void take_trailer(struct perf_bytes *whole, struct fault_record *out)
{
    struct perf_bytes b = {.at = whole->end, .end = whole->end + TRAILER};
    uint32_t pid = perf_take32(&b), tid = perf_take32(&b);

    out->time = perf_take64(&b);
    out->event = perf_take64(&b);
    if (out->kind == FAULT_LOST) {
        out->pid = pid;
        out->tid = tid;
    }
}

/* Reads one record. `h->size` is its size in bytes. False: the kernel writes no such record. */
static bool parse(const uint8_t *record, const struct perf_event_header *h,
                  struct fault_record *out)
{
    struct perf_bytes b = {.at = record + sizeof *h, .end = record + h->size};

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

enum fault_kind fault_ring_next(struct perf_ring *r, struct fault_record *out)
{
    struct perf_event_header h;
    const uint8_t *record;

    while ((record = perf_ring_next(r, &h))) {
        *out = (struct fault_record){.kind = kind_of(&h)};
        if (out->kind == FAULT_NONE)
            continue;
        if (parse(record, &h, out))
            return out->kind;
        perf_ring_give_up(r);
    }
    *out = (struct fault_record){.kind = r->damaged ? FAULT_DAMAGED : FAULT_NONE};
    return out->kind;
}
