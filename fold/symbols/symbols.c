/*
 * Names of a module's addresses, and the tables that they come from.
 *
 * The best table wins: the file's own .symtab; else that of its separate debug file; else the
 * packed .gnu_debugdata. .dynsym is always added (it is mapped anyway, and of two names for one
 * address symtab keeps the better), as are the PLT's stubs. When the file itself is gone or is
 * another one by now, a debug file with the recorded build-id can still name everything.
 *
 * A trace may carry the names of its addresses, which were found when it was recorded
 * (common/trace/namepack.h). Then no file is opened unless these names are incomplete.
 *
 * Inlined frames and lines come from DWARF, in the file or its debug file. The outermost name is
 * the symbol's even then: DWARF leaves out namespaces and parameters where the linkage name has
 * them.
 */
#include "fold/symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <uthash.h>

#include "common/error.h"
#include "common/alloc.h"
#include "common/basename.h"
#include "common/strbuf.h"
#include "fold/symbols/container_file.h"
#include "fold/symbols/debpackage.h"
#include "fold/symbols/debugfile.h"
#include "fold/symbols/demangle.h"
#include "fold/symbols/debugkind.h"
#include "fold/symbols/inlined_frames.h"
#include "fold/symbols/elfsym.h"
#include "fold/symbols/symtab.h"

enum { LOST_NAMED = 10, UNREAD_NAMED = 2 };

/* Fewer unnamed addresses in the code are not reported: a shell that starts a program has 31 to
 * 53 of them, and is of no interest to the user. */
enum { UNNAMED_MANY = 64 };

/* A frame list for one address, or a demangled name: freed at the end. */
struct piece {
    struct piece *next;
};

struct name {
    const char *mangled; /* the key; where it lies in its file */
    char *text;
    size_t len;
    UT_hash_handle hh;
};

struct symbol_module {
    char *key; /* path, NUL, build-id */
    size_t key_len;
    char *path;
    const uint8_t *id;
    size_t id_len;
    uint32_t layout; /* instead of an id, see unwind/elflayout.h; 0: not known */
    uint32_t pid;    /* a process that has it mapped; 0: not known */
    bool loaded;
    const struct namepack_module *carried; /* the names that traces carry for it, or NULL */
    bool carried_sought;
    enum namepack_state names;
    struct elfsym *file, *debug, *packed;
    struct symtab tab;
    struct symtab objects; /* variables; read when the first is asked for */
    bool objects_loaded;
    size_t asked, unnamed;   /* addresses */
    struct dwarfline *dwarf; /* NULL: there is none, or none was needed */
    enum debugkind kind;     /* of the debug information that was opened */
    UT_hash_handle hh;
};

struct symbols {
    struct symbol_options opt;
    struct debug_dirs dirs;
    struct symbol_module *modules;
    struct name *names;
    struct namepack *carried; /* the names of all traces; NULL: they have none */
    bool carried_new;         /* new names have come that are not yet sorted */
    struct piece *pieces;
    const struct symbol_module *reading; /* the module whose path is in opt.reading */
};

struct symbols *symbols_new(const struct symbol_options *opt)
{
    struct symbols *s = xcalloc(1, sizeof *s);

    s->opt = *opt;
    s->opt.files_first |= opt->ndebug_dirs > 0;
    debug_dirs_init(&s->dirs, opt->debug_dirs, opt->ndebug_dirs);
    return s;
}

void symbols_free(struct symbols *s)
{
    struct symbol_module *m, *next;
    struct name *name, *next_name;

    if (!s)
        return;
    HASH_ITER (hh, s->names, name, next_name) {
        HASH_DEL(s->names, name);
        free(name->text);
        free(name);
    }
    HASH_ITER (hh, s->modules, m, next) {
        HASH_DEL(s->modules, m);
        symtab_release(&m->tab);
        symtab_release(&m->objects);
        dwarfline_close(m->dwarf);
        elfsym_close(m->file);
        elfsym_close(m->debug);
        elfsym_close(m->packed);
        free(m->path);
        free(m->key);
        free(m);
    }
    while (s->pieces) {
        struct piece *p = s->pieces;

        s->pieces = p->next;
        free(p);
    }
    namepack_free(s->carried);
    debug_dirs_release(&s->dirs);
    free(s);
}

