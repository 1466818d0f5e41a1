#define _GNU_SOURCE
#include "inject/agent_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/proc_stat.h"
#include "common/alloc.h"
#include "common/processor/page_size.h"
#include "inject/threadregs.h"
#include "tracer/objects/proctask.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* Address space for the arena, of which the process uses only the written part. It is smaller where
 * the process may not have that much. The first quarter is flame's. */
#define ARENA_MOST ((uintptr_t)4 << 30)
#define ARENA_LEAST ((uintptr_t)256 << 20)
#define PAGE ((uintptr_t)4096) /* in the arena */

#define FIELD(g, name) ((g)->base + (g)->blob.state + offsetof(struct agent_shared, name))

struct agent_table {
    uintptr_t start, end; /* of the module */
    uint64_t device, inode;
    struct agent_module module;
    bool used;
};

static long call(struct allstop *stop, const struct sigreturn_frame_code *code, long nr,
                 uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f)
{
    return allstop_call(stop, code, nr, (const unsigned long[6]){a, b, c, d, e, f});
}

static bool failed(long result)
{
    return (unsigned long)result > -4096ul;
}

/* ---- mapping ---- */

/* Address of an agent of this same build that was left behind; 0: there is none. */
static uintptr_t find_old(const struct agent_state *g, const struct procmem *m,
                          const struct maps_snapshot *maps)
{
    uint8_t *text = xmalloc(g->blob.text_size);
    uintptr_t found = 0;

    for (size_t i = 0; i < maps->n && !found; i++) {
        const struct maps_snapshot_map *map = &maps->maps[i];
        uint64_t magic;

        if (!map->exec || map->write || map->inode || map->end - map->start < g->blob.text_size)
            continue;
        if (procmem_read(m, map->start, text, g->blob.text_size) &&
            memcmp(text, g->blob.bytes, g->blob.text_size) == 0 &&
            procmem_read(m, map->start + g->blob.state, &magic, sizeof magic) &&
            magic == AGENT_MAGIC)
            found = map->start;
    }
    free(text);
    return found;
}

/* Start time of a process, in ticks since boot: field 22 of its stat (proc_pid_stat(5)). 0: there
 * is no such process. */
static uint64_t began(pid_t pid)
{
    char text[1024];
    const char *ticks;

    if (task_read(pid, "stat", text, sizeof text) <= 0)
        return 0;
    ticks = proc_stat_field(text, PROC_STAT_STARTTIME);
    return ticks ? strtoull(ticks, NULL, 10) : 0;
}

/* Unmaps the arena of an agent that is off and in which no thread runs. First arena_end is cleared:
 * if flame is killed in between, the arena stays mapped, but no later mapping at its address can be
 * unmapped by mistake. */
static long drop_arena(const struct agent_state *g, const struct procmem *m, struct allstop *stop,
                       const struct sigreturn_frame_code *code, uintptr_t arena, uintptr_t size)
{
    uintptr_t none = 0;

    if (!procmem_write(m, FIELD(g, arena_end), &none, sizeof none))
        return -EIO;
    return call(stop, code, SYS_munmap, arena, size, 0, 0, 0, 0);
}

/* Clears [from, to); whole pages by the kernel. 0, or -errno. */
static long clear(const struct procmem *m, struct allstop *stop,
                  const struct sigreturn_frame_code *code, uintptr_t from, uintptr_t to)
{
    static const uint8_t zeros[ARCH_PAGE_MOST];
    uintptr_t first = whole_pages(from), last = to & -page_size();
    bool done;

    if (first >= last)
        return procmem_write(m, from, zeros, to - from) ? 0 : -EIO;
    done = procmem_write(m, from, zeros, first - from) && procmem_write(m, last, zeros, to - last);
    return done ? call(stop, code, SYS_madvise, first, last - first, MADV_DONTNEED, 0, 0, 0) : -EIO;
}

/* Clears the data of an earlier agent, whose hooks the program still calls: they pass calls on
 * while the switch is off, and need `real` for that. Everything else becomes zero, except for the
 * words that identify the agent. */
static long clear_data(const struct agent_state *g, const struct procmem *m, struct allstop *stop,
                       const struct sigreturn_frame_code *code)
{
    uintptr_t start = g->base + g->blob.data;
    long err = clear(m, stop, code, start, FIELD(g, magic));

    return err ? err : clear(m, stop, code, FIELD(g, arena), start + g->blob.data_size);
}

/* Takes an earlier agent over, unless another flame records with it. If that flame was killed, its
 * arena is unmapped, and the agent's data is reset. 0, or -errno. flame may be killed at each
 * step. */
