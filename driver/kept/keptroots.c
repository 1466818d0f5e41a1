#include "driver/kept/keptroots.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/basename.h"
#include "common/hash.h"
#include "common/processor/control_block.h"
#include "common/strbuf.h"
#include "driver/kept/keptmembers.h"
#include "driver/kept/keptsites.h"
#include "fold/kept/heapgraph.h"
#include "unwind/remote/remote_walk.h"

#define RED_ZONE 128u     /* a leaf function's data below the stack pointer; psABI */
#define OUTERMOST 256u    /* bytes of the outermost frame */
#define WORDS_MOST 48u    /* of a variable or member that have roots of their own */
#define WORDS_ASKED 1024u /* of a variable whose members are asked for */
#define LARGE 65536u      /* bytes of a variable whose words have none */

struct making {
    struct keptroots *k;
    const struct keptheap *h;
    struct keptnames *names;
    uint32_t **frames; /* of each thread: the root of each frame; NULL: not made yet */
    uint32_t *stacks;  /* of each thread: the root of its stack; 0: not made yet */
    struct word {
        uint32_t variable, offset; /* of each root word: the root; its place in the variable */
        bool is_member;
    } * words;
    uint32_t *members; /* of each root: number of words with places of their own */
};

/* ---- roots ---- */

static uint32_t root(struct making *m, uint32_t parent, const char *name, size_t len, uint8_t level,
                     bool heading)
{
    struct keptroots *k = m->k;
    uint32_t number = keptnames_number(m->names, name, len), at;
    uint32_t hash = (uint32_t)(((uint64_t)parent << 32 | number) * HASH_GOLDEN >> 32);
    size_t wanted = (size_t)k->n + 2, room;

    for (size_t i = hashslots_first(&k->known, hash); hashslots_at(&k->known, i, &at);
         i = hashslots_next(&k->known, i))
        if (k->parent[at] == parent && k->name[at] == number)
            return at;
    if (wanted > k->room) {
        room = k->room ? 2 * k->room : 64;
        k->parent = xreallocarray(k->parent, room, sizeof *k->parent);
        k->name = xreallocarray(k->name, room, sizeof *k->name);
        k->level = xreallocarray(k->level, room, sizeof *k->level);
        k->heading = xreallocarray(k->heading, room, sizeof *k->heading);
        k->room = room;
    }
    at = ++k->n;
    k->parent[at] = parent;
    k->name[at] = number;
    k->level[at] = level;
    k->heading[at] = heading;
    hashslots_add(&k->known, hash, at);
    return at;
}

static uint32_t plain_root(struct making *m, const char *name)
{
    return root(m, 0, name, strlen(name), HEAPGRAPH_VARIABLE, false);
}

static uint32_t weak_root(struct making *m, const char *name)
{
    return root(m, 0, name, strlen(name), HEAPGRAPH_WEAK, false);
}

/* Memory that nothing is known of. */
static uint32_t unknown_root(struct making *m)
{
    static const char name[] = "[mapped memory]";

    return root(m, 0, name, sizeof name - 1, HEAPGRAPH_MAPPING, false);
}

/* ---- variables ---- */

static uint32_t variable_root(struct making *m, uintptr_t addr, struct word *w)
{
    struct strbuf sb = STRBUF_INIT;
    struct symbol_object object;
    const char *path;
    uint64_t vaddr;
    struct symbol_module *module = keptnames_module(m->names, addr, &vaddr, &path);
    uint32_t on, at;

    if (!module)
        return unknown_root(m);
    strbuf_addf(&sb, "[globals of %s]", base_name(path));
    on = root(m, 0, sb.buf, sb.len, HEAPGRAPH_VARIABLE, true);
    object = symbols_object(m->names->symbols, module, vaddr);
    strbuf_setlen(&sb, 0);
    if (object.name)
        strbuf_add(&sb, object.name, object.len);
    else
        strbuf_addf(&sb, "%s+0x%" PRIx64, base_name(path), vaddr & ~(uint64_t)63);
    at = root(m, on, sb.buf, sb.len, HEAPGRAPH_VARIABLE, false);
    w->is_member = object.name && object.size > 8 && object.size <= LARGE;
    w->offset = (uint32_t)object.offset;
    strbuf_release(&sb);
    return at;
}

/* ---- stacks ---- */

static uint32_t stack_root(struct making *m, size_t thread)
{
    const struct heap_thread *t = &m->h->threads[thread];
    char name[64];
    int len;

    if (!m->stacks[thread]) {
        len = snprintf(name, sizeof name, "[stack of %s]", t->comm);
        m->stacks[thread] = root(m, 0, name, (size_t)len, HEAPGRAPH_STACK, false);
    }
    return m->stacks[thread];
}

/* The recorder has frames between the C library and main. */
static bool is_recorders(struct making *m, uintptr_t pc)
{
    uint64_t vaddr;
    const char *path;

    return keptnames_module(m->names, pc, &vaddr, &path) && keptnames_is_recorder(path);
}

