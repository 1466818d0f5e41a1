/*
 * Problem: every address in a stack must be tied to the file it came from, while the program loads
 * and unloads libraries, without the loader's lock.
 *
 * Algorithm: a table. modules_init copies the loader's list; modules_note asks _dl_find_object
 * about addresses outside of the known ranges. After dlclose each known module is looked up again;
 * those not found are `gone`. While some are gone, addresses in their ranges are looked up again.
 * The same file at the same place revives the entry, and never adds a record to the trace. Another
 * file in the range begins an epoch.
 *
 * In the trace a range represents one module. The first module that is seen there has its own
 * addresses. Each other one gets a range that no process has addresses in, by bump allocation from
 * TRACE_PLACED_BEGIN. So stacks of different modules at one address are different stacks in all
 * views, and stacks without such a module do not change. Code that lies where a module was, and is
 * in none (a JIT's), is marked with TRACE_ADDR_NO_MODULE.
 *
 * A full table loses entries that are gone: only a dlopen of the same file notices that, and makes
 * a record more. Modules that have no place in the table share one record, TRACE_UNKNOWN_MODULE.
 *
 * Rejected: epochs in the trace, by which a module record holds only from one change of the address
 * space to the next. Each change made new roots, and with them all stacks anew: a program that
 * loads and unloads two plugins in turn took 11 KiB more each time.
 *
 * Rejected: interposing dlopen. The loader finds $ORIGIN, RUNPATH and the namespace through
 * dlopen's caller, which would be the recorder. Rejected: reading /proc/self/maps on every miss: 12
 * us and a descriptor each time.
 *
 * Source: _dl_find_object is described in the glibc manual, "Dynamic Linker Introspection", since
 * 2.35. Before that, dl_iterate_phdr serves for addresses not known yet.
 */
#define _GNU_SOURCE
#include "unwind/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/kernel.h"
#include "common/processor/page_size.h"
#include "common/pages.h"
#include "common/procmaps.h"
#include "unwind/dynsym.h"
#include "unwind/elflayout.h"
#include "common/env/loaderlist.h"
#include "unwind/sharedrules.h"

#define PLACES_APART ((uint64_t)1 << 20)
#define PATH_CHUNK 65536

/* The layout of struct dl_find_object in glibc's <dlfcn.h>; spelled out so that the recorder builds
 * on older C libraries and finds the function at run time. */
struct found_object {
    unsigned long long int flags;
    void *map_start;
    void *map_end;
    struct link_map *link_map;
    void *eh_frame;
    unsigned long long int reserved[7];
};

/* All zero: empty. */
struct hull {
    uintptr_t lo, hi;
};

static struct {
    struct spinlock lock;
    struct module *table; /* `limit` of them, never moved */
    size_t used, limit;
    uint32_t epoch;
    uint32_t changes;
    uint32_t lists; /* number of walks of the loader's list that searched for unloaded modules */
    struct hull gone_hull;  /* of the ranges of unloaded modules */
    struct hull moved_hull; /* of the ranges whose addresses differ in the trace */
    struct hull left;       /* of modules that have lost their entry, at their own addresses */
    uint64_t next_place;    /* address in the trace for the next module that needs a place */
    size_t next_out;        /* index where the next search for an entry to reuse begins */
    uint32_t turnover;      /* odd while an entry is being reused for another module */
    struct module unknown;  /* the last module for which there was no room */
    bool unknown_recorded;
    uint64_t homeless;     /* number of times that there was no room */
    struct module *latest; /* the module that was found last; NULL: none yet */
    struct trace_writer *trace;
    char *paths; /* bump memory for path strings */
    size_t paths_left;
    int (*find_object)(void *, struct found_object *);
} mods;

struct modules_loader modules_loader;