static int take_over(struct agent_state *g, const struct procmem *m, struct allstop *stop,
                     const struct sigreturn_frame_code *code)
{
    struct agent_shared *s = xcalloc(1, sizeof *s);
    uintptr_t arena;
    int err = 0;

    if (!procmem_read(m, g->base + g->blob.state, s, offsetof(struct agent_shared, lanes)))
        err = -EIO;
    arena = (uintptr_t)s->maps[0].modules;
    if (!err && s->owner && s->owner <= INT32_MAX && began((pid_t)s->owner) == s->owner_began)
        err = -EBUSY;
    else if (!err && !agent_state_is_quiet(g, m, stop))
        err = -EAGAIN;
    if (!err) {
        agent_state_record(g, m, false);
        if (s->arena_end > arena)
            drop_arena(g, m, stop, code, arena, s->arena_end - arena);
        err = (int)clear_data(g, m, stop, code);
    }
    free(s);
    return err;
}

/* Maps the data of an agent that is not called yet. */
static int map_data(struct agent_state *g, struct allstop *stop,
                    const struct sigreturn_frame_code *code)
{
    long at =
        call(stop, code, SYS_mmap, g->base + g->blob.data, g->blob.data_size,
             PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, (uintptr_t)-1, 0);

    if (failed(at))
        return (int)at;
    /* Kernels before 4.14 do not know this advice: then forked children record data that is never
     * read. */
    call(stop, code, SYS_madvise, g->base + g->blob.control, sizeof(struct agent_switch),
         MADV_WIPEONFORK, 0, 0, 0);
    return 0;
}

static int map_arena(struct agent_state *g, struct allstop *stop,
                     const struct sigreturn_frame_code *code)
{
    long at = -ENOMEM;

    for (uintptr_t size = ARENA_MOST; size >= ARENA_LEAST; size /= 2) {
        at = call(stop, code, SYS_mmap, 0, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, (uintptr_t)-1, 0);
        if (!failed(at)) {
            g->arena = (uintptr_t)at;
            g->arena_size = size;
            return 0;
        }
        if (at != -ENOMEM)
            break;
    }
    return (int)at;
}

int agent_state_map(struct agent_state *g, const struct procmem *m, struct allstop *stop,
                    const struct sigreturn_frame_code *code, const struct maps_snapshot *maps,
                    const char **why)
{
    uintptr_t old = find_old(g, m, maps);
    long at;
    int err;

    *why = "it cannot map memory";
    if (old) {
        g->base = old;
        *why = "another flame records it";
        err = take_over(g, m, stop, code);
        if (err)
            return err;
        *why = "it cannot map memory";
    } else {
        at = call(stop, code, SYS_mmap, 0, g->blob.span, PROT_READ | PROT_EXEC,
                  MAP_PRIVATE | MAP_ANONYMOUS, (uintptr_t)-1, 0);
        if (failed(at)) {
            *why = "it cannot map memory to execute (a seccomp filter or SELinux may forbid it)";
            return (int)at;
        }
        g->base = (uintptr_t)at;
        err = map_data(g, stop, code);
        if (err)
            return err;
    }
    return map_arena(g, stop, code);
}

/* ---- filling ---- */

void agent_state_hooks(const struct agent_state *g, uintptr_t hooks[AGENT_FUNCTIONS])
{
    for (size_t i = 0; i < AGENT_FUNCTIONS; i++)
        hooks[i] = g->base + g->blob.hooks[i];
}

static uintptr_t take(uintptr_t *at, uintptr_t size)
{
    uintptr_t here = *at;

    *at += (size + PAGE - 1) & -PAGE;
    return here;
}

bool agent_state_fill(struct agent_state *g, const struct procmem *m,
                      const uintptr_t real[AGENT_FUNCTIONS])
{
    struct agent_shared *s = xcalloc(1, sizeof *s);
    uintptr_t at = g->arena;
    bool ok;

    for (int i = 0; i < 2; i++) {
        g->modules[i] = take(&at, AGENT_MODULES * sizeof(struct agent_module));
        g->places[i] = take(&at, AGENT_PLACES * sizeof(struct agent_place));
        s->maps[i].modules = (struct agent_module *)g->modules[i];
        s->maps[i].places = (struct agent_place *)g->places[i];
    }
    g->tables_at = at;
    g->tables_end = at = g->arena + g->arena_size / 4;
    s->magic = AGENT_MAGIC;
    s->size = sizeof *s;
    s->owner = (uint64_t)getpid();
    s->owner_began = began(getpid());
    for (size_t i = 0; i < AGENT_FUNCTIONS; i++)
        s->real[i] = (void *)real[i];
    s->counts = (struct agent_count *)take(&at, AGENT_STACKS * sizeof(struct agent_count));
    s->places = (struct agent_stack **)take(&at, AGENT_STACKS * sizeof(struct agent_stack *));
    s->index = (uint32_t *)take(&at, AGENT_INDEX * sizeof(uint32_t));
    s->names = (struct agent_name **)take(&at, AGENT_NAMES * sizeof(struct agent_name *));
    s->leaves = (struct agent_leaf *)take(&at, AGENT_LEAVES * sizeof(struct agent_leaf));
    s->arena = s->arena_at = at;
    s->arena_end = g->arena + g->arena_size;
    ok = procmem_write(m, g->base, g->blob.bytes, g->blob.text_size) &&
         procmem_write(m, g->base + g->blob.state, s, offsetof(struct agent_shared, lanes));
    free(s);
    return ok;
}

