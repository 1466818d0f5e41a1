/*
 * sentences.h: the findings of a folded text, as a page or a picture of it shows them above its
 * frames (findings.h), for the end of a run in a terminal.
 */
#ifndef FLAME_RENDER_FINDINGS_SENTENCES_H
#define FLAME_RENDER_FINDINGS_SENTENCES_H

#include "common/strbuf.h"

/*
 * Reads the text at `path`. `view`: the view that is shown first, of several; `without`: a rule
 * whose sentences are left out, or NULL. Appends to `out` the first sentences, at most `max`,
 * each with a newline behind it, which is in none of them (findings.h). Leaves out structural
 * findings: waits that show how a program is made, and no problem in it. Returns how many it
 * appended; 0 also where the text cannot be read, after a line.
 */
size_t sentences_of(struct strbuf *out, const char *path, const char *view, const char *without,
                    size_t max);

#endif
