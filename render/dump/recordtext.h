/*
 * recordtext.h: records of named fields, as lines of text or as JSON.
 *
 * Text is a line a record, "SECTION name=value name=value", for grep and awk; blanks and quotes
 * in values are escaped as in C. JSON is one object with an array for each section. Values of
 * 2^53 and more are exact in both (JSON numbers have as many digits as they need).
 *
 * Not thread-safe for one writer. The stream is the caller's, who also checks it for errors.
 */
#ifndef FLAME_RENDER_DUMP_RECORDTEXT_H
#define FLAME_RENDER_DUMP_RECORDTEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "common/strbuf.h"

struct recordtext {
    FILE *to;
    bool json;
    const char *section; /* of the records that are written now */
    bool any_section, any_record, any_field;
    struct strbuf line;
};

void recordtext_begin(struct recordtext *w, FILE *to, bool json);
void recordtext_end(struct recordtext *w);

/* Records from here on are of this section (a static string). */
void recordtext_section(struct recordtext *w, const char *name);

void recordtext_record(struct recordtext *w);
void recordtext_number(struct recordtext *w, const char *name, uint64_t value);
void recordtext_signed(struct recordtext *w, const char *name, int64_t value);
/* "0x1f": text in JSON, too. */
void recordtext_address(struct recordtext *w, const char *name, uint64_t value);
void recordtext_bytes(struct recordtext *w, const char *name, const char *s, size_t len);
void recordtext_string(struct recordtext *w, const char *name, const char *s);
void recordtext_record_end(struct recordtext *w);

#endif
