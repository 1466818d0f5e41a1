/*
 * The linker makes the agent a shared object without relocations, with one segment of text and one
 * of data; its dynamic symbols give the addresses that flame needs. If a build makes another kind
 * of file, agent_image_open and the test fail.
 */
#include "inject/agent_image.h"

#include "common/processor/arch.h"

#ifndef FLAME_AGENT
#define FLAME_AGENT "build/generated/flameagent.so" /* for tools that read single sources */
#endif

#define PAGE ((uint64_t)ARCH_PAGE_MOST)

__asm__(".pushsection .rodata\n"
        ".balign 8\n"
        ".globl blob_begin, blob_end\n"
        "blob_begin: .incbin \"" FLAME_AGENT "\"\n"
        "blob_end: .byte 0\n"
        ".popsection\n");
extern const uint8_t blob_begin[] __attribute__((visibility("hidden")));
extern const uint8_t blob_end[] __attribute__((visibility("hidden")));

const char *const agent_image_functions[AGENT_FUNCTIONS] = {
    [AGENT_MALLOC] = "malloc",
    [AGENT_FREE] = "free",
    [AGENT_CALLOC] = "calloc",
    [AGENT_REALLOC] = "realloc",
    [AGENT_MEMALIGN] = "memalign",
    [AGENT_POSIX_MEMALIGN] = "posix_memalign",
    [AGENT_ALIGNED_ALLOC] = "aligned_alloc",
    [AGENT_VALLOC] = "valloc",
    [AGENT_PVALLOC] = "pvalloc",
    [AGENT_REALLOCARRAY] = "reallocarray",
};

static void take_segment(struct agent_image *b, const Elf64_Phdr *ph)
{
    uint64_t end = (ph->p_vaddr + ph->p_memsz + PAGE - 1) & -PAGE;

    if (ph->p_flags & PF_W) {
        b->data = ph->p_vaddr & -PAGE;
        b->data_size = end - b->data;
    } else {
        b->text = ph->p_vaddr;
        b->text_size = ph->p_filesz;
    }
    b->span = end > b->span ? end : b->span;
}

static void take_symbol(struct agent_image *b, const char *name, uint64_t value)
{
    static const char prefix[] = "agent_";

    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return;
    name += sizeof prefix - 1;
    if (strcmp(name, "seen_shared") == 0)
        b->state = value;
    if (strcmp(name, "seen_switch") == 0)
        b->control = value;
    for (size_t i = 0; i < AGENT_FUNCTIONS; i++)
        if (strcmp(name, agent_image_functions[i]) == 0)
            b->hooks[i] = value;
}

bool agent_image_open(struct agent_image *b)
{
    const Elf64_Ehdr *eh = (const Elf64_Ehdr *)blob_begin;
    const Elf64_Phdr *ph = (const Elf64_Phdr *)(blob_begin + eh->e_phoff);
    const Elf64_Shdr *sh = (const Elf64_Shdr *)(blob_begin + eh->e_shoff);
    unsigned loads = 0;
    bool whole;

    *b = (struct agent_image){.bytes = blob_begin, .size = (size_t)(blob_end - blob_begin)};
    for (unsigned i = 0; i < eh->e_phnum; i++)
        if (ph[i].p_type == PT_LOAD) {
            take_segment(b, &ph[i]);
            loads++;
        }
    for (unsigned i = 0; i < eh->e_shnum; i++) {
        const Elf64_Sym *sym = (const Elf64_Sym *)(blob_begin + sh[i].sh_offset);
        const char *names = (const char *)blob_begin + sh[sh[i].sh_link].sh_offset;

        if (sh[i].sh_type == SHT_RELA)
            return false;
        for (size_t k = 0; sh[i].sh_type == SHT_DYNSYM && k < sh[i].sh_size / sizeof *sym; k++)
            take_symbol(b, names + sym[k].st_name, sym[k].st_value);
    }
    whole = loads == 2 && b->text == 0 && b->data >= b->text_size && b->state && b->control;
    for (size_t i = 0; i < AGENT_FUNCTIONS; i++)
        whole = whole && b->hooks[i];
    return whole;
}
