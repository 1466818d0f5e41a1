/*
 * functable.h: the functions and files of a tree's names, for formats that keep functions, files
 * and lines apart.
 *
 * Names that differ in line only are one function; those of two modules are two. All strings are
 * made safe as by framename_add_clean. Read-only once made. Memory grows with the names.
 */
#ifndef FLAME_RENDER_EXPORT_FUNCTABLE_H
#define FLAME_RENDER_EXPORT_FUNCTABLE_H

#include <stdbool.h>

#include "render/frametree.h"

#define FUNCTABLE_NONE UINT32_MAX

struct functable_func {
    uint32_t name, file; /* in the strings; file may be FUNCTABLE_NONE */
    uint32_t module;     /* in the tree's modules; 0: none that is known */
};

struct functable_place {
    uint32_t func;
    uint32_t line; /* 0: not known */
    char mark;     /* of _[k]; 0: none */
};

struct functable {
    struct functable_func *funcs;
    uint32_t nfuncs;
    struct functable_place *places; /* by name of the tree; the root's is function 0 */
    uint32_t nstrings;
    struct stackset *strings, *keys;
};

/*
 * `marks`: annotations that are removed from the functions' names ("", "i", "kjiw"). Strings
 * that the caller adds before with functable_string have the lower numbers.
 */
void functable_init(struct functable *ft);
void functable_fill(struct functable *ft, const struct frametree *t, const char *marks);
void functable_release(struct functable *ft);

/* The number of a string. Strings are numbered from 0 in the order they came, and their bytes
 * are kept as they are. */
uint32_t functable_string(struct functable *ft, const char *s, size_t len);
/* A string's bytes, borrowed. */
const char *functable_text(const struct functable *ft, uint32_t string, size_t *len);

#endif