static const char *keep_string(const char *s, size_t len)
{
    char *at;

    if (len + 1 > mods.paths_left) {
        mods.paths = pages_alloc(PATH_CHUNK);
        mods.paths_left = mods.paths ? PATH_CHUNK : 0;
        if (len + 1 > mods.paths_left)
            return "";
    }
    at = mods.paths;
    memcpy(at, s, len);
    at[len] = '\0';
    mods.paths += len + 1;
    mods.paths_left -= len + 1;
    return at;
}

/* Whether the program's headers, where the kernel says that they are, lie in the range. */
static bool is_program(uintptr_t start, uintptr_t end)
{
    uintptr_t headers = getauxval(AT_PHDR);

    return headers >= start && headers < end;
}

/* glibc's loader calls the program itself "", musl's uses the name it was executed by; both store
 * relative names as they were passed. */
static const char *keep_path(const char *name, uintptr_t start, uintptr_t end)
{
    char path[4096];
    uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
    size_t len, at = 0;
    long n;

    if (vdso == start)
        return "[vdso]";
    if (!name || !name[0] || (LOADER_IS_LIBC && is_program(start, end))) {
        n = procmaps_program(path, sizeof path);
        return n > 0 ? keep_string(path, (size_t)n) : "";
    }
    len = strlen(name);
    if (name[0] != '/') {
        n = kernel_call(SYS_readlinkat, AT_FDCWD, "/proc/self/cwd", path, sizeof path - 2);
        if (n > 0) {
            at = (size_t)n;
            path[at++] = '/';
        }
    }
    if (at + len >= sizeof path)
        return "";
    memcpy(path + at, name, len);
    return keep_string(path, at + len);
}

static bool inside(const struct module *m, uintptr_t at, size_t size)
{
    return at >= m->start && at < m->end && size <= m->end - at;
}

/* Notes lie in a mapped segment; values of a broken file are not followed outside of it. */
static void read_build_id(struct module *m, const ElfW(Phdr) * note)
{
    uintptr_t at = m->bias + note->p_vaddr;
    size_t left = note->p_memsz, align = note->p_align == 8 ? 8 : 4;

    if (!inside(m, at, left))
        return;
    while (left >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *n = (const void *)at;
        size_t name = (n->n_namesz + align - 1) & ~(align - 1);
        size_t desc = (n->n_descsz + align - 1) & ~(align - 1);
        const uint8_t *body = (const uint8_t *)(n + 1);

        if (name > left || desc > left || sizeof *n + name + desc > left)
            return;
        if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(body, "GNU", 4) == 0 &&
            n->n_descsz <= TRACE_BUILD_ID_MAX) {
            m->facts.build_id_size = n->n_descsz;
            memcpy(m->facts.build_id, body + name, n->n_descsz);
            return;
        }
        at += sizeof *n + name + desc;
        left -= sizeof *n + name + desc;
    }
}

static bool has_code_from(const ElfW(Phdr) * phdr, uint16_t phnum, uintptr_t vaddr)
{
    for (uint16_t i = 0; i < phnum; i++)
        if (phdr[i].p_type == PT_LOAD && phdr[i].p_flags & PF_X &&
            phdr[i].p_vaddr + phdr[i].p_memsz > vaddr)
            return true;
    return false;
}

