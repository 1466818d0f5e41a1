#include "inproc/reader/ring_reader.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "inproc/shm.h"

/* Most stacks of a thread: a program has some thousand different ones; one that writes without end
 * is stopped. */
#define STACKS_MOST (1u << 22)
/* Most functions of a thread. */
#define FUNCTIONS_MOST (1u << 18)

void ring_reader_init(struct ring_reader *r, struct ring *ring, struct ring_control *control)
{
    memset(r, 0, offsetof(struct ring_reader, memory));
    r->ring = ring;
    r->control = control;
    r->tail = r->given = control->tail;
}

void ring_reader_release(struct ring_reader *r)
{
    free(r->stacks);
    free(r->functions);
    memset(r, 0, offsetof(struct ring_reader, memory));
}

static enum ring_result damaged(struct ring_reader *r, const char *why)
{
    r->damage = why;
    __atomic_store_n(&r->control->closed, 1, __ATOMIC_SEQ_CST);
    return RING_DAMAGED;
}

static uint64_t word_at(const struct ring_reader *r, uint64_t at)
{
    return __atomic_load_n(&r->ring->words[at % RING_WORDS], __ATOMIC_RELAXED);
}

static unsigned words_of(const struct ring_reader *r)
{
    return r->record[0] >> 8 & 0xffff;
}

static uint32_t more_of(const struct ring_reader *r)
{
    return (uint32_t)(r->record[0] >> 32);
}

/* Copies the record's words after the first, which has been copied. */
static void copy_words(struct ring_reader *r, unsigned words)
{
    unsigned at = r->tail % RING_WORDS, first = RING_WORDS - at < words ? RING_WORDS - at : words;

    for (unsigned i = 1; i < first; i++)
        r->record[i] = __atomic_load_n(&r->ring->words[at + i], __ATOMIC_RELAXED);
    for (unsigned i = first; i < words; i++)
        r->record[i] = __atomic_load_n(&r->ring->words[i - first], __ATOMIC_RELAXED);
}

/* Copies the next record. RING_ENTERED means only that there is one. */
static enum ring_result copy_record(struct ring_reader *r)
{
    uint64_t there = __atomic_load_n(&r->ring->head, __ATOMIC_ACQUIRE) - r->tail;
    unsigned words;

    if (!there)
        return RING_EMPTY;
    if (there > RING_WORDS)
        return damaged(r, "its end lies outside of it");
    r->record[0] = word_at(r, r->tail);
    words = words_of(r);
    if (!words || words > RING_MOST_WORDS || words > there)
        return damaged(r, "a record has a size that cannot be");
    copy_words(r, words);
    r->tail += words;
    return RING_ENTERED;
}

static bool take_begin(struct ring_reader *r)
{
    if (words_of(r) != RING_BEGIN_WORDS || r->tid || r->record[1] > INT32_MAX || !r->record[1] ||
        more_of(r) > INT32_MAX || !more_of(r))
        return false;
    r->pid = (pid_t)more_of(r);
    r->tid = (pid_t)r->record[1];
    return true;
}

static bool take_function(struct ring_reader *r, const struct ring_client *client)
{
    uint64_t len = r->record[1], function;

    if (words_of(r) < 2 || more_of(r) != r->nfunctions + 1 || r->nfunctions == FUNCTIONS_MOST ||
        len > RING_FUNCTION_MAX || words_of(r) != RING_FUNCTION_WORDS(len) || !client->function)
        return false;
    function = client->function(client->arg, (const char *)(r->record + 2), len);
    if (!function)
        return false;
    GROW(r->functions, r->nfunctions, r->functions_cap);
    r->functions[r->nfunctions++] = function;
    return true;
}

/* Replaces ids of functions. The innermost word is an address. */
static bool find_functions(struct ring_reader *r)
{
    for (unsigned i = 1; i < words_of(r); i++) {
        uint64_t id = r->record[i] & ~RING_IS_FUNCTION;

        if (likely(!(r->record[i] & RING_IS_FUNCTION)))
            continue;
        if (!id || id > r->nfunctions || i + 1 == words_of(r))
            return false;
        r->record[i] = r->functions[id - 1];
    }
    return true;
}

