#define _GNU_SOURCE
#include "inproc/lib/polledfiles.h"

#include <poll.h>
#include <sys/syscall.h>

#include "common/sysnr.h"
#include "inproc/lib/open_fds.h"

#define BITS 64u

_Static_assert(sizeof(struct pollfd) == 8 && offsetof(struct pollfd, fd) == 0,
               "a word of a ring for each descriptor");

/* Drops the state of the descriptors in one word of a set for select. */
static void forget_bits(uint32_t process, uint64_t set, unsigned first)
{
    for (; set; set &= set - 1)
        open_fds_forget(process, first + (unsigned)__builtin_ctzll(set));
}

void polledfiles_forget(uint32_t process, const struct ring *r, uint64_t from, uint64_t to,
                        const struct patch_call *call)
{
    bool polls = call->number == SYS_poll || call->number == SYS_ppoll;

    if (!polls && call->number != SYS_select && call->number != SYS_pselect6)
        return;
    for (unsigned pieces = 0; from < to && pieces < RING_PIECES; pieces++) {
        unsigned words = (unsigned)(r->words[from % RING_WORDS] >> 8 & 0xffff);

        /* The program has overwritten the ring since. */
        if (words < RING_PIECE_WORDS || words > RING_PIECE_WORDS + RING_PIECE_MAX)
            return;
        for (unsigned i = RING_PIECE_WORDS; i < words; i++) {
            uint64_t word = r->words[(from + i) % RING_WORDS];

            if (polls)
                open_fds_forget(process, (uint32_t)word);
            else
                forget_bits(process, word, (i - RING_PIECE_WORDS) * BITS);
        }
        from += words;
    }
}
