/*
 * libcsites.h: the sites of the C library that flame itself uses, which is that of the programs of
 * the same system; and lists of a few of them for a run (patch/sitelist.h).
 *
 * For flame's own processes: allocates.
 */
#ifndef FLAME_PATCH_FIND_LIBCSITES_H
#define FLAME_PATCH_FIND_LIBCSITES_H

#include <stdbool.h>

#include "common/strbuf.h"
#include "patch/find/find.h"

/* Fills an empty list, from the cache if it can. 0; -ENOENT: there is no such library; or what
 * sites_find_in (find.h) says. After a failure the list is empty. */
int libcsites_find(struct site_list *list);

/*
 * Appends a file of those sites that make one of `n` calls by a number that is known. False, and
 * nothing is appended: the module has no build-id, or one of the calls is made nowhere where it
 * can be patched.
 */
bool sitelist_make(struct strbuf *to, const struct site_list *from, const int32_t *numbers,
                   size_t n);

#endif
