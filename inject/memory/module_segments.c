#include "inject/memory/module_segments.h"

#include <elf.h>

#include "common/processor/processor.h"

#define PAGE ((uintptr_t)4096)

static void add(struct module_segments *k, uintptr_t bias, const Elf64_Phdr *p)
{
    uintptr_t lo = bias + p->p_vaddr, hi = lo + p->p_memsz;

    if (p->p_type != PT_LOAD || hi <= lo || hi >> PROCESSOR_ADDRESS_BITS)
        return;
    lo &= -PAGE;
    hi = (hi + PAGE - 1) & -PAGE;
    k->segment[k->n].lo = lo;
    k->segment[k->n++].hi = hi;
    k->lo = lo < k->lo ? lo : k->lo;
    k->hi = hi > k->hi ? hi : k->hi;
}

bool module_segments_read(struct module_segments *k, const struct procmem *m, uintptr_t at,
                          uintptr_t bias)
{
    Elf64_Ehdr e;
    Elf64_Phdr p[MODULE_SEGMENTS];

    k->lo = UINTPTR_MAX;
    k->hi = k->n = 0;
    if (!procmem_read(m, at, &e, sizeof e) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
        e.e_phentsize != sizeof *p || e.e_phnum > MODULE_SEGMENTS ||
        !procmem_read(m, at + e.e_phoff, p, e.e_phnum * sizeof *p))
        return false;
    for (size_t i = 0; i < e.e_phnum; i++)
        add(k, bias, &p[i]);
    return k->n != 0;
}
