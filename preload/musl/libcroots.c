/*
 * musl itself allocates by names that cannot be interposed, in the same heap as the program's
 * blocks. Such memory with words of the program is found in the way that musl's own code finds it:
 *
 *   thread-local data   each thread's vector leads to it, by the modules' numbers. The vector's
 * place in the thread's record is part of the interface that compilers rely on: the second word
 * behind the thread pointer, or where thread-local data lies above that, the last before it.
 *   atexit's handlers   musl has a list of arrays, the first in its own data: a link, 32 functions,
 * 32 arguments. A word of its data is the head of the list if following the links leads back into
 * its data, to an array that is full as all on the way are.
 *
 * Rejected: scanning all of the heap that is in no block of the program. It is full of pointers
 * from freed blocks.
 */
#define _GNU_SOURCE
#include "preload/leak/libcroots.h"

#include <link.h>
#include <sys/auxv.h>

#include "common/pages.h"
#include "common/processor/arch.h"
#include "preload/runtime/module_contains.h"

#define WORD sizeof(uintptr_t)
#define MODULES_MAX 4096u
#define HANDLERS 32u
#define LISTS_MAX                                                                                  \
    65536u /* limit of a walk through a list that was caught in the middle of a change */

#if defined(__x86_64__)
#define VECTOR_OFFSET 8
#else
#define VECTOR_OFFSET (-8)
#endif

struct handlers {
    const struct handlers *next; /* the array registered before this one */
    uintptr_t function[HANDLERS], argument[HANDLERS];
};

static struct {
    size_t *sizes; /* sizes of thread-local data by module number, MODULES_MAX of them, in pages */
    bool incomplete;
    uintptr_t lo, hi; /* the C library's writable data */
} g;

void libcroots_forget(void)
{
    if (!g.sizes)
        g.sizes = pages_alloc(MODULES_MAX * sizeof *g.sizes);
    g.incomplete = !g.sizes;
}

bool libcroots_complete(void)
{
    return !g.incomplete;
}

static void note_size(size_t number, size_t size)
{
    if (number >= MODULES_MAX || !g.sizes)
        g.incomplete = true;
    else
        g.sizes[number] = size;
}

void libcroots_module(const struct dl_phdr_info *info)
{
    bool libc = module_holds(info, (uintptr_t)getauxval);

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_TLS)
            note_size(info->dlpi_tls_modid, p->p_memsz);
        if (libc && p->p_type == PT_LOAD && (p->p_flags & PF_W)) {
            g.lo = info->dlpi_addr + p->p_vaddr;
            g.hi = g.lo + p->p_memsz;
        }
    }
}

static bool has(const struct readable *r, uintptr_t at, size_t size)
{
    const struct readable_range *range = readable_at(r, at);

    return range && range->write && at % WORD == 0 && size <= range->hi - at;
}

/* ---- thread-local data ---- */

static void visit_thread(const struct readable *r, uintptr_t thread_pointer,
                         void (*visit)(uintptr_t lo, uintptr_t hi))
{
    uintptr_t at = thread_pointer + (uintptr_t)(intptr_t)VECTOR_OFFSET;
    const uintptr_t *vector;

    if (!thread_pointer || !has(r, at, WORD))
        return;
    vector = (const uintptr_t *)*(const uintptr_t *)at;
    if (!has(r, (uintptr_t)vector, WORD) || vector[0] >= MODULES_MAX ||
        !has(r, (uintptr_t)vector, (vector[0] + 1) * WORD))
        return;
    for (size_t i = 1; i <= vector[0]; i++) {
        uintptr_t lo = vector[i] & -WORD, hi = vector[i] + g.sizes[i];

        if (g.sizes[i] && has(r, lo, hi - lo))
            visit(lo, hi);
    }
}

/* ---- handlers ---- */

static bool is_ours(const struct handlers *h)
{
    return (uintptr_t)h >= g.lo && (uintptr_t)h < g.hi;
}

/* Number of handlers in the array; a full array uses all its room. */
static size_t count(const struct handlers *h)
{
    size_t n = 0;

    while (n < HANDLERS && h->function[n])
        n++;
    return n;
}

static bool is_list(const struct readable *r, const struct handlers *h)
{
    if (is_ours(h))
        return false;
    for (size_t n = 0; n < LISTS_MAX; n++) {
        if (!has(r, (uintptr_t)h, sizeof *h) || (n ? count(h) < HANDLERS : !count(h)))
            return false;
        if (is_ours(h))
            return !h->next;
        h = h->next;
    }
    return false;
}

static void visit_handlers(const struct readable *r, void (*visit)(uintptr_t lo, uintptr_t hi))
{
    for (uintptr_t at = g.lo; at + WORD <= g.hi; at += WORD) {
        const struct handlers *h = has(r, at, WORD) ? *(const struct handlers *const *)at : NULL;

        if (!h || !is_list(r, h))
            continue;
        for (; h; h = h->next)
            visit((uintptr_t)h->argument, (uintptr_t)(h->argument + HANDLERS));
        return;
    }
}

/* ---- all words ---- */

void libcroots_each(const struct readable *r, const struct stopped_world *f,
                    void (*visit)(uintptr_t lo, uintptr_t hi))
{
    visit_thread(r, arch_thread_pointer(), visit);
    for (size_t i = 0; i < f->n; i++)
        if (f->threads[i].state != STOP_WORLD_GONE)
            visit_thread(r, f->threads[i].thread_pointer, visit);
    visit_handlers(r, visit);
}
