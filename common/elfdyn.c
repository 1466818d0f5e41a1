/*
 * elfdyn.c: program headers in chunks, the dynamic section in chunks, names one by one.
 *
 * Rejected: libelf, which allocates and has state; mapping the file, because a truncation at the
 * wrong moment is then a SIGBUS in the program we run in; the section headers, which strip and
 * packers remove and the loader never reads.
 */
#define _GNU_SOURCE
#include "common/elfdyn.h"

#include <errno.h>
#include <sys/syscall.h>

#include "common/kernel.h"

/* More than any real file has: a damaged file must not delay an exec. */
#define MOST_ENTRIES 8192
#define MOST_CHAIN 4096
#define ENTRIES_AT_ONCE 32
#define NAME_MOST 64
#define MOST_NOTES 16

/* Reads up to `size` bytes; returns how many there were. */
static size_t read_some(int fd, uint64_t offset, void *buf, size_t size)
{
    long n;

    if (offset > INT64_MAX)
        return 0;
    do
        n = kernel_call(SYS_pread64, fd, buf, size, (off_t)offset);
    while (n == -EINTR);
    return n > 0 ? (size_t)n : 0;
}

/* Reads all `size` bytes, or fails. */
static bool read_at(int fd, uint64_t offset, void *buf, size_t size)
{
    return read_some(fd, offset, buf, size) == size;
}

/* The i-th program header, or NULL. Valid until the next call. */
static const Elf64_Phdr *header_at(struct elfdyn *e, unsigned i)
{
    unsigned left = e->head.e_phnum - i;

    if (i >= e->head.e_phnum)
        return NULL;
    if (i - e->first >= e->nheaders) {
        e->first = i;
        e->nheaders = left < ELFDYN_HEADERS ? left : ELFDYN_HEADERS;
        if (!read_at(e->fd, e->head.e_phoff + (uint64_t)i * sizeof(Elf64_Phdr), e->headers,
                     e->nheaders * sizeof(Elf64_Phdr))) {
            e->nheaders = 0;
            return NULL;
        }
    }
    return &e->headers[i - e->first];
}

static const Elf64_Phdr *header_of_type(struct elfdyn *e, uint32_t type)
{
    const Elf64_Phdr *ph;

    for (unsigned i = 0; (ph = header_at(e, i)); i++)
        if (ph->p_type == type)
            return ph;
    return NULL;
}

/* File offset that an address of the loaded program comes from; 0: none. */
static uint64_t offset_of(struct elfdyn *e, uint64_t addr)
{
    const Elf64_Phdr *ph;

    for (unsigned i = 0; (ph = header_at(e, i)); i++)
        if (ph->p_type == PT_LOAD && addr >= ph->p_vaddr && addr - ph->p_vaddr < ph->p_filesz)
            return ph->p_offset + (addr - ph->p_vaddr);
    return 0;
}

/* Calls `each` with every entry before DT_NULL until it returns true, and returns that. */
static bool each_entry(struct elfdyn *e, bool (*each)(struct elfdyn *, const Elf64_Dyn *, void *),
                       void *arg)
{
    Elf64_Dyn entries[ENTRIES_AT_ONCE];
    uint64_t n = e->dynamic_size / sizeof *entries;

    for (uint64_t at = 0; at < n && at < MOST_ENTRIES; at += ENTRIES_AT_ONCE) {
        size_t count = n - at < ENTRIES_AT_ONCE ? (size_t)(n - at) : ENTRIES_AT_ONCE;

        if (!read_at(e->fd, e->dynamic + at * sizeof *entries, entries, count * sizeof *entries))
            return false;
        for (size_t i = 0; i < count; i++) {
            if (entries[i].d_tag == DT_NULL)
                return false;
            if (each(e, &entries[i], arg))
                return true;
        }
    }
    return false;
}

static bool note_table(struct elfdyn *e, const Elf64_Dyn *entry, void *arg)
{
    (void)arg;
    if (entry->d_tag == DT_STRTAB)
        e->strings = entry->d_un.d_ptr;
    else if (entry->d_tag == DT_SYMTAB)
        e->symbols = entry->d_un.d_ptr;
    else if (entry->d_tag == DT_GNU_HASH)
        e->hash = entry->d_un.d_ptr;
    return false;
}

bool elfdyn_open(struct elfdyn *e, int fd)
{
    const Elf64_Phdr *ph;

    memset(e, 0, sizeof *e);
    e->fd = fd;
    if (!read_at(fd, 0, &e->head, sizeof e->head) ||
        memcmp(e->head.e_ident, ELFMAG, SELFMAG) != 0 || e->head.e_ident[EI_CLASS] != ELFCLASS64 ||
        e->head.e_phentsize != sizeof(Elf64_Phdr) || !header_at(e, 0))
        return false;
    ph = header_of_type(e, PT_DYNAMIC);
    if (ph) {
        e->dynamic = ph->p_offset;
        e->dynamic_size = ph->p_filesz;
        each_entry(e, note_table, NULL);
        e->strings = offset_of(e, e->strings);
        e->symbols = offset_of(e, e->symbols);
        e->hash = offset_of(e, e->hash);
        if (!e->hash || !e->symbols || !read_at(fd, e->hash, &e->hash_head, sizeof e->hash_head) ||
            !e->hash_head.bloom_words)
            e->hash_head.nbuckets = 0;
    }
    return true;
}