/* Fills *m from the program headers. False: the file has no segment to load. */
static bool describe(struct module *m, const ElfW(Phdr) * phdr, uint16_t phnum, uintptr_t bias)
{
    const uintptr_t page = page_size() - 1, vdso = getauxval(AT_SYSINFO_EHDR);

    *m = (struct module){.start = UINTPTR_MAX, .bias = bias, .phdr = phdr, .phnum = phnum};
    for (uint16_t i = 0; i < phnum; i++) {
        uintptr_t lo = (bias + phdr[i].p_vaddr) & ~page;
        uintptr_t hi = (bias + phdr[i].p_vaddr + phdr[i].p_memsz + page) & ~page;

        if (phdr[i].p_type != PT_LOAD)
            continue;
        if (lo < m->start)
            m->start = lo;
        if (hi > m->end)
            m->end = hi;
    }
    if (m->start >= m->end)
        return false;
    /* The kernel may put the vDSO between code and data of the loader, which lie 64 KiB apart on
     * aarch64. A module counts for its code, so it ends there. */
    if (vdso > m->start && vdso < m->end && !has_code_from(phdr, phnum, vdso - bias))
        m->end = vdso;
    m->facts.layout = elf_layout(phdr, phnum * sizeof *phdr);
    for (uint16_t i = 0; i < phnum; i++)
        if (phdr[i].p_type == PT_NOTE && !m->facts.build_id_size)
            read_build_id(m, &phdr[i]);
    m->rules = sharedrules_module(m->facts.build_id, m->facts.build_id_size, m->facts.layout);
    return true;
}

static void write_record(struct module *m)
{
    if (!mods.trace)
        return;
    m->facts.start = m->start + m->shift;
    m->facts.end = m->end + m->shift;
    m->facts.bias = m->bias + m->shift;
    m->facts.end_epoch = UINT32_MAX;
    m->recorded = trace_writer_meta(mods.trace, TRACE_META_MODULE, &m->facts, sizeof m->facts,
                                    m->path, strlen(m->path), NULL) != NULL;
}

static void write_unknown(void)
{
    struct trace_module facts = {.start = TRACE_UNKNOWN_MODULE,
                                 .end = TRACE_UNKNOWN_MODULE + 2,
                                 .bias = TRACE_UNKNOWN_MODULE,
                                 .end_epoch = UINT32_MAX};

    if (mods.trace && !mods.unknown_recorded)
        mods.unknown_recorded =
            trace_writer_meta(mods.trace, TRACE_META_MODULE, &facts, sizeof facts,
                              TRACE_UNKNOWN_NAME, sizeof TRACE_UNKNOWN_NAME - 1, NULL) != NULL;
}

static bool same_file(const struct module *a, const struct module *b)
{
    return a->start == b->start && a->end == b->end && a->bias == b->bias &&
           strcmp(a->path, b->path) == 0 && a->facts.build_id_size == b->facts.build_id_size &&
           memcmp(a->facts.build_id, b->facts.build_id, a->facts.build_id_size) == 0;
}

static bool live(const struct module *m)
{
    return !m->gone && !m->replaced;
}

/* ---- hulls ---- */

static void widen(struct hull *h, uintptr_t lo, uintptr_t hi)
{
    if (h->hi == 0 || lo < h->lo)
        h->lo = lo;
    if (hi > h->hi)
        h->hi = hi;
}

static void publish(struct hull *to, const struct hull *from)
{
    __atomic_store_n(&to->lo, from->lo, __ATOMIC_RELAXED);
    __atomic_store_n(&to->hi, from->hi, __ATOMIC_RELEASE);
}

static bool in_hull(const struct hull *h, uintptr_t pc)
{
    return pc < __atomic_load_n(&h->hi, __ATOMIC_ACQUIRE) &&
           pc >= __atomic_load_n(&h->lo, __ATOMIC_RELAXED);
}

static bool any_in_hull(const struct hull *h, const uintptr_t *pcs, size_t n)
{
    uintptr_t hi = __atomic_load_n(&h->hi, __ATOMIC_ACQUIRE);
    uintptr_t lo = __atomic_load_n(&h->lo, __ATOMIC_RELAXED);

    for (size_t i = 0; hi && i < n; i++)
        if (pcs[i] >= lo && pcs[i] < hi)
            return true;
    return false;
}

