/* Frames by addresses and mappings; see mapframes.h. Each address is looked up once. */
#include "fold/profiles/mapframes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/hash.h"
#include "common/alloc.h"
#include "common/procmaps.h"
#include "fold/collapse/located.h"
#include "fold/symbols/elfsym.h"
#include "fold/symbols/symbols.h"

enum { NEAR = 8 };

/* A mapped file; opened at the first lookup of one of its addresses. */
struct file {
    char *path;
    bool tried;
    struct elfsym *elf; /* NULL: no readable file */
    struct symbol_module *module;
};

struct map {
    uint64_t start, end, offset;
    size_t file;
};

/* An address whose frames are known: frames[first..first + n). */
struct known {
    uint64_t address;
    uint32_t first, n; /* n 0: a free slot */
};

struct mapped {
    struct symbol_options opt;
    struct symbols *symbols;
    struct file *files;
    size_t nfiles, files_alloc;
    struct map *maps;
    size_t nmaps, maps_alloc;
    bool sorted;
    struct known *known;
    size_t nknown, slots; /* slots: a power of two */
    uint32_t *frames;
    size_t nframes, frames_alloc;
};

struct mapped *mapped_new(void)
{
    struct mapped *m = xcalloc(1, sizeof *m);

    m->slots = 1024;
    m->known = xcalloc(m->slots, sizeof *m->known);
    return m;
}

void mapped_free(struct mapped *m)
{
    for (size_t i = 0; i < m->nfiles; i++) {
        free(m->files[i].path);
        if (m->files[i].elf)
            elfsym_close(m->files[i].elf);
    }
    if (m->symbols)
        symbols_free(m->symbols);
    free(m->files);
    free(m->maps);
    free(m->known);
    free(m->frames);
    free(m);
}

/* Index of a file. A file's mappings lie next to each other; a file that comes again later is
 * only opened a second time. */
static size_t file_at(struct mapped *m, const char *path, size_t len)
{
    struct file f = {.path = NULL};

    for (size_t i = m->nfiles; i > 0 && i + NEAR > m->nfiles; i--)
        if (span_is((struct span){path, len}, m->files[i - 1].path))
            return i - 1;
    f.path = xmemdup0(path, len);
    GROW(m->files, m->nfiles, m->files_alloc);
    m->files[m->nfiles++] = f;
    return m->nfiles - 1;
}

bool mapped_line(struct mapped *m, struct span line)
{
    struct procmap p;
    struct map map;

    if (!procmaps_parse(line.s, line.len, &p))
        return false;
    if (!p.exec || p.name_len == 0 || p.name[0] != '/')
        return true;
    map = (struct map){p.start, p.end, p.offset, file_at(m, p.name, p.name_len)};
    GROW(m->maps, m->nmaps, m->maps_alloc);
    m->maps[m->nmaps++] = map;
    m->sorted = false;
    return true;
}

static int by_start(const void *pa, const void *pb)
{
    const struct map *a = pa, *b = pb;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->file > b->file) - (a->file < b->file);
}

/* The mapping that has an address. Mappings do not overlap; in a damaged file where they do, the
 * one that begins last has the address. */
static const struct map *map_of(struct mapped *m, uint64_t address)
{
    size_t lo = 0, hi = m->nmaps;

    if (!m->sorted && m->nmaps)
        qsort(m->maps, m->nmaps, sizeof *m->maps, by_start);
    m->sorted = true;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (m->maps[mid].start <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 && address < m->maps[lo - 1].end ? &m->maps[lo - 1] : NULL;
}

static struct symbol_frames find(struct mapped *m, const struct collapse *c, const struct map *map,
                                 uint64_t address)
{
    struct symbol_frames none = {NULL, 0};
    struct file *f = &m->files[map->file];
    uint64_t offset, vaddr;

    if (!f->tried) {
        f->tried = true;
        f->elf = elfsym_open(f->path);
    }
    if (!f->elf || __builtin_add_overflow(map->offset, address - map->start, &offset) ||
        !elfsym_vaddr(f->elf, offset, &vaddr))
        return none;
    if (!m->symbols) {
        m->opt.lines =
            c->opt->srcline || c->opt->place == PLACE_FILE || c->opt->place == PLACE_LINE;
        m->symbols = symbols_new(&m->opt);
    }
    if (!f->module)
        f->module = symbols_module(m->symbols, f->path, NULL, 0, 0);
    return symbols_find(m->symbols, f->module, vaddr);
}

static void add_frame(struct mapped *m, struct collapse *c, const struct located *l)
{
    uint32_t id = collapse_located(c, l);

    GROW(m->frames, m->nframes, m->frames_alloc);
    m->frames[m->nframes++] = id;
}

/* Adds the frames of an address to m->frames, innermost first; at least one. */
static void look_up(struct mapped *m, struct collapse *c, uint64_t address)
{
    const struct map *map = map_of(m, address);
    struct symbol_frames found = {NULL, 0};
    struct located l = {.line = 0};
    char number[32];

    if (map) {
        l.module = span_of(m->files[map->file].path);
        found = find(m, c, map, address);
    }
    for (size_t i = found.n; i > 0; i--) {
        const struct symbol_frame *f = &found.frame[i - 1];

        l.name = (struct span){f->name, f->len};
        l.file = f->file ? span_of(f->file) : span_to(l.name, 0);
        l.line = f->line;
        l.inlined = f->inlined;
        add_frame(m, c, &l);
    }
    if (found.n > 0)
        return;
    snprintf(number, sizeof number, "0x%" PRIx64, address);
    if (c->opt->addrs)
        l.name = span_of(number);
    add_frame(m, c, &l);
}

static struct known *slot_of(struct mapped *m, uint64_t address)
{
    size_t i = (size_t)((address * HASH_GOLDEN) >> 20) & (m->slots - 1);

    while (m->known[i].n && m->known[i].address != address)
        i = (i + 1) & (m->slots - 1);
    return &m->known[i];
}

static void grow(struct mapped *m)
{
    struct known *old = m->known;
    size_t n = m->slots;

    m->slots *= 2;
    m->known = xcalloc(m->slots, sizeof *m->known);
    for (size_t i = 0; i < n; i++)
        if (old[i].n)
            *slot_of(m, old[i].address) = old[i];
    free(old);
}

void mapped_push(struct mapped *m, struct collapse *c, uint64_t address)
{
    struct known *k = slot_of(m, address);

    if (!k->n) {
        size_t first = m->nframes;

        if (++m->nknown > m->slots / 2) {
            grow(m);
            k = slot_of(m, address);
        }
        look_up(m, c, address);
        *k = (struct known){address, (uint32_t)first, (uint32_t)(m->nframes - first)};
    }
    for (uint32_t i = 0; i < k->n; i++)
        collapse_push_id(c, m->frames[k->first + i]);
}
