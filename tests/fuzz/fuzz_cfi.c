/*
 * Unwind sections from a hostile file: bytes 0 and 1 give the address to look up, the rest is the
 * image, .eh_frame_hdr first.
 */
#include <stdlib.h>

#include "unwind/cfi.h"
#include "unwind/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cfi_section s;
    const uint8_t *at, *fde;
    uintptr_t start, end;
    uint8_t *image;
    uint16_t offset;

    if (size < 10)
        return 0;
    memcpy(&offset, data, 2);
    size -= 2;
    image = malloc(size); /* exactly that long, so that a read past it is caught */
    if (!image)
        return 0;
    memcpy(image, data + 2, size);
    s = (struct cfi_section){
        .hdr = image, .hdr_size = size, .lo = (uintptr_t)image, .hi = (uintptr_t)image + size};
    for (int i = -2; i < 3; i++) {
        struct rule r = cfi_rule_at(&s, (uintptr_t)image + offset + (uintptr_t)(i * 7));

        if (r.kind == RULE_UNSET || r.kind > RULE_CFA_LR || !rule_pack(r))
            abort();
    }
    /* The image once more as a .debug_frame section. */
    s.hdr = NULL;
    s.debug_frame = true;
    for (at = image; at;)
        if (cfi_next_fde(&s, &at, &fde, &start, &end) &&
            cfi_rule_of(&s, fde, start + offset % (end - start)).kind == RULE_UNSET)
            abort();
    free(image);
    return 0;
}