/* Memory that lives as long as `s`. */
static void *keep(struct symbols *s, size_t size)
{
    struct piece *p = xmalloc(sizeof *p + size);

    p->next = s->pieces;
    s->pieces = p;
    return p + 1;
}

void symbols_use_names(struct symbols *s, const struct namepack *names)
{
    if (!names)
        return;
    if (!s->carried)
        s->carried = namepack_new();
    namepack_add(s->carried, names);
    s->carried_new = true;
}

/* The names that traces carry for a module, or NULL. Such a module's names are not lost, even if
 * its file is. */
static const struct namepack_module *carried_of(struct symbols *s, struct symbol_module *m)
{
    if (s->carried_new) {
        namepack_finish(s->carried);
        for (struct symbol_module *other = s->modules; other; other = other->hh.next)
            other->carried_sought = false;
        s->carried_new = false;
    }
    if (s->carried && !m->carried_sought) {
        m->carried_sought = true;
        m->carried = namepack_find_module(s->carried, m->path, m->id, m->id_len, m->layout);
        if (m->carried && !m->file && !m->debug)
            m->names = namepack_state(m->carried);
    }
    return m->carried;
}

struct symbol_module *symbols_module(struct symbols *s, const char *path, const uint8_t *id,
                                     size_t id_len, uint32_t layout)
{
    struct symbol_module *m;
    size_t len;
    char *key = namepack_key(path, id, id_len, layout, &len);

    HASH_FIND(hh, s->modules, key, len, m);
    if (m) {
        free(key);
        return m;
    }
    m = xcalloc(1, sizeof *m);
    m->path = xstrdup(path);
    m->key = key;
    m->key_len = len;
    m->id = (const uint8_t *)m->key + strlen(path) + 1;
    m->id_len = id_len;
    m->layout = layout;
    HASH_ADD_KEYPTR(hh, s->modules, m->key, m->key_len, m);
    return m;
}

/* Whether `e` is the file that was mapped. */
static bool is_recorded(const struct symbol_module *m, const struct elfsym *e)
{
    size_t len;
    const uint8_t *id = elfsym_build_id(e, &len);

    if (m->id_len == 0)
        return !m->layout || elfsym_layout(e) == m->layout;
    /* The recorded id may be the beginning of a longer one. */
    return id && len >= m->id_len && memcmp(id, m->id, m->id_len) == 0;
}

static struct elfsym *open_file(struct symbol_module *m, bool *changed)
{
    static const char gone[] = " (deleted)";
    size_t len = strlen(m->path), tail = sizeof gone - 1;
    struct elfsym *e = elfsym_open(m->path);

    *changed = false;
    if (!e && m->id_len && len > tail && strcmp(m->path + len - tail, gone) == 0) {
        /* Deleted while mapped; the same file may have come back. */
        char *path = xmemdup0(m->path, len - tail);

        e = elfsym_open(path);
        free(path);
    }
    if (e && !is_recorded(m, e)) {
        elfsym_close(e);
        *changed = true;
        return NULL;
    }
    return e;
}

void symbols_mapped_by(struct symbol_module *m, uint32_t pid)
{
    if (!m->pid)
        m->pid = pid;
}

/* The module's file as a process of a container has it. Only the build-id proves that it is the
 * file, because the process may be gone and its number another's. */
static struct elfsym *open_in_container(const struct symbol_module *m)
{
    struct elfsym *e = m->id_len ? container_file_open(m->pid, m->path) : NULL;

    if (!e || is_recorded(m, e))
        return e;
    elfsym_close(e);
    return NULL;
}

