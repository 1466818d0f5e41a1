/*
 * libcsites.h: the sites of the C library that flame itself uses, which is also that of the
 * programs of the same system; and lists of a few of them for a run (patch/sitelist.h).
 *
 * For flame's own processes: allocates.
 */
#ifndef FLAME_PATCH_FIND_LIBCSITES_H
#define FLAME_PATCH_FIND_LIBCSITES_H

#include <stdbool.h>

#include "common/strbuf.h"
#include "patch/find/find.h"

/* Fills an empty list, from the cache if possible. 0; -ENOENT: there is no such library; or a
 * result of sites_find_in (find.h). After a failure the list is empty. */
int libcsites_find(struct site_list *list);

/*
 * Appends a file with the sites that make one of `n` calls by a known number. False, with nothing
 * appended: the module has no build-id, or one of the calls has no site that can be patched.
 */
bool sitelist_make(struct strbuf *to, const struct site_list *from, const int32_t *numbers,
                   size_t n);

#endif
