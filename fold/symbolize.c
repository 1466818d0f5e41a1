/*
 * From addresses to frames.
 *
 * A trace has hundreds of thousands of nodes but only some thousand different addresses, so
 * addresses are numbered through a hash table and each number keeps its frames: two lists, as
 * the instruction before a return address and the address itself may belong to different
 * functions.
 *
 * The code to which a signal handler returns (__restore_rt) is never called: the kernel made its
 * address the handler's return address. So the code begins right at that address, and both that
 * address and the one of its "caller" are looked up exactly.
 */
#include "fold/symbolize.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/hash.h"
#include "common/alloc.h"
#include "common/basename.h"
#include "common/folded.h"
#include "fold/stacks/hashslots.h"
#include "fold/symbols/anon_code.h"
#include "fold/symbols/futex_name.h"
#include "fold/symbols/perfmap.h"

struct list {
    uint32_t first, n; /* in frames.ids */
    bool done;
};

struct address {
    uint64_t addr;
    const struct trace_module_view *module; /* or NULL */
    uint32_t pid;                           /* without a module: the process whose memory it is
                                               in */
    const char *made; /* without a module: the name of unnamed code there; or NULL */
    struct list call, exact;
    bool sigreturn;
    bool is_made; /* `made` is its only name */
};

struct symbolizer {
    const struct trace *t;
    struct symbols *syms;
    struct aggregate *to;
    enum place_kind place;
    struct symbol_module **modules; /* in the order of t->modules */
    struct address *addresses;
    size_t n, alloc;
    struct hashslots by_address;
    struct jit {
        uint32_t pid;
        struct perfmap *map; /* names of code outside of files; NULL: none */
    } * jits;
    size_t njits;
    uint32_t made_epoch; /* the epoch for which `made` was looked up; 0: none yet */
    const char *made;
    uint32_t *ids; /* frame ids of all lists */
    size_t nids, ids_alloc;
};

struct symbolizer *symbolizer_new(const struct trace *t, struct symbols *syms, struct aggregate *to,
                                  enum place_kind place)
{
    struct symbolizer *f = xcalloc(1, sizeof *f);

    f->t = t;
    f->syms = syms;
    f->to = to;
    f->place = place;
    f->modules = xcalloc(t->nmodules, sizeof *f->modules);
    hashslots_init(&f->by_address, 4096);
    return f;
}

void symbolizer_free(struct symbolizer *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->njits; i++)
        perfmap_free(f->jits[i].map);
    free(f->jits);
    free(f->modules);
    free(f->addresses);
    hashslots_release(&f->by_address);
    free(f->ids);
    free(f);
}

static struct symbol_module *module_of(struct symbolizer *f, const struct trace_module_view *m)
{
    size_t i = (size_t)(m - f->t->modules);

    if (!f->modules[i])
        f->modules[i] =
            symbols_module(f->syms, m->path, m->m.build_id, m->m.build_id_size, m->m.layout);
    return f->modules[i];
}

static uint32_t hash_address(uint64_t addr, const struct trace_module_view *m)
{
    return (uint32_t)(((addr ^ (uint64_t)(uintptr_t)m << 20) * HASH_GOLDEN) >> 30);
}

static const char *made_name(struct symbolizer *f, uint32_t epoch)
{
    if (!f->made_epoch || f->made_epoch != epoch) {
        f->made = anon_code_name(f->t, epoch);
        f->made_epoch = epoch;
    }
    return f->made;
}

uint32_t symbolizer_address(struct symbolizer *f, uint64_t addr, const struct trace_node *root)
{
    const struct trace_module_view *m = trace_module_at(f->t, addr, (uint32_t)(root->addr >> 32));
    uint32_t pid = m ? 0 : trace_root_pid(f->t, root), hash, id;
    struct hashslots *h = &f->by_address;
    struct address *a;

    if (!m)
        addr = trace_code_address(f->t, addr);
    hash = hash_address(addr, m);
    for (size_t i = hashslots_first(h, hash); hashslots_at(h, i, &id); i = hashslots_next(h, i)) {
        a = &f->addresses[id];
        if (a->addr == addr && a->module == m && a->pid == pid)
            return id;
    }
    GROW(f->addresses, f->n, f->alloc);
    id = (uint32_t)f->n++;
    a = &f->addresses[id];
    *a = (struct address){.addr = addr, .module = m, .pid = pid};
    if (m)
        symbols_mapped_by(module_of(f, m), trace_root_pid(f->t, root));
    else
        a->made = made_name(f, (uint32_t)(root->addr >> 32));
    a->sigreturn = m && symbols_is_sigreturn(f->syms, module_of(f, m), addr - m->m.bias);
    hashslots_add(h, hash, id);
    return id;
}

