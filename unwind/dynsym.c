/* Source: the ELF gABI's dynamic section, symbol table and hash table; the GNU hash table as
 * binutils writes it (there is no other description). */
#define _GNU_SOURCE
#include "unwind/dynsym.h"

#include <sys/auxv.h>

#include "common/env/loaderlist.h"

#define VERSION_HIDDEN 0x8000

enum { DEFAULT = -1 };

/* glibc relocates d_ptr in place for most modules; both forms are accepted. */
static const void *pointer(const struct dynsym *d, ElfW(Addr) value)
{
    return (const void *)(value < d->bias ? d->bias + value : value);
}

void dynsym_open(struct dynsym *d, const struct link_map *module)
{
    *d = (struct dynsym){.bias = module->l_addr};
    for (const ElfW(Dyn) *e = module->l_ld; e && e->d_tag != DT_NULL; e++) {
        const void *at = pointer(d, e->d_un.d_ptr);

        if (e->d_tag == DT_STRTAB)
            d->strings = at;
        else if (e->d_tag == DT_SYMTAB)
            d->symbols = at;
        else if (e->d_tag == DT_GNU_HASH)
            d->gnu_hash = at;
        else if (e->d_tag == DT_HASH)
            d->hash = at;
        else if (e->d_tag == DT_VERSYM)
            d->versions = at;
        else if (e->d_tag == DT_VERDEF)
            d->defined = at;
    }
}

/* Symbol to search for. */
struct wanted {
    const char *name;
    int version; /* number of the version in this module, or DEFAULT */
    bool data;   /* data symbols, too */
};

static bool is_wanted(const struct dynsym *d, uint32_t i, const struct wanted *w)
{
    const ElfW(Sym) *s = &d->symbols[i];
    unsigned type = ELF64_ST_TYPE(s->st_info), version = d->versions ? d->versions[i] : 0;

    if (s->st_shndx == SHN_UNDEF ||
        (w->version == DEFAULT ? version & VERSION_HIDDEN
                               : (int)(version & ~VERSION_HIDDEN) != w->version))
        return false;
    return (type == STT_FUNC || type == STT_GNU_IFUNC ||
            (w->data && (type == STT_OBJECT || type == STT_NOTYPE))) &&
           strcmp(d->strings + s->st_name, w->name) == 0;
}

/* Number of that version among the module's symbols. 0, which no symbol has: the module does not
 * have the version. */
static int version_number(const struct dynsym *d, const char *version)
{
    const ElfW(Verdef) *v = d->versions ? d->defined : NULL;

    while (v) {
        const ElfW(Verdaux) *name = (const void *)((const char *)v + v->vd_aux);

        if (!(v->vd_flags & VER_FLG_BASE) && strcmp(d->strings + name->vda_name, version) == 0)
            return v->vd_ndx & ~VERSION_HIDDEN;
        v = v->vd_next ? (const void *)((const char *)v + v->vd_next) : NULL;
    }
    return 0;
}

static uint32_t gnu_hash_of(const char *name)
{
    uint32_t h = 5381;

    while (*name)
        h = h * 33 + (unsigned char)*name++;
    return h;
}

/* Index of a symbol; 0: there is none. */
static uint32_t look_up_gnu(const struct dynsym *d, const struct wanted *w)
{
    uint32_t h = gnu_hash_of(w->name);
    uint32_t nbuckets = d->gnu_hash[0], first = d->gnu_hash[1], words = d->gnu_hash[2];
    const uint64_t *bloom = (const uint64_t *)(d->gnu_hash + 4);
    const uint32_t *buckets = (const uint32_t *)(bloom + words), *chain = buckets + nbuckets;
    uint64_t both = (uint64_t)1 << h % 64 | (uint64_t)1 << (h >> d->gnu_hash[3]) % 64;

    if (!nbuckets || (bloom[h / 64 % words] & both) != both)
        return 0;
    for (uint32_t i = buckets[h % nbuckets]; i >= first && i > 0; i++) {
        uint32_t there = chain[i - first];

        if ((there | 1) == (h | 1) && is_wanted(d, i, w))
            return i;
        if (there & 1)
            break;
    }
    return 0;
}

static uint32_t hash_of(const char *name)
{
    uint32_t h = 0;

    while (*name) {
        h = (h << 4) + (unsigned char)*name++;
        h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
    }
    return h;
}

static uint32_t look_up(const struct dynsym *d, const struct wanted *w)
{
    uint32_t nbuckets = d->hash[0], i;
    const uint32_t *buckets = d->hash + 2, *chain = buckets + nbuckets;

    for (i = nbuckets ? buckets[hash_of(w->name) % nbuckets] : 0; i; i = chain[i])
        if (is_wanted(d, i, w))
            return i;
    return 0;
}

static uintptr_t find(const struct dynsym *d, const struct wanted *w, size_t *size)
{
    uint32_t i = 0;
    uintptr_t at;

    *size = 0;
    if (d->symbols && d->strings && (d->gnu_hash || d->hash))
        i = d->gnu_hash ? look_up_gnu(d, w) : look_up(d, w);
    if (!i)
        return 0;
    at = d->bias + d->symbols[i].st_value;
    if (ELF64_ST_TYPE(d->symbols[i].st_info) == STT_GNU_IFUNC)
        return ((uintptr_t(*)(unsigned long))at)(getauxval(AT_HWCAP));
    *size = d->symbols[i].st_size;
    return at;
}

uintptr_t dynsym_find_sized(const struct dynsym *d, const char *name, size_t *size)
{
    return find(d, &(struct wanted){.name = name, .version = DEFAULT}, size);
}

uintptr_t dynsym_find(const struct dynsym *d, const char *name)
{
    size_t size;

    return dynsym_find_sized(d, name, &size);
}

uintptr_t dynsym_find_version(const struct dynsym *d, const char *name, const char *version)
{
    struct wanted w = {.name = name, .version = DEFAULT, .data = true};
    size_t size;

    if (version)
        w.version = version_number(d, version);
    return w.version ? find(d, &w, &size) : 0;
}

void *dynsym_anywhere(const char *name)
{
    uintptr_t at = 0;

    for (const struct link_map *m = loaderlist()->r_map; m && !at; m = m->l_next) {
        struct dynsym d;

        dynsym_open(&d, m);
        at = dynsym_find_version(&d, name, NULL);
    }
    return (void *)at;
}