static uint32_t function_root(struct making *m, uint32_t on, uintptr_t pc)
{
    bool exact = pc & REMOTE_EXACT;
    struct symbol_frames f;

    pc &= ~REMOTE_EXACT;
    if (is_recorders(m, pc))
        return on;
    f = keptnames_functions(m->names, pc, exact);
    return f.n ? root(m, on, f.frame[0].name, f.frame[0].len, HEAPGRAPH_STACK, false) : on;
}

/* Roots of the frames: what both a function and its callee point to is the function's. */
static const uint32_t *frame_roots(struct making *m, size_t thread)
{
    const struct heap_thread *t = &m->h->threads[thread];
    uint32_t on = stack_root(m, thread);

    if (m->frames[thread])
        return m->frames[thread];
    m->frames[thread] = xreallocarray(NULL, t->nframes + 1, sizeof **m->frames);
    for (size_t i = t->nframes; i-- > 0;)
        m->frames[thread][i] = on = function_root(m, on, t->frames[i].pc);
    return m->frames[thread];
}

static uint32_t frame_root(struct making *m, size_t thread, uintptr_t addr)
{
    const struct heap_thread *t = &m->h->threads[thread];
    size_t i = 0;

    if (!t->nframes)
        return stack_root(m, thread);
    while (i + 1 < t->nframes && t->frames[i + 1].sp <= addr)
        i++;
    return frame_roots(m, thread)[i];
}

/* ---- words ---- */

/* Memory that the program mapped: the function that did so. */
static uint32_t mapping_root(struct making *m, uint32_t row)
{
    struct strbuf sb = STRBUF_INIT;
    uint32_t at = 0;

    strbuf_addstr(&sb, "[mapped by ");
    if (row && keptsites_name(m->names, row, &sb)) {
        strbuf_addch(&sb, ']');
        at = root(m, 0, sb.buf, sb.len, HEAPGRAPH_MAPPING, false);
    }
    strbuf_release(&sb);
    return at ? at : unknown_root(m);
}

static bool is_thread_local(const struct heap_thread *t, uintptr_t addr)
{
    return control_block_has(t->control_block, addr);
}

static bool is_any_threads_local(const struct making *m, uintptr_t addr)
{
    for (size_t i = 0; i < m->h->nthreads; i++)
        if (is_thread_local(&m->h->threads[i], addr))
            return true;
    return false;
}

/* The first thread's data is not above its stack, and may share a mapping with any other stack. */
static bool is_first_threads_local(const struct making *m, uintptr_t addr)
{
    for (const struct heap_thread *o = m->h->threads; o < m->h->threads + m->h->nthreads; o++)
        if (is_thread_local(o, addr) && (o->control_block < o->lo || o->control_block >= o->hi))
            return true;
    return false;
}

static uint32_t below_root(struct making *m)
{
    return weak_root(m, "[below a stack, perhaps out of date]");
}

/* Whether another stack in the same mapping has its pointer above the address. */
static bool is_below_another(const struct making *m, const struct heap_thread *t, uintptr_t addr)
{
    for (const struct heap_thread *o = m->h->threads; o < m->h->threads + m->h->nthreads; o++)
        if (o->sp > addr && o->sp < t->hi)
            return true;
    return false;
}

/* An address in the mapping of a thread's stack: below the stack, in a frame, or above. */
static uint32_t root_in_stack(struct making *m, size_t thread, uintptr_t addr)
{
    const struct heap_thread *t = &m->h->threads[thread];
    uintptr_t end = t->nframes ? t->frames[t->nframes - 1].sp + OUTERMOST : t->sp;
    bool has_block = t->control_block >= t->sp && t->control_block < t->hi;

    if (addr < t->lo || addr >= t->hi) /* its own stack, while it runs on another one */
        return is_thread_local(t, addr) ? plain_root(m, "[thread-local data]")
                                        : stack_root(m, thread);
    if (addr >= t->sp - RED_ZONE && addr < end)
        return frame_root(m, thread, addr);
    if (is_first_threads_local(m, addr))
        return plain_root(m, "[thread-local data]");
    if (addr < t->sp)
        return below_root(m);
    if (has_block && is_thread_local(t, addr))
        return plain_root(m, "[thread-local data]");
    if (is_below_another(m, t, addr))
        return below_root(m);
    return has_block ? mapping_root(m, 0) : stack_root(m, thread);
}

static uint32_t root_elsewhere(struct making *m, uintptr_t addr, const char *name)
{
    return plain_root(m, is_any_threads_local(m, addr) ? "[thread-local data]" : name);
}

