/*
 * Any bytes as an ELF file: every question of fold/ about one, and its symbols.
 */
#include "common/alloc.h"
#include "fold/symbols/elfsym.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void ask(struct elfsym *e, struct symtab *t)
{
    const uint8_t *id;
    const char *s;
    uint8_t bytes[9];
    uint32_t crc;
    size_t len;

    id = elfsym_build_id(e, &len);
    sink += id ? id[len - 1] : 0;
    s = elfsym_debuglink(e, &crc);
    sink += s ? strlen(s) + crc : 0;
    s = elfsym_debugaltlink(e, &id, &len);
    sink += s ? strlen(s) + (len ? id[len - 1] : 0) : 0;
    sink += elfsym_has_section(e, ".debug_info");
    elfsym_add_symtab(e, t);
    elfsym_add_dynsym(e, t);
    elfsym_add_plt(e, t);
    for (uint64_t at = 0; at < 64; at++)
        sink += elfsym_read(e, at * 0x100, bytes, sizeof bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elfsym *e = elfsym_open_memory(xmemdup0(data, size), size), *packed;
    struct symtab t = SYMTAB_INIT;

    if (!e)
        return 0;
    packed = elfsym_open_debugdata(e);
    ask(e, &t);
    if (packed)
        ask(packed, &t);
    symtab_finish(&t);
    for (size_t i = 0; i < t.n; i++) {
        const struct symtab_entry *found = symtab_find(&t, t.e[i].addr);

        /* A symbol is found at its own address, and all bytes of its name can be read. */
        if (found != &t.e[i])
            __builtin_trap();
        for (uint32_t k = 0; k < found->len; k++)
            sink += (uint8_t)found->name[k];
    }
    symtab_release(&t);
    elfsym_close(packed);
    elfsym_close(e);
    return 0;
}
