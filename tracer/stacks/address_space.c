/*
 * Problem: to walk a stack one must know the mappings, for every process of a build, and
 * /proc/PID/maps costs more to read than the stack to walk.
 *
 * Algorithm: the mappings are a sorted array, read once and read again only after a report that
 * they changed. Images (image.h) are looked up when an address in a mapping is first met; modules
 * are added to the trace then too. Rules are cached twice. The walk uses the cache by address in
 * memory (one look-up a frame, no search for the mapping). The image has the cache by address in
 * the file. So a new process that runs known code, or a space that changed, needs a search and a
 * look-up for each new address and parses nothing.
 *
 * A space keeps its epoch when it changes, unless code is mapped where a module of the trace was,
 * or a fork shares it: each may then map something else at one address.
 *
 * Rejected: rules by image alone, because each frame would first be searched for among the
 * mappings: 44 ns a frame where the look-up here takes 1.5 (14 frames, both warm).
 */
#define _GNU_SOURCE
#include "tracer/stacks/address_space.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/procmaps.h"
#include "common/procpath.h"
#include "common/strbuf.h"
#include "tracer/stacks/imagefile.h"
#include "unwind/elflayout.h"
#include "unwind/epilogue.h"

struct mapping {
    uintptr_t start, end;
    uint64_t offset, device, inode;
    bool exec, write, shared, file, stack, heap;
    bool asked;  /* the image was looked up */
    size_t name; /* in names; 0: none */
    struct image *image;
    uintptr_t bias;
};

/* A module that was added to the trace for the present epoch. */
struct noted {
    uintptr_t start, end, bias;
    uint64_t device, inode;
};

/* The mappings of an address space; shared by forks. */
struct layout {
    unsigned refs;
    struct mapping *maps; /* by address */
    size_t n, room;
    struct strbuf names; /* NUL-terminated, one after the other */
    struct noted *noted;
    size_t nnoted, noted_room;
    uint32_t epoch;
    uint64_t pages; /* size of the address space when it was read */
    struct rules rules;
    struct spaces *all;
    struct image_python python; /* of the first module that has one */
    pid_t tid;                  /* a thread of the space that can be read now */
    bool doubt;                 /* an address was met that is not mapped as code */
};

struct space {
    unsigned refs;
    struct spaces *all;
    pid_t pid;
    bool stale;
    bool settled;        /* doubts were followed up since the last change */
    uint64_t checked_ns; /* when space_where last compared the layout with the process */
    struct layout *layout;
};

struct spaces {
    struct offtrace *to;
    struct imagefile *files;
    space_maps *maps; /* NULL: /proc is read */
    void *maps_arg;
};

struct spaces *spaces_new(struct offtrace *to)
{
    struct spaces *s = xcalloc(1, sizeof *s);

    s->to = to;
    s->files = imagefile_new();
    return s;
}

void spaces_receive_maps(struct spaces *s, space_maps *maps, void *arg)
{
    s->maps = maps;
    s->maps_arg = arg;
}

void spaces_free(struct spaces *s)
{
    if (!s)
        return;
    imagefile_free(s->files);
    free(s);
}

/* ---- layouts ---- */

static void layout_release(struct layout *l)
{
    if (!l || --l->refs)
        return;
    for (size_t i = 0; i < l->n; i++)
        image_release(l->maps[i].image);
    free(l->maps);
    free(l->noted);
    strbuf_release(&l->names);
    rules_release(&l->rules);
    free(l);
}

static struct mapping *find(const struct layout *l, uintptr_t addr)
{
    size_t lo = 0, hi = l->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (l->maps[mid].start <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 && addr < l->maps[lo - 1].end ? &l->maps[lo - 1] : NULL;
}

static const char *name_of(const struct layout *l, const struct mapping *m)
{
    return l->names.buf + m->name;
}

/* Address at which the first byte of the file that `m` maps is mapped; 0: nowhere. */
static uintptr_t base_of(const struct layout *l, const struct mapping *m)
{
    for (size_t i = (size_t)(m - l->maps) + 1; i-- > 0;) {
        const struct mapping *o = &l->maps[i];

        if (o->inode != m->inode || o->device != m->device)
            return 0;
        if (o->offset == 0)
            return o->start;
    }
    return 0;
}

static void note_python(struct layout *l, const struct mapping *m)
{
    const struct image_python *p = &m->image->python;

    if (likely(!p->runtime) || l->python.runtime)
        return;
    l->python.runtime = p->runtime + m->bias;
    l->python.version = p->version ? p->version + m->bias : 0;
}

static void note_module(struct layout *l, const struct mapping *m)
{
    struct trace_module facts = {
        .start = m->image->lo + m->bias,
        .end = m->image->hi + m->bias,
        .bias = m->bias,
        .first_epoch = l->epoch,
        .end_epoch = l->epoch + 1,
        .build_id_size = m->image->build_id_size,
        .layout = elf_layout(m->image->phdr, m->image->phnum * sizeof *m->image->phdr)};

    for (size_t i = 0; i < l->nnoted; i++)
        if (l->noted[i].start == facts.start && l->noted[i].bias == m->bias)
            return;
    GROW(l->noted, l->nnoted, l->noted_room);
    l->noted[l->nnoted++] = (struct noted){facts.start, facts.end, m->bias, m->device, m->inode};
    memcpy(facts.build_id, m->image->build_id, sizeof facts.build_id);
    offtrace_module(l->all->to, &facts, name_of(l, m));
}

/* Looks up the image, once, and adds its module to the trace. */
static struct image *resolve(struct layout *l, struct mapping *m)
{
    struct imagefile_where where = {.tid = l->tid,
                                    .start = m->start,
                                    .end = m->end,
                                    .device = m->device,
                                    .inode = m->inode,
                                    .path = name_of(l, m)};

