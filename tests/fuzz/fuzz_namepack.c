/* Any bytes as the names that a trace carries: refused, or written again as equal bytes. */
#include <stdlib.h>

#include "common/trace/namepack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct namepack *decoded(const void *data, size_t size)
{
    struct namepack *p = namepack_new();

    if (namepack_decode(p, data, size)) {
        namepack_finish(p);
        return p;
    }
    namepack_free(p);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strbuf once = STRBUF_INIT, twice = STRBUF_INIT;
    struct namepack *p = decoded(data, size), *q, *sum;
    struct namepack_counts a, b;

    if (!p)
        return 0;
    namepack_encode(p, &once);
    q = decoded(once.buf, once.len);
    if (!q)
        abort();
    namepack_encode(q, &twice);
    sum = namepack_new();
    namepack_add(sum, p);
    namepack_add(sum, q);
    namepack_finish(sum);
    a = namepack_count(p);
    b = namepack_count(sum);
    if (a.modules != b.modules || a.places != b.places || a.named != b.named)
        abort();
    namepack_free(p);
    namepack_free(q);
    namepack_free(sum);
    strbuf_release(&once);
    strbuf_release(&twice);
    return 0;
}