void agent_state_python(const struct agent_state *g, const struct procmem *m,
                        const struct agent_python *python)
{
    /* The version comes last: it says that the rest is there. */
    procmem_write(m, FIELD(g, python) + sizeof python->version,
                  (const uint8_t *)python + sizeof python->version,
                  sizeof *python - sizeof python->version);
    procmem_write(m, FIELD(g, python), &python->version, sizeof python->version);
}

bool agent_state_leaves(const struct agent_state *g, const struct procmem *m,
                        struct agent_leaf *leaves, size_t *n)
{
    uintptr_t at;
    uint64_t count;

    *n = 0;
    if (!procmem_read(m, FIELD(g, leaves), &at, sizeof at) ||
        !procmem_read(m, FIELD(g, nleaves), &count, sizeof count) || count > AGENT_LEAVES)
        return false;
    *n = count;
    return procmem_read(m, at, leaves, count * sizeof *leaves);
}

void agent_state_record(const struct agent_state *g, const struct procmem *m, bool on)
{
    uint64_t word = on;

    procmem_write(m, g->base + g->blob.control, &word, sizeof word);
}

/* ---- what is mapped ---- */

/* The module at an executable mapping, with its tables in the arena. */
static struct agent_table *table_of(struct agent_state *g, const struct procmem *m,
                                    struct agent_trace *trace, const struct maps_snapshot_map *map)
{
    struct agent_table *t;
    const struct image *im;
    uintptr_t bias, size;

    for (size_t i = 0; i < g->ntables; i++) {
        t = &g->tables[i];
        if (t->start <= map->start && map->end <= t->end && t->inode == map->inode &&
            t->device == map->device)
            return t;
    }
    im = agent_trace_image(trace, map->start, &bias);
    if (!im || !im->hdr_size)
        return NULL;
    size = (im->tables_size + 15) & ~(uintptr_t)15;
    if (g->tables_end - g->tables_at < size ||
        !procmem_write(m, g->tables_at, im->tables, im->tables_size))
        return NULL;
    GROW(g->tables, g->ntables, g->tables_room);
    t = &g->tables[g->ntables++];
    *t = (struct agent_table){
        .start = im->lo + bias, .end = im->hi + bias, .device = map->device, .inode = map->inode};
    t->module = (struct agent_module){.start = t->start,
                                      .end = t->end,
                                      .shift = g->tables_at - im->tables_at - bias,
                                      .tables = g->tables_at,
                                      .tables_end = g->tables_at + im->tables_size,
                                      .hdr = g->tables_at + (im->hdr_at - im->tables_at),
                                      .hdr_size = im->hdr_size};
    g->tables_at += size;
    return t;
}

static int by_start(const void *pa, const void *pb)
{
    const struct agent_module *a = pa, *b = pb;

    return (a->start > b->start) - (a->start < b->start);
}

/* Writes list `i`: modules of g->tables that are used, and mappings. */
static void write_list(struct agent_state *g, const struct procmem *m,
                       const struct maps_snapshot *maps, uint32_t i)
{
    struct agent_module *modules = xcalloc(g->ntables + 1, sizeof *modules);
    struct agent_place *places = xcalloc(maps->n + 1, sizeof *places);
    struct agent_maps list = {.modules = (struct agent_module *)g->modules[i],
                              .places = (struct agent_place *)g->places[i]};
    uintptr_t before = 0;

    for (size_t k = 0; k < g->ntables && list.nmodules < AGENT_MODULES - 1; k++)
        if (g->tables[k].used)
            modules[list.nmodules++] = g->tables[k].module;
    qsort(modules, list.nmodules, sizeof *modules, by_start);
    /* On aarch64 the vDSO may lie between code and data of the loader. */
    for (size_t k = 1; k < list.nmodules; k++)
        if (modules[k - 1].end > modules[k].start)
            modules[k - 1].end = modules[k].start;
    for (size_t k = 0; k < maps->n && list.nplaces < AGENT_PLACES - 1; k++) {
        const struct maps_snapshot_map *map = &maps->maps[k];
        struct agent_place p = {.start = map->start,
                                .end = map->end,
                                .stack = map->write && map->read && !map->shared,
                                .code = map->exec};

        /* The main thread's stack grows: no other mapping lies between it and the previous one. */
        if (map->stack)
            p.start = before;
        before = map->end;
        if (p.stack || p.code)
            places[list.nplaces++] = p;
    }
    procmem_write(m, g->modules[i], modules, list.nmodules * sizeof *modules);
    procmem_write(m, g->places[i], places, list.nplaces * sizeof *places);
    procmem_write(m, FIELD(g, maps) + i * sizeof list, &list, sizeof list);
    free(modules);
    free(places);
}