void symbols_note_reading(struct symbols *s, const struct symbol_module *m)
{
    if (s->opt.reading && s->reading != m)
        snprintf(s->opt.reading, SYMBOLS_PATH_MAX, "%s", m->path);
    s->reading = m;
}

/* The file with the module's debug information; NULL: there is none, or it is not to be read. */
static const struct elfsym *debug_info_of(const struct symbols *s, const struct symbol_module *m)
{
    for (size_t i = 0; i < s->opt.ndistrusted; i++)
        if (strcmp(s->opt.distrusted[i], m->path) == 0)
            return NULL;
    if (m->file && elfsym_has_section(m->file, ".debug_info"))
        return m->file;
    return m->debug && elfsym_has_section(m->debug, ".debug_info") ? m->debug : NULL;
}

static void open_dwarf(struct symbols *s, struct symbol_module *m)
{
    const struct elfsym *e = debug_info_of(s, m);
    struct elfsym *alternate;

    if (!e || (s->opt.no_inline && !s->opt.lines))
        return;
    symbols_note_reading(s, m);
    alternate = debugfile_alternate(&s->dirs, e);
    m->dwarf = dwarfline_open(elfsym_path(e), alternate ? elfsym_path(alternate) : NULL);
    m->kind = debugkind_of(e);
    elfsym_close(alternate);
}

/* Whether a mapping's path can have symbols: memory without a file has none. */
static bool has_names(const char *path)
{
    return strncmp(path, "/memfd:", 7) != 0 && strncmp(path, "/dev/", 5) != 0 &&
           strncmp(path, "/SYSV", 5) != 0 && strncmp(path, "/anon_hugepage", 14) != 0;
}

/* Whether a file itself has its symbols and debug information. */
static bool says_all(const struct elfsym *e)
{
    return e && elfsym_has_section(e, ".symtab") && elfsym_has_section(e, ".debug_info");
}

static void load(struct symbols *s, struct symbol_module *m)
{
    bool changed = false;
    const uint8_t *id;
    size_t id_len;

    m->loaded = true;
    /* [vdso], [heap], "" and the like are no files. */
    if (m->path[0] != '/')
        return;
    m->file = open_file(m, &changed);
    if (!m->file)
        m->file = open_in_container(m);
    id = m->id;
    id_len = m->id_len;
    if (m->file && id_len == 0)
        id = elfsym_build_id(m->file, &id_len);
    if (id_len)
        m->debug = debugfile_by_build_id(&s->dirs, id, id_len);
    if (!m->debug && m->file)
        m->debug = debugfile_by_link(&s->dirs, m->file);
    if (!m->debug && id_len && !says_all(m->file))
        m->debug = debugfile_from_servers(id, id_len, m->path);
    if (m->file || m->debug)
        m->names = NAMEPACK_THERE;
    else if (has_names(m->path) && !carried_of(s, m))
        m->names = changed ? NAMEPACK_CHANGED : NAMEPACK_GONE;
    if ((!m->file || elfsym_add_symtab(m->file, &m->tab) == 0) &&
        (!m->debug || elfsym_add_symtab(m->debug, &m->tab) == 0) && m->file) {
        m->packed = elfsym_open_debugdata(m->file);
        if (m->packed)
            elfsym_add_symtab(m->packed, &m->tab);
    }
    if (m->file) {
        elfsym_add_dynsym(m->file, &m->tab);
        elfsym_add_plt(m->file, &m->tab);
    }
    symtab_finish(&m->tab);
    open_dwarf(s, m);
    if (flame_debugs(FLAME_DEBUG_SYMBOLS))
        flame_debug(FLAME_DEBUG_SYMBOLS, "%s: %zu symbols; file %s, debug file %s, %s%s", m->path,
                    m->tab.n,
                    m->file   ? "read"
                    : changed ? "is another one now"
                              : "not there",
                    m->debug ? elfsym_path(m->debug) : "none", m->packed ? ".gnu_debugdata, " : "",
                    m->dwarf ? "lines and inlined functions" : "no lines");
}

