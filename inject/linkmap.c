#include "inject/linkmap.h"

#include <elf.h>
#include <link.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/processor/arch.h"
#include "common/processor/processor.h"

#define PHDRS_MAX 1024u
#define DYNAMICS_MAX 256u
#define RELOCATIONS_MAX ((uint64_t)64 << 20) /* size limit of one table, in bytes */
#define CHAIN_MAX 65536u                     /* limit of symbols of one hash bucket */
#define NAME_MAX_BYTES 64u                   /* size limit of a searched name */
#define ADDRESS_MAX ((uintptr_t)1 << PROCESSOR_ADDRESS_BITS)

/* ---- the list ---- */

enum linkmap_answer linkmap_find(struct linkmap *l, const struct procmem *m, uintptr_t phdr,
                                 uint64_t phnum)
{
    uintptr_t bias = 0, dynamic = 0;
    Elf64_Phdr ph;
    Elf64_Dyn d;

    *l = (struct linkmap){.debug = 0};
    if (phnum > PHDRS_MAX)
        return LINKMAP_UNREADABLE;
    for (uint64_t i = 0; i < phnum; i++) {
        if (!procmem_read(m, phdr + i * sizeof ph, &ph, sizeof ph))
            return LINKMAP_UNREADABLE;
        if (ph.p_type == PT_PHDR)
            bias = phdr - ph.p_vaddr;
        if (ph.p_type == PT_DYNAMIC)
            dynamic = ph.p_vaddr;
    }
    if (!dynamic)
        return LINKMAP_NOT_DYNAMIC;
    for (unsigned i = 0; i < DYNAMICS_MAX; i++) {
        if (!procmem_read(m, dynamic + bias + i * sizeof d, &d, sizeof d))
            return LINKMAP_UNREADABLE;
        if (d.d_tag == DT_DEBUG)
            l->debug = d.d_un.d_ptr;
        if (d.d_tag == DT_NULL || d.d_tag == DT_DEBUG)
            break;
    }
    return l->debug ? LINKMAP_OK : LINKMAP_NOT_DYNAMIC;
}

static const struct linked *known_module(const struct linkmap *l, const struct linked *k)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->modules[i].map == k->map && l->modules[i].bias == k->bias &&
            l->modules[i].dyn == k->dyn && l->modules[i].read)
            return &l->modules[i];
    return NULL;
}

/* Target of a dynamic entry. The loader has added the bias in most modules, but not in those whose
 * dynamic section it may not write to. */
static uintptr_t address_of(const struct linked *k, uintptr_t value)
{
    return value < k->bias ? value + k->bias : value;
}

static void take_entry(struct linked *k, const Elf64_Dyn *d)
{
    uintptr_t at = address_of(k, d->d_un.d_ptr);

    switch (d->d_tag) {
    case DT_STRTAB:
        k->strings = at;
        break;
    case DT_STRSZ:
        k->strings_size = d->d_un.d_val;
        break;
    case DT_SYMTAB:
        k->symbols = at;
        break;
    case DT_GNU_HASH:
        k->gnu_hash = at;
        break;
    case DT_VERSYM:
        k->versions = at;
        break;
    case DT_JMPREL:
        k->plt = at;
        break;
    case DT_PLTRELSZ:
        k->plt_size = d->d_un.d_val;
        break;
    case DT_RELA:
        k->rela = at;
        break;
    case DT_RELASZ:
        k->rela_size = d->d_un.d_val;
        break;
    }
}

/* A module that has been unloaded meanwhile has no slots. */
static void read_module(struct linked *k, const struct procmem *m)
{
    for (unsigned i = 0; i < DYNAMICS_MAX; i++) {
        Elf64_Dyn d;

        if (!procmem_read(m, k->dyn + i * sizeof d, &d, sizeof d))
            return;
        if (d.d_tag == DT_NULL)
            break;
        take_entry(k, &d);
    }
    k->read = true;
}