bool symbolizer_is_sigreturn(const struct symbolizer *f, uint32_t address)
{
    return f->addresses[address].sigreturn;
}

static void add_id(struct symbolizer *f, struct list *list, const struct strbuf *name)
{
    GROW(f->ids, f->nids, f->ids_alloc);
    f->ids[f->nids++] = aggregate_safe_frame(f->to, name->buf, name->len);
    list->n++;
}

/* The last component of a module's path. */
static const char *module_name(const struct trace_module_view *module, size_t *len)
{
    static const char gone[] = " (deleted)";
    const char *base = module ? base_name(module->path) : "";

    *len = strlen(base);
    if (*len > sizeof gone - 1 && strcmp(base + *len - (sizeof gone - 1), gone) == 0)
        *len -= sizeof gone - 1;
    return base;
}

/* The module of an address, for a frame without a symbol: "libc.so.6", "vdso". */
static void add_module_name(struct strbuf *sb, const struct trace_module_view *module)
{
    size_t len;
    const char *base = module_name(module, &len);

    if (strcmp(base, "linux-vdso.so.1") == 0 || strcmp(base, "[vdso]") == 0) {
        base = "vdso";
        len = 4;
    } else if (len > 2 && base[0] == '[' && base[len - 1] == ']') {
        base++;
        len -= 2;
    } else if (len == 0) {
        base = "unknown";
        len = 7;
    }
    strbuf_add(sb, base, len);
}

/* "[libc.so.6+0x1234]" for an address that no symbol explains. */
static void add_offset(struct strbuf *sb, const struct address *a)
{
    if (a->module && strcmp(a->module->path, TRACE_UNKNOWN_NAME) == 0) {
        strbuf_addstr(sb, a->module->path);
        return;
    }
    strbuf_addch(sb, '[');
    add_module_name(sb, a->module);
    strbuf_addf(sb, "+0x%" PRIx64 "]", a->addr - (a->module ? a->module->m.bias : 0));
}

/* A process's map, opened at the first lookup of one of its addresses. */
static const struct perfmap *jit_map(struct symbolizer *f, uint32_t pid)
{
    if (!pid) /* of several processes, none of which has a map: see tracesums.h */
        return NULL;
    for (size_t i = 0; i < f->njits; i++)
        if (f->jits[i].pid == pid)
            return f->jits[i].map;
    f->jits = xreallocarray(f->jits, f->njits + 1, sizeof *f->jits);
    f->jits[f->njits] = (struct jit){pid, perfmap_open(pid, trace_process_since(f->t))};
    return f->jits[f->njits++].map;
}

/* A JIT compiler's name for code that belongs to no file. The names that the trace carries come
 * first, as another process may have its id by now. NULL: there is none. */
static const char *jit_name(struct symbolizer *f, uint32_t pid, uint64_t addr, size_t *len)
{
    const struct namepack *names = f->t->names;
    struct namepack_text text;
    const struct perfmap *map;

    if (names) {
        text = namepack_string(names, namepack_made(names, pid, addr));
        *len = text.len;
        return text.len ? text.s : NULL;
    }
    map = jit_map(f, pid);
    return map ? perfmap_find(map, addr, len) : NULL;
}

/* Appends a JIT compiler's name for code that belongs to no file. False: there is none. */
static bool add_jit_name(struct symbolizer *f, struct strbuf *sb, const struct address *a,
                         bool exact)
{
    const char *name = NULL;
    size_t len = 0;

    if (!a->module)
        name = jit_name(f, a->pid, a->addr - (exact ? 0 : 1), &len);
    if (!name || (a->made && anon_code_is_all(name, len)))
        return false;
    strbuf_add(sb, name, len);
    strbuf_addstr(sb, "_[j]");
    return true;
}

/* Marks a frame with its module as a place. A mapping that has a name but no file stays
 * "[vdso]". */
static void mark_module(struct strbuf *sb, enum place_kind kind,
                        const struct trace_module_view *module)
{
    size_t len;
    const char *base = module_name(module, &len);

    if (strcmp(base, "linux-vdso.so.1") == 0) {
        base = "[vdso]";
        len = strlen(base);
    }
    place_mark_module(sb, kind, base, len);
}