void agent_state_tables(struct agent_state *g, const struct procmem *m, struct agent_trace *trace,
                        const struct linkmap *l FLAME_UNUSED, const struct maps_snapshot *maps)
{
    agent_trace_changed(trace);
    for (size_t i = 0; i < g->ntables; i++)
        g->tables[i].used = false;
    for (size_t i = 0; i < maps->n; i++) {
        struct agent_table *t = NULL;

        if (maps->maps[i].exec && maps->maps[i].start != g->base)
            t = table_of(g, m, trace, &maps->maps[i]);
        if (t)
            t->used = true;
    }
    for (size_t i = 0; i < g->ntables; i++)
        if (!g->tables[i].used) {
            g->tables[i--] = g->tables[--g->ntables];
            g->forget = true;
        }
    g->maps_next = !g->maps_now;
    write_list(g, m, maps, g->maps_next);
}

static void hold(struct agent_state *g, const struct procmem *m, uint32_t list)
{
    uint8_t byte = (uint8_t)list;

    g->maps_now = list;
    g->maps_count++;
    procmem_write(m, FIELD(g, maps_now), &byte, sizeof byte);
    procmem_write(m, FIELD(g, maps_count), &g->maps_count, sizeof g->maps_count);
}

void agent_state_switch_maps(struct agent_state *g, const struct procmem *m)
{
    struct rule_table *none = NULL;

    hold(g, m, g->maps_next);
    if (g->forget) {
        g->epoch++;
        procmem_write(m, FIELD(g, rules) + offsetof(struct rules, table), &none, sizeof none);
        procmem_write(m, FIELD(g, epoch), &g->epoch, sizeof g->epoch);
    }
    g->forget = false;
}

void agent_state_add_maps(struct agent_state *g, const struct procmem *m)
{
    hold(g, m, g->maps_next);
}

void agent_state_places(struct agent_state *g, const struct procmem *m,
                        const struct maps_snapshot *maps)
{
    if (!maps->changed)
        return;
    write_list(g, m, maps, !g->maps_now);
    hold(g, m, !g->maps_now);
}

/* ---- leaving ---- */

bool agent_state_is_quiet(const struct agent_state *g, const struct procmem *m,
                          const struct allstop *stop)
{
    struct agent_lane *lanes = xcalloc(AGENT_LANES, sizeof *lanes);
    const struct allstop_thread *t;
    bool quiet;
    size_t n;

    t = allstop_threads(stop, &n);
    quiet = procmem_read(m, FIELD(g, lanes), lanes, AGENT_LANES * sizeof *lanes);
    for (size_t i = 0; quiet && i < n; i++) {
        if (threadregs_pc(&t[i].regs) - g->base < g->blob.text_size)
            quiet = false;
        for (size_t k = 0; quiet && k < AGENT_LANES; k++)
            if (lanes[k].thread && lanes[k].thread == t[i].control_block && lanes[k].inside &&
                threadregs_sp(&t[i].regs) <= lanes[k].inside)
                quiet = false;
    }
    free(lanes);
    return quiet;
}

bool agent_state_unmap(struct agent_state *g, const struct procmem *m, struct allstop *stop,
                       const struct sigreturn_frame_code *code)
{
    return drop_arena(g, m, stop, code, g->arena, g->arena_size) == 0;
}

bool agent_state_is_there(const struct agent_state *g, const struct procmem *m)
{
    uint64_t magic;

    return procmem_read(m, FIELD(g, magic), &magic, sizeof magic);
}

void agent_state_disown(const struct agent_state *g, const struct procmem *m)
{
    uint64_t none = 0;

    procmem_write(m, FIELD(g, owner), &none, sizeof none);
}

void agent_state_release(struct agent_state *g)
{
    free(g->tables);
    g->tables = NULL;
}
