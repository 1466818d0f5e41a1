/*
 * exporttext.h: texts about the profile as a whole, for formats that have a place for them. The
 * text is appended to a strbuf; titles are C strings of any bytes.
 */
#ifndef FLAME_RENDER_EXPORT_EXPORTTEXT_H
#define FLAME_RENDER_EXPORT_EXPORTTEXT_H

#include "render/export/series.h"

/* "TITLE - SUBTITLE" on one line of clean text. The subtitle names the command, and for sampled
 * counts says that they are estimates. */
void exporttext_heading(struct strbuf *sb, const struct render_options *o);
/* A series' title, for a comparison with "before" or "after". */
void exporttext_series(struct strbuf *sb, const struct series_set *set, uint32_t i);

/* Like exporttext_heading and exporttext_series, as JSON strings. */
void exporttext_json_heading(struct strbuf *sb, const struct render_options *o);
void exporttext_json_series(struct strbuf *sb, const struct series_set *set, uint32_t i);

/* Warns that `format` takes whole numbers only and series i has others. */
void exporttext_warn_rounded(const char *format, const struct series_set *set, uint32_t i);
/* Warns of each series whose counts add up to 2^63 or more, which `format` cannot hold. */
void exporttext_warn_large(const char *format, const struct series_set *set);

#endif