/* To be called after each change. */
static void update_hull(void)
{
    struct hull gone = {0}, moved = mods.left;

    for (size_t i = 0; i < mods.used; i++) {
        const struct module *m = &mods.table[i];

        if (m->gone && !m->replaced)
            widen(&gone, m->start, m->end);
        if (!live(m) || m->shift)
            widen(&moved, m->start, m->end);
    }
    /* A module without an entry may be anywhere. */
    if (mods.homeless)
        moved = (struct hull){0, UINTPTR_MAX};
    publish(&mods.gone_hull, &gone);
    publish(&mods.moved_hull, &moved);
    __atomic_fetch_add(&mods.changes, 1, __ATOMIC_RELEASE);
}

/* ---- entries ---- */

static void begin_epoch(void)
{
    __atomic_fetch_add(&mods.epoch, 1, __ATOMIC_RELEASE);
}

static bool overlap(const struct module *a, const struct module *b)
{
    return a->end > b->start && a->start < b->end;
}

static struct module *known_as(const struct module *m)
{
    for (size_t i = 0; i < mods.used; i++)
        if (overlap(&mods.table[i], m) && same_file(&mods.table[i], m))
            return &mods.table[i];
    return NULL;
}

/* Marks other modules in the range of `m` as replaced. True: addresses now mean other code. */
static bool replace_others(const struct module *m)
{
    bool any = false;

    for (size_t i = 0; i < mods.used; i++) {
        struct module *old = &mods.table[i];

        if (old == m || old->replaced || !overlap(old, m))
            continue;
        old->replaced = true;
        any = true;
    }
    return any;
}

/* Whether the addresses of `m` already mean another module in the trace. */
static bool needs_place(const struct module *m)
{
    if (mods.left.hi > m->start && mods.left.lo < m->end)
        return true;
    for (size_t i = 0; i < mods.used; i++)
        if (!mods.table[i].shift && overlap(&mods.table[i], m))
            return true;
    return false;
}

/* Gives `m` a range of addresses in the trace. False: there is none. */
static bool give_place(struct module *m)
{
    uint64_t size = m->end - m->start;

    if (!mods.next_place)
        mods.next_place = TRACE_PLACED_BEGIN;
    if (size > TRACE_PLACED_END - mods.next_place)
        return false;
    m->shift = mods.next_place - m->start;
    mods.next_place += size + PLACES_APART;
    return mods.next_place <= TRACE_PLACED_END;
}

/* An entry whose module is unloaded, for reuse; NULL: there is none. */
static struct module *entry_to_give_up(void)
{
    for (size_t i = 0; i < mods.used; i++) {
        struct module *m = &mods.table[mods.next_out++ % mods.used];

        if (!live(m))
            return m;
    }
    return NULL;
}

static struct module *fill_entry(struct module *at, const struct module *m)
{
    if (at < mods.table + mods.used) {
        if (!at->shift)
            widen(&mods.left, at->start, at->end);
        __atomic_fetch_add(&mods.turnover, 1, __ATOMIC_SEQ_CST);
        /* No addition keeps later stores behind its own; aarch64 makes use of that. */
        __atomic_thread_fence(__ATOMIC_RELEASE);
        *at = *m;
        __atomic_fetch_add(&mods.turnover, 1, __ATOMIC_SEQ_CST);
        return at;
    }
    *at = *m;
    __atomic_store_n(&mods.used, mods.used + 1, __ATOMIC_RELEASE);
    return at;
}

/* Admits `m` without an entry, because there is no room: walks go through its code, but the trace
 * does not distinguish it from other such modules. */
static FLAME_COLD struct module *admit_unknown(const struct module *m)
{
    if (!mods.homeless) {
        begin_epoch(); /* stacks through it must be placed from now on */
        write_unknown();
    }
    mods.homeless++;
    update_hull();
    mods.unknown = *m;
    return &mods.unknown;
}

static struct module *admit_new(struct module *m)
{
    struct module *at = mods.used < mods.limit ? &mods.table[mods.used] : entry_to_give_up();

    m->shift = 0;
    if (!at || (needs_place(m) && !give_place(m)))
        return admit_unknown(m);
    m->listed = mods.lists;
    write_record(m);
    return fill_entry(at, m);
}