    if (m->asked)
        return m->image;
    m->asked = true;
    if (!m->name || (!m->file && strcmp(where.path, "[vdso]") != 0))
        return NULL;
    if (l->all->maps && access(proc_path(l->tid, "root/").s, F_OK) != 0)
        where.tid = getpid(); /* the process has ended: the file as we see it, if it is the same */
    else
        where.base = base_of(l, m);
    m->image = imagefile_find(l->all->files, &where);
    if (m->image && (!image_bias(m->image, m->start, m->offset, m->exec, m->write, &m->bias) ||
                     m->image->hi + m->bias <= m->image->lo + m->bias)) {
        image_release(m->image);
        m->image = NULL;
    }
    if (m->image) {
        note_python(l, m);
        note_module(l, m);
    }
    return m->image;
}

/*
 * Rule for a return address, of which `pc` is one less. It is also right for an instruction of one
 * byte before an epilogue. Writable code gets no such rule: it may be other code soon, while the
 * rule stays cached.
 */
static struct rule rule_without_tables(const struct layout *l, const struct mapping *m,
                                       uintptr_t pc)
{
    uint8_t code[EPILOGUE_BYTES];
    size_t n = m->end - (pc + 1) < sizeof code ? m->end - (pc + 1) : sizeof code;
    struct iovec ours = {code, n}, theirs = {(void *)(pc + 1), n}; /* NOLINT */
    ssize_t got = m->write ? 0 : process_vm_readv(l->tid, &ours, 1, &theirs, 1, 0);

    return epilogue_rule(code, got > 0 ? (size_t)got : 0);
}

static struct rule compile(void *arg, uintptr_t pc)
{
    struct layout *l = arg;
    struct mapping *m = find(l, pc);
    struct image *im;

