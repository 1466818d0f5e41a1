/*
 * elfdyn.h: facts in an ELF file that the dynamic loader uses, read from a descriptor.
 *
 * For 64-bit files of this machine's byte order. Maps nothing and allocates nothing: each query is
 * a few preads of some hundred bytes. So it may run inside a traced program, between vfork and
 * exec, or in a signal handler. No field of the file is trusted: a place that does not exist gives
 * the answer "no", loops are bounded, and no offset of the file becomes a pointer.
 *
 * Thread- and signal-safe; preserves errno.
 */
#ifndef FLAME_COMMON_ELFDYN_H
#define FLAME_COMMON_ELFDYN_H

#include <elf.h>
#include <stdbool.h>

#include "common/compiler.h"

/* Program headers read at once; most programs have 11 to 14. */
#define ELFDYN_HEADERS 16

struct elfdyn {
    int fd; /* borrowed */
    Elf64_Ehdr head;
    Elf64_Phdr headers[ELFDYN_HEADERS]; /* the ones from `first` on */
    unsigned first, nheaders;
    uint64_t dynamic, dynamic_size; /* file offset and bytes; 0: no such segment */
    /* File offsets of the dynamic section's tables; 0: it has none. */
    uint64_t strings, symbols, hash;
    struct elfdyn_hash {
        uint32_t nbuckets, first_symbol, bloom_words, bloom_shift;
    } hash_head; /* nbuckets 0: there is no such table */
};

/* Reads the ELF header and finds the tables. False: this is no 64-bit ELF file, or its
 * program headers cannot be read. */
bool elfdyn_open(struct elfdyn *e, int fd);

/* The loader that the file asks for: its length, with the name in `name` (NUL-terminated, cut to
 * `size`); 0 when it asks for none; -1 when the name cannot be read. */
int elfdyn_interpreter(struct elfdyn *e, char *name, size_t size);

/* True when a library that the file needs has a name that begins with one of prefixes[0..n),
 * of which none is longer than 31 bytes. */
bool elfdyn_needs(struct elfdyn *e, const char *const *prefixes, size_t n);

/* True when the file defines the dynamic symbol `name`. The lookup is the loader's, by the GNU hash
 * table; without that table the answer is no. */
bool elfdyn_defines(struct elfdyn *e, const char *name);

/* Likewise, with its value, which is an address in the file. */
bool elfdyn_value(struct elfdyn *e, const char *name, uint64_t *value);

/* True when the file has the note `type` of `owner` (its name, of 15 bytes at most), for example 4
 * of "Go", which Go's linker writes into each program. */
bool elfdyn_has_note(struct elfdyn *e, const char *owner, uint32_t type);

#endif
