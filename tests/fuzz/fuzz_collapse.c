/*
 * Any bytes as other profilers' text: by the reader that is guessed and by the
 * one that the last byte picks, which also picks options, filters and whether the bytes
 * come from a file (and so may be gzip or zstd). What comes out must be folded
 * text whose every name is safe, and must fold to itself.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/folded.h"
#include "fold/collapse.h"
#include "fold/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
    if (!good)
        abort();
}

static void open_file(struct collapse_input *in, const char *s, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    char path[64];

    check(fd >= 0 && write(fd, s, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    check(collapse_input_open(in, path) == 0);
    in->name = "fuzz";
    close(fd);
}

static char *collapse(const struct collapse_kind *kind, const struct collapse_options *opt,
                      bool file, const char *s, size_t size, size_t *len)
{
    struct collapse_stacks *stacks = collapse_stacks_new();
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
    if (file)
        open_file(&c.in, s, size);
    else
        collapse_input_memory(&c.in, "fuzz", s, size);
    kind->run(&c);
    check(c.n == 0);
    collapse_release(&c);
    if (opt->place)
        filter_stacks(&filter, &stacks);
    filter_release(&filter);
    f = open_memstream(&text, len);
    check(f != NULL);
    collapse_stacks_write(stacks, BY_STACK, f);
    check(fclose(f) == 0);
    collapse_stacks_free(stacks);
    return text;
}

static void try(const struct collapse_kind *kind, uint8_t how, const char *s, size_t size)
{
    static const struct collapse_options plain;
    struct collapse_options opt = {.pid = how & 1,
                                   .tid = how & 2,
                                   .kernel = how & 4,
                                   .jit = how & 4,
                                   .addrs = how & 8,
                                   .srcline = how & 16,
                                   .inlined = how & 32,
                                   .wake = how & 4,
                                   .chain = how & 8,
                                   .place = how & 64 ? PLACE_MODULE : PLACE_NONE};
    size_t len, again_len;
    char *text, *again;
    bool folded = kind->run == collapse_kind_find("folded")->run;

    text = collapse(kind, &opt, how & 128, s, size, &len);
    for (char *line = text, *nl; !folded && (nl = memchr(line, '\n', len - (size_t)(line - text)));
         line = nl + 1) {
        struct folded_line f;

        check(folded_parse_line(line, (size_t)(nl - line), &f) == 1 && !f.differential);
        for (char *p = line; p < nl; p++)
            check((unsigned char)*p >= 0x20);
    }
    again = collapse(collapse_kind_find("folded"), &plain, false, text, len, &again_len);
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
