/*
 * Reading ELF files with libelf.
 *
 * libelf checks the headers against the file's size and returns sections as bounded buffers. The
 * contents of those buffers are checked here: string offsets must end in the table, symbols lie
 * in sections that hold code, notes fit. The file is mapped, not read: of a debug file of a
 * gigabyte only the symbols are touched.
 *
 * The build-id is sought in note sections and, in a file whose sections were stripped away, in
 * note segments.
 */
#define _GNU_SOURCE
#include "fold/symbols/elfsym.h"

#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "fold/symbols/elfsym_impl.h"
#include "unwind/elflayout.h"

/* Symbols of the largest programs known take a tenth of this. */
#define DEBUGDATA_MAX ((size_t)256 << 20)

Elf_Scn *elfsym_section(const struct elfsym *e, const char *name, GElf_Shdr *sh)
{
    for (Elf_Scn *scn = elf_nextscn(e->elf, NULL); scn; scn = elf_nextscn(e->elf, scn)) {
        const char *have;

        if (!gelf_getshdr(scn, sh))
            continue;
        have = elf_strptr(e->elf, e->shstrndx, sh->sh_name);
        if (have && strcmp(have, name) == 0)
            return scn;
    }
    return NULL;
}

const char *elfsym_string(const struct elfsym *e, size_t link, size_t offset, size_t *len)
{
    Elf_Scn *scn = elf_getscn(e->elf, link);
    Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
    const char *s, *end;

    if (!data || !data->d_buf || offset >= data->d_size)
        return NULL;
    s = (const char *)data->d_buf + offset;
    end = memchr(s, '\0', data->d_size - offset);
    if (!end)
        return NULL;
    *len = (size_t)(end - s);
    return s;
}

/* The bytes of a section that has some; NULL otherwise. */
static Elf_Data *contents(const struct elfsym *e, const char *name)
{
    GElf_Shdr sh;
    Elf_Scn *scn = elfsym_section(e, name, &sh);
    Elf_Data *data;

    if (!scn || sh.sh_type == SHT_NOBITS)
        return NULL;
    data = elf_rawdata(scn, NULL);
    return data && data->d_buf && data->d_size ? data : NULL;
}

bool elfsym_has_section(const struct elfsym *e, const char *name)
{
    return contents(e, name) != NULL;
}

const uint8_t *elfsym_bytes(struct elfsym *e, const char *name, size_t *len)
{
    GElf_Shdr sh;
    Elf_Scn *scn = elfsym_section(e, name, &sh);
    Elf_Data *data;

    if (!scn || sh.sh_type == SHT_NOBITS)
        return NULL;
    if (sh.sh_flags & SHF_COMPRESSED) {
        if (elf_compress(scn, 0, 0) < 0)
            return NULL;
        data = elf_getdata(scn, NULL);
    } else {
        data = elf_rawdata(scn, NULL);
    }
    if (!data || !data->d_buf || !data->d_size)
        return NULL;
    *len = data->d_size;
    return data->d_buf;
}

static bool take_build_id(struct elfsym *e, Elf_Data *data)
{
    size_t at = 0, name, desc, next;
    GElf_Nhdr nh;

    while (data && (next = gelf_getnote(data, at, &nh, &name, &desc)) > 0) {
        if (nh.n_type == NT_GNU_BUILD_ID && nh.n_namesz == sizeof "GNU" &&
            memcmp((char *)data->d_buf + name, "GNU", sizeof "GNU") == 0 && nh.n_descsz > 0 &&
            nh.n_descsz <= sizeof e->build_id) {
            memcpy(e->build_id, (char *)data->d_buf + desc, nh.n_descsz);
            e->build_id_len = nh.n_descsz;
            return true;
        }
        at = next;
    }
    return false;
}

static void find_build_id(struct elfsym *e)
{
    size_t segments;
    GElf_Shdr sh;
    GElf_Phdr ph;

    for (Elf_Scn *scn = elf_nextscn(e->elf, NULL); scn; scn = elf_nextscn(e->elf, scn))
        if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_NOTE &&
            take_build_id(e, elf_getdata(scn, NULL)))
            return;
    if (elf_getphdrnum(e->elf, &segments) != 0)
        return;
    for (size_t i = 0; i < segments && i < 1000; i++)
        if (gelf_getphdr(e->elf, (int)i, &ph) && ph.p_type == PT_NOTE &&
            take_build_id(e, elf_getdata_rawchunk(e->elf, (int64_t)ph.p_offset, ph.p_filesz,
                                                  ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR)))
            return;
}