/* Adds `m`, which has its description and path, or revives the entry of the same file. The lock is
 * held. */
static struct module *admit(struct module *m)
{
    struct module *known = known_as(m), *at;

    if (known) {
        bool was_replaced = known->replaced;

        known->gone = known->replaced = false;
        known->listed = mods.lists;
        known->phdr = m->phdr;
        if (!known->recorded)
            write_record(known);
        if (replace_others(known) || was_replaced)
            begin_epoch();
        update_hull();
        return known;
    }
    at = admit_new(m);
    if (at == &mods.unknown)
        return at;
    if (replace_others(at))
        begin_epoch();
    update_hull();
    return at;
}

/* Like admit, but also stores the path; a known module needs no other copy of it. The lock is
 * held. */
static struct module *admit_named(struct module *m, const char *name)
{
    char *paths = mods.paths;
    struct module *at;

    m->path = keep_path(name, m->start, m->end);
    at = admit(m);
    if (at->path != m->path && m->path == paths) {
        mods.paths_left += (size_t)(mods.paths - paths);
        mods.paths = paths;
    }
    return at;
}

static int add_from_list(struct dl_phdr_info *info, size_t size FLAME_UNUSED,
                         void *data FLAME_UNUSED)
{
    struct module m;

    if (!describe(&m, info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr))
        return 0;
    spinlock_take(&mods.lock);
    admit_named(&m, info->dlpi_name);
    spinlock_drop(&mods.lock);
    return 0;
}

void modules_attach(struct trace_writer *w)
{
    spinlock_take(&mods.lock);
    mods.trace = w;
    for (size_t i = 0; i < mods.used; i++)
        if (live(&mods.table[i]))
            write_record(&mods.table[i]);
    if (mods.homeless)
        write_unknown();
    spinlock_drop(&mods.lock);
}

/*
 * Most addresses are in the module that was found last. Whether an entry is live may be read
 * without the lock: its module is not closed while the calling thread's own stack is in it. An
 * entry's range changes only when the entry is reused for another module.
 */
static struct module *in_latest(uintptr_t pc)
{
    uint32_t turn = __atomic_load_n(&mods.turnover, __ATOMIC_ACQUIRE);
    struct module *m = __atomic_load_n(&mods.latest, __ATOMIC_ACQUIRE);
    bool found = m && pc >= m->start && pc < m->end && live(m);

    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return found && !(turn & 1) && turn == __atomic_load_n(&mods.turnover, __ATOMIC_RELAXED) ? m
                                                                                             : NULL;
}

static struct module *find_live(uintptr_t pc)
{
    struct module *latest = in_latest(pc);

    if (latest)
        return latest;
    for (size_t i = 0; i < mods.used; i++)
        if (pc >= mods.table[i].start && pc < mods.table[i].end && live(&mods.table[i]))
            return &mods.table[i];
    return NULL;
}

void modules_init(size_t limit)
{
    const struct module *loader;

    mods.find_object = (int (*)(void *, struct found_object *))dynsym_anywhere("_dl_find_object");
    mods.limit = limit ? limit : MODULES_MOST;
    mods.table = pages_alloc(mods.limit * sizeof *mods.table);
    if (mods.table) {
        pages_sparse(mods.limit * sizeof *mods.table);
        dl_iterate_phdr(add_from_list, NULL);
    }
    loader = find_live(loaderlist()->r_ldbase);
    if (loader && !LOADER_IS_LIBC)
        modules_loader = (struct modules_loader){loader->start, loader->end - loader->start};
}

/* Asks the loader, without its lock, for the module at `pc`. */
static struct module *ask_loader(uintptr_t pc)
{
    struct found_object found;
    const ElfW(Ehdr) * ehdr;
    struct module m;

