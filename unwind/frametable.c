/*
 * Problem: .debug_frame has no search table and is not in memory (nor, in a static
 * program, has .eh_frame one).
 *
 * Algorithm: read the file's section headers and the section with pread into pages, list its FDEs,
 * and sort them by address. (If the file were truncated, a mapping would raise SIGBUS, perhaps in a
 * recorded program.)
 *
 * Rejected: leaving this to libunwind, which reads the whole file into memory from malloc. A
 * compressed section is not read; gcc and distributions compress debug information in separate
 * files, not in programs they install.
 *
 * Source: the ELF gABI for the headers, DWARF 5 section 6.4.1 for the entries.
 */
#define _GNU_SOURCE
#include "unwind/frametable.h"

#include <elf.h>
#include <errno.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "common/pages.h"

#ifndef SHT_X86_64_UNWIND /* musl's headers lack it */
#define SHT_X86_64_UNWIND 0x70000001
#endif
#define MAX_SECTION ((uint64_t)1 << 30)
#define MAX_SECTIONS 65535

struct frametable_entry {
    uintptr_t start, end;
    const uint8_t *fde;
};

static bool read_at(int fd, void *to, uint64_t size, uint64_t offset)
{
    char *p = to;

    while (size) {
        long n = kernel_call(SYS_pread64, fd, p, size, offset);

        if (n == -EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (uint64_t)n;
        offset += (uint64_t)n;
    }
    return true;
}

/* Finds the header of the section with that name. */
static bool find_section(int fd, const char *wanted, Elf64_Shdr *sh)
{
    char name[16];
    size_t len = strlen(wanted) + 1;
    Elf64_Shdr strings;
    Elf64_Ehdr eh;

    if (!read_at(fd, &eh, sizeof eh, 0) || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
        eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_shentsize != sizeof *sh ||
        eh.e_shstrndx >= eh.e_shnum ||
        eh.e_shoff > (uint64_t)INT64_MAX - MAX_SECTIONS * sizeof *sh ||
        !read_at(fd, &strings, sizeof strings, eh.e_shoff + eh.e_shstrndx * sizeof *sh))
        return false;
    for (unsigned i = 0; i < eh.e_shnum; i++) {
        if (!read_at(fd, sh, sizeof *sh, eh.e_shoff + i * sizeof *sh))
            return false;
        if ((sh->sh_type != SHT_PROGBITS && sh->sh_type != SHT_X86_64_UNWIND) ||
            sh->sh_flags & SHF_COMPRESSED || sh->sh_name >= strings.sh_size ||
            strings.sh_offset > (uint64_t)INT64_MAX - sh->sh_name ||
            !read_at(fd, name, len, strings.sh_offset + sh->sh_name) ||
            memcmp(name, wanted, len) != 0)
            continue;
        return sh->sh_size > 0 && sh->sh_size <= MAX_SECTION &&
               sh->sh_offset <= (uint64_t)INT64_MAX;
    }
    return false;
}

static void sift_down(struct frametable_entry *e, size_t root, size_t n)
{
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        struct frametable_entry swap = e[root];

        if (child + 1 < n && e[child + 1].start > e[child].start)
            child++;
        if (swap.start >= e[child].start)
            return;
        e[root] = e[child];
        e[child] = swap;
    }
}

/* Heapsort, because qsort may call malloc. */
static void sort(struct frametable_entry *e, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift_down(e, i, n);
    for (size_t i = n; i-- > 1;) {
        struct frametable_entry top = e[0];

        e[0] = e[i];
        e[i] = top;
        sift_down(e, 0, i);
    }
}

static size_t list_entries(const struct cfi_section *s, struct frametable_entry *out)
{
    const uint8_t *at = (const uint8_t *)s->lo;
    struct frametable_entry e;
    size_t n = 0;

    while (at)
        if (cfi_next_fde(s, &at, &e.fde, &e.start, &e.end)) {
            if (out)
                out[n] = e;
            n++;
        }
    return n;
}

void frametable_load(struct frametable *t, int fd, bool debug_frame)
{
    uintptr_t low = 0;
    uint8_t *bytes;
    Elf64_Shdr sh;

    *t = (struct frametable){.n = 0};
    if (!find_section(fd, debug_frame ? ".debug_frame" : ".eh_frame", &sh))
        return;
    /* At the same place in its page as in memory: rules depend on low bits of addresses. */
    if (!debug_frame)
        low = sh.sh_addr & 4095;
    t->size = low + sh.sh_size;
    t->pages = pages_alloc(t->size);
    if (!t->pages)
        return;
    bytes = (uint8_t *)t->pages + low;
    t->shift = debug_frame ? 0 : (uintptr_t)bytes - sh.sh_addr;
    t->bytes = (struct cfi_section){
        .lo = (uintptr_t)bytes, .hi = (uintptr_t)bytes + sh.sh_size, .debug_frame = debug_frame};
    if (read_at(fd, bytes, sh.sh_size, sh.sh_offset))
        t->n = list_entries(&t->bytes, NULL);
    if (t->n && (t->entries = pages_alloc(t->n * sizeof *t->entries))) {
        list_entries(&t->bytes, t->entries);
        sort(t->entries, t->n);
    } else {
        t->n = 0;
        pages_free(t->pages, t->size);
    }
}

void frametable_release(struct frametable *t)
{
    if (t->n) {
        pages_free(t->entries, t->n * sizeof *t->entries);
        pages_free(t->pages, t->size);
    }
    *t = (struct frametable){.n = 0};
}

/* `addr`: an address in the table's terms. NULL: no entry covers it. */
static const struct frametable_entry *find(const struct frametable *t, uintptr_t addr)
{
    size_t lo = 0, hi = t->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (t->entries[mid].start <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 && addr < t->entries[lo - 1].end ? &t->entries[lo - 1] : NULL;
}

struct rule frametable_rule(const struct frametable *t, uintptr_t addr)
{
    const struct frametable_entry *e = find(t, addr + t->shift);

    return e ? cfi_rule_of(&t->bytes, e->fde, addr + t->shift) : (struct rule){.kind = RULE_NONE};
}

bool frametable_function(const struct frametable *t, uintptr_t addr, uintptr_t *start)
{
    const struct frametable_entry *e = find(t, addr + t->shift);

    if (e)
        *start = e->start - t->shift;
    return e != NULL;
}