/* Makes an elfsym of `e`, whose resources it owns from now on. */
static struct elfsym *begin(struct elfsym e)
{
    struct elfsym *out;

    if (!e.elf || elf_kind(e.elf) != ELF_K_ELF || gelf_getclass(e.elf) == ELFCLASSNONE) {
        if (e.elf)
            elf_end(e.elf);
        if (e.fd >= 0)
            close(e.fd);
        free(e.memory);
        return NULL;
    }
    if (elf_getshdrstrndx(e.elf, &e.shstrndx) != 0)
        e.shstrndx = 0;
    out = xmalloc(sizeof *out);
    *out = e;
    find_build_id(out);
    return out;
}

struct elfsym *elfsym_open(const char *path)
{
    struct elfsym e = {.fd = -1}, *out;
    struct stat st;

    elf_version(EV_CURRENT);
    /* A path from a trace may name a pipe: do not hang on it. */
    e.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (e.fd < 0)
        return NULL;
    if (fstat(e.fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(e.fd);
        return NULL;
    }
    e.elf = elf_begin(e.fd, ELF_C_READ_MMAP, NULL);
    out = begin(e);
    if (out)
        out->path = xstrdup(path);
    return out;
}

struct elfsym *elfsym_open_memory(void *data, size_t len)
{
    struct elfsym e = {.fd = -1, .memory = data}, *out;

