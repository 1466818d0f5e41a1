/*
 * elfsym.h: the parts of one ELF file that flame needs: symbols, build-id, and the location of
 * its debug information. Only elfsym.c and elfplt.c depend on libelf.
 *
 * The file is outside input: every offset is checked, and an unreadable part counts as missing.
 * Returned names point into the file and live until elfsym_close. Not thread-safe for one file.
 */
#ifndef FLAME_FOLD_SYMBOLS_ELFSYM_H
#define FLAME_FOLD_SYMBOLS_ELFSYM_H

#include <stdbool.h>

#include "fold/symbols/symtab.h"

struct elfsym;

/* NULL when there is no such regular file or it is not ELF. */
struct elfsym *elfsym_open(const char *path);
/* Like elfsym_open, for bytes in memory, which the elfsym owns and frees from now on. */
struct elfsym *elfsym_open_memory(void *data, size_t len);
void elfsym_close(struct elfsym *e);

/* "" for a file in memory. */
const char *elfsym_path(const struct elfsym *e);

/* elf_layout of its program headers (unwind/elflayout.h); 0: it has none. */
uint32_t elfsym_layout(const struct elfsym *e);
/* The GNU build-id, or NULL. */
const uint8_t *elfsym_build_id(const struct elfsym *e, size_t *len);

/* True when there is a section of that name with contents. */
bool elfsym_has_section(const struct elfsym *e, const char *name);

/*
 * The file name in .gnu_debuglink with the checksum of that file, or NULL. A name with a slash
 * in it is not returned.
 */
const char *elfsym_debuglink(const struct elfsym *e, uint32_t *crc);

/*
 * .gnu_debugaltlink: the path of the file of shared debug information and its
 * build-id, or NULL.
 */
const char *elfsym_debugaltlink(const struct elfsym *e, const uint8_t **id, size_t *id_len);

/* The ELF file packed in .gnu_debugdata (symbols only), or NULL. */
struct elfsym *elfsym_open_debugdata(const struct elfsym *e);

/* Adds the functions of .symtab or .dynsym; returns how many symbols there were. Where nothing has
 * been added before, as in a stripped file, functions of .dynsym without a size are short. */
size_t elfsym_add_symtab(const struct elfsym *e, struct symtab *to);
size_t elfsym_add_dynsym(const struct elfsym *e, struct symtab *to);
/* One of names[0..n) that this file needs from another file (weak references do not count);
 * NULL: none. */
const char *elfsym_wants(const struct elfsym *e, const char *const *names, size_t n);
/* Adds the variables of .symtab and .dynsym. */
void elfsym_add_objects(const struct elfsym *e, struct symtab *to);

/* Adds the stubs through which other modules are called, as "malloc@plt" (elfplt.c). */
void elfsym_add_plt(struct elfsym *e, struct symtab *to);

/* The contents of a section, decompressed if need be; they live until elfsym_close. NULL: there are
 * none. */
const uint8_t *elfsym_bytes(struct elfsym *e, const char *name, size_t *len);

/* Copies len bytes of the file's image at vaddr; false when they are not in it. */
bool elfsym_read(const struct elfsym *e, uint64_t vaddr, void *to, size_t len);
/* Finds the address in the file's image of the byte at `offset`; false when no segment has it. */
bool elfsym_vaddr(const struct elfsym *e, uint64_t offset, uint64_t *vaddr);

#endif
