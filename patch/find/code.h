/*
 * code.h: where a file has code, and where its functions begin.
 *
 * All places are checked to lie in the file. Ranges borrow the file's bytes.
 */
#ifndef FLAME_PATCH_FIND_CODE_H
#define FLAME_PATCH_FIND_CODE_H

#include <stdbool.h>

#include "common/compiler.h"

/* A piece of code: bytes[0..size) lie at `addr` in the file's terms. */
struct code_range {
    const uint8_t *bytes;
    uint32_t addr, size;
};

struct code {
    struct code_range *ranges; /* by address, not overlapping; owned */
    size_t n, room;
    /* Where they begin and, of those that .eh_frame tells of, end (else 0): sorted, each once, in a
       range; owned. */
    struct code_function {
        uint32_t start, end;
    } * functions;
    size_t nfunctions, functions_room;
    bool has_ends; /* of one function at least an end is known: of all that compilers made */
    uint16_t machine;
    uint8_t build_id[64];
    size_t build_id_len;
};

/* False: it is no ELF file of 64 bits and this machine's byte order, or it has no code below 4 GiB.
 * Then, too, code_release frees what there is. */
bool code_open(struct code *c, const uint8_t *file, size_t size);
void code_release(struct code *c);

/* The range that holds an address, or NULL. */
const struct code_range *code_at(const struct code *c, uint64_t addr);

/* The build-id alone: its length, or 0. */
size_t code_build_id(const uint8_t *file, size_t size, uint8_t id[64]);

#endif
