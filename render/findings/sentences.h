/*
 * sentences.h: what a folded text says, in the sentences that a page or a picture of it has above
 * its frames (findings.h), for the end of a run in a terminal.
 */
#ifndef FLAME_RENDER_FINDINGS_SENTENCES_H
#define FLAME_RENDER_FINDINGS_SENTENCES_H

#include "common/strbuf.h"

/*
 * Reads the text at `path`. `view`: the one that is shown first of several; `without`: a rule whose
 * sentences are left out, or NULL. Appends to `out` the first of them, at most `max`, each with a
 * newline behind it, which is in none of them (findings.h). Those of waits that say
 * how a program is made and not what to change are not among them. Returns how many there are; 0
 * also where the text cannot be read, after a line.
 */
size_t sentences_of(struct strbuf *out, const char *path, const char *view, const char *without,
                    size_t max);

#endif