/* A frame's name, demangled if allowed. Each name is demangled once. */
static struct symbol_frame named(struct symbols *s, const char *mangled, size_t len)
{
    struct symbol_frame frame = {.name = mangled, .len = len, .raw = mangled, .raw_len = len};
    struct strbuf sb = STRBUF_INIT;
    struct name *n;

    if (s->opt.no_demangle || len < 3 || mangled[0] != '_')
        return frame;
    HASH_FIND_PTR(s->names, &mangled, n);
    if (!n) {
        n = xcalloc(1, sizeof *n);
        n->mangled = mangled;
        if (demangle(&sb, mangled, len))
            n->text = strbuf_detach(&sb, &n->len);
        HASH_ADD_PTR(s->names, mangled, n);
    }
    if (n->text) {
        frame.name = n->text;
        frame.len = n->len;
    }
    return frame;
}

/* Looks an address up in the module's own tables. */
static struct symbol_frames find_in_files(struct symbols *s, struct symbol_module *m,
                                          uint64_t vaddr)
{
    struct dwarfline_frame at[DWARFLINE_FRAMES_MAX];
    struct symbol_frames out = {NULL, 0};
    const struct symtab_entry *e;
    struct symbol_frame *frame;
    size_t n = 0;

    if (!m->loaded)
        load(s, m);
    e = symtab_find(&m->tab, vaddr);
    if (m->dwarf) {
        symbols_note_reading(s, m);
        n = dwarfline_find(m->dwarf, vaddr, s->opt.lines, at);
    }
    if (!e && (n == 0 || !at[0].name))
        return out;
    if (n == 0)
        at[n++] = (struct dwarfline_frame){0};
    if (s->opt.no_inline && n > 1)
        n = 1;
    frame = keep(s, n * sizeof *frame);
    for (size_t i = 0; i < n; i++) {
        const char *name = at[i].name ? at[i].name : "[inlined]";

        frame[i] = i == 0 && e ? named(s, e->name, e->len) : named(s, name, strlen(name));
        frame[i].inlined = i > 0;
        frame[i].path = at[i].path;
        frame[i].file = at[i].path ? base_name(at[i].path) : NULL;
        frame[i].line = at[i].line;
    }
    out.frame = frame;
    out.n = n;
    return out;
}

/* Looks an address up in the names that traces carry. Inlined frames and lines are left out as
 * in find_in_files. */
static struct symbol_frames find_carried(struct symbols *s, struct symbol_module *m, uint64_t vaddr)
{
    const struct namepack_module *of = carried_of(s, m);
    const struct namepack_place *place = of ? namepack_place(of, vaddr) : NULL;
    struct symbol_frame *frame;
    size_t n = place ? place->n : 0;

    if (n > 1 && s->opt.no_inline)
        n = 1;
    if (!n)
        return (struct symbol_frames){NULL, 0};
    frame = keep(s, n * sizeof *frame);
    for (size_t i = 0; i < n; i++) {
        const struct namepack_frame *from = &namepack_frames(s->carried, place)[i];
        struct namepack_text name = namepack_string(s->carried, from->name);

        frame[i] = named(s, name.s, name.len);
        frame[i].inlined = i > 0;
        if (!s->opt.lines || !from->path)
            continue;
        frame[i].path = namepack_string(s->carried, from->path).s;
        frame[i].file = base_name(frame[i].path);
        frame[i].line = from->line;
    }
    return (struct symbol_frames){frame, n};
}

/* Whether `a` has more than `b`: more frames, or a line where `b` has none. */
static bool says_more(const struct symbol_frames *a, const struct symbol_frames *b)
{
    if (a->n != b->n)
        return a->n > b->n;
    return a->n && a->frame[0].path && !b->frame[0].path;
}