int elfdyn_interpreter(struct elfdyn *e, char *name, size_t size)
{
    const Elf64_Phdr *ph = header_of_type(e, PT_INTERP);
    size_t len;

    name[0] = '\0';
    if (!ph)
        return 0;
    len = ph->p_filesz < size - 1 ? (size_t)ph->p_filesz : size - 1;
    if (!len || !read_at(e->fd, ph->p_offset, name, len))
        return -1;
    name[len] = '\0';
    return (int)strlen(name);
}

/* Compares `len` bytes of the file's string at `at` with `name`. */
static bool string_is(const struct elfdyn *e, uint64_t at, const char *name, size_t len)
{
    char found[NAME_MOST];

    return e->strings && len <= sizeof found && read_at(e->fd, e->strings + at, found, len) &&
           memcmp(found, name, len) == 0;
}

struct prefixes {
    const char *const *s;
    size_t n;
};

static bool is_needed(struct elfdyn *e, const Elf64_Dyn *entry, void *arg)
{
    const struct prefixes *prefixes = arg;
    char name[32] = "";

    if (entry->d_tag != DT_NEEDED || !e->strings ||
        !read_some(e->fd, e->strings + entry->d_un.d_val, name, sizeof name - 1))
        return false;
    for (size_t i = 0; i < prefixes->n; i++)
        if (strncmp(name, prefixes->s[i], strlen(prefixes->s[i])) == 0)
            return true;
    return false;
}

bool elfdyn_needs(struct elfdyn *e, const char *const *prefixes, size_t n)
{
    struct prefixes arg = {prefixes, n};

    return each_entry(e, is_needed, &arg);
}

/* ---- one symbol, by the hash table ---- */

static uint32_t hash_of(const char *name)
{
    uint32_t h = 5381;

    for (const char *s = name; *s; s++)
        h = h * 33 + (unsigned char)*s;
    return h;
}

/* False: the name is certainly not defined. */
static bool bloom_has(const struct elfdyn *e, uint32_t h)
{
    const struct elfdyn_hash *head = &e->hash_head;
    uint64_t word, at = e->hash + sizeof *head + 8 * (uint64_t)(h / 64 % head->bloom_words);

    return read_at(e->fd, at, &word, sizeof word) && (word >> (h % 64) & 1) &&
           (word >> ((h >> (head->bloom_shift & 31)) % 64) & 1);
}

static bool symbol_is(const struct elfdyn *e, uint32_t i, const char *name, uint64_t *value)
{
    Elf64_Sym sym;

    if (!read_at(e->fd, e->symbols + (uint64_t)i * sizeof sym, &sym, sizeof sym) ||
        sym.st_shndx == SHN_UNDEF || !string_is(e, sym.st_name, name, strlen(name) + 1))
        return false;
    *value = sym.st_value;
    return true;
}

bool elfdyn_defines(struct elfdyn *e, const char *name)
{
    uint64_t value;

    return elfdyn_value(e, name, &value);
}

bool elfdyn_value(struct elfdyn *e, const char *name, uint64_t *value)
{
    const struct elfdyn_hash *head = &e->hash_head;
    uint64_t buckets = e->hash + sizeof *head + 8 * (uint64_t)head->bloom_words;
    uint32_t h = hash_of(name), i, link;

    if (!head->nbuckets || !bloom_has(e, h) ||
        !read_at(e->fd, buckets + 4 * (uint64_t)(h % head->nbuckets), &i, sizeof i) ||
        i < head->first_symbol)
        return false;
    for (unsigned n = 0; n < MOST_CHAIN; n++, i++) {
        uint64_t chain = buckets + 4 * ((uint64_t)head->nbuckets + (i - head->first_symbol));

        if (!read_at(e->fd, chain, &link, sizeof link))
            return false;
        if ((link | 1) == (h | 1) && symbol_is(e, i, name, value))
            return true;
        if (link & 1)
            return false;
    }
    return false;
}

/* Whether the segment of notes has that one. Names and contents are padded to words; Go's linker
 * counts the padding of its name, too. */
static bool segment_has_note(const struct elfdyn *e, const Elf64_Phdr *ph, const char *owner,
                             uint32_t type)
{
    size_t len = strlen(owner) + 1;
    uint64_t at = 0;
    char name[16];
    Elf64_Nhdr n;

    for (unsigned i = 0; i < MOST_NOTES && len <= sizeof name; i++) {
        if (at + sizeof n > ph->p_filesz || !read_at(e->fd, ph->p_offset + at, &n, sizeof n))
            return false;
        if (n.n_type == type && n.n_namesz >= len && n.n_namesz - len < 4 &&
            read_at(e->fd, ph->p_offset + at + sizeof n, name, len) && !memcmp(name, owner, len))
            return true;
        at += sizeof n + (((uint64_t)n.n_namesz + 3) & ~UINT64_C(3)) +
              (((uint64_t)n.n_descsz + 3) & ~UINT64_C(3));
    }
    return false;
}

bool elfdyn_has_note(struct elfdyn *e, const char *owner, uint32_t type)
{
    const Elf64_Phdr *ph;

    for (unsigned i = 0; (ph = header_at(e, i)); i++)
        if (ph->p_type == PT_NOTE && segment_has_note(e, ph, owner, type))
            return true;
    return false;
}
