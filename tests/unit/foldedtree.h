/*
 * foldedtree.h: makes a tree of any bytes as folded text, with the times in its comments: for fuzz
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
    char *text;                   /* all of it, ended by 0: a name for every field that needs one */
    struct render_column column;  /* of `options` */
    struct wrappers_options wrap; /* of `options` */
    struct render_options options;
};

/* Aborts if an addition is refused. Release it. */
void foldedtree_make(struct foldedtree *f, const char *s, size_t size, bool reverse);
void foldedtree_release(struct foldedtree *f);

/* Output of a backend for the tree, ended by 0 and owned by the caller. */
char *foldedtree_written(const struct foldedtree *f, const struct render_backend *b, size_t *len);
/* Like foldedtree_written(), of a backend that writes text; aborts if there is a 0 or a control
 * character in it. */
char *foldedtree_text(const struct foldedtree *f, const struct render_backend *b);

#endif