struct symbol_frames symbols_find(struct symbols *s, struct symbol_module *m, uint64_t vaddr)
{
    struct symbol_frames carried = find_carried(s, m, vaddr), out = carried;

    m->asked++;
    if (!carried.n || s->opt.files_first)
        out = find_in_files(s, m, vaddr);
    if (says_more(&carried, &out))
        out = carried;
    m->unnamed += !out.n;
    return out;
}

static void load_objects(struct symbol_module *m)
{
    const struct elfsym *const files[] = {m->file, m->debug, m->packed};

    m->objects_loaded = true;
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (files[i])
            elfsym_add_objects(files[i], &m->objects);
    symtab_finish(&m->objects);
}

static const struct symtab_entry *find_object(struct symbols *s, struct symbol_module *m,
                                              uint64_t vaddr)
{
    if (!m->loaded)
        load(s, m);
    if (!m->objects_loaded)
        load_objects(m);
    return symtab_find(&m->objects, vaddr);
}

static struct symbol_object object_in_files(struct symbols *s, struct symbol_module *m,
                                            uint64_t vaddr)
{
    const struct symtab_entry *e = find_object(s, m, vaddr);
    struct symbol_frame name;

    if (!e)
        return (struct symbol_object){.name = NULL};
    name = named(s, e->name, e->len);
    return (struct symbol_object){name.name,        name.len, vaddr - e->addr,
                                  e->end - e->addr, name.raw, name.raw_len};
}

struct symbol_object symbols_object(struct symbols *s, struct symbol_module *m, uint64_t vaddr)
{
    const struct namepack_module *of = carried_of(s, m);
    const struct namepack_object *o = of ? namepack_object(of, vaddr) : NULL;
    struct namepack_text text;
    struct symbol_frame name;

    if (!o)
        return object_in_files(s, m, vaddr);
    text = namepack_string(s->carried, o->name);
    name = named(s, text.s, text.len);
    return (struct symbol_object){name.name, name.len, o->offset, o->size, name.raw, name.raw_len};
}

bool symbols_is_object(struct symbols *s, struct symbol_module *m, uint64_t vaddr)
{
    const struct symtab_entry *e = find_object(s, m, vaddr);

    return e && e->addr == vaddr;
}

char *symbols_debug_file(struct symbols *s, struct symbol_module *m, char **alternate)
{
    const struct elfsym *e;
    struct elfsym *shared;

    *alternate = NULL;
    if (!m->loaded)
        load(s, m);
    e = debug_info_of(s, m);
    if (!e)
        return NULL;
    shared = debugfile_alternate(&s->dirs, e);
    if (shared)
        *alternate = xstrdup(elfsym_path(shared));
    elfsym_close(shared);
    return xstrdup(elfsym_path(e));
}

