/*
 * dumpsites.h: the system calls in a program's or library's file, as patch/find/ finds them, to
 * show which of them can be patched and why the others cannot.
 */
#ifndef FLAME_RENDER_DUMP_DUMPSITES_H
#define FLAME_RENDER_DUMP_DUMPSITES_H

#include "render/dump/recordtext.h"
#include "patch/find/find.h"

/* Reads the file: FLAME_OK, or FLAME_USAGE after a line that says why. */
int dump_sites_load(const char *path, struct site_list *list);

/* Writes a record of the file, one of each kind and reason that occurs, and one of each site. */
void dump_sites(const char *path, const struct site_list *list, struct recordtext *w);

#endif
