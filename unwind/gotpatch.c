/*
 * Source: the ELF gABI's dynamic section (DT_JMPREL, DT_RELA, DT_SYMTAB) and the processor
 * supplements' relocations. Targets of JUMP_SLOT and GLOB_DAT are the slots that calls go through;
 * relocations of a word set pointers to functions in data. A slot may lie in the part that is
 * read-only after relocation (RELRO). Then its page is made writable for the change and read-only
 * afterwards.
 */
#define _GNU_SOURCE
#include "unwind/gotpatch.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/processor/arch.h"
#include "common/env/loaderlist.h"

struct tables {
    const char *strings;
    const ElfW(Sym) * symbols;
    const ElfW(Rela) * plt, *rela;
    size_t nplt, nrela;
    uintptr_t relro_start, relro_end;
};

/* glibc relocates d_ptr in place for most libraries; both forms are accepted. */
static uintptr_t pointer(const struct link_map *map, ElfW(Addr) value)
{
    return value < map->l_addr ? map->l_addr + value : value;
}

/* Program headers of a module. The kernel says where the program's are, because the program may lie
 * anywhere. A library begins with its ELF header. */
static const ElfW(Phdr) * headers_of(const struct link_map *map, unsigned *n)
{
    const ElfW(Ehdr) *ehdr = (const void *)map->l_addr;

    if (map == loaderlist()->r_map) {
        *n = (unsigned)getauxval(AT_PHNUM);
        return (const void *)getauxval(AT_PHDR);
    }
    if (memcmp(ehdr->e_ident, ELFMAG, SELFMAG) != 0)
        return NULL;
    *n = ehdr->e_phnum;
    return (const void *)(map->l_addr + ehdr->e_phoff);
}

static bool read_dynamic(const struct link_map *map, struct tables *t)
{
    *t = (struct tables){0};
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        switch (d->d_tag) {
        case DT_STRTAB:
            t->strings = (const void *)pointer(map, d->d_un.d_ptr);
            break;
        case DT_SYMTAB:
            t->symbols = (const void *)pointer(map, d->d_un.d_ptr);
            break;
        case DT_JMPREL:
            t->plt = (const void *)pointer(map, d->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            t->nplt = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_RELA:
            t->rela = (const void *)pointer(map, d->d_un.d_ptr);
            break;
        case DT_RELASZ:
            t->nrela = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        }
    }
    return t->strings && t->symbols;
}

static bool read_tables(const struct link_map *map, struct tables *t)
{
    unsigned n = 0;
    const ElfW(Phdr) *phdr = headers_of(map, &n);

    if (!phdr || !read_dynamic(map, t))
        return false;
    for (unsigned i = 0; i < n; i++)
        if (phdr[i].p_type == PT_GNU_RELRO) {
            t->relro_start = map->l_addr + phdr[i].p_vaddr;
            t->relro_end = t->relro_start + phdr[i].p_memsz;
        }
    return true;
}

static int write_slot(const struct tables *t, void **slot, void *value)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = (uintptr_t)slot & ~(page - 1);
    bool relro =
        (uintptr_t)slot >= t->relro_start && (uintptr_t)slot < (t->relro_end & ~(page - 1));

    if (relro && mprotect((void *)at, page, PROT_READ | PROT_WRITE) < 0)
        return -errno;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    if (relro)
        mprotect((void *)at, page, PROT_READ);
    return 0;
}

/* Whether the relocation belongs to a word that `patch` replaces. */
static bool is_slot(const struct link_map *map, const ElfW(Rela) * rel,
                    const struct gotpatch *patch)
{
    switch (ELF64_R_TYPE(rel->r_info)) {
    case ARCH_R_JUMP_SLOT:
    case ARCH_R_GLOB_DAT:
        return true;
    case ARCH_R_WORD: /* the program may have stored another value there since */
        return patch->original && !rel->r_addend &&
               *(const uintptr_t *)(map->l_addr + rel->r_offset) == patch->original;
    default:
        return false;
    }
}

static int patch_table(const struct link_map *map, const struct tables *t, const ElfW(Rela) * rel,
                       size_t nrel, const struct gotpatch *patches, size_t n)
{
    int done = 0;

    for (size_t i = 0; i < nrel; i++) {
        size_t symbol = ELF64_R_SYM(rel[i].r_info);
        const char *name = t->strings + t->symbols[symbol].st_name;

        if (!symbol)
            continue;
        for (size_t k = 0; k < n; k++) {
            int err;

            if (strcmp(name, patches[k].symbol) != 0 || !is_slot(map, &rel[i], &patches[k]))
                continue;
            err = write_slot(t, (void **)(map->l_addr + rel[i].r_offset), patches[k].replacement);
            if (err)
                return err;
            done++;
        }
    }
    return done;
}

int gotpatch_apply(void *handle, const struct gotpatch *patches, size_t n)
{
    const struct link_map *map = handle;
    struct tables t;
    int a = 0, b = 0;

    if (!read_tables(map, &t))
        return -ENOEXEC;
    if (t.plt)
        a = patch_table(map, &t, t.plt, t.nplt, patches, n);
    if (a >= 0 && t.rela)
        b = patch_table(map, &t, t.rela, t.nrela, patches, n);
    return a < 0 ? a : b < 0 ? b : a + b;
}

static bool is_bound(const struct link_map *map, const struct tables *t, const ElfW(Rela) * rel,
                     size_t nrel, const char *symbol, uintptr_t lo, uintptr_t hi)
{
    static const struct gotpatch none;

    for (size_t i = 0; rel && i < nrel; i++) {
        size_t at = ELF64_R_SYM(rel[i].r_info);
        uintptr_t value;

        if (!at || !is_slot(map, &rel[i], &none) ||
            strcmp(t->strings + t->symbols[at].st_name, symbol) != 0)
            continue;
        value = *(const uintptr_t *)(map->l_addr + rel[i].r_offset);
        if (value >= lo && value < hi)
            return true;
    }
    return false;
}

bool gotpatch_is_bound(const struct link_map *map, const char *symbol, uintptr_t lo, uintptr_t hi)
{
    struct tables t;

    return read_dynamic(map, &t) && (is_bound(map, &t, t.plt, t.nplt, symbol, lo, hi) ||
                                     is_bound(map, &t, t.rela, t.nrela, symbol, lo, hi));
}
