/*
 * nameattr.h: attributes that a file gives to the frames of some names
 * (--nameattr): lines "name<TAB>attribute=value<TAB>...", as flamegraph.pl reads
 * them. "title" replaces the tooltip, "href" makes the frame a link with "target"
 * (default _top); all others go to the frame's <g>.
 *
 * Ownership: the table copies. Not thread-safe while it is read.
 */
#ifndef FLAME_RENDER_NAMEATTR_H
#define FLAME_RENDER_NAMEATTR_H

#include <stdbool.h>

#include "common/strbuf.h"

struct nameattr; /* one name's attributes */
struct nameattrs;

/*
 * Reads the file. 0, or an enum flame_exit with a line on standard error that names
 * the line which is wrong; *a is NULL then.
 */
int nameattrs_read(struct nameattrs **a, const char *path);
void nameattrs_free(struct nameattrs *a);

/* The attributes of a name; NULL if it has none. `a` may be NULL. */
const struct nameattr *nameattr_find(const struct nameattrs *a, const char *name, size_t len);

/* The value of one of its attributes, or NULL. */
const char *nameattr_get(const struct nameattr *n, const char *key);

/* Appends ' key="value"' for all that go to the <g>. */
void nameattr_add(struct strbuf *sb, const struct nameattr *n);

#endif