bool symbols_is_sigreturn(struct symbols *s, struct symbol_module *m, uint64_t vaddr)
{
    /* mov $15, %rax (or %eax); syscall */
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    static const uint8_t code32[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
    /* mov x8, #139; svc #0 */
    static const uint8_t code_arm[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
    uint8_t have[sizeof code] = {0};
    const struct namepack_module *of = carried_of(s, m);
    const struct namepack_place *place = of ? namepack_place(of, vaddr) : NULL;
    const struct symtab_entry *e;

    if (place)
        return place->flags & NAMEPACK_SIGRETURN;
    if (!m->loaded)
        load(s, m);
    /* The middle of a function has only ordinary return addresses. */
    e = symtab_find(&m->tab, vaddr);
    if (e && e->addr != vaddr)
        return false;
    if (!m->file || !elfsym_read(m->file, vaddr, have, sizeof have))
        return false;
    return memcmp(have, code, sizeof code) == 0 || memcmp(have, code32, sizeof code32) == 0 ||
           memcmp(have, code_arm, sizeof code_arm) == 0;
}

enum namepack_state symbols_state(const struct symbol_module *m)
{
    return m->names;
}

void symbols_add_lost(const struct symbols *s, struct missing_symbols *to)
{
    struct strbuf word = STRBUF_INIT;
    uint8_t layout[4];

    for (const struct symbol_module *m = s->modules; m; m = m->hh.next) {
        if (m->names == NAMEPACK_THERE)
            continue;
        for (size_t i = 0; i < sizeof layout; i++)
            layout[i] = (uint8_t)(m->layout >> (24 - 8 * i));
        strbuf_clear(&word);
        missing_symbols_word(&word, m->path, m->id_len ? m->id : layout,
                             m->id_len ? m->id_len : sizeof layout);
        missing_symbols_add(to, word.buf, word.len);
    }
    strbuf_release(&word);
}

void symbols_say_lost(const struct symbols *s)
{
    size_t n = 0;

    for (const struct symbol_module *m = s->modules; m; m = m->hh.next) {
        if (m->names == NAMEPACK_THERE || n++ >= LOST_NAMED)
            continue;
        flame_warn("%s: %s; its frames show as offsets. Keep the old file's debug symbols under "
                   "FLAME_DEBUG_DIRS",
                   m->path,
                   m->names == NAMEPACK_CHANGED
                       ? "not the file that was recorded (built again or updated since)"
                       : "not here any more, or cannot be read");
    }
    if (n > LOST_NAMED)
        flame_warn("the names of %zu more files are lost", n - LOST_NAMED);
}

void symbols_say_unread(const struct symbols *s)
{
    size_t n = 0;

    for (const struct symbol_module *m = s->modules; m; m = m->hh.next) {
        if (m->kind == DEBUGKIND_PLAIN ||
            (m->kind == DEBUGKIND_ZSTD && m->dwarf && dwarfline_has_units(m->dwarf)))
            continue;
        if (n++ < UNREAD_NAMED)
            flame_warn(
                m->kind == DEBUGKIND_ZSTD
                    ? "%s: its debug information is compressed by zstd, which libdwarf here "
                      "cannot read: no lines, no inlined functions; 'objcopy "
                      "--decompress-debug-sections' makes a file of it that can be read"
                    : "%s: its functions are in .dwo files, which are not read: lines, but no "
                      "inlined functions; build it without -gsplit-dwarf for these",
                m->path);
    }
    if (n > UNREAD_NAMED)
        flame_warn("so it is with %zu more files", n - UNREAD_NAMED);
}

/* Whether more symbols may help: the file is there, and is no vdso, whose symbols are complete. */
static bool may_have_symbols(const struct symbol_module *m)
{
    return m->names == NAMEPACK_THERE && m->path[0] == '/';
}

void symbols_say_unnamed(const struct symbols *s)
{
    const struct symbol_module *most = NULL;
    struct strbuf package = STRBUF_INIT, command = STRBUF_INIT;
    size_t asked = 0, unnamed = 0;

    for (const struct symbol_module *m = s->modules; m; m = m->hh.next) {
        asked += m->asked;
        unnamed += m->unnamed;
        if (may_have_symbols(m) && m->unnamed && (!most || m->unnamed > most->unnamed))
            most = m;
    }
    if (unnamed < UNNAMED_MANY || unnamed * 2 <= asked || !most)
        return;
    if (debpackage_of_symbols(DEBPACKAGE_LISTS, most->path, &package)) {
        debpackage_add_command(DEBPACKAGE_RELEASE, package.buf, &command);
        flame_warn("%zu of %zu places in the code have no name and show as offsets, %zu of them in "
                   "%s; Debian has its symbols in the package %s: %s",
                   unnamed, asked, most->unnamed, most->path, package.buf, command.buf);
    } else {
        flame_warn("%zu of %zu places in the code have no name and show as offsets, %zu of them in "
                   "%s; it was stripped: take one that was not, or its debug file",
                   unnamed, asked, most->unnamed, most->path);
    }
    strbuf_release(&command);
    strbuf_release(&package);
}