    if (!m || !m->exec) {
        l->doubt = true;
        return (struct rule){.kind = RULE_BOGUS};
    }
    im = resolve(l, m);
    return im ? rule_unpack(image_rule(im, pc - m->bias)) : rule_without_tables(l, m, pc);
}

/* ---- reading the maps ---- */

static uint64_t total_pages(pid_t tid)
{
    unsigned long long pages = 0;
    FILE *f = fopen(proc_path(tid, "statm").s, "re");

    if (f && fscanf(f, "%llu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages;
}

/* Adds the name as the user knows it: "\012" becomes a newline, and " (deleted)" is removed. */
static size_t keep_name(struct strbuf *names, const char *s, size_t len)
{
    static const char deleted[] = " (deleted)";
    size_t at = names->len, tail = sizeof deleted - 1;

    if (len > tail && memcmp(s + len - tail, deleted, tail) == 0)
        len -= tail;
    for (size_t i = 0; i < len; i++)
        if (len - i >= 4 && memcmp(s + i, "\\012", 4) == 0) {
            strbuf_addch(names, '\n');
            i += 3;
        } else {
            strbuf_addch(names, s[i]);
        }
    strbuf_addch(names, '\0');
    return at;
}

static bool add(const struct procmap *map, void *arg)
{
    struct layout *l = arg;
    struct mapping *m, *last = l->n ? &l->maps[l->n - 1] : NULL;

    if (last && map->start < last->end) /* the maps changed while they were read */
        return false;
    GROW(l->maps, l->n, l->room);
    m = &l->maps[l->n++];
    *m = (struct mapping){.start = map->start,
                          .end = map->end,
                          .offset = map->offset,
                          .device = (uint64_t)map->major << 32 | map->minor,
                          .inode = map->inode,
                          .exec = map->exec,
                          .write = map->write,
                          .shared = map->shared,
                          .file = map->inode != 0,
                          .stack = map->stack};
    if (map->name_len)
        m->name = keep_name(&l->names, map->name, map->name_len);
    m->heap = m->name && strcmp(name_of(l, m), "[heap]") == 0;
    return false;
}

static bool same_mapping(const struct mapping *a, const struct mapping *b)
{
    return a->start == b->start && a->end == b->end && a->offset == b->offset &&
           a->device == b->device && a->inode == b->inode && a->exec == b->exec;
}

/* Copies the results for mappings that are the same as before. True when all code is the same. */
static bool inherit(struct layout *l, const struct layout *old)
{
    bool same = true;
    size_t k = 0, codes = 0, old_codes = 0;

    for (size_t i = 0; i < old->n; i++)
        old_codes += old->maps[i].exec;
    for (size_t i = 0; i < l->n; i++) {
        struct mapping *m = &l->maps[i];

        codes += m->exec;
        while (k < old->n && old->maps[k].start < m->start)
            k++;
        if (k < old->n && same_mapping(m, &old->maps[k])) {
            m->stack |= old->maps[k].stack;
            m->asked = old->maps[k].asked;
            m->bias = old->maps[k].bias;
            m->image = old->maps[k].image ? image_share(old->maps[k].image) : NULL;
        } else {
            same = same && !m->exec;
        }
    }
    return same && codes == old_codes;
}

/* Whether code lies where a module of the trace is, and is not that module. */
static bool contradicts(const struct layout *l, const struct noted *noted, size_t n)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct mapping *m = &l->maps[i];

        if (!m->exec || m->image)
            continue;
        for (size_t k = 0; k < n; k++)
            if (m->start < noted[k].end && m->end > noted[k].start)
                return true;
    }
    return false;
}

static bool refresh(struct space *sp, pid_t tid)
{
    struct layout *l = xcalloc(1, sizeof *l), *old = sp->layout;
    bool same = false;

    *l = (struct layout){.refs = 1,
                         .names = STRBUF_INIT,
                         .rules = {.compile = compile, .arg = l, .first_size = 256, .alone = true},
                         .all = sp->all,
                         .tid = tid};
    strbuf_addch(&l->names, '\0');
    if (sp->all->maps) {
        sp->all->maps(sp->all->maps_arg, sp->pid, add, l);
    } else {
        l->pages = total_pages(tid);
        procmaps_each(tid, add, l);
    }
    sp->stale = false;
    if (!l->n) { /* the process has ended; the old mappings are better than none */
        layout_release(l);
        return old != NULL;
    }
    if (old)
        same = inherit(l, old);
    if (old && old->refs == 1 && !contradicts(l, old->noted, old->nnoted)) {
        l->epoch = old->epoch;
        l->noted = old->noted;
        l->nnoted = old->nnoted;
        l->noted_room = old->noted_room;
        old->noted = NULL;
        if (same) {
            l->rules.table = old->rules.table;
            old->rules.table = NULL;
        }
    } else {
        l->epoch = offtrace_epoch(sp->all->to);
        for (size_t i = 0; i < l->n; i++)
            if (l->maps[i].image)
                note_module(l, &l->maps[i]);
    }
    for (size_t i = 0; i < l->n; i++)
        if (l->maps[i].image)
            note_python(l, &l->maps[i]);
    layout_release(old);
    sp->layout = l;
    return true;
}

bool space_prepare(struct space *sp, pid_t tid)
{
    if (unlikely(!sp->layout || sp->stale)) {
        sp->settled = false;
        if (!refresh(sp, tid))
            return false;
    }
    sp->layout->tid = tid;
    sp->layout->doubt = false;
    return true;
}

struct rules *space_rules(struct space *sp)
{
    return &sp->layout->rules;
}

uint32_t space_epoch(const struct space *sp)
{
    return sp->layout->epoch;
}

bool space_doubt(struct space *sp, pid_t tid)
{
    size_t before = sp->layout->n;
    uint64_t pages = sp->layout->pages;

    if (likely(!sp->layout->doubt) || (sp->settled && total_pages(tid) == pages))
        return false;
    sp->settled = true;
    if (!refresh(sp, tid))
        return false;
    rules_release(&sp->layout->rules);
    return sp->layout->n != before || sp->layout->pages != pages;
}

/* The module whose data continues in the anonymous mapping `m` (.bss). */
static struct mapping *module_below(struct layout *l, struct mapping *m)
{
    for (struct mapping *o = m; o > l->maps && o[-1].end == o->start;) {
        o--;
        if (!o->file)
            continue;
        return resolve(l, o) && m->start < o->image->hi + o->bias ? o : NULL;
    }
    return NULL;
}

static struct mapping *module_of(struct layout *l, struct mapping *m, uintptr_t addr)
{
    struct mapping *module = m->file ? (resolve(l, m) ? m : NULL) : module_below(l, m);

