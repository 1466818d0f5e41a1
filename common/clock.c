/*
 * The vDSO is an ELF file in memory, which the kernel maps and whose address it passes
 * (getauxval(3), vdso(7)). It has few symbols, so they are searched one by one. Its contents are
 * trusted as the loader trusts them.
 */
#include "common/clock.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include "common/processor/arch.h"

clock_reader *clock_kernel;

/* ---- the vDSO ---- */

struct image {
    uintptr_t bias;
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *hash, *gnu_hash;
};

static void find_tables(struct image *m, const ElfW(Dyn) * entry)
{
    for (; entry->d_tag != DT_NULL; entry++) {
        uintptr_t at = m->bias + entry->d_un.d_ptr;

        switch (entry->d_tag) {
        case DT_SYMTAB:
            m->symbols = (const void *)at;
            break;
        case DT_STRTAB:
            m->strings = (const void *)at;
            break;
        case DT_HASH:
            m->hash = (const void *)at;
            break;
        case DT_GNU_HASH:
            m->gnu_hash = (const void *)at;
            break;
        }
    }
}

static bool image_open(struct image *m, uintptr_t at)
{
    const ElfW(Ehdr) *head = (const void *)at;
    const ElfW(Phdr) *ph = (const void *)(at + head->e_phoff);
    const ElfW(Dyn) *dynamic = NULL;
    bool loads = false;

    *m = (struct image){.bias = 0};
    for (unsigned i = 0; i < head->e_phnum; i++) {
        if (ph[i].p_type == PT_LOAD && !loads) {
            loads = true;
            m->bias = at + ph[i].p_offset - ph[i].p_vaddr;
        } else if (ph[i].p_type == PT_DYNAMIC) {
            dynamic = (const void *)(at + ph[i].p_offset);
        }
    }
    if (!loads || !dynamic)
        return false;
    find_tables(m, dynamic);
    return m->symbols && m->strings;
}

/* Number of symbols. A GNU hash table only says which symbols end its chains. */
static uint32_t count(const struct image *m)
{
    const uint32_t *h = m->gnu_hash, *bucket, *chain;
    uint32_t last = 0;

    if (m->hash)
        return m->hash[1];
    if (!h)
        return 0;
    bucket = h + 4 + h[2] * (sizeof(ElfW(Addr)) / sizeof *h);
    chain = bucket + h[0];
    for (uint32_t i = 0; i < h[0]; i++)
        last = bucket[i] > last ? bucket[i] : last;
    if (last < h[1])
        return 0;
    while (!(chain[last - h[1]] & 1))
        last++;
    return last + 1;
}

static bool is_name(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static uintptr_t find(const struct image *m, const char *name)
{
    uint32_t n = count(m);

    for (uint32_t i = 0; i < n; i++) {
        const ElfW(Sym) *s = &m->symbols[i];

        if (s->st_shndx != SHN_UNDEF && is_name(m->strings + s->st_name, name))
            return m->bias + s->st_value;
    }
    return 0;
}

/* ---- which reader is used ---- */

static int by_call(clockid_t clock, struct timespec *ts)
{
    return (int)kernel_call(SYS_clock_gettime, clock, ts);
}

FLAME_COLD clock_reader *clock_find(void)
{
    uintptr_t vdso = getauxval(AT_SYSINFO_EHDR), at = 0;
    clock_reader *reader = by_call;
    struct image image;

    if (vdso && image_open(&image, vdso))
        at = find(&image, ARCH_VDSO_CLOCK);
    if (at)
        reader = (clock_reader *)at;
    __atomic_store_n(&clock_kernel, reader, __ATOMIC_RELAXED);
    return reader;
}
