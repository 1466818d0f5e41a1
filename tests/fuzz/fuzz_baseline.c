/*
 * Any bytes as a baseline: stacks, or one line with the error. The text written of it
 * reads back as equal, so that a baseline can be made of a baseline.
 */
#include <stdlib.h>

#include "driver/suppress/baseline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
    if (!good)
        abort();
}

static struct baseline *parse(const char *text, size_t len, struct strbuf *why)
{
    struct baseline *b;
    int status = baseline_parse(&b, "x", "leak", text, len, why);

    check(status ? !b && strncmp(why->buf, "x:", 2) == 0 : b && why->len == 0);
    return b;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strbuf why = STRBUF_INIT, once = STRBUF_INIT, twice = STRBUF_INIT;
    struct baseline *b = parse((const char *)data, size, &why), *again;

    if (b) {
        baseline_text(b, "leak", &once);
        again = parse(once.buf, once.len, &why);
        check(again != NULL);
        baseline_text(again, "leak", &twice);
        check(once.len == twice.len && memcmp(once.buf, twice.buf, once.len) == 0);
        baseline_free(again);
    }
    baseline_free(b);
    strbuf_release(&why);
    strbuf_release(&once);
    strbuf_release(&twice);
    return 0;
}
