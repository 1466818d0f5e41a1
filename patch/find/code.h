/*
 * code.h: code ranges of a file, and the beginnings of its functions.
 *
 * All ranges are checked to lie in the file. They borrow the file's bytes.
 */
#ifndef FLAME_PATCH_FIND_CODE_H
#define FLAME_PATCH_FIND_CODE_H

#include <stdbool.h>

#include "common/compiler.h"

/* A piece of code: bytes[0..size) lie at `addr`, an address of the file. */
struct code_range {
    const uint8_t *bytes;
    uint32_t addr, size;
};

struct code {
    struct code_range *ranges; /* by address, not overlapping; owned */
    size_t n, room;
    /* Beginnings of functions, and the ends of those in .eh_frame (otherwise 0): sorted, each once,
     * each in a range; owned. */
    struct code_function {
        uint32_t start, end;
    } * functions;
    size_t nfunctions, functions_room;
    bool has_ends; /* at least one function's end is known, which means that the ends of all
                      compiled functions are */
    uint16_t machine;
    uint8_t build_id[64];
    size_t build_id_len;
};

/* False: it is no 64-bit ELF file of this machine's byte order, or it has no code below 4 GiB.
 * code_release must be called in this case, too. */
bool code_open(struct code *c, const uint8_t *file, size_t size);
void code_release(struct code *c);

/* The range that holds an address, or NULL. */
const struct code_range *code_at(const struct code *c, uint64_t addr);

/* Finds only the build-id. Returns its length, or 0. */
size_t code_build_id(const uint8_t *file, size_t size, uint8_t id[64]);

#endif