static void add_place(const struct symbolizer *f, struct strbuf *sb, const struct address *a,
                      const struct symbol_frame *frame)
{
    struct strbuf place = STRBUF_INIT;

    if (f->place == PLACE_ALL) {
        place_mark(sb, a->module ? a->module->path : "", a->module ? strlen(a->module->path) : 0);
        if (frame->path)
            strbuf_addf(&place, "%s:%u", frame->path, frame->line);
        place_mark(sb, place.buf, place.len);
        strbuf_release(&place);
        return;
    }
    if (f->place == PLACE_MODULE || !frame->file) {
        mark_module(sb, f->place, a->module);
        return;
    }
    strbuf_addstr(&place, frame->file);
    if (f->place == PLACE_LINE)
        strbuf_addf(&place, ":%u", frame->line);
    place_mark(sb, place.buf, place.len);
    strbuf_release(&place);
}

static void resolve(struct symbolizer *f, struct address *a, struct list *list, bool exact)
{
    struct symbol_frames found = {NULL, 0};
    struct strbuf sb = STRBUF_INIT, safe = STRBUF_INIT;

    list->done = true;
    list->first = (uint32_t)f->nids;
    if (a->module)
        found = symbols_find(f->syms, module_of(f, a->module),
                             a->addr - a->module->m.bias - (exact ? 0 : 1));
    if (found.n == 0) {
        if (a->sigreturn)
            strbuf_addstr(&sb, "__restore_rt");
        else if (add_jit_name(f, &sb, a, exact))
            ;
        else if (a->made)
            strbuf_addstr(&sb, a->made);
        else
            add_offset(&sb, a);
        a->is_made = a->made && strcmp(sb.buf, a->made) == 0;
        folded_add_frame(&safe, sb.buf, sb.len);
        if (f->place == PLACE_ALL || (f->place == PLACE_MODULE && a->module))
            add_place(f, &safe, a, &(struct symbol_frame){.name = NULL});
        add_id(f, list, &safe);
    }
    for (size_t i = 0; i < found.n; i++) {
        const struct symbol_frame *frame = &found.frame[i];

        strbuf_clear(&sb);
        strbuf_add(&sb, frame->name, frame->len);
        if (frame->file && f->place < PLACE_FILE)
            strbuf_addf(&sb, " %s:%u", frame->file, frame->line);
        if (frame->inlined)
            strbuf_addstr(&sb, "_[i]");
        strbuf_clear(&safe);
        folded_add_frame(&safe, sb.buf, sb.len);
        if (f->place)
            add_place(f, &safe, a, frame);
        add_id(f, list, &safe);
    }
    strbuf_release(&sb);
    strbuf_release(&safe);
}

const uint32_t *symbolizer_of(struct symbolizer *f, uint32_t address, bool exact, size_t *n)
{
    struct address *a = &f->addresses[address];
    struct list *list;

    exact = exact || a->sigreturn;
    list = exact ? &a->exact : &a->call;
    if (!list->done)
        resolve(f, a, list, exact);
    *n = list->n;
    return f->ids + list->first;
}

bool symbolizer_is_anon_code(struct symbolizer *f, uint32_t address, bool exact)
{
    size_t n;

    if (!f->addresses[address].made)
        return false;
    symbolizer_of(f, address, exact, &n);
    return f->addresses[address].is_made;
}

uint32_t symbolizer_futex(struct symbolizer *f, uint64_t addr, const struct trace_node *root)
{
    const struct trace_module_view *m = trace_module_at(f->t, addr, (uint32_t)(root->addr >> 32));
    uint64_t vaddr = addr - (m ? m->m.bias : 0);
    struct symbol_object o = {.name = NULL};
    struct strbuf sb = STRBUF_INIT, module = STRBUF_INIT;
    uint32_t frame;

    if (m)
        o = symbols_object(f->syms, module_of(f, m), vaddr);
    add_module_name(&module, m);
    futex_name_add(&sb, &o, module.buf, vaddr);
    frame = aggregate_frame(f->to, sb.buf, sb.len);
    strbuf_release(&module);
    strbuf_release(&sb);
    return frame;
}

struct aggregate *symbolizer_aggregate(const struct symbolizer *f)
{
    return f->to;
}