    if (!mods.find_object || mods.find_object((void *)pc, &found) != 0)
        return NULL;
    ehdr = found.map_start;
    if (memcmp(ehdr->e_ident, ELFMAG, SELFMAG) == 0 && ehdr->e_phentsize == sizeof(ElfW(Phdr)) &&
        ehdr->e_phoff + ehdr->e_phnum * sizeof(ElfW(Phdr)) <=
            (uintptr_t)found.map_end - (uintptr_t)found.map_start &&
        describe(&m, (const void *)((const char *)ehdr + ehdr->e_phoff), ehdr->e_phnum,
                 found.link_map->l_addr)) {
        return admit_named(&m, found.link_map->l_name);
    }
    /* The headers are not mapped: the address still has a file, but no build-id. */
    m = (struct module){.start = (uintptr_t)found.map_start,
                        .end = (uintptr_t)found.map_end,
                        .bias = found.link_map->l_addr};
    return admit_named(&m, found.link_map->l_name);
}

static bool ends_with(const char *s, const char *end)
{
    size_t len = strlen(s), end_len = strlen(end);

    return end_len <= len && memcmp(s + len - end_len, end, end_len) == 0;
}

/* Whether `m` is the loader's module with that name and bias. */
static bool is_object(const struct module *m, uintptr_t bias, const char *name)
{
    return m->bias == bias && (m->path[0] != '/' || !name || ends_with(m->path, name));
}

/* Whether the loader still has `m` at `at`, an address in it. */
static bool still_there(const struct module *m, uintptr_t at)
{
    struct found_object found;

    return mods.find_object((void *)at, &found) == 0 &&
           is_object(m, found.link_map->l_addr, found.link_map->l_name);
}

/* Marks modules that the loader has unloaded. The lock is held. */
static void mark_gone(void)
{
    for (size_t i = 0; i < mods.used; i++) {
        struct module *m = &mods.table[i];

        if (live(m) && !still_there(m, m->start))
            m->gone = true;
    }
    update_hull();
}

/* The module of `pc`, known or new; NULL: the loader has none. The lock is held. With an old C
 * library it is released meanwhile, because the loader's lock must not be taken under it. */
static struct module *look_up(uintptr_t pc)
{
    struct module *m = find_live(pc);

    if (!m)
        m = ask_loader(pc);
    if (!m && !mods.find_object) {
        spinlock_drop(&mods.lock);
        dl_iterate_phdr(add_from_list, NULL);
        spinlock_take(&mods.lock);
        m = find_live(pc);
    }
    if (m && m != &mods.unknown)
        __atomic_store_n(&mods.latest, m, __ATOMIC_RELEASE);
    return m;
}

bool modules_note(uintptr_t pc, struct module *out)
{
    struct module *m;

    if (!mods.table)
        return false;
    if (!out && in_latest(pc))
        return true;
    spinlock_take(&mods.lock);
    m = out ? find_live(pc) : NULL;
    /* The C library unloads its own modules (iconv's) without calling dlclose. A caller that passes
     * `out` is going to read the module's memory. */
    if (m && mods.find_object && unlikely(!still_there(m, pc)))
        mark_gone();
    m = look_up(pc);
    if (m && out)
        *out = *m;
    spinlock_drop(&mods.lock);
    return m != NULL;
}

/* Marks modules around `pc` as replaced, because no module is loaded there. True: one was marked
 * now, or will be found to have been. The lock is held. */
static bool replace_by_none(uintptr_t pc)
{
    bool was = in_hull(&mods.left, pc), news = false;

    for (size_t i = 0; i < mods.used; i++) {
        struct module *m = &mods.table[i];

        if (pc < m->start || pc >= m->end)
            continue;
        was = true;
        news |= !m->replaced;
        m->replaced = true;
    }
    if (news) {
        begin_epoch();
        update_hull();
    }
    return was;
}

