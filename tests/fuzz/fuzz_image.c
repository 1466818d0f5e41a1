/*
 * Any bytes as a mapped file, as the tracer sees one: its headers, its notes, its unwind
 * tables, and the rules for addresses all over it.
 */
#include "tracer/stacks/image.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void ask(struct image *im, uint64_t addr)
{
    packed_rule rule = image_rule(im, addr);
    uint64_t word;

    if (rule_kind_of(rule) == RULE_UNSET || rule_kind_of(rule) > RULE_CFA_FAR)
        abort();
    if (image_read(im, addr, &word, sizeof word))
        sink += word;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image *im = image_from_bytes(data, size);
    uintptr_t bias = 0;

    if (!im)
        return 0;
    if (im->lo >= im->hi || im->build_id_size > TRACE_BUILD_ID_MAX)
        abort();
    for (uint64_t i = 0; i < 64; i++) {
        ask(im, im->lo + (im->hi - im->lo) / 64 * i);
        ask(im, im->tables_at + i * 4);
        ask(im, im->tables_at + im->tables_size - i);
        if (image_bias(im, 0x7f0000000000, i * 4096, i & 1, i & 2, &bias))
            sink += bias;
    }
    for (unsigned i = 0; i < im->phnum; i++)
        ask(im, im->phdr[i].p_vaddr + 1);
    image_release(im);
    return 0;
}