enum linkmap_answer linkmap_read(struct linkmap *l, const struct procmem *m, bool *changed)
{
    struct linkmap next = {.debug = l->debug};
    struct link_map link;
    struct r_debug d;

    *changed = false;
    if (!procmem_read(m, l->debug, &d, sizeof d))
        return LINKMAP_UNREADABLE;
    if (d.r_state != RT_CONSISTENT)
        return LINKMAP_BUSY;
    next.loader = d.r_ldbase;
    for (uintptr_t at = (uintptr_t)d.r_map; at; at = (uintptr_t)link.l_next) {
        struct linked k = {.map = at};
        const struct linked *known;

        if (next.n >= LINKMAP_MODULES || !procmem_read(m, at, &link, sizeof link)) {
            linkmap_release(&next);
            return LINKMAP_BUSY;
        }
        k.bias = link.l_addr;
        k.dyn = (uintptr_t)link.l_ld;
        known = known_module(l, &k);
        if (known)
            k = *known;
        else
            read_module(&k, m);
        *changed = *changed || !known;
        GROW(next.modules, next.n, next.room);
        next.modules[next.n++] = k;
    }
    if (!next.n)
        return LINKMAP_UNREADABLE;
    *changed = *changed || next.n != l->n;
    free(l->modules);
    *l = next;
    return LINKMAP_OK;
}

bool linkmap_same(const struct linkmap *l, const struct procmem *m)
{
    struct link_map link;
    struct r_debug d;
    uintptr_t at;
    size_t i = 0;

    if (!procmem_read(m, l->debug, &d, sizeof d) || d.r_state != RT_CONSISTENT)
        return false;
    for (at = (uintptr_t)d.r_map; at && i < l->n; at = (uintptr_t)link.l_next, i++)
        if (at != l->modules[i].map || !procmem_read(m, at, &link, sizeof link) ||
            link.l_addr != l->modules[i].bias || (uintptr_t)link.l_ld != l->modules[i].dyn)
            return false;
    return !at && i == l->n;
}

void linkmap_release(struct linkmap *l)
{
    free(l->modules);
    *l = (struct linkmap){.debug = 0};
}

/* ---- symbols ---- */

/* Whether the string at offset `name` of the module's strings is `wanted`. */
static bool is_named(const struct linked *k, const struct procmem *m, uint32_t name,
                     const char *wanted)
{
    char text[NAME_MAX_BYTES];
    size_t size = strlen(wanted) + 1;

    return size <= sizeof text && name < k->strings_size && k->strings_size - name >= size &&
           procmem_read(m, k->strings + name, text, size) && memcmp(text, wanted, size) == 0;
}

static uint32_t gnu_hash(const char *name)
{
    uint32_t h = 5381;

    for (; *name; name++)
        h = h * 33 + (uint8_t)*name;
    return h;
}

/* The symbol's address if it is a definition of that type that others see by default. */
static uintptr_t definition(const struct linked *k, const struct procmem *m, uint32_t i,
                            const char *name, unsigned type)
{
    Elf64_Sym sym;
    uint16_t version;

    if (!procmem_read(m, k->symbols + (uintptr_t)i * sizeof sym, &sym, sizeof sym) ||
        sym.st_shndx == SHN_UNDEF || !sym.st_value || ELF64_ST_TYPE(sym.st_info) != type ||
        ELF64_ST_BIND(sym.st_info) == STB_LOCAL || !is_named(k, m, sym.st_name, name))
        return 0;
    if (k->versions && (!procmem_read(m, k->versions + (uintptr_t)i * 2, &version, 2) ||
                        version & 0x8000)) /* hidden: not the default version */
        return 0;
    return k->bias + sym.st_value;
}

