#define _GNU_SOURCE
#include "driver/run/unhooked_memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/basename.h"
#include "common/elfdyn.h"
#include "common/error.h"
#include "fold/symbols/elfsym.h"
#include "render/text/value.h"

/* Programs, and processes, that get a line. */
#define LINES 4
/* Stacks, libraries' data and the recorder's own tables are smaller than this, and smaller than so
 * many times the memory from malloc. */
#define MUCH_BYTES ((uint64_t)32 << 20)
#define MUCH_TIMES 4

/* Known allocators' names when they are linked into a program. */
static const char *const names[] = {"malloc",    "je_malloc", "_rjem_je_malloc", "_rjem_malloc",
                                    "mi_malloc", "tc_malloc", "rpmalloc",        "scudo_malloc"};

/* Functions of allocators' own that allocate blocks and are not hooked. A program may call an
 * allocator by them (preload/allocators/hooks_entries.c). */
static const char *const calls[] = {"mi_heap_malloc", "mi_heap_zalloc",    "mi_heap_calloc",
                                    "mi_heap_new",    "mi_heap_alloc_new", "mi_heap_mallocn",
                                    "mi_heap_strdup", "mi_new_realloc"};

static bool exports_malloc(const char *exe)
{
    int fd = open(exe, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct elfdyn e;
    bool found = fd >= 0 && elfdyn_open(&e, fd) && elfdyn_defines(&e, names[0]);

    if (fd >= 0)
        close(fd);
    return found;
}

static const char *known_name(const struct symtab_entry *entry)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (entry->len == strlen(names[i]) && memcmp(entry->name, names[i], entry->len) == 0)
            return names[i];
    return NULL;
}

const char *unhooked_memory_allocator(const char *exe)
{
    struct symtab t = SYMTAB_INIT;
    const char *found = NULL;
    struct elfsym *e;

    if (exports_malloc(exe))
        return names[0];
    e = elfsym_open(exe);
    if (!e)
        return NULL;
    elfsym_add_symtab(e, &t);
    for (size_t i = 0; i < t.n && !found; i++)
        found = known_name(&t.e[i]);
    symtab_release(&t);
    elfsym_close(e);
    return found;
}

const char *unhooked_memory_call(const char *exe)
{
    struct elfsym *e = elfsym_open(exe);
    const char *found = e ? elfsym_wants(e, calls, ARRAY_LEN(calls)) : NULL;

    if (e)
        elfsym_close(e);
    return found;
}

bool unhooked_memory_is_much(uint64_t anon_bytes, uint64_t malloc_bytes)
{
    return anon_bytes >= MUCH_BYTES && anon_bytes / MUCH_TIMES >= malloc_bytes;
}

/* ---- programs ---- */

/* Whether no earlier process has this program; equal names are one string. */
static bool is_first(const struct run_totals *k, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (k->process[before].exe == k->process[i].exe)
            return false;
    return true;
}

/* Prints why blocks of a program are not recorded. False: there is no reason. */
static bool print_program(const char *exe)
{
    const char *by = unhooked_memory_allocator(exe), *call = by ? NULL : unhooked_memory_call(exe);
    const char *name = base_name(exe);

    if (by)
        flame_warn(strcmp(by, names[0]) == 0
                       ? "%s: has a %s of its own; blocks that it does not get from the next one "
                         "are not recorded"
                       : "%s: has an allocator of its own (%s); its blocks are not recorded",
                   name, by);
    else if (call)
        flame_warn("%s: calls its allocator by %s; blocks that it gets so are not recorded", name,
                   call);
    return by || call;
}

/* Prints programs; returns the number of lines. */
static size_t print_programs(const struct run_totals *k)
{
    size_t lines = 0;

    for (size_t i = 0; i < k->nprocesses && lines < LINES; i++)
        lines +=
            is_first(k, i) && !k->process[i].static_allocator && print_program(k->process[i].exe);
    return lines;
}

/* ---- processes ---- */

static int by_size(const void *pa, const void *pb)
{
    const struct rss_sample *a = pa, *b = pb;

    return (a->anon_bytes < b->anon_bytes) - (a->anon_bytes > b->anon_bytes);
}

static void add_bytes(struct strbuf *sb, uint64_t bytes)
{
    struct folded_count count = {.whole = bytes};

    if (!value_add_human(sb, count, "bytes"))
        value_add_both(sb, count, "bytes");
}

static void print_process(const struct rss_sample *p)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addf(&sb, "%s %u: ", p->comm, p->pid);
    add_bytes(&sb, p->anon_bytes);
    strbuf_addstr(&sb, " of memory at its most, ");
    add_bytes(&sb, p->malloc_bytes);
    flame_warn("%s of it by malloc; the rest (an allocator of its own, mappings, static data) is "
               "not recorded",
               sb.buf);
    strbuf_release(&sb);
}

/* Takes the only process from the command's largest resident size, as it may have ended before
 * the first sample, or have grown since. That size includes libraries, which are less than 32
 * MiB. */
static bool add_command(const struct recording *r, struct rss_sample *p)
{
    const struct run_totals_process *only = r->taken.process;

    if (r->taken.nprocesses != 1 || r->others.nprograms || r->others.unnamed)
        return false;
    *p = (struct rss_sample){.pid = only->pid,
                             .anon_bytes = r->run.max_resident > only->recorders
                                               ? r->run.max_resident - only->recorders
                                               : 0,
                             .malloc_bytes = only->peak_with_inherited};
    memcpy(p->comm, only->comm, strnlen(only->comm, sizeof p->comm - 1));
    return unhooked_memory_is_much(p->anon_bytes, p->malloc_bytes);
}

/* Adds a process's final amounts from its traces to its samples. A sample in the middle of a calloc
 * sees the memory before it is counted. */
static struct rss_sample in_the_end(const struct recording *r, struct rss_sample p)
{
    for (size_t i = 0; i < r->taken.nprocesses; i++) {
        const struct run_totals_process *of = &r->taken.process[i];

        if (of->pid == p.pid && of->peak_with_inherited > p.malloc_bytes)
            p.malloc_bytes = of->peak_with_inherited;
    }
    return p;
}

static size_t print_processes(const struct recording *r)
{
    size_t seen, n;
    const struct rss_sample *all = rss_sampler_seen(r->watch, &seen);
    struct rss_sample *much = xcalloc(seen + 1, sizeof *much);
    bool alone = add_command(r, much);

    n = alone;
    for (size_t i = 0; i < seen && !alone; i++) {
        struct rss_sample p = in_the_end(r, all[i]);

        if (unhooked_memory_is_much(p.anon_bytes, p.malloc_bytes))
            much[n++] = p;
    }
    if (n)
        qsort(much, n, sizeof *much, by_size);
    for (size_t i = 0; i < n && i < LINES; i++)
        print_process(&much[i]);
    if (n > LINES)
        flame_warn("and %zu more processes like these", n - LINES);
    free(much);
    return n;
}

bool unhooked_memory_print(const struct recording *r)
{
    size_t lines = print_programs(&r->taken);

    return print_processes(r) + lines > 0;
}
