/*
 * Any bytes as a file of suppressions, of either kind: rules, or one line with the error
 * and where. The rules are then matched with stacks made of the same bytes; the rule for all stacks
 * must match.
 */
#include <stdlib.h>

#include "driver/suppress/suppress.h"

#define FRAMES 6u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
    if (!good)
        abort();
}

static void match(struct suppressions *s, const char *text, size_t size)
{
    struct suppress_frame frame[FRAMES], *stack[FRAMES];
    char module[64];

    for (size_t i = 0; i < FRAMES; i++) {
        size_t at = size * i / FRAMES, n = size / FRAMES, path = n < 63 ? n : 63;

        memcpy(module, text + at, path);
        module[path] = '\0';
        frame[i] = (struct suppress_frame){.name = text + at,
                                           .len = n,
                                           .raw = text + at,
                                           .raw_len = n / 2,
                                           .file = i & 1 ? "file.c" : NULL,
                                           .module = module};
        stack[i] = &frame[i];
    }
    for (size_t n = 0; n <= FRAMES; n++) {
        size_t by = suppressions_match(s, stack, n, SUPPRESS_DEFINITE);

        check(by == SUPPRESS_NONE || suppressions_at(s, by)->matched);
    }
    check(suppressions_match(s, stack, FRAMES, SUPPRESS_DEFINITE) != SUPPRESS_NONE);
    for (size_t i = 0; i < FRAMES; i++)
        suppress_frame_release(&frame[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char name[] = "x", all[] = "{\nall\nMemcheck:Leak\n...\n}\n";
    struct suppressions *s = suppressions_new();
    struct strbuf why = STRBUF_INIT;
    const char *text = (const char *)data;
    int status = suppressions_parse(s, name, false, text, size, &why);

    check(status ? strncmp(why.buf, "x:", 2) == 0 : why.len == 0);
    for (size_t i = 0; !status && i < suppressions_count(s); i++)
        check(suppressions_at(s, i)->name[0] && suppressions_at(s, i)->line > 0);
    if (!status) {
        check(suppressions_parse(s, name, true, all, sizeof all - 1, NULL) == 0);
        match(s, text, size);
    }
    strbuf_release(&why);
    suppressions_free(s);
    return 0;
}
