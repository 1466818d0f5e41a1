/*
 * Reader of the program's own symbol table. It reads only the headers of a stripped file, into the
 * stack: a mapping would cost every process page faults.
 *
 * Source: the ELF gABI.
 */
#define _GNU_SOURCE
#include "preload/allocators/exe_symtab.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "common/processor/page_size.h"

/* Number of section headers that are read at a time. */
#define AT_ONCE 8
/* Limits above what any linker writes; the tables of a file of several gigabytes are not read. */
#define SEGMENTS 32
#define TABLE_MAX ((uint64_t)512 << 20)

struct file {
    int fd;
    ElfW(Ehdr) head;
};

/* A part of the file in memory. */
struct part {
    const char *bytes;
    size_t size;
    uintptr_t mapped;
    size_t mapped_size;
};

static bool get(const struct file *f, uint64_t at, void *to, size_t size)
{
    return kernel_call(SYS_pread64, f->fd, to, size, at) == (long)size;
}

static bool open_file(struct file *f)
{
    f->fd = kernel_open("/proc/self/exe", O_RDONLY, 0);
    return f->fd >= 0 && get(f, 0, &f->head, sizeof f->head) &&
           memcmp(f->head.e_ident, ELFMAG, SELFMAG) == 0 &&
           f->head.e_ident[EI_CLASS] == ELFCLASS64 && f->head.e_ident[EI_DATA] == ELFDATA2LSB &&
           f->head.e_shentsize == sizeof(ElfW(Shdr)) && f->head.e_phentsize == sizeof(ElfW(Phdr));
}

/* Whether `exe` is loaded from this file: /proc/self/exe may be the loader, if it was run with a
 * program as its argument. */
static bool is_of(const struct file *f, const struct link_map *exe)
{
    ElfW(Phdr) ph[SEGMENTS];
    size_t n = f->head.e_phnum;

    if (n > SEGMENTS || !get(f, f->head.e_phoff, ph, n * sizeof *ph))
        return false;
    for (size_t i = 0; i < n; i++)
        if (ph[i].p_type == PT_DYNAMIC)
            return exe->l_addr + ph[i].p_vaddr == (uintptr_t)exe->l_ld;
    return false;
}

static bool map_part(const struct file *f, const ElfW(Shdr) * sh, struct part *p)
{
    size_t before = sh->sh_offset % page_size();
    long at;

    if (!sh->sh_size || sh->sh_size > TABLE_MAX || sh->sh_offset > INT64_MAX - TABLE_MAX)
        return false;
    p->mapped_size = before + sh->sh_size;
    at = kernel_call(SYS_mmap, 0, p->mapped_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, f->fd,
                     sh->sh_offset - before);
    if (kernel_failed(at))
        return false;
    p->mapped = (uintptr_t)at;
    p->bytes = (const char *)p->mapped + before;
    p->size = sh->sh_size;
    return true;
}

static void unmap_part(const struct part *p)
{
    if (p->mapped)
        kernel_call(SYS_munmap, p->mapped, p->mapped_size);
}

static bool has_sign(const struct part *strings, const char *const *signs, size_t nsigns)
{
    for (size_t i = 0; i < nsigns; i++) {
        size_t len = strlen(signs[i]) + 1;
        const char *s = strings->bytes, *end = s + strings->size;

        while ((s = memmem(s, (size_t)(end - s), signs[i], len)) != NULL) {
            if (s > strings->bytes && s[-1] == '\0')
                return true;
            s++;
        }
    }
    return false;
}

static void report_all(const struct part *symbols, const struct part *strings, uintptr_t bias,
                       ownsyms_found *found, void *arg)
{
    const ElfW(Sym) *sym = (const ElfW(Sym) *)(const void *)symbols->bytes;
    size_t n = symbols->size / sizeof *sym;

    for (size_t i = 0; i < n; i++) {
        struct ownsym s;

        if (ELF64_ST_TYPE(sym[i].st_info) != STT_FUNC || sym[i].st_shndx == SHN_UNDEF ||
            sym[i].st_name >= strings->size)
            continue;
        s = (struct ownsym){strings->bytes + sym[i].st_name, bias + sym[i].st_value,
                            sym[i].st_size};
        found(&s, arg);
    }
}

static void read_table(const struct file *f, const ElfW(Shdr) * symtab, const ElfW(Shdr) * strtab,
                       const char *const *signs, size_t nsigns, uintptr_t bias,
                       ownsyms_found *found, void *arg)
{
    struct part strings = {.mapped = 0}, symbols = {.mapped = 0};

    /* The last string ends within the table. If the file were truncated meanwhile, the program's
     * own text would be lost, too, so trusting the file adds no risk. */
    if (map_part(f, strtab, &strings) && strings.bytes[strings.size - 1] == '\0' &&
        has_sign(&strings, signs, nsigns) && symtab->sh_offset % sizeof(uint64_t) == 0 &&
        map_part(f, symtab, &symbols))
        report_all(&symbols, &strings, bias, found, arg);
    unmap_part(&symbols);
    unmap_part(&strings);
}

static bool lies_within(const ElfW(Shdr) * sh, uint64_t size)
{
    return sh->sh_offset <= size && sh->sh_size <= size - sh->sh_offset;
}

static bool get_section(const struct file *f, unsigned i, ElfW(Shdr) * sh)
{
    return i < f->head.e_shnum && get(f, f->head.e_shoff + i * sizeof *sh, sh, sizeof *sh);
}

/* Reads the symbol table, whose section header is `symtab`. */
static FLAME_NOINLINE void read_section(const struct file *f, const struct link_map *exe,
                                        const ElfW(Shdr) * symtab, const char *const *signs,
                                        size_t nsigns, ownsyms_found *found, void *arg)
{
    ElfW(Shdr) strtab;
    struct stat st;

    if (is_of(f, exe) && get_section(f, symtab->sh_link, &strtab) &&
        kernel_fstat(f->fd, &st) == 0 && lies_within(symtab, (uint64_t)st.st_size) &&
        lies_within(&strtab, (uint64_t)st.st_size))
        read_table(f, symtab, &strtab, signs, nsigns, exe->l_addr, found, arg);
}

/* Searches the section headers from the last one on, as linkers put the symbol table near the
 * end. */
void ownsyms_each(const struct link_map *exe, const char *const *signs, size_t nsigns,
                  ownsyms_found *found, void *arg)
{
    ElfW(Shdr) sh[AT_ONCE];
    struct file f;
    bool done = !open_file(&f);

    for (unsigned left = done ? 0 : f.head.e_shnum; left && !done;) {
        unsigned n = left < AT_ONCE ? left : AT_ONCE;

        left -= n;
        done = !get(&f, f.head.e_shoff + left * sizeof *sh, sh, n * sizeof *sh);
        for (unsigned i = 0; i < n && !done; i++)
            if (sh[i].sh_type == SHT_SYMTAB) {
                read_section(&f, exe, &sh[i], signs, nsigns, found, arg);
                done = true;
            }
    }
    if (f.fd >= 0)
        kernel_call(SYS_close, f.fd);
}
