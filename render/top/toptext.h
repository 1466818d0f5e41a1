/*
 * toptext.h: names and counts as columns of text, for `flame top`. Pure functions
 * that append to a strbuf.
 */
#ifndef FLAME_RENDER_TOP_TOPTEXT_H
#define FLAME_RENDER_TOP_TOPTEXT_H

#include "common/folded.h"

/*
 * Appends a name as text that is safe on a terminal: controls, broken UTF-8 and characters that
 * change the direction of text come out as \x1b or \u{202e}. Stops before `columns` (0: never)
 * are full and ends in "…" then.
 */
void toptext_add_name(struct strbuf *sb, const char *s, size_t len, size_t columns);

/* Text at the right end of `width` columns. */
void toptext_add_right(struct strbuf *sb, const char *text, size_t width);

/* A count, with a shorter unit unless `exact`. */
void toptext_add_value(struct strbuf *sb, struct folded_count c, const char *unit, bool exact,
                       size_t width);

/* A count's share of the total, nine columns wide. */
void toptext_add_share(struct strbuf *sb, struct folded_count c, double all);

/* A difference, with its sign, and its share of the total before, with two digits behind the
 * point ("new" if that is 0). */
void toptext_add_change(struct strbuf *sb, double change, double before, const char *unit,
                        bool exact, size_t width);

/* The line above the columns: self, self%, total, total% and the title of the last one. */
void toptext_add_columns(struct strbuf *sb, size_t width, const char *last);

#endif
