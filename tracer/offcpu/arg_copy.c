#include "tracer/offcpu/arg_copy.h"

#include <stdlib.h>

#include "common/alloc.h"

enum { HEAD = 2 }; /* words of a piece before its bytes */

bool arg_copy_read(const struct arg_copy *m, uint64_t address, void *out, size_t size)
{
    for (size_t at = 0; m->n - at > HEAD;) {
        uint64_t from = m->words[at], has = m->words[at + 1];
        size_t room = (m->n - at - HEAD) * sizeof *m->words;

        if (has > room)
            return false;
        if (address >= from && address - from <= has && size <= has - (address - from)) {
            memcpy(out, (const char *)(m->words + at + HEAD) + (address - from), size);
            return true;
        }
        at += HEAD + (has + sizeof *m->words - 1) / sizeof *m->words;
    }
    return false;
}

void arg_copy_keep(struct arg_copy_kept *k, const struct arg_copy *m, int nr,
                   const uint64_t args[6])
{
    k->is.n = 0;
    if (!m || !m->n)
        return;
    k->nr = nr;
    memcpy(k->args, args, sizeof k->args);
    GROW_TO(k->words, m->n, k->room);
    memcpy(k->words, m->words, m->n * sizeof *k->words);
    k->is = (struct arg_copy){k->words, m->n};
}

bool arg_copy_is_of(const struct arg_copy_kept *k, int nr, const uint64_t args[6])
{
    return k->is.n && k->nr == nr && memcmp(k->args, args, sizeof k->args) == 0;
}

void arg_copy_release(struct arg_copy_kept *k)
{
    free(k->words);
    *k = (struct arg_copy_kept){.nr = 0};
}
