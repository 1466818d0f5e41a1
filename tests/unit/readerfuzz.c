/* Any bytes in one reader; see readerfuzz.h. */
#define _GNU_SOURCE
#include "tests/unit/readerfuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/folded.h"
#include "fold/collapse/collapse.h"
#include "tests/unit/pieces.h"

static void check(int good)
{
    if (!good)
        abort();
}

/* The folded text, and behind it the error if there was one. */
static char *collapse(const struct collapse_kind *kind, const struct collapse_options *opt,
                      struct pieces p, size_t *len)
{
    struct stackset *stacks = stackset_new();
    struct strbuf out = STRBUF_INIT;
    char *text = NULL, error[200];
    struct collapse c;
    size_t size;
    FILE *f;

    collapse_init(&c, opt, stacks);
    pieces_open(&c.in, &p, p.most ? p.most : 65536);
    kind->run(&c);
    check(c.n == 0);
    snprintf(error, sizeof error, "%s", c.in.error ? c.in.error : "");
    for (const char *e = error; *e; e++)
        check((unsigned char)*e >= 0x20);
    collapse_release(&c);
    f = open_memstream(&text, &size);
    check(f != NULL);
    stackset_write(stacks, BY_STACK, f);
    check(fclose(f) == 0);
    stackset_free(stacks);
    for (char *line = text, *nl; (nl = memchr(line, '\n', size - (size_t)(line - text)));
         line = nl + 1) {
        struct folded_line l;

        check(folded_parse_line(line, (size_t)(nl - line), &l) == 1 && !l.differential);
    }
    strbuf_add(&out, text, size);
    strbuf_addstr(&out, error);
    free(text);
    return strbuf_detach(&out, len);
}

void readerfuzz(const char *name, const uint8_t *data, size_t size)
{
    static const struct collapse_options plain;
    const struct collapse_kind *kind = collapse_kind_find(name);
    uint8_t how = size ? data[size - 1] : 0, more = size > 1 ? data[size - 2] : 0;
    const struct collapse_options opt = {.pid = how & 1,
                                         .tid = how & 2,
                                         .kernel = how & 4,
                                         .addrs = how & 8,
                                         .srcline = how & 16,
                                         .inlined = how & 32,
                                         .place = how & 64 ? PLACE_LINE : PLACE_MODULE,
                                         .type = how & 128 ? "alloc_space" : NULL,
                                         .label = "request,user"};
    struct pieces whole = {.text = (const char *)data, .len = size}, pieces = whole;
    size_t len, again;
    char *text, *in_pieces;

    check(kind != NULL);
    kind->probe((const char *)data, size);
    text = collapse(kind, &plain, whole, &len);
    pieces.most = 1 + (size_t)more % 64;
    pieces.state = more;
    in_pieces = collapse(kind, &plain, pieces, &again);
    check(len == again && memcmp(text, in_pieces, len) == 0);
    free(in_pieces);
    free(text);
    free(collapse(kind, &opt, whole, &len));
}
