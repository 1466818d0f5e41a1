/*
 * Source: the ELF gABI for headers, segments and notes; the LSB core specification for
 * .eh_frame_hdr. Only PT_GNU_EH_FRAME shows where the tables are: stripped files have it, and a
 * process's memory too. .eh_frame lies in the same segment, before or after it, and its end is not
 * recorded. So the copy reaches from the first of the two to the segment's end.
 *
 * Static programs may have no PT_GNU_EH_FRAME; there the sections are searched.
 *
 * Rejected: mapping the whole file, because a read of the mapping kills the tracer if another
 * process truncates the file. It saves the time of one copy for each file.
 */
#define _GNU_SOURCE
#include "tracer/stacks/image.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/elfdyn.h"
#include "common/pages.h"
#include "common/alloc.h"
#include "common/processor/page_size.h"
#include "common/processor/processor.h"

#define PHDRS_MAX 1024
#define TABLES_MAX ((uint64_t)1 << 30)
#define NOTES_MAX ((uint64_t)65536)
/* Bound on user addresses (Linux: 56 bits on x86-64, 52 on aarch64). */
#define ADDRESS_MAX ((uint64_t)1 << 56)

/* Source of the bytes: a file, a process, or memory of ours. */
struct image_bytes {
    int fd;
    pid_t tid;
    uintptr_t base;
    const uint8_t *bytes;
    size_t size;
};

/* Reads up to `size` bytes at a file offset; returns their number. For a process the offset is from
 * `base`. */