    return module && addr < module->image->hi + module->bias ? module : NULL;
}

struct image *space_image(struct space *sp, uintptr_t addr, uintptr_t *bias)
{
    struct mapping *m = find(sp->layout, addr);
    struct mapping *module = m ? module_of(sp->layout, m, addr) : NULL;

    if (module)
        *bias = module->bias;
    return module ? module->image : NULL;
}

bool space_python(const struct space *sp, struct image_python *python)
{
    *python = sp->layout->python;
    return python->runtime != 0;
}

bool space_is_code(const struct space *sp, uintptr_t addr)
{
    const struct mapping *m = find(sp->layout, addr);

    return m && m->exec;
}

void space_note_stack(struct space *sp, uintptr_t addr)
{
    struct mapping *m = find(sp->layout, addr);

    if (m && !m->file)
        m->stack = true;
}

/* ---- spaces ---- */

static struct space *new_space(struct spaces *s, pid_t pid)
{
    struct space *sp = xcalloc(1, sizeof *sp);

    sp->refs = 1;
    sp->all = s;
    sp->pid = pid;
    return sp;
}

struct space *space_new(struct spaces *s, pid_t pid)
{
    return new_space(s, pid);
}

struct space *space_forked(struct space *parent, pid_t pid)
{
    struct space *sp = new_space(parent->all, pid);

    sp->layout = parent->layout;
    sp->stale = parent->stale;
    if (sp->layout)
        sp->layout->refs++;
    return sp;
}

struct space *space_share(struct space *sp)
{
    sp->refs++;
    return sp;
}

void space_release(struct space *sp)
{
    if (!sp || --sp->refs)
        return;
    layout_release(sp->layout);
    free(sp);
}

pid_t space_pid(const struct space *sp)
{
    return sp->pid;
}

void space_changed(struct space *sp)
{
    sp->stale = true;
}

/* ---- places ---- */

/* The stack pointer of a thread that does not run; 0: not known. */
static uintptr_t stack_pointer(pid_t tid)
{
    unsigned long long sp = 0;
    char text[256];
    FILE *f = fopen(proc_path(tid, "syscall").s, "re");

    if (!f)
        return 0;
    /* "NR ARG... SP PC", or "-1 SP PC" when it is in no call. */
    if (fgets(text, sizeof text, f)) {
        char *last = strrchr(text, ' ');

        if (last)
            *last = '\0';
        last = last ? strrchr(text, ' ') : NULL;
        if (last)
            sp = strtoull(last + 1, NULL, 16);
    }
    fclose(f);
    return (uintptr_t)sp;
}

/* Time for which a known address is not checked again. Mappings without code change unseen, and a
 * check at every wait would cost as much as the wait's stack. */
#define CHECK_NS 10000000u

static bool check_is_due(struct space *sp, uintptr_t addr)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);

    if (now - sp->checked_ns < CHECK_NS && find(sp->layout, addr))
        return false;
    sp->checked_ns = now;
    return true;
}

bool space_note_own_stack(struct space *sp, pid_t tid)
{
    uintptr_t at;

    if (!space_prepare(sp, tid))
        return false;
    at = stack_pointer(tid);
    if (!at)
        return false;
    if (!find(sp->layout, at) && !refresh(sp, tid))
        return false;
    space_note_stack(sp, at);
    return find(sp->layout, at) != NULL;
}

void space_where(struct space *sp, pid_t tid, uintptr_t addr, struct space_place *out)
{
    struct mapping *m, *module;
    struct layout *l;
    bool check;

    *out = (struct space_place){.area = SPACE_NOWHERE};
    if (!space_prepare(sp, tid))
        return;
    check = check_is_due(sp, addr);
    if (check && (!find(sp->layout, addr) || total_pages(tid) != sp->layout->pages) &&
        !refresh(sp, tid))
        return;
    l = sp->layout;
    m = find(l, addr);
    if (!m)
        return;
    if (m->shared) {
        *out = (struct space_place){.area = SPACE_SHARED,
                                    .path = name_of(l, m),
                                    .device = m->device,
                                    .inode = m->inode,
                                    .offset = addr - m->start + m->offset};
        return;
    }
    if (m->heap || m->stack) {
        out->area = m->heap ? SPACE_HEAP : SPACE_STACK;
        return;
    }
    module = module_of(l, m, addr);
    if (module) {
        *out = (struct space_place){.area = SPACE_MODULE, .path = name_of(l, module)};
        return;
    }
    out->area = SPACE_ANON;
    if (check)
        space_note_stack(sp, stack_pointer(tid));
    if (m->stack)
        out->area = SPACE_STACK;
}