static uintptr_t find_definition(const struct linked *k, const struct procmem *m, const char *name,
                                 unsigned type)
{
    uint32_t head[4], hash = gnu_hash(name), at, link;
    uintptr_t buckets, chains, found;

    if (!k->gnu_hash || !k->symbols || !k->strings ||
        !procmem_read(m, k->gnu_hash, head, sizeof head) || !head[0])
        return 0;
    buckets = k->gnu_hash + sizeof head + (uintptr_t)head[2] * 8;
    chains = buckets + (uintptr_t)head[0] * 4;
    if (!procmem_read(m, buckets + (uintptr_t)(hash % head[0]) * 4, &at, 4) || at < head[1])
        return 0;
    for (unsigned tries = 0; tries < CHAIN_MAX; tries++, at++) {
        if (!procmem_read(m, chains + (uintptr_t)(at - head[1]) * 4, &link, 4))
            return 0;
        if ((link | 1) == (hash | 1) && (found = definition(k, m, at, name, type)))
            return found;
        if (link & 1)
            return 0;
    }
    return 0;
}

uintptr_t linked_defines(const struct linked *k, const struct procmem *m, const char *name)
{
    return find_definition(k, m, name, STT_FUNC);
}

uintptr_t linked_defines_data(const struct linked *k, const struct procmem *m, const char *name)
{
    return find_definition(k, m, name, STT_OBJECT);
}

/* ---- slots ---- */

struct slot_search {
    const struct linked *k;
    const struct procmem *m;
    const char *const *names;
    size_t n;
    linked_slot *visit;
    void *arg;
    /* A piece of the symbols, as relocations name them one after another. */
    Elf64_Sym some[64];
    uint32_t first;
    bool have;
};

static const Elf64_Sym *symbol(struct slot_search *s, uint32_t i)
{
    uint32_t first = i / ARRAY_LEN(s->some) * (uint32_t)ARRAY_LEN(s->some);

    if (!s->have || s->first != first) {
        s->first = first;
        s->have = procmem_read(s->m, s->k->symbols + (uintptr_t)first * sizeof *s->some, s->some,
                               sizeof s->some);
    }
    if (s->have)
        return &s->some[i - first];
    /* The table may end within the piece. */
    return procmem_read(s->m, s->k->symbols + (uintptr_t)i * sizeof *s->some, &s->some[0],
                        sizeof s->some[0])
               ? &s->some[0]
               : NULL;
}

static void look_at(struct slot_search *s, const Elf64_Rela *r)
{
    uint64_t type = ELF64_R_TYPE(r->r_info);
    uintptr_t at = s->k->bias + r->r_offset;
    const Elf64_Sym *sym;

    if ((type != ARCH_R_JUMP_SLOT && type != ARCH_R_GLOB_DAT) || at >= ADDRESS_MAX || at & 7)
        return;
    sym = symbol(s, (uint32_t)ELF64_R_SYM(r->r_info));
    for (size_t i = 0; sym && i < s->n; i++)
        if (is_named(s->k, s->m, sym->st_name, s->names[i])) {
            s->visit(s->arg, at, i, type == ARCH_R_JUMP_SLOT);
            return;
        }
}

static bool search(struct slot_search *s, uintptr_t table, uint64_t size)
{
    Elf64_Rela some[256];

    if (size > RELOCATIONS_MAX)
        return false;
    for (uint64_t done = 0; done + sizeof some[0] <= size;) {
        uint64_t part = size - done < sizeof some ? size - done : sizeof some;

        part -= part % sizeof some[0];
        if (!procmem_read(s->m, table + done, some, part))
            return false;
        for (size_t i = 0; i < part / sizeof some[0]; i++)
            look_at(s, &some[i]);
        done += part;
    }
    return true;
}

bool linked_slots(const struct linked *k, const struct procmem *m, const char *const *names,
                  size_t n, linked_slot *visit, void *arg)
{
    struct slot_search s = {.k = k, .m = m, .names = names, .n = n, .visit = visit, .arg = arg};

    if (!k->symbols || !k->strings)
        return true;
    return search(&s, k->plt, k->plt_size) && search(&s, k->rela, k->rela_size);
}