uint64_t modules_place(uintptr_t pc)
{
    const struct module *m;
    uint64_t placed = pc;

    if (!mods.table)
        return pc;
    spinlock_take(&mods.lock);
    m = look_up(pc);
    if (m)
        placed = m == &mods.unknown ? TRACE_UNKNOWN_MODULE + 1 : pc + m->shift;
    else if (replace_by_none(pc))
        placed = pc | TRACE_ADDR_NO_MODULE;
    spinlock_drop(&mods.lock);
    return placed;
}

bool modules_moved(const uintptr_t *pcs, size_t n)
{
    return any_in_hull(&mods.moved_hull, pcs, n);
}

uint64_t modules_homeless(void)
{
    return __atomic_load_n(&mods.homeless, __ATOMIC_RELAXED);
}

size_t modules_limit(void)
{
    return mods.limit;
}

struct search {
    uintptr_t pc;
    const struct link_map *found;
};

static int is_searched(struct dl_phdr_info *info, size_t size FLAME_UNUSED, void *data)
{
    struct search *search = data;
    struct module m;
    uintptr_t dynamic = 0;

    if (!describe(&m, info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr) || search->pc < m.start ||
        search->pc >= m.end)
        return 0;
    for (uint16_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    /* The loader changes its list under the lock that it holds during this call. */
    for (search->found = loaderlist()->r_map; search->found; search->found = search->found->l_next)
        if ((uintptr_t)search->found->l_ld == dynamic)
            break;
    return 1;
}

const struct link_map *modules_link_map(uintptr_t pc)
{
    struct search search = {.pc = pc};
    struct found_object found;

    if (mods.find_object)
        return mods.find_object((void *)pc, &found) == 0 ? found.link_map : NULL;
    dl_iterate_phdr(is_searched, &search);
    return search.found;
}

uint32_t modules_epoch(void)
{
    return __atomic_load_n(&mods.epoch, __ATOMIC_ACQUIRE);
}

uint32_t modules_changes(void)
{
    return __atomic_load_n(&mods.changes, __ATOMIC_ACQUIRE);
}

static int note_listed(struct dl_phdr_info *info, size_t size FLAME_UNUSED, void *list)
{
    spinlock_take(&mods.lock);
    for (size_t i = 0; i < mods.used; i++) {
        struct module *m = &mods.table[i];

        if (live(m) && m->phdr == info->dlpi_phdr && is_object(m, info->dlpi_addr, info->dlpi_name))
            m->listed = *(const uint32_t *)list;
    }
    spinlock_drop(&mods.lock);
    return 0;
}

/* Marks unloaded modules by the loader's list, for an old C library. Modules that were added since
 * the walk began count as loaded. The loader's lock must not be taken under mods.lock. */
static void mark_unlisted(void)
{
    uint32_t list;

    spinlock_take(&mods.lock);
    list = ++mods.lists;
    spinlock_drop(&mods.lock);
    dl_iterate_phdr(note_listed, &list);
    spinlock_take(&mods.lock);
    for (size_t i = 0; i < mods.used; i++)
        if (live(&mods.table[i]) && mods.table[i].listed < list)
            mods.table[i].gone = true;
    update_hull();
    spinlock_drop(&mods.lock);
}

void modules_after_dlclose(void)
{
    if (!mods.table || LOADER_IS_LIBC)
        return;
    if (!mods.find_object) {
        mark_unlisted();
        return;
    }
    spinlock_take(&mods.lock);
    mark_gone();
    spinlock_drop(&mods.lock);
}

bool modules_may_have_changed(const uintptr_t *pcs, size_t n)
{
    return any_in_hull(&mods.gone_hull, pcs, n);
}

void modules_after_fork(void)
{
    mods.lock.held = 0;
    mods.trace = NULL;
    mods.unknown_recorded = false;
    for (size_t i = 0; i < mods.used; i++)
        mods.table[i].recorded = false;
}

bool modules_is_free(void)
{
    return !__atomic_load_n(&mods.lock.held, __ATOMIC_ACQUIRE);
}