static uint32_t root_of(struct making *m, uintptr_t addr, const struct kept_place *place,
                        struct word *w)
{
    switch (place->kind) {
    case KEPT_IN_MODULE:
        return variable_root(m, addr, w);
    case KEPT_BELOW_STACK:
        return below_root(m);
    case KEPT_IN_REGISTERS:
        return frame_root(m, place->number, 0);
    case KEPT_IN_STACK:
        return root_in_stack(m, place->number, addr);
    case KEPT_IN_MALLOC:
        return weak_root(m, "[malloc's own data]");
    case KEPT_IN_FREE_HEAP:
        return weak_root(m, "[free heap memory, perhaps out of date]");
    case KEPT_IN_SHARED:
        return root_elsewhere(m, addr, "[shared memory]");
    case KEPT_IN_STACKS:
        return root_elsewhere(m, addr, "[stacks]");
    case KEPT_IN_RESULT:
        return plain_root(m, "[result of a thread]");
    case KEPT_IN_LOADER:
        return weak_root(m, "[loader]"); /* its lists have room that is not in use any more */
    case KEPT_IN_PAUSED:
        return plain_root(m, "[left out of the recording]");
    case KEPT_IN_MAPPING:
        return mapping_root(m, place->number);
    default:
        return root_elsewhere(m, addr, "[memory from before the start]");
    }
}

static bool has_place(const struct making *m, const struct word *w)
{
    return w->is_member && m->members[w->variable] <= WORDS_ASKED;
}

/* The words with places of their own, in their order, with names. */
static struct keptmember *ask_members(struct making *m)
{
    const struct keptheap *s = m->h;
    struct keptmember *all = NULL;
    size_t n = 0, room = 0;

    for (size_t i = 0; i < s->nroots; i++) {
        if (!has_place(m, &m->words[i]))
            continue;
        GROW(all, n, room);
        all[n++] = (struct keptmember){.at = s->roots[i].at, .offset = m->words[i].offset};
    }
    keptmembers_name(m->names, all, n);
    return all;
}

/* The length of the first part of a member's name: ".list" of ".list.head", "[3]" of "[3].next". */
static size_t first_part(const char *name)
{
    return 1 + strcspn(name + 1, name[0] == '[' ? "." : ".[");
}

/* The root of a word's member of the variable. Elements of large arrays, and words of many that
 * have no names, are the variable's. */
static uint32_t member_root(struct making *m, const struct word *w, const char *name)
{
    bool many = m->members[w->variable] > WORDS_MOST;
    char offset[32];

    if (many && (!name || name[0] == '['))
        return w->variable;
    if (!name)
        snprintf(offset, sizeof offset, "+0x%" PRIx32, w->offset);
    name = name ? name : offset;
    return root(m, w->variable, name, first_part(name), HEAPGRAPH_VARIABLE, false);
}

/* Members of a member stand on it: what several of these keep, as the pointers in a container's
 * object do, is the first one's. */
static void name_members(struct making *m)
{
    const struct keptheap *s = m->h;
    struct keptmember *all;
    uint32_t n = m->k->n, *uses, *of = m->k->of;
    size_t at = 0;

    m->members = xcalloc(n + 1, sizeof *m->members);
    for (size_t i = 0; i < s->nroots; i++)
        m->members[m->words[i].variable] += m->words[i].is_member;
    all = ask_members(m);
    for (size_t i = 0; i < s->nroots; i++) {
        const struct word *w = &m->words[i];

        of[i] = has_place(m, w) ? member_root(m, w, all[at].name) : w->variable;
        at += has_place(m, w);
    }
    uses = xcalloc((size_t)m->k->n + 1, sizeof *uses);
    for (size_t i = 0; i < s->nroots; i++)
        uses[of[i]]++;
    at = 0;
    for (size_t i = 0; i < s->nroots; i++) {
        const struct word *w = &m->words[i];
        const char *name = has_place(m, w) ? all[at++].name : NULL, *rest;

        rest = name ? name + first_part(name) : "";
        if (*rest && of[i] != w->variable && uses[of[i]] <= WORDS_MOST)
            of[i] = root(m, of[i], rest, strlen(rest), HEAPGRAPH_VARIABLE, false);
    }
    free(uses);
    free(all);
    free(m->members);
}

void keptroots_make(struct keptroots *k, const struct keptheap *h, struct keptnames *names)
{
    struct making m = {.k = k, .h = h, .names = names};

    *k = (struct keptroots){.n = 0};
    hashslots_init(&k->known, 256);
    k->of = xreallocarray(NULL, h->nroots + 1, sizeof *k->of);
    m.frames = xcalloc(h->nthreads + 1, sizeof *m.frames);
    m.stacks = xcalloc(h->nthreads + 1, sizeof *m.stacks);
    m.words = xcalloc(h->nroots + 1, sizeof *m.words);
    for (size_t i = 0; i < h->nroots; i++)
        m.words[i].variable = root_of(&m, h->roots[i].at, &h->places[i], &m.words[i]);
    name_members(&m);
    for (size_t i = 0; i < h->nthreads; i++)
        free(m.frames[i]);
    free(m.frames);
    free(m.stacks);
    free(m.words);
}

void keptroots_release(struct keptroots *k)
{
    free(k->parent);
    free(k->name);
    free(k->level);
    free(k->heading);
    free(k->of);
    hashslots_release(&k->known);
}