static bool take_stack(struct ring_reader *r, const struct ring_client *client)
{
    if (words_of(r) < 2 || more_of(r) != r->nstacks + 1 || r->nstacks == STACKS_MOST ||
        !find_functions(r))
        return false;
    GROW(r->stacks, r->nstacks, r->stacks_cap);
    r->stacks[r->nstacks++] = client->stack(client->arg, r->tid, r->record + 1, words_of(r) - 1);
    return true;
}

static bool take_memory(struct ring_reader *r)
{
    unsigned words = words_of(r);

    if (!r->pieces || more_of(r) != r->memory_of)
        r->nmemory = r->pieces = 0;
    r->memory_of = more_of(r);
    if (words <= RING_PIECE_WORDS || r->pieces == RING_PIECES ||
        r->record[2] / 8 + (r->record[2] % 8 != 0) != words - RING_PIECE_WORDS)
        return false;
    memcpy(r->memory + r->nmemory, r->record + 1, (words - 1) * sizeof *r->memory);
    r->nmemory += words - 1;
    r->pieces++;
    return true;
}

static bool take_time(struct ring_reader *r, uint64_t now)
{
    r->time = r->record[1];
    if (r->time < r->last || (r->time > now && r->time > clock_ns(CLOCK_MONOTONIC)))
        return false;
    r->last = r->time;
    return true;
}

/* Sets the result and flags of the call that was entered last, which is over. */
static void note_outcome(struct ring_reader *r, uint64_t outcome)
{
    r->result = (int32_t)outcome;
    r->flags = (uint32_t)(outcome >> 32) & (RING_RAN_ON | RING_PREEMPTED | RING_NOBODY);
}

/* Word in which a thread may still report that its last call is over. */
static uint64_t outcome_now(const struct ring_reader *r)
{
    return __atomic_load_n(&r->ring->words[(r->tail - 1) % RING_WORDS], __ATOMIC_ACQUIRE);
}

bool ring_passed(struct ring_reader *r)
{
    uint64_t outcome = r->pending ? outcome_now(r) : 0;

    if (!(outcome & RING_OVER))
        return false;
    note_outcome(r, outcome);
    r->pending = false;
    r->nopen--;
    r->passed = true;
    return true;
}

/* Takes the end of the previous call, if the thread has reported it since. Only a later record
 * proves that it will not: so `head` is read first. */
static bool take_outcome(struct ring_reader *r)
{
    uint64_t head = __atomic_load_n(&r->ring->head, __ATOMIC_ACQUIRE), outcome = outcome_now(r);

    if (outcome & RING_OVER) {
        r->pending = false;
        r->call = r->open[--r->nopen];
        r->time = r->last;
        r->nmemory = r->pieces = 0;
        note_outcome(r, outcome);
        return true;
    }
    r->pending = head == r->tail;
    return false;
}

static bool take_call(struct ring_reader *r, uint64_t now)
{
    uint32_t stack = (uint32_t)r->record[8];

    if (words_of(r) != RING_CALL_WORDS || more_of(r) >= SHM_CALLS || stack > r->nstacks ||
        !take_time(r, now))
        return false;
    r->call = (struct ring_call){.serial = (uint32_t)(r->record[8] >> 32),
                                 .nr = (int)more_of(r),
                                 .begin = r->time,
                                 .stack = stack ? r->stacks[stack - 1] : 0};
    r->passed = (r->record[9] & RING_OVER) != 0;
    memcpy(r->call.args, r->record + 2, sizeof r->call.args);
    if (!r->pieces || r->memory_of != r->call.serial) /* none, or of a call that was never made */
        r->nmemory = 0;
    r->pieces = 0;
    if (r->passed) {
        note_outcome(r, r->record[9]);
        return true;
    }
    if (r->nopen == RINGS_NESTED)
        memmove(r->open, r->open + 1, --r->nopen * sizeof *r->open);
    r->open[r->nopen++] = r->call;
    r->pending = true;
    return true;
}

