/*
 * Any bytes as other profilers' text: by the reader that is guessed and by the
 * one that the last byte picks, which also picks options and filters. They come in
 * pieces of random sizes, as through a pipe, and may be gzip or zstd. What comes out
 * must be what comes of all at once, folded text whose every name is safe, and must
 * fold to itself.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "common/folded.h"
#include "fold/collapse/collapse.h"
#include "fold/stacks/filter.h"
#include "tests/unit/pieces.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
    if (!good)
        abort();
}

static char *collapse(const struct collapse_kind *kind, const struct collapse_options *opt,
                      struct pieces p, size_t *len)
{
    struct stackset *stacks = stackset_new();
    struct filter filter = {.active = true,
                            .by = opt->place,
                            .recursion = opt->pid,
                            .trim_shared = opt->kernel,
                            .from_caller = opt->addrs,
                            .text = STRBUF_INIT};
    struct collapse c;
    char *text = NULL;
    FILE *f;

    collapse_init(&c, opt, stacks);
    pieces_open(&c.in, &p, p.most ? p.most : 65536);
    kind->run(&c);
    check(c.n == 0);
    collapse_release(&c);
    if (opt->place)
        filter_stacks(&filter, &stacks);
    filter_release(&filter);
    f = open_memstream(&text, len);
    check(f != NULL);
    stackset_write(stacks, BY_STACK, f);
    check(fclose(f) == 0);
    stackset_free(stacks);
    return text;
}

static void try(const struct collapse_kind *kind, uint8_t how, const char *s, size_t size)
{
    static const struct collapse_options plain;
    struct collapse_options opt = {.pid = how & 1,
                                   .tid = how & 2,
                                   .perl = how & 2,
                                   .kernel = how & 4,
                                   .jit = how & 4,
                                   .addrs = how & 8,
                                   .srcline = how & 16,
                                   .inlined = how & 32,
                                   .wake = how & 4,
                                   .chain = how & 8,
                                   .place = how & 64 ? PLACE_MODULE : PLACE_NONE};
    struct pieces whole = {.text = s, .len = size}, pieces = whole, made;
    size_t len, again_len, pieces_len;
    char *text, *again, *in_pieces;
    bool folded = kind->run == collapse_kind_find("folded")->run;

    pieces.most = how & 128 ? 1 + (size_t)how % 16 : 100;
    pieces.state = how;
    text = collapse(kind, &opt, whole, &len);
    in_pieces = collapse(kind, &opt, pieces, &pieces_len);
    check(len == pieces_len && memcmp(text, in_pieces, len) == 0);
    free(in_pieces);
    for (char *line = text, *nl; !folded && (nl = memchr(line, '\n', len - (size_t)(line - text)));
         line = nl + 1) {
        struct folded_line f;

        check(folded_parse_line(line, (size_t)(nl - line), &f) == 1 && !f.differential);
        for (char *p = line; p < nl; p++)
            check((unsigned char)*p >= 0x20);
    }
    made = (struct pieces){.text = text, .len = len};
    again = collapse(collapse_kind_find("folded"), &plain, made, &again_len);
    /* A byte order mark at the very beginning is no part of a name. */
    folded |= len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    check(folded || (len == again_len && memcmp(text, again, len) == 0));
    free(text);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *s = (const char *)data;
    const struct collapse_kind *kind = collapse_kind_guess(s, size);
    uint8_t pick = size ? data[size - 1] : 0, how = size > 1 ? data[size - 2] : 0;
    size_t n = 0;

    if (kind)
        try(kind, 0, s, size);
    while (collapse_kinds[n].name)
        n++;
    try(&collapse_kinds[pick % n], how, s, size);
    return 0;
}