    elf_version(EV_CURRENT);
    e.elf = len ? elf_memory(data, len) : NULL;
    out = begin(e);
    if (out)
        out->path = xstrdup("");
    return out;
}

void elfsym_close(struct elfsym *e)
{
    if (!e)
        return;
    elf_end(e->elf);
    if (e->fd >= 0)
        close(e->fd);
    for (size_t i = 0; i < e->nmade; i++)
        free(e->made[i]);
    free(e->made);
    free(e->memory);
    free(e->path);
    free(e);
}

const char *elfsym_path(const struct elfsym *e)
{
    return e->path;
}

uint32_t elfsym_layout(const struct elfsym *e)
{
    size_t size, n;
    const char *file = elf_rawfile(e->elf, &size);
    GElf_Ehdr eh;

    if (!file || !gelf_getehdr(e->elf, &eh) || elf_getphdrnum(e->elf, &n) != 0 || n == 0 ||
        eh.e_phoff > size || (size - eh.e_phoff) / eh.e_phentsize < n)
        return 0;
    return elf_layout(file + eh.e_phoff, n * eh.e_phentsize);
}

const uint8_t *elfsym_build_id(const struct elfsym *e, size_t *len)
{
    *len = e->build_id_len;
    return e->build_id_len ? e->build_id : NULL;
}

const char *elfsym_debuglink(const struct elfsym *e, uint32_t *crc)
{
    Elf_Data *data = contents(e, ".gnu_debuglink");
    const char *name = data ? data->d_buf : NULL;
    const char *end = data ? memchr(name, '\0', data->d_size) : NULL;
    const uint8_t *id = (const uint8_t *)elf_getident(e->elf, NULL);
    size_t at;

    if (!end || end == name || strchr(name, '/'))
        return NULL;
    at = ((size_t)(end - name) + 4) & ~(size_t)3;
    if (data->d_size < 4 || at > data->d_size - 4)
        return NULL;
    memcpy(crc, name + at, 4);
    if (id && (id[EI_DATA] == ELFDATA2MSB) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
        *crc = __builtin_bswap32(*crc);
    return name;
}

const char *elfsym_debugaltlink(const struct elfsym *e, const uint8_t **id, size_t *id_len)
{
    Elf_Data *data = contents(e, ".gnu_debugaltlink");
    const char *name = data ? data->d_buf : NULL;
    const char *end = data ? memchr(name, '\0', data->d_size) : NULL;

    if (!end || end == name)
        return NULL;
    *id = (const uint8_t *)end + 1;
    *id_len = data->d_size - (size_t)(end - name) - 1;
    return name;
}

struct elfsym *elfsym_open_debugdata(const struct elfsym *e)
{
    Elf_Data *data = contents(e, ".gnu_debugdata");
    lzma_stream xz = LZMA_STREAM_INIT;
    size_t room = data ? data->d_size * 4 + 4096 : 0;
    uint8_t *out;
    lzma_ret ret;

    if (!data || room > DEBUGDATA_MAX || lzma_stream_decoder(&xz, DEBUGDATA_MAX, 0) != LZMA_OK)
        return NULL;
    out = xmalloc(room);
    xz.next_in = data->d_buf;
    xz.avail_in = data->d_size;
    do {
        if (xz.total_out == room) {
            if (room > DEBUGDATA_MAX / 2)
                break;
            GROW(out, room, room);
        }
        xz.next_out = out + xz.total_out;
        xz.avail_out = room - xz.total_out;
        ret = lzma_code(&xz, LZMA_FINISH);
    } while (ret == LZMA_OK);
    room = xz.total_out;
    lzma_end(&xz);
    if (ret != LZMA_STREAM_END) {
        free(out);
        return NULL;
    }
    return elfsym_open_memory(out, room);
}

/* Whether a section holds symbols of that kind: code for functions, loaded data for variables. */
static bool holds(const struct elfsym *e, size_t index, GElf_Shdr *sh, bool objects)
{
    Elf_Scn *scn = elf_getscn(e->elf, index);
    GElf_Xword want = objects ? SHF_ALLOC : SHF_EXECINSTR;

    return scn && gelf_getshdr(scn, sh) && (sh->sh_flags & (SHF_EXECINSTR | want)) == want;
}

/* Symbols of a table that are added. */
struct table {
    uint32_t type; /* SHT_SYMTAB or SHT_DYNSYM */
    bool objects;  /* variables, else functions */
    uint64_t most; /* bytes that one without a size has, at most */
    size_t strings;
};

/* Bytes of a function without a size in a stripped file. Such functions are written in assembly,
 * and short if they call anything. What lies behind them is mostly code that the file has no names
 * for: a system call in musl was memset's. */
#define UNSIZED_MOST 128u

static bool wanted(int type, bool objects)
{
    if (objects)
        return type == STT_OBJECT;
    return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static void add_symbol(const struct elfsym *e, struct symtab *to, const GElf_Sym *sym,
                       const struct table *t, GElf_Shdr *section, size_t *section_index)
{
    int type = GELF_ST_TYPE(sym->st_info);
    enum symtab_rank rank = SYMTAB_RANK_GLOBAL;
    size_t len, index = sym->st_shndx;
    uint64_t end;
    const char *name, *at;

    if (!wanted(type, t->objects) || sym->st_name == 0)
        return;
    /* Neighbours share a section: look it up once. */
    if (index != *section_index) {
        *section_index = 0;
        if (!holds(e, index, section, t->objects))
            return;
        *section_index = index;
    }
    name = elfsym_string(e, t->strings, sym->st_name, &len);
    if (!name)
        return;
    if (type == STT_NOTYPE) {
        rank = SYMTAB_RANK_LABEL;
        /* $x and $d mark code and data on ARM; .L names are the compiler's. */
        if (name[0] == '$' || (name[0] == '.' && name[1] == 'L'))
            return;
    } else if (GELF_ST_BIND(sym->st_info) == STB_LOCAL) {
        rank = SYMTAB_RANK_LOCAL;
    }
    /* memcpy@@GLIBC_2.14: the version does not belong to the name. */
    at = memchr(name, '@', len);
    if (at && at != name)
        len = (size_t)(at - name);
    end = section->sh_addr + section->sh_size;
    if (end > sym->st_value && end - sym->st_value > t->most)
        end = sym->st_value + t->most;
    symtab_add(to, sym->st_value, sym->st_size, end, rank, name, len);
}

/* The next symbol table of a type behind *scn (NULL: the first), with its section header in
 * *sh and how many symbols there are in *n; NULL: there is none. */
static Elf_Data *next_table(const struct elfsym *e, uint32_t type, Elf_Scn **scn, GElf_Shdr *sh,
                            size_t *n)
{
    while ((*scn = elf_nextscn(e->elf, *scn))) {
        Elf_Data *data;

        /* In a debug file .dynsym is there in name only. */
        if (!gelf_getshdr(*scn, sh) || sh->sh_type != type || sh->sh_entsize == 0)
            continue;
        data = elf_getdata(*scn, NULL);
        if (!data || !data->d_buf)
            continue;
        *n = data->d_size / gelf_fsize(e->elf, ELF_T_SYM, 1, EV_CURRENT);
        return data;
    }
    return NULL;
}

static size_t add_table(const struct elfsym *e, struct symtab *to, struct table t)
{
    GElf_Shdr sh, section = {0};
    size_t section_index = 0, found = 0, n;
    Elf_Scn *scn = NULL;
    Elf_Data *data;

    while ((data = next_table(e, t.type, &scn, &sh, &n))) {
        t.strings = sh.sh_link;
        for (size_t i = 1; i < n && i <= INT32_MAX; i++) {
            GElf_Sym sym;

            if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF ||
                sym.st_shndx >= SHN_LORESERVE)
                continue;
            found++;
            add_symbol(e, to, &sym, &t, &section, &section_index);
        }
    }
    return found;
}

/* The name of symbol i if it must be found in another file; NULL: it need not. */
static const char *wanted_name(const struct elfsym *e, Elf_Data *data, size_t i, size_t strings)
{
    GElf_Sym sym;

    if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx != SHN_UNDEF ||
        GELF_ST_BIND(sym.st_info) != STB_GLOBAL)
        return NULL;
    return elf_strptr(e->elf, strings, sym.st_name);
}

const char *elfsym_wants(const struct elfsym *e, const char *const *names, size_t nnames)
{
    Elf_Scn *scn = NULL;
    Elf_Data *data;
    GElf_Shdr sh;
    size_t n;

    while ((data = next_table(e, SHT_DYNSYM, &scn, &sh, &n)))
        for (size_t i = 1; i < n && i <= INT32_MAX; i++) {
            const char *name = wanted_name(e, data, i, sh.sh_link);

            for (size_t k = 0; name && k < nnames; k++)
                if (strcmp(name, names[k]) == 0)
                    return names[k];
        }
    return NULL;
}

size_t elfsym_add_symtab(const struct elfsym *e, struct symtab *to)
{
    return add_table(e, to, (struct table){.type = SHT_SYMTAB, .most = UINT64_MAX});
}

size_t elfsym_add_dynsym(const struct elfsym *e, struct symtab *to)
{
    struct table t = {.type = SHT_DYNSYM, .most = to->n ? UINT64_MAX : UNSIZED_MOST};

    return add_table(e, to, t);
}

void elfsym_add_objects(const struct elfsym *e, struct symtab *to)
{
    struct table t = {.type = SHT_SYMTAB, .objects = true, .most = UINT64_MAX};

    add_table(e, to, t);
    t.type = SHT_DYNSYM;
    add_table(e, to, t);
}

bool elfsym_read(const struct elfsym *e, uint64_t vaddr, void *to, size_t len)
{
    size_t segments, size;
    const char *image = elf_rawfile(e->elf, &size);
    GElf_Phdr ph;

    if (!image || elf_getphdrnum(e->elf, &segments) != 0)
        return false;
    for (size_t i = 0; i < segments && i < 1000; i++) {
        uint64_t at;

        if (!gelf_getphdr(e->elf, (int)i, &ph) || ph.p_type != PT_LOAD || vaddr < ph.p_vaddr ||
            ph.p_filesz < len || vaddr - ph.p_vaddr > ph.p_filesz - len)
            continue;
        if (__builtin_add_overflow(ph.p_offset, vaddr - ph.p_vaddr, &at) || size < len ||
            at > size - len)
            return false;
        memcpy(to, image + at, len);
        return true;
    }
    return false;
}

bool elfsym_vaddr(const struct elfsym *e, uint64_t offset, uint64_t *vaddr)
{
    size_t segments;
    GElf_Phdr ph;

    if (elf_getphdrnum(e->elf, &segments) != 0)
        return false;
    for (size_t i = 0; i < segments && i < 1000; i++)
        if (gelf_getphdr(e->elf, (int)i, &ph) && ph.p_type == PT_LOAD && offset >= ph.p_offset &&
            offset - ph.p_offset < ph.p_filesz)
            return !__builtin_add_overflow(ph.p_vaddr, offset - ph.p_offset, vaddr);
    return false;
}
