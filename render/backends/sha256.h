/*
 * sha256.h: the SHA-256 digest of bytes in memory, as FIPS 180-4 defines it.
 *
 * For texts that a page names by their digest. Not meant for secrets: it makes no effort to take
 * the same time for all. No state, no allocation; thread-safe.
 */
#ifndef FLAME_RENDER_BACKENDS_SHA256_H
#define FLAME_RENDER_BACKENDS_SHA256_H

#include <stdint.h>

#include "common/compiler.h"

#define SHA256_BYTES 32

void sha256(uint8_t digest[SHA256_BYTES], const void *data, size_t len);

#endif
