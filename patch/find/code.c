/*
 * Sections say exactly where code is; for a file without sections its segments are used. Functions
 * come from the table of .eh_frame_hdr, which every linker of the last twenty years sorts.
 *
 * Source: the ELF gABI; the LSB's .eh_frame_hdr.
 */
#include "patch/find/code.h"

#include <elf.h>
#include <stdlib.h>

#include "common/alloc.h"

#define MAX_RANGES 4096
#define MAX_FUNCTIONS (1u << 24)

struct file {
    const uint8_t *bytes;
    size_t size;
    Elf64_Ehdr head;
};

static bool get(const struct file *f, uint64_t at, void *to, size_t size)
{
    if (at > f->size || f->size - at < size)
        return false;
    memcpy(to, f->bytes + at, size);
    return true;
}

static bool open_file(struct file *f, const uint8_t *bytes, size_t size)
{
    *f = (struct file){.bytes = bytes, .size = size};
    return get(f, 0, &f->head, sizeof f->head) && memcmp(f->head.e_ident, ELFMAG, SELFMAG) == 0 &&
           f->head.e_ident[EI_CLASS] == ELFCLASS64 && f->head.e_ident[EI_DATA] == ELFDATA2LSB;
}

static bool segment(const struct file *f, unsigned i, Elf64_Phdr *ph)
{
    return f->head.e_phentsize == sizeof *ph && i < f->head.e_phnum && f->head.e_phoff <= f->size &&
           get(f, f->head.e_phoff + i * sizeof *ph, ph, sizeof *ph);
}

static bool section(const struct file *f, unsigned i, Elf64_Shdr *sh)
{
    return f->head.e_shentsize == sizeof *sh && i < f->head.e_shnum && f->head.e_shoff <= f->size &&
           get(f, f->head.e_shoff + i * sizeof *sh, sh, sizeof *sh);
}

static void add_range(struct code *c, const struct file *f, uint64_t addr, uint64_t offset,
                      uint64_t size)
{
    if (!size || offset > f->size || size > f->size - offset || addr > UINT32_MAX ||
        size > UINT32_MAX - addr || c->n >= MAX_RANGES)
        return;
    GROW(c->ranges, c->n, c->room);
    c->ranges[c->n++] = (struct code_range){
        .bytes = f->bytes + offset, .addr = (uint32_t)addr, .size = (uint32_t)size};
}

static int by_address(const void *a, const void *b)
{
    const struct code_range *x = a, *y = b;

    return x->addr != y->addr ? (x->addr < y->addr ? -1 : 1) : 0;
}

static void find_ranges(struct code *c, const struct file *f)
{
    size_t kept = 0;
    Elf64_Shdr sh;
    Elf64_Phdr ph;

    for (unsigned i = 0; section(f, i, &sh); i++)
        if (sh.sh_type == SHT_PROGBITS && sh.sh_flags & SHF_EXECINSTR)
            add_range(c, f, sh.sh_addr, sh.sh_offset, sh.sh_size);
    for (unsigned i = 0; !c->n && segment(f, i, &ph); i++)
        if (ph.p_type == PT_LOAD && ph.p_flags & PF_X)
            add_range(c, f, ph.p_vaddr, ph.p_offset, ph.p_filesz);
    if (c->n)
        qsort(c->ranges, c->n, sizeof *c->ranges, by_address);
    for (size_t i = 0; i < c->n; i++)
        if (!kept || c->ranges[i].addr >= c->ranges[kept - 1].addr + c->ranges[kept - 1].size)
            c->ranges[kept++] = c->ranges[i];
    c->n = kept;
}

