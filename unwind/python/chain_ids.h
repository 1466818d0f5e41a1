/*
 * chain_ids.h: small numbers for chains of Python frames.
 *
 * A chain's id follows from the id of the chain without its innermost part, and from that part. So
 * equal chains have equal ids, and different chains have different ones. One table for each thread;
 * no lock, no malloc.
 */
#ifndef FLAME_UNWIND_PYTHON_CHAIN_IDS_H
#define FLAME_UNWIND_PYTHON_CHAIN_IDS_H

#include <stdint.h>

/* Ids are from 1 to CHAIN_IDS_MOST. */
#define CHAIN_IDS_MOST ((1u << 27) - 1)
/* "Not known": there is no room for the chain. */
#define CHAIN_IDS_NONE UINT32_MAX

/* All zero: empty. */
struct chain_ids {
    struct chain_id {
        uint64_t part;
        uint32_t parent;
        uint32_t id; /* 0: the slot is free */
    } * known;
    uint32_t n, size; /* entries; size is a power of two, or 0 */
    uint32_t last;    /* the newest id */
};

/* Limit of entries; beyond it the table begins again, and gives no id twice. */
#define CHAIN_IDS_KNOWN (1u << 16)

/* The id of the chain `parent` (0: none) with `part` added. */
uint32_t chain_ids_add(struct chain_ids *t, uint32_t parent, uint64_t part);

#endif
