/*
 * foldedtree.h: any bytes as folded text made a tree, with what its comments say of time: for fuzz
 * targets.
 */
#ifndef FLAME_TESTS_FOLDEDTREE_H
#define FLAME_TESTS_FOLDEDTREE_H

#include "render/backend.h"
#include "render/palette.h"

struct foldedtree {
    struct frametree tree;
    struct timeline timeline;
    struct lanes lanes;
    char *text;                   /* all of it, ended by 0: a name for everything that has one */
    struct render_column column;  /* of `options` */
    struct wrappers_options wrap; /* the same */
    struct render_options options;
};

/* Ends the process by abort() where what is added is not taken. Release it. */
void foldedtree_make(struct foldedtree *f, const char *s, size_t size, bool reverse);
void foldedtree_release(struct foldedtree *f);

/* What a backend writes for it, ended by 0 and owned by the caller. */
char *foldedtree_written(const struct foldedtree *f, const struct render_backend *b, size_t *len);
/* The same of a backend that writes text; aborts if there is a 0 or a control character in it. */
char *foldedtree_text(const struct foldedtree *f, const struct render_backend *b);

#endif