static bool take_region(struct ring_reader *r, uint64_t now)
{
    uint32_t what = more_of(r) & 0xff, len = more_of(r) >> 8;

    if (what < RING_REGION_OPEN || what > RING_REGION_PASS || len > RING_NAME_MAX ||
        words_of(r) != RING_REGION_WORDS(len) || !take_time(r, now))
        return false;
    r->region.what = (enum ring_region)what;
    memcpy(r->region.name, r->record + 2, (words_of(r) - 2) * sizeof *r->record);
    r->region.len = (uint32_t)strnlen(r->region.name, len);
    return true;
}

static bool take_wait(struct ring_reader *r, uint64_t now)
{
    uint64_t before = r->last;

    if (words_of(r) != RING_WAITED_WORDS || !take_time(r, now) || !r->record[3] ||
        r->record[3] > r->record[2])
        return false;
    r->waits = r->record[3];
    r->waited_ns = r->record[2];
    if (before && r->waited_ns > r->time - before)
        r->waited_ns = r->time - before;
    return true;
}

/* Ends the call of this record; calls inside of it have no end. False: it is unknown. */
static bool close_call(struct ring_reader *r)
{
    unsigned i = r->nopen;

    while (i && r->open[i - 1].serial != (uint32_t)r->record[3])
        i--;
    if (!i)
        return false;
    r->nopen = i - 1;
    r->call = r->open[i - 1];
    if (!r->pieces || r->memory_of != r->call.serial)
        r->nmemory = 0;
    r->pieces = 0;
    r->result = (int64_t)r->record[2];
    r->flags = more_of(r);
    return true;
}

enum ring_result ring_next(struct ring_reader *r, uint64_t now, const struct ring_client *client)
{
    if (r->pending && !r->damage) {
        if (take_outcome(r))
            return RING_LEFT;
        if (r->pending)
            return RING_EMPTY;
    }
    for (;;) {
        enum ring_result got = r->damage ? RING_DAMAGED : copy_record(r);
        unsigned kind = r->record[0] & 0xff;

        if (got != RING_ENTERED)
            return got;
        if ((kind == RING_BEGIN) == (r->tid != 0))
            return damaged(r, "it does not begin with its owner");
        switch (kind) {
        case RING_BEGIN:
            if (!take_begin(r))
                return damaged(r, "its owner cannot be");
            break;
        case RING_STACK:
            if (!take_stack(r, client))
                return damaged(r, "a stack has a number that cannot be");
            break;
        case RING_FUNCTION:
            if (!take_function(r, client))
                return damaged(r, "a function cannot be");
            break;
        case RING_MEMORY:
            if (!take_memory(r))
                return damaged(r, "what an argument points to cannot be");
            break;
        case RING_CALL:
            if (!take_call(r, now))
                return damaged(r, "a call cannot be");
            return RING_ENTERED;
        case RING_DONE:
            if (words_of(r) != RING_DONE_WORDS || !take_time(r, now))
                return damaged(r, "the end of a call cannot be");
            if (close_call(r))
                return RING_LEFT;
            break;
        case RING_REGION:
            if (!take_region(r, now))
                return damaged(r, "a region cannot be");
            return RING_MARKER;
        case RING_WAITED:
            if (!take_wait(r, now))
                return damaged(r, "a wait for room cannot be");
            return RING_DELAYED;
        default:
            return damaged(r, "a record is of no kind");
        }
    }
}

void ring_give_room(struct ring_reader *r)
{
    uint64_t tail = r->tail - r->pending; /* that word is read once more */

    if (r->given == tail || r->damage)
        return;
    r->given = tail;
    __atomic_store_n(&r->control->tail, tail, __ATOMIC_SEQ_CST);
    if (__atomic_exchange_n(&r->ring->waits, 0, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &r->ring->waits, FUTEX_WAKE, 1, NULL, NULL, 0);
}
