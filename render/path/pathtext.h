/*
 * pathtext.h: the critical path in words, for `flame path`. Pure functions that append to a strbuf.
 *
 * Names come from outside; they are appended as text that is safe on a terminal.
 */
#ifndef FLAME_RENDER_PATH_PATHTEXT_H
#define FLAME_RENDER_PATH_PATHTEXT_H

#include "fold/analysis/criticaltext.h"
#include "fold/analysis/whatif.h"

struct pathtext {
    const struct critical_text *path;
    const struct whatif_rules *rules; /* path->what_if has a result of each, and one more of all
                                         together if there are several */
    unsigned cpus; /* processors that all threads share; 0: as many as they need */
    bool range;    /* the path of a part of the time was asked for */
};

/* The path's length, its parts, its threads, and the things waited for with the bound of each. */
void pathtext_add_path(struct strbuf *sb, const struct pathtext *p);

/* A line or two for each result of path->what_if. */
void pathtext_add_what_if(struct strbuf *sb, const struct pathtext *p);

#endif
