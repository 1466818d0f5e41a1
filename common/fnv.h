/*
 * fnv.h: FNV-1a with 64 bits (of Fowler, Noll and Vo): one hash on from FNV_BASIS or from
 * what came before. Its low bits are weak; whoever needs them mixes once more. Pure.
 */
#ifndef FLAME_COMMON_FNV_H
#define FLAME_COMMON_FNV_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FNV_BASIS 0xcbf29ce484222325u

static inline uint64_t fnv_bytes(uint64_t hash, const void *data, size_t len)
{
    const uint8_t *bytes = data;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* With its NUL, so that no two texts run together. NULL is "". */
static inline uint64_t fnv_text(uint64_t hash, const char *s)
{
    return s ? fnv_bytes(hash, s, strlen(s) + 1) : fnv_bytes(hash, "", 1);
}

#endif
