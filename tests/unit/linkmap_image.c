#include "tests/unit/linkmap_image.h"

#include "common/processor/arch.h"

#define LIB(member) (offsetof(struct linkmap_image, member) - IMAGE_LIBRARY)

static uint32_t hash_of(const char *name)
{
    uint32_t h = 5381;

    for (; *name; name++)
        h = h * 33 + (uint8_t)*name;
    return h;
}

static void define(struct linkmap_image *i, unsigned k, const char *name, int type, bool defined,
                   size_t *at)
{
    i->symbols[k] = (Elf64_Sym){.st_name = (uint32_t)*at,
                                .st_info = ELF64_ST_INFO(STB_GLOBAL, type),
                                .st_shndx = defined ? 1 : SHN_UNDEF,
                                .st_value = defined ? 0x1000 * k : 0};
    memcpy(i->strings + *at, name, strlen(name) + 1);
    *at += strlen(name) + 1;
    i->versions[k] = 2;
    /* One bucket holds all; the last one's hash is odd. */
    i->chain[k] = (hash_of(name) & ~1u) | (k == SYMS - 1);
}

static Elf64_Rela relocation(size_t slot, unsigned symbol, unsigned type)
{
    return (Elf64_Rela){.r_offset = LIB(slots) + slot, .r_info = ELF64_R_INFO(symbol, type)};
}

void linkmap_image_make(struct linkmap_image *i)
{
    size_t at = 1;

    memset(i, 0, sizeof *i);
    i->phdr[0] = (Elf64_Phdr){.p_type = PT_PHDR, .p_vaddr = 0};
    i->phdr[1] = (Elf64_Phdr){.p_type = PT_LOAD};
    i->phdr[2] =
        (Elf64_Phdr){.p_type = PT_DYNAMIC, .p_vaddr = offsetof(struct linkmap_image, program)};
    i->program[0].d_tag = DT_NEEDED;
    i->program[1] = (Elf64_Dyn){DT_DEBUG, {IMAGE_AT(debug)}};
    i->debug.r_map = (void *)IMAGE_AT(link);
    i->debug.r_state = RT_CONSISTENT;
    i->debug.r_ldbase = 0x7000000;
    i->link[0] = (struct link_map){.l_addr = IMAGE_BASE,
                                   .l_ld = (void *)IMAGE_AT(program),
                                   .l_next = (void *)IMAGE_AT(link[1])};
    i->link[1] =
        (struct link_map){.l_addr = IMAGE_BASE + IMAGE_LIBRARY, .l_ld = (void *)IMAGE_AT(dynamic)};
    /* Some entries are addresses in memory, some in the file. */
    i->dynamic[0] = (Elf64_Dyn){DT_STRTAB, {IMAGE_AT(strings)}};
    i->dynamic[1] = (Elf64_Dyn){DT_STRSZ, {sizeof i->strings}};
    i->dynamic[2] = (Elf64_Dyn){DT_SYMTAB, {LIB(symbols)}};
    i->dynamic[3] = (Elf64_Dyn){DT_GNU_HASH, {IMAGE_AT(hash_head)}};
    i->dynamic[4] = (Elf64_Dyn){DT_VERSYM, {IMAGE_AT(versions)}};
    i->dynamic[5] = (Elf64_Dyn){DT_JMPREL, {IMAGE_AT(plt)}};
    i->dynamic[6] = (Elf64_Dyn){DT_PLTRELSZ, {sizeof i->plt}};
    i->dynamic[7] = (Elf64_Dyn){DT_RELA, {LIB(rela)}};
    i->dynamic[8] = (Elf64_Dyn){DT_RELASZ, {sizeof i->rela}};
    memcpy(i->hash_head, (const uint32_t[4]){1, 1, 1, 6}, sizeof i->hash_head);
    i->bucket[0] = 1;
    define(i, SYM_MALLOC, "malloc", STT_FUNC, true, &at);
    define(i, SYM_FREE, "free", STT_GNU_IFUNC, true, &at);
    define(i, SYM_CALLOC, "calloc", STT_FUNC, false, &at);
    define(i, SYM_REALLOC, "realloc", STT_FUNC, true, &at);
    define(i, SYM_OTHER, "other", STT_FUNC, true, &at);
    i->versions[SYM_REALLOC] |= 0x8000;
    /* The hash table begins with symbol 1. */
    memmove(i->chain, i->chain + 1, sizeof i->chain - sizeof *i->chain);
    i->plt[0] = relocation(0, SYM_MALLOC, ARCH_R_JUMP_SLOT);
    i->plt[1] = relocation(8, SYM_CALLOC, ARCH_R_JUMP_SLOT);
    i->plt[2] = relocation(16, SYM_OTHER, ARCH_R_JUMP_SLOT);
    i->rela[0] = relocation(24, SYM_CALLOC, ARCH_R_GLOB_DAT);
    i->rela[1] = relocation(32, SYM_FREE, ARCH_R_WORD);
    i->rela[2] = relocation(41, SYM_FREE, ARCH_R_GLOB_DAT);
}

struct procmem linkmap_image_memory(const struct linkmap_image *i)
{
    return (struct procmem){
        .fd = -1, .bytes = (const uint8_t *)i, .base = IMAGE_BASE, .size = sizeof *i};
}
