#include "tracer/nostop/switchrecord.h"

/* Size of the trailer of each record: pid and tid, time. */
#define TRAILER 16

/* Kind of a record. SWITCH_NONE: a record that switch_ring_next() does not return. */
static enum switch_kind kind_of(const struct perf_event_header *h)
{
    switch (h->type) {
    case PERF_RECORD_SWITCH:
        return h->misc & PERF_RECORD_MISC_SWITCH_OUT ? SWITCH_OUT : SWITCH_IN;
    case PERF_RECORD_FORK:
        return SWITCH_FORK;
    case PERF_RECORD_EXIT:
        return SWITCH_EXIT;
    case PERF_RECORD_COMM:
        return h->misc & PERF_RECORD_MISC_COMM_EXEC ? SWITCH_EXEC : SWITCH_NONE;
    case PERF_RECORD_MMAP2:
        return SWITCH_MAPPED;
    case PERF_RECORD_LOST:
        return SWITCH_LOST;
    default:
        return SWITCH_NONE;
    }
}

static void take_life(struct perf_bytes *b, struct switch_record *out)
{
    out->pid = (pid_t)perf_take32(b);
    out->parent_pid = (pid_t)perf_take32(b);
    out->tid = (pid_t)perf_take32(b);
    out->parent_tid = (pid_t)perf_take32(b);
    perf_take64(b); /* the time, which the trailer also has */
}

/* Reads all but the trailer. Skips the unused rest of a record. */
static void take_body(struct perf_bytes *b, struct switch_record *out)
{
    switch (out->kind) {
    case SWITCH_FORK:
    case SWITCH_EXIT:
        take_life(b, out);
        break;
    case SWITCH_LOST:
        perf_take64(b); /* the event */
        out->lost = perf_take64(b);
        break;
    case SWITCH_EXEC:
    case SWITCH_MAPPED:
        out->pid = (pid_t)perf_take32(b);
        out->tid = (pid_t)perf_take32(b);
        b->at = b->missing ? b->at : b->end;
        break;
    default:
        break;
    }
}

/* Reads one record. False: the kernel writes no such record. */
static bool parse(const uint8_t *record, const struct perf_event_header *h,
                  struct switch_record *out)
{
    struct perf_bytes b = {.at = record + sizeof *h, .end = record + h->size}, trailer;
    pid_t pid, tid;

    if ((size_t)(b.end - b.at) < TRAILER)
        return false;
    trailer = (struct perf_bytes){.at = b.end - TRAILER, .end = b.end};
    b.end -= TRAILER;
    take_body(&b, out);
    if (b.missing || b.at != b.end)
        return false;
    pid = (pid_t)perf_take32(&trailer);
    tid = (pid_t)perf_take32(&trailer);
    out->time = perf_take64(&trailer);
    if (!out->tid) {
        out->pid = pid;
        out->tid = tid;
    }
    out->wants = out->kind == SWITCH_OUT && h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    return true;
}

enum switch_kind switch_ring_next(struct perf_ring *r, struct switch_record *out)
{
    struct perf_event_header h;
    const uint8_t *record;

    while ((record = perf_ring_next(r, &h))) {
        *out = (struct switch_record){.kind = kind_of(&h)};
        if (out->kind == SWITCH_NONE)
            continue;
        if (parse(record, &h, out))
            return out->kind;
        perf_ring_give_up(r);
    }
    *out = (struct switch_record){.kind = r->damaged ? SWITCH_DAMAGED : SWITCH_NONE};
    return out->kind;
}
