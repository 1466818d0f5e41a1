/*
 * Problem: .debug_frame has no search table and is not in memory.
 *
 * Algorithm: read the file's section headers and the section with pread into pages
 * of our own (a mapping would be a SIGBUS in somebody else's program if the file
 * were cut meanwhile), list its FDEs, sort them by address, and keep that. A module
 * without the section is remembered too.
 *
 * Rejected: leaving it to libunwind, which reads the whole file with malloc. A
 * compressed section is not read; gcc and distributions compress debug information
 * in separate files, not in programs they install.
 *
 * Source: the ELF gABI for the headers, DWARF 5 section 6.4.1 for the entries.
 */
#define _GNU_SOURCE
#include "unwind/debugframe.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/pages.h"

#define MAX_MODULES 64
#define MAX_SECTION ((uint64_t)1 << 30)
#define MAX_SECTIONS 65535

struct entry {
    uintptr_t start, end;
    const uint8_t *fde;
};

struct section {
    const char *path; /* modules.c keeps one string a module, for good */
    struct cfi_section bytes;
    struct entry *entries; /* sorted by start */
    size_t n;
};

static struct leaflock lock;
static struct section sections[MAX_MODULES];
static size_t used;

void debugframe_after_fork(void)
{
    lock.held = 0;
}

static bool read_at(int fd, void *to, uint64_t size, uint64_t offset)
{
    char *p = to;

    while (size) {
        long n = syscall(SYS_pread64, fd, p, size, offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (uint64_t)n;
        offset += (uint64_t)n;
    }
    return true;
}

/* Where .debug_frame lies in the file. */
static bool find_section(int fd, uint64_t *offset, uint64_t *size)
{
    static const char wanted[] = ".debug_frame";
    char name[sizeof wanted];
    Elf64_Shdr strings, sh;
    Elf64_Ehdr eh;

    if (!read_at(fd, &eh, sizeof eh, 0) || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
        eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_shentsize != sizeof sh ||
        eh.e_shstrndx >= eh.e_shnum ||
        eh.e_shoff > (uint64_t)INT64_MAX - MAX_SECTIONS * sizeof sh ||
        !read_at(fd, &strings, sizeof strings, eh.e_shoff + eh.e_shstrndx * sizeof sh))
        return false;
    for (unsigned i = 0; i < eh.e_shnum; i++) {
        if (!read_at(fd, &sh, sizeof sh, eh.e_shoff + i * sizeof sh))
            return false;
        if (sh.sh_type != SHT_PROGBITS || sh.sh_flags & SHF_COMPRESSED ||
            sh.sh_name >= strings.sh_size || strings.sh_offset > (uint64_t)INT64_MAX - sh.sh_name ||
            !read_at(fd, name, sizeof name, strings.sh_offset + sh.sh_name) ||
            memcmp(name, wanted, sizeof wanted) != 0)
            continue;
        *offset = sh.sh_offset;
        *size = sh.sh_size;
        return sh.sh_size > 0 && sh.sh_size <= MAX_SECTION && sh.sh_offset <= (uint64_t)INT64_MAX;
    }
    return false;
}

static void sift_down(struct entry *e, size_t root, size_t n)
{
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        struct entry swap = e[root];

        if (child + 1 < n && e[child + 1].start > e[child].start)
            child++;
        if (swap.start >= e[child].start)
            return;
        e[root] = e[child];
        e[child] = swap;
    }
}

/* Heapsort: qsort may call malloc. */
static void sort(struct entry *e, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift_down(e, i, n);
    for (size_t i = n; i-- > 1;) {
        struct entry top = e[0];

        e[0] = e[i];
        e[i] = top;
        sift_down(e, 0, i);
    }
}

static size_t list_entries(const struct cfi_section *s, struct entry *out)
{
    const uint8_t *at = (const uint8_t *)s->lo;
    struct entry e;
    size_t n = 0;

    while (at)
        if (cfi_next_fde(s, &at, &e.fde, &e.start, &e.end)) {
            if (out)
                out[n] = e;
            n++;
        }
    return n;
}

static void load(struct section *s)
{
    uint64_t offset, size;
    uint8_t *bytes;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, s->path, O_RDONLY | O_CLOEXEC, 0);

    if (fd < 0)
        return;
    if (find_section(fd, &offset, &size) && (bytes = pages_alloc(size))) {
        s->bytes = (struct cfi_section){
            .lo = (uintptr_t)bytes, .hi = (uintptr_t)bytes + size, .debug_frame = true};
        if (read_at(fd, bytes, size, offset))
            s->n = list_entries(&s->bytes, NULL);
        if (s->n && (s->entries = pages_alloc(s->n * sizeof *s->entries))) {
            list_entries(&s->bytes, s->entries);
            sort(s->entries, s->n);
        } else {
            s->n = 0;
            pages_free(bytes, size);
        }
    }
    syscall(SYS_close, fd);
}

static struct section *section_of(const struct module *m)
{
    for (size_t i = 0; i < used; i++)
        if (sections[i].path == m->path)
            return &sections[i];
    if (used == MAX_MODULES || m->path[0] != '/')
        return NULL;
    sections[used].path = m->path;
    load(&sections[used]);
    return &sections[used++];
}

struct rule debugframe_rule(const struct module *m, uintptr_t pc)
{
    struct rule rule = {.kind = RULE_NONE};
    struct section *s;
    size_t lo = 0, hi;

    leaflock_take(&lock);
    s = section_of(m);
    pc -= m->bias;
    hi = s ? s->n : 0;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (s->entries[mid].start <= pc)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo > 0 && pc < s->entries[lo - 1].end)
        rule = cfi_rule_of(&s->bytes, s->entries[lo - 1].fde, pc);
    leaflock_drop(&lock);
    return rule;
}