const struct code_range *code_at(const struct code *c, uint64_t addr)
{
    size_t lo = 0, hi = c->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (c->ranges[mid].addr <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (!lo || addr - c->ranges[lo - 1].addr >= c->ranges[lo - 1].size)
        return NULL;
    return &c->ranges[lo - 1];
}

static void add_function(struct code *c, uint64_t addr, uint32_t size)
{
    const struct code_range *r = code_at(c, addr);

    if (r && size > r->addr + r->size - (uint32_t)addr)
        size = 0;
    if (c->nfunctions >= MAX_FUNCTIONS || !r)
        return;
    GROW(c->functions, c->nfunctions, c->functions_room);
    c->functions[c->nfunctions++] =
        (struct code_function){.start = (uint32_t)addr, .end = size ? (uint32_t)addr + size : 0};
    c->has_ends |= size != 0;
}

/* Copies bytes of a segment by their address. */
static bool get_at(const struct file *f, uint64_t addr, void *to, size_t size)
{
    Elf64_Phdr ph;

    for (unsigned i = 0; segment(f, i, &ph); i++)
        if (ph.p_type == PT_LOAD && addr - ph.p_vaddr < ph.p_filesz)
            return ph.p_offset <= f->size && get(f, ph.p_offset + (addr - ph.p_vaddr), to, size);
    return false;
}

/* Whether an FDE belongs to a signal handler's return ("S" in its CIE's augmentation). Such an FDE
 * begins a byte before its first instruction, for unwinders that look up the address before. */
static bool is_signal_frame(const struct file *f, uint64_t fde)
{
    struct {
        uint32_t length, cie;
    } head;
    char augmentation[8] = "";

    return get_at(f, fde, &head, sizeof head) && head.length < 0xfffffff0 &&
           get_at(f, fde + 4 - head.cie + 9, augmentation, sizeof augmentation - 1) &&
           strchr(augmentation, 'S');
}

/* Size of an FDE's function, if the FDE has the form that compilers write (32 bits, relative to its
 * own place). 0: it has another form, or does not match the table. */
static uint32_t size_of_fde(const struct file *f, uint64_t fde, uint64_t function)
{
    struct {
        int32_t start;
        uint32_t size;
    } range;

    if (!get_at(f, fde + 8, &range, sizeof range) ||
        fde + 8 + (uint64_t)(int64_t)range.start != function)
        return 0;
    return range.size;
}

/* Reads the table in the only form that linkers write: pairs of 32 bits, relative to the header. */
static void read_functions(struct code *c, const struct file *f, const Elf64_Phdr *ph)
{
    enum { SDATA4 = 0x0b, UDATA4 = 0x03, DATAREL = 0x30 };
    uint8_t head[4];
    uint32_t count;

    if (!get(f, ph->p_offset, head, sizeof head) || head[0] != 1 ||
        ((head[1] & 0xf) != SDATA4 && (head[1] & 0xf) != UDATA4) || head[2] != UDATA4 ||
        head[3] != (DATAREL | SDATA4) || !get(f, ph->p_offset + 8, &count, sizeof count))
        return;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t function, fde;
        uint32_t size, early;
        int32_t pair[2];

        if (!get(f, ph->p_offset + 12 + (uint64_t)i * sizeof pair, pair, sizeof pair))
            return;
        function = ph->p_vaddr + (uint64_t)(int64_t)pair[0];
        fde = ph->p_vaddr + (uint64_t)(int64_t)pair[1];
        size = size_of_fde(f, fde, function);
        early = is_signal_frame(f, fde);
        add_function(c, function + early, size > early ? size - early : 0);
    }
}

/* Order by start. If two functions have the same start, the one with a known end comes first. */
static int by_start(const void *a, const void *b)
{
    const struct code_function *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end != y->end ? (x->end > y->end ? -1 : 1) : 0;
}

static void find_functions(struct code *c, const struct file *f)
{
    size_t kept = 0;
    Elf64_Phdr ph;

    for (unsigned i = 0; segment(f, i, &ph); i++)
        if (ph.p_type == PT_GNU_EH_FRAME)
            read_functions(c, f, &ph);
    for (size_t i = 0; i < c->n; i++)
        add_function(c, c->ranges[i].addr, 0);
    add_function(c, f->head.e_entry, 0);
    if (c->nfunctions)
        qsort(c->functions, c->nfunctions, sizeof *c->functions, by_start);
    for (size_t i = 0; i < c->nfunctions; i++)
        if (!kept || c->functions[i].start != c->functions[kept - 1].start)
            c->functions[kept++] = c->functions[i];
    c->nfunctions = kept;
}

/* Finds the build-id among the notes of one segment. */
static size_t build_id_in(const struct file *f, uint64_t at, uint64_t end, uint8_t id[64])
{
    Elf64_Nhdr note;
    char name[4];

    while (at < end && end - at >= sizeof note && get(f, at, &note, sizeof note)) {
        uint64_t name_at = at + sizeof note;
        uint64_t desc_at = name_at + (((uint64_t)note.n_namesz + 3) & ~(uint64_t)3);

        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof name &&
            get(f, name_at, name, sizeof name) && memcmp(name, "GNU", 4) == 0 && note.n_descsz &&
            note.n_descsz <= 64 && get(f, desc_at, id, note.n_descsz))
            return note.n_descsz;
        at = desc_at + (((uint64_t)note.n_descsz + 3) & ~(uint64_t)3);
    }
    return 0;
}

static size_t find_build_id(const struct file *f, uint8_t id[64])
{
    Elf64_Phdr ph;
    size_t len = 0;

    for (unsigned i = 0; !len && segment(f, i, &ph); i++)
        if (ph.p_type == PT_NOTE && ph.p_offset <= f->size && ph.p_filesz <= f->size)
            len = build_id_in(f, ph.p_offset, ph.p_offset + ph.p_filesz, id);
    return len;
}

size_t code_build_id(const uint8_t *file, size_t size, uint8_t id[64])
{
    struct file f;

    return open_file(&f, file, size) ? find_build_id(&f, id) : 0;
}

bool code_open(struct code *c, const uint8_t *file, size_t size)
{
    struct file f;

    memset(c, 0, sizeof *c);
    if (!open_file(&f, file, size))
        return false;
    c->machine = f.head.e_machine;
    c->build_id_len = find_build_id(&f, c->build_id);
    find_ranges(c, &f);
    find_functions(c, &f);
    return c->n > 0;
}

void code_release(struct code *c)
{
    free(c->ranges);
    free(c->functions);
    memset(c, 0, sizeof *c);
}
