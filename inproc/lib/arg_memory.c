#define _GNU_SOURCE
#include "inproc/lib/arg_memory.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "common/kernel.h"
#include "common/sysnr.h"

/* Words of each set of a select that the tracer reads (OFF_SET_MAX bits). */
#define SET_WORDS 64

/* Size that no socket's address exceeds. */
#define ADDRESS_MAX sizeof(struct sockaddr_storage)

#define PAGE 4096u

struct piece {
    uintptr_t at;
    size_t size;
};

static unsigned address(const struct patch_call *call, unsigned arg, struct piece out[RING_PIECES])
{
    size_t size = call->args[arg + 1] < ADDRESS_MAX ? call->args[arg + 1] : ADDRESS_MAX;

    out[0] = (struct piece){call->args[arg], size};
    return call->args[arg] && size;
}

static unsigned sets(const struct patch_call *call, struct piece out[RING_PIECES])
{
    int last = (int)call->args[0];
    size_t words = last > 0 ? ((size_t)last + 63) / 64 : 0;
    unsigned n = 0;

    if (words > SET_WORDS)
        words = SET_WORDS;
    for (unsigned i = 1; i <= 3; i++)
        if (words && call->args[i])
            out[n++] = (struct piece){call->args[i], words * sizeof(uint64_t)};
    return n;
}

/* Finds the pieces of a call; returns their number. */
static unsigned pieces_of(const struct patch_call *call, struct piece out[RING_PIECES])
{
    switch (call->number) {
    case SYS_connect:
        return address(call, 1, out);
    case SYS_sendto:
        return address(call, 4, out);
    case SYS_select:
    case SYS_pselect6:
        return sets(call, out);
    case SYS_poll:
    case SYS_ppoll:
        out[0] = (struct piece){call->args[0], (unsigned)call->args[1] * sizeof(struct pollfd)};
        return out[0].size != 0;
    default:
        return 0;
    }
}

/* Whether the piece lies in the page of this thread's stack pointer. */
static bool is_in_stack_page(const struct patch_call *call, const struct piece *p)
{
    uintptr_t page = (call->sp - 1) / PAGE;

    return p->size <= PAGE && p->at / PAGE == page && (p->at + p->size - 1) / PAGE == page;
}

static bool copy(struct ring *r, uint64_t to, const struct piece *p, const struct patch_call *call,
                 pid_t tid)
{
    size_t first = (RING_WORDS - to % RING_WORDS) * sizeof *r->words;
    struct iovec here[2] = {{&r->words[to % RING_WORDS], p->size}, {r->words, 0}};
    struct iovec there = {(void *)p->at, p->size};

    if (first < p->size) {
        here[0].iov_len = first;
        here[1].iov_len = p->size - first;
    }
    if (is_in_stack_page(call, p)) {
        memcpy(here[0].iov_base, (const void *)p->at, here[0].iov_len);
        memcpy(here[1].iov_base, (const char *)p->at + here[0].iov_len, here[1].iov_len);
        return true;
    }
    return kernel_call(SYS_process_vm_readv, tid, here, 2, &there, 1, 0) == (long)p->size;
}

bool arg_memory_put(struct ring *r, const struct patch_call *call, uint32_t serial, pid_t tid)
{
    struct piece pieces[RING_PIECES];
    unsigned n = pieces_of(call, pieces);
    uint64_t at = r->head;

    for (unsigned i = 0; i < n; i++) {
        const struct piece *p = &pieces[i];
        unsigned words = (unsigned)((p->size + 7) / 8);

        if (words > RING_PIECE_MAX)
            return false;
        r->words[at % RING_WORDS] = ring_word(RING_MEMORY, RING_PIECE_WORDS + words, serial);
        r->words[(at + 1) % RING_WORDS] = p->at;
        r->words[(at + 2) % RING_WORDS] = p->size;
        r->words[(at + 2 + words) % RING_WORDS] = 0; /* the last word may be filled in part only */
        if (!copy(r, at + RING_PIECE_WORDS, p, call, tid))
            return false;
        at += RING_PIECE_WORDS + words;
    }
    __atomic_store_n(&r->head, at, __ATOMIC_RELEASE);
    return true;
}

/* ---- paths ---- */

/* Step of the tracer's reads of strings (objects_peek_string): up to the next multiple of this. */
#define CHUNK 256u

static uintptr_t path_of(const struct patch_call *call)
{
    return call->args[call->number != SYS_open && call->number != SYS_creat];
}

bool arg_memory_put_path(struct ring *r, const struct patch_call *call, uint32_t serial, pid_t tid)
{
    uintptr_t start = path_of(call), from = start;
    uint64_t at = r->head;
    size_t size = 0;
    bool ended = false;

    while (!ended) {
        unsigned char bytes[CHUNK];
        size_t n = CHUNK - from % CHUNK; /* within a page */
        struct iovec here = {bytes, n}, there = {(void *)from, n};

        if ((POINTED_PATH_WORDS - RING_PIECE_WORDS) * 8 - size < n ||
            kernel_call(SYS_process_vm_readv, tid, &here, 1, &there, 1, 0) != (long)n)
            return false;
        for (size_t i = 0; i < n; i++, size++) {
            uint64_t *word = &r->words[(at + RING_PIECE_WORDS + size / 8) % RING_WORDS];

            if (size % 8 == 0)
                *word = 0;
            *word |= (uint64_t)bytes[i] << size % 8 * 8;
            ended |= !bytes[i];
        }
        from += n;
    }
    r->words[at % RING_WORDS] =
        ring_word(RING_MEMORY, RING_PIECE_WORDS + (unsigned)((size + 7) / 8), serial);
    r->words[(at + 1) % RING_WORDS] = start;
    r->words[(at + 2) % RING_WORDS] = size;
    __atomic_store_n(&r->head, at + RING_PIECE_WORDS + (size + 7) / 8, __ATOMIC_RELEASE);
    return true;
}
