/*
 * Any bytes as a program's file, and as one function's code: whatever the finder finds in it must
 * be sound, lie in the file, and come back from the cache's format as it was.
 */
#include <elf.h>
#include <stdlib.h>

#include "patch/find/isa.h"
#include "patch/find/sitecache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_list(struct site_list *list)
{
    struct strbuf bytes = STRBUF_INIT;
    struct site_list back;
    uint64_t end = 0;

    for (size_t i = 0; i < list->n; i++) {
        const struct patch_site *s = &list->sites[i];

        if (!site_is_sound(s) || s->at < end)
            abort();
        end = (uint64_t)s->at + s->length;
    }
    if (!list->build_id_len) {
        list->build_id[0] = 1;
        list->build_id_len = 1;
    }
    sitecache_write(list, &bytes);
    if (sitecache_parse(&back, bytes.buf, bytes.len, list->build_id, list->build_id_len) != 0 ||
        back.n != list->n ||
        (back.n && memcmp(back.sites, list->sites, back.n * sizeof *back.sites)))
        abort();
    sites_release(&back);
    strbuf_release(&bytes);
}

/* The bytes as instructions, each of which is in them. */
static void decode_all(const uint8_t *data, size_t size)
{
    const struct isa *isa = isa_of(EM_X86_64);

    for (size_t at = 0; at < size;) {
        struct insn insn;
        unsigned n = isa->decode(data + at, size - at, &insn);

        if (n > size - at || n > 15 || (n && insn.size != n) ||
            (insn.relative && insn.relative + 4u > n))
            abort();
        at += n ? n : 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct site_list list;

    decode_all(data, size);
    if (sites_find(&list, data, size) == 0) {
        check_list(&list);
        sites_release(&list);
    }
    return 0;
}