static uint64_t read_some(const struct image_bytes *s, uint64_t offset, uint8_t *to, uint64_t size)
{
    uint64_t done = 0;

    if (s->bytes) {
        if (offset >= s->size)
            return 0;
        if (size > s->size - offset)
            size = s->size - offset;
        memcpy(to, s->bytes + offset, size);
        return size;
    }
    while (done < size) {
        struct iovec ours = {to + done, size - done};
        struct iovec theirs = {(void *)(s->base + offset + done), size - done};
        ssize_t n = s->fd >= 0 ? pread(s->fd, to + done, size - done, (off_t)(offset + done))
                               : process_vm_readv(s->tid, &ours, 1, &theirs, 1, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (uint64_t)n;
    }
    return done;
}

static bool read_all(const struct image_bytes *s, uint64_t offset, void *to, uint64_t size)
{
    return offset <= INT64_MAX && read_some(s, offset, to, size) == size;
}

static bool read_headers(struct image *im, const struct image_bytes *s)
{
    Elf64_Ehdr eh;
    uint64_t page = page_size() - 1;

    if (!read_all(s, 0, &eh, sizeof eh) || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
        eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB ||
        eh.e_machine != PROCESSOR_ELF || eh.e_phentsize != sizeof *im->phdr || eh.e_phnum == 0 ||
        eh.e_phnum > PHDRS_MAX)
        return false;
    im->phnum = eh.e_phnum;
    im->phdr = xcalloc(im->phnum, sizeof *im->phdr);
    if (!read_all(s, eh.e_phoff, im->phdr, im->phnum * sizeof *im->phdr))
        return false;
    im->lo = UINT64_MAX;
    for (unsigned i = 0; i < im->phnum; i++) {
        const Elf64_Phdr *ph = &im->phdr[i];

        if (ph->p_type != PT_LOAD)
            continue;
        if (ph->p_vaddr > ADDRESS_MAX || ph->p_memsz > ADDRESS_MAX || ph->p_filesz > ph->p_memsz ||
            ph->p_offset > INT64_MAX / 2)
            return false;
        if ((ph->p_vaddr & ~page) < im->lo)
            im->lo = ph->p_vaddr & ~page;
        if (((ph->p_vaddr + ph->p_memsz + page) & ~page) > im->hi)
            im->hi = (ph->p_vaddr + ph->p_memsz + page) & ~page;
    }
    return im->lo < im->hi;
}

/* The segment whose bytes in the file hold `addr`. */
static const Elf64_Phdr *segment_of(const struct image *im, uint64_t addr)
{
    for (unsigned i = 0; i < im->phnum; i++) {
        const Elf64_Phdr *ph = &im->phdr[i];

        if (ph->p_type == PT_LOAD && addr >= ph->p_vaddr && addr - ph->p_vaddr < ph->p_filesz)
            return ph;
    }
    return NULL;
}

/* Offset at which read_some() finds the byte at `addr`, which lies in a segment. */
static uint64_t offset_of(const struct image *im, const struct image_bytes *s, uint64_t addr)
{
    const Elf64_Phdr *ph = segment_of(im, addr);

    if (s->tid)
        return addr - im->lo; /* the first segment begins with the file's first page */
    return ph->p_offset + (addr - ph->p_vaddr);
}

/* Takes a note of one of flame's libraries (common/env/librarynote.h). Any file may claim to be
 * one. */
static void take_library(struct image *im, const Elf64_Nhdr *n, const uint8_t *desc,
                         uint64_t desc_at)
{
    int32_t away[2];

    if (n->n_type == LIBRARY_WAITS)
        im->library = LIBRARY_WAITS;
    if (n->n_type != LIBRARY_RECORDER || n->n_descsz != sizeof away)
        return;
    memcpy(away, desc, sizeof away);
    im->library = LIBRARY_RECORDER;
    im->own_lo = desc_at + (uint64_t)(int64_t)away[0];
    im->own_hi = desc_at + sizeof away[0] + (uint64_t)(int64_t)away[1];
}

/* Takes one note, whose name and contents are whole; the contents are at address `desc_at`. */
static void take_note(struct image *im, const Elf64_Nhdr *n, const uint8_t *name,
                      const uint8_t *desc, uint64_t desc_at)
{
    if (n->n_namesz != 4)
        return;
    im->keeps_frames = im->keeps_frames || memcmp(name, "Go\0", 4) == 0;
    if (memcmp(name, LIBRARY_NOTE_NAME, 4) == 0)
        take_library(im, n, desc, desc_at);
    if (n->n_type == NT_GNU_BUILD_ID && memcmp(name, "GNU", 4) == 0 && !im->build_id_size &&
        n->n_descsz <= TRACE_BUILD_ID_MAX) {
        im->build_id_size = n->n_descsz;
        memcpy(im->build_id, desc, n->n_descsz);
    }
}

static void read_notes(struct image *im, const struct image_bytes *s, const Elf64_Phdr *ph)
{
    uint64_t left = ph->p_filesz < NOTES_MAX ? ph->p_filesz : NOTES_MAX;
    uint64_t align = ph->p_align == 8 ? 8 : 4;
    uint8_t *notes, *at;

    if (!left || !segment_of(im, ph->p_vaddr))
        return;
    at = notes = xmalloc(left);
    left = read_some(s, offset_of(im, s, ph->p_vaddr), notes, left);
    while (left >= sizeof(Elf64_Nhdr)) {
        uint64_t name, desc;
        Elf64_Nhdr n;

        memcpy(&n, at, sizeof n);
        name = (n.n_namesz + align - 1) & ~(align - 1);
        desc = (n.n_descsz + align - 1) & ~(align - 1);
        if (sizeof n + name + desc > left)
            break;
        take_note(im, &n, at + sizeof n, at + sizeof n + name,
                  ph->p_vaddr + (uint64_t)(at - notes) + sizeof n + name);
        at += sizeof n + name + desc;
        left -= sizeof n + name + desc;
    }
    free(notes);
}

/* Address of .eh_frame, by the header at `hdr`; 0 when that is not of the usual kind. */
static uint64_t eh_frame_at(const struct image *im, const struct image_bytes *s, uint64_t hdr)
{
    uint8_t head[8];
    int32_t away;

    if (!read_all(s, offset_of(im, s, hdr), head, sizeof head) || head[0] != 1 || head[1] != 0x1b)
        return 0;
    memcpy(&away, head + 4, sizeof away);
    return hdr + 4 + (uint64_t)(int64_t)away;
}

static void read_tables(struct image *im, const struct image_bytes *s, const Elf64_Phdr *ph)
{
    const Elf64_Phdr *segment = segment_of(im, ph->p_vaddr);
    uint64_t begin, end, frames;

    if (!segment || im->tables)
        return;
    frames = eh_frame_at(im, s, ph->p_vaddr);
    if (!frames || segment_of(im, frames) != segment)
        return;
    begin = (frames < ph->p_vaddr ? frames : ph->p_vaddr) & -page_size();
    if (begin < segment->p_vaddr)
        begin = segment->p_vaddr;
    end = segment->p_vaddr + segment->p_filesz;
    if (end - begin > TABLES_MAX)
        return;
    /* The copy has the same offset in its page as in memory, because rules test low bits. */
    im->tables_size = end - begin + (begin & (page_size() - 1));
    im->tables = pages_alloc(im->tables_size);
    if (!im->tables)
        return;
    im->tables_at = begin & -page_size();
    read_some(s, offset_of(im, s, begin), im->tables + (begin - im->tables_at), end - begin);
    im->hdr_at = ph->p_vaddr;
    im->hdr_size = ph->p_memsz < end - ph->p_vaddr ? ph->p_memsz : end - ph->p_vaddr;
}

/* The tables as they lie in our memory: *shift is our address less the file's. */
static struct cfi_section section_of(const struct image *im, uintptr_t *shift)
{
    uintptr_t at = (uintptr_t)im->tables;

    *shift = at - im->tables_at;
    return (struct cfi_section){.hdr = im->tables + (im->hdr_at - im->tables_at),
                                .hdr_size = im->hdr_size,
                                .lo = at,
                                .hi = at + im->tables_size};
}

bool image_function(const struct image *im, uintptr_t addr, uintptr_t *start)
{
    if (im->hdr_size) {
        uintptr_t shift;
        struct cfi_section s = section_of(im, &shift);

        if (cfi_function_at(&s, addr + shift, start)) {
            *start -= shift;
            return true;
        }
    }
    return frametable_function(&im->eh_frame, addr, start) ||
           frametable_function(&im->debug_frame, addr, start);
}

static struct rule rule_by_tables(const struct image *im, uintptr_t addr)
{
    struct rule rule = {.kind = RULE_NONE};

    if (im->hdr_size) {
        uintptr_t shift;
        struct cfi_section s = section_of(im, &shift);

        rule = cfi_rule_at(&s, addr + shift);
    }
    if (rule.kind == RULE_NONE)
        rule = frametable_rule(&im->eh_frame, addr);
    return rule.kind == RULE_NONE ? frametable_rule(&im->debug_frame, addr) : rule;
}

/* Compiles the rule of a return address. A function's first address ends no call: makecontext put
 * it on the stack, and the function has no caller. */
static struct rule compile(void *arg, uintptr_t addr)
{
    struct rule rule = rule_by_tables(arg, addr);

    if (rule.kind == RULE_NONE && rule_by_tables(arg, addr + 1).kind != RULE_NONE)
        rule.kind = RULE_END;
    return rule;
}

static void find_python(struct image *im, int fd)
{
    struct elfdyn e;

    if (!elfdyn_open(&e, fd) || !elfdyn_value(&e, "_PyRuntime", &im->python.runtime) ||
        !elfdyn_value(&e, "Py_Version", &im->python.version))
        im->python.version = 0;
}

static struct image *load(const struct image_bytes *s)
{
    struct image *im = xcalloc(1, sizeof *im);

    im->refs = 1;
    if (!read_headers(im, s)) {
        image_release(im);
        return NULL;
    }
    for (unsigned i = 0; i < im->phnum; i++) {
        if (im->phdr[i].p_type == PT_NOTE)
            read_notes(im, s, &im->phdr[i]);
        if (im->phdr[i].p_type == PT_GNU_EH_FRAME)
            read_tables(im, s, &im->phdr[i]);
    }
    if (s->fd >= 0)
        find_python(im, s->fd);
    if (s->fd >= 0)
        frametable_load(&im->debug_frame, s->fd, true);
    if (s->fd >= 0 && !im->hdr_size)
        frametable_load(&im->eh_frame, s->fd, false);
    im->rules = (struct rules){.compile = compile, .arg = im, .first_size = 512, .alone = true};
    return im;
}

struct image *image_from_file(int fd, const struct image_key *key)
{
    struct image_bytes s = {.fd = fd};
    struct image *im = load(&s);

    if (im)
        im->key = *key;
    return im;
}

struct image *image_from_memory(pid_t tid, uintptr_t base)
{
    struct image_bytes s = {.fd = -1, .tid = tid, .base = base};

    return load(&s);
}

struct image *image_from_bytes(const uint8_t *bytes, size_t size)
{
    struct image_bytes s = {.fd = -1, .bytes = bytes, .size = size};

    return load(&s);
}

struct image *image_share(struct image *im)
{
    im->refs++;
    return im;
}

void image_release(struct image *im)
{
    if (!im || --im->refs)
        return;
    free(im->phdr);
    pages_free(im->tables, im->tables_size);
    frametable_release(&im->eh_frame);
    frametable_release(&im->debug_frame);
    rules_release(&im->rules);
    free(im);
}

bool image_bias(const struct image *im, uintptr_t start, uint64_t offset, bool exec, bool write,
                uintptr_t *bias)
{
    int best = -1;

    for (unsigned i = 0; i < im->phnum; i++) {
        const Elf64_Phdr *ph = &im->phdr[i];
        int fit = !(ph->p_flags & PF_X) == !exec ? 2 : 0;

        if (ph->p_type != PT_LOAD || offset < (ph->p_offset & -page_size()) ||
            offset >= ph->p_offset + ph->p_filesz)
            continue;
        fit += !(ph->p_flags & PF_W) == !write;
        if (fit <= best)
            continue;
        best = fit;
        *bias = start - offset + ph->p_offset - ph->p_vaddr;
    }
    return best >= 0;
}

bool image_read(const struct image *im, uint64_t addr, void *to, size_t size)
{
    if (!im->tables || addr < im->tables_at || addr - im->tables_at >= im->tables_size ||
        size > im->tables_size - (addr - im->tables_at))
        return false;
    memcpy(to, im->tables + (addr - im->tables_at), size);
    return true;
}
