/*
 * idhash.h: uthash for keys that are numbers, or structs of a few numbers without padding: threads,
 * addresses, inodes. Include it in place of <uthash.h>, before any header that includes that.
 *
 * uthash's own function (Jenkins') takes 12 bytes a round and 30 operations for the shortest key;
 * this one takes a multiplication for each 8 bytes. Keys of the tracer are looked up ten times for
 * each call of a traced program.
 */
#ifndef FLAME_TRACER_OFFCPU_IDHASH_H
#define FLAME_TRACER_OFFCPU_IDHASH_H

#include "common/hash.h"
#include "common/compiler.h"

static inline uint32_t id_hash(const void *key, size_t len)
{
    const char *at = (const char *)key;
    uint64_t h = len, word;

    for (; len >= sizeof word; len -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        h = (h ^ word) * HASH_GOLDEN;
        h ^= h >> 32;
    }
    if (len) {
        word = 0;
        memcpy(&word, at, len);
        h = (h ^ word) * HASH_GOLDEN;
        h ^= h >> 32;
    }
    return (uint32_t)h;
}

#ifdef HASH_FUNCTION
#error "idhash.h comes before uthash.h"
#endif
#define HASH_FUNCTION(key, len, hash) ((hash) = id_hash((key), (len)))

#include <uthash.h> /* IWYU pragma: export */

#endif
