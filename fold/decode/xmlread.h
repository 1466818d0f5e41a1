/*
 * xmlread.h: XML 1.0 read piece by piece, as programs write their reports in it.
 *
 * A strict reader of the part of XML (https://www.w3.org/TR/xml/) that reports use: elements,
 * attributes, text, CDATA, comments and processing instructions, the five entities that every
 * reader knows and references by number. A document type is refused: nothing can be declared, so
 * nothing expands and nothing outside the text is ever opened. Elements must be closed in order, at
 * most XML_DEPTH deep. The text is borrowed, and UTF-8 is not checked: names are made safe where
 * they are used. What is wrong stops the reader for good. Not thread-safe for one struct xml.
 */
#ifndef FLAME_FOLD_DECODE_XMLREAD_H
#define FLAME_FOLD_DECODE_XMLREAD_H

#include "common/strbuf.h"
#include "fold/stacks/span.h"

enum { XML_DEPTH = 64 };

enum xml_event {
    XML_END,   /* of the text, or something is wrong: see `wrong` */
    XML_OPEN,  /* an element begins: `name`, its attributes by xml_attribute */
    XML_CLOSE, /* it ends: `name`; also behind XML_OPEN of <empty/> */
    XML_TEXT,  /* `value`, its references replaced; an element may have several */
};

struct xml {
    const char *s, *end;
    struct span name, attributes; /* borrowed from the text */
    struct strbuf value;
    struct span open[XML_DEPTH]; /* names of the elements that are open */
    size_t depth;
    bool closing;      /* the element that was opened last is empty and ends next */
    const char *wrong; /* the error at `s`, a constant; NULL while there is none */
};

void xml_init(struct xml *x, const char *text, size_t len);
void xml_release(struct xml *x);
enum xml_event xml_next(struct xml *x);
/* The value of an attribute of the element just opened, in `out`; false when it has none. */
bool xml_attribute(struct xml *x, const char *name, struct strbuf *out);

#endif
