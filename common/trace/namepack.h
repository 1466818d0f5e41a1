/*
 * namepack.h: names of the addresses that occur in a trace, taken on the machine that recorded it.
 *
 * A trace that carries them (TRACE_META_NAMES) reads the same when its programs have been built
 * again or are on another machine. For an address of a file the pack has the functions around it,
 * from the outermost to the innermost that was inlined, with source file and line; each has the
 * name that the file has (not demangled). For the address of a lock it has the variable; for code
 * that a compiler made at run time, its name.
 *
 * The bytes (namepack_encode) are numbers of 7 bits a byte, the lowest first, the highest bit set
 * but in the last byte of each (LEB128), and texts:
 *
 *     1                               the version
 *     strings; for each: length, then so many bytes      (they are numbered from 1; 0 is none)
 *     modules; for each:
 *         path (a string), bytes of the build-id, these bytes or, without one, the layout
 *         state (enum namepack_state)
 *         places; for each: how far it is behind the one before, flags, frames
 *             for each frame: name (a string), path (a string or 0), line (0: not known)
 *         objects; for each: how far it is behind the one before, name (a string), offset, size
 *     made; for each: process id, address, name (a string)
 *
 * Adding goes before lookups, with namepack_finish in between. All results live until
 * namepack_free. Not thread-safe for one pack.
 */
#ifndef FLAME_COMMON_TRACE_NAMEPACK_H
#define FLAME_COMMON_TRACE_NAMEPACK_H

#include <stdbool.h>

#include "common/strbuf.h"
#include "common/trace_format.h"

struct namepack;
struct namepack_module;

struct namepack_text {
    const char *s; /* NUL-terminated, may hold NULs */
    size_t len;
};

/* State of a module's own file when the names were taken. */
enum namepack_state {
    NAMEPACK_THERE = 0,
    NAMEPACK_CHANGED = 1, /* it was another file by then: these names come from elsewhere */
    NAMEPACK_GONE = 2,
};

enum namepack_flag {
    NAMEPACK_ASKED = 1u << 0,     /* the functions at this address were looked up; n may be 0 */
    NAMEPACK_SIGRETURN = 1u << 1, /* the code that a signal handler returns to begins here */
};

struct namepack_frame {
    uint32_t name, path; /* strings, for namepack_string */
    uint32_t line;
};

/* An address of a file. */
struct namepack_place {
    uint64_t vaddr;
    uint32_t first, n; /* of the frames, outermost first; for namepack_frame */
    uint32_t flags;    /* enum namepack_flag */
};

struct namepack_object {
    uint64_t vaddr;        /* the address that was looked up */
    uint64_t offset, size; /* offset of the address in the variable, and the variable's size */
    uint32_t name;
};

/* Code that was made at run time. */
struct namepack_code {
    uint64_t addr;
    uint32_t pid, name;
};

/*
 * A key that identifies a module, in a block that the caller frees: the path with its NUL, so that
 * the key is a C string, too, then the build-id or, with id_len 0, the layout.
 */
char *namepack_key(const char *path, const uint8_t *id, size_t id_len, uint32_t layout,
                   size_t *len);

struct namepack *namepack_new(void);
void namepack_free(struct namepack *p); /* NULL is allowed */

/* The module of this file, created if there is none; id_len 0: identified by its layout. */
struct namepack_module *namepack_module(struct namepack *p, const char *path, const uint8_t *id,
                                        size_t id_len, uint32_t layout);
/* Like namepack_module, but NULL where there is none. */
const struct namepack_module *namepack_find_module(const struct namepack *p, const char *path,
                                                   const uint8_t *id, size_t id_len,
                                                   uint32_t layout);
void namepack_set_state(struct namepack_module *m, enum namepack_state state);
enum namepack_state namepack_state(const struct namepack_module *m);

/* The number of a text; equal texts have equal numbers. */
uint32_t namepack_add_string(struct namepack *p, const char *s, size_t len);
struct namepack_text namepack_string(const struct namepack *p, uint32_t string);

/* Adders of places and objects: if an address has several, the one with most information stays. */
void namepack_add_place(struct namepack *p, struct namepack_module *m, uint64_t vaddr,
                        uint32_t flags, const struct namepack_frame *frames, size_t n);
void namepack_add_object(struct namepack_module *m, const struct namepack_object *o);
void namepack_add_made(struct namepack *p, uint32_t pid, uint64_t addr, uint32_t name);

/* Adds all that `from`, a finished pack, has. */
void namepack_add(struct namepack *p, const struct namepack *from);

void namepack_finish(struct namepack *p);

/* NULL: the address was not looked up. */
const struct namepack_place *namepack_place(const struct namepack_module *m, uint64_t vaddr);
const struct namepack_object *namepack_object(const struct namepack_module *m, uint64_t vaddr);
const struct namepack_frame *namepack_frames(const struct namepack *p,
                                             const struct namepack_place *place);

/* The name of code that was made at run time, a string; 0: it has none. */
uint32_t namepack_made(const struct namepack *p, uint32_t pid, uint64_t addr);
/* Whether the pack has names of code that was made in that process. */
bool namepack_has_made(const struct namepack *p, uint32_t pid);

/* Iterators over all contents: the module behind m (NULL: the first), its path, the i-th of its
 * places and objects, and the i-th piece of code that was made at run time. NULL: there are no
 * more. */
const struct namepack_module *namepack_next(const struct namepack *p,
                                            const struct namepack_module *m);
const char *namepack_path(const struct namepack_module *m);
const struct namepack_place *namepack_place_at(const struct namepack_module *m, size_t i);
const struct namepack_object *namepack_object_at(const struct namepack_module *m, size_t i);
const struct namepack_code *namepack_made_at(const struct namepack *p, size_t i);

/* Numbers of modules, of places whose functions were looked up, of places that have some, and of
 * strings. */
struct namepack_counts {
    size_t modules, places, named, strings;
};
struct namepack_counts namepack_count(const struct namepack *p);

/* Appends a finished pack as bytes. */
void namepack_encode(const struct namepack *p, struct strbuf *out);
/* Adds the names in such bytes, which need no validation before. False: they are damaged, and p may
 * hold a part of them. */
bool namepack_decode(struct namepack *p, const uint8_t *data, size_t len);

#endif
