/*
 * Functions of Python, and facts of the process that reading them needs.
 *
 * A name has a number in the process, from 1 on, and an id in each ring that has it. A page that
 * was readable is taken to be so until the C library makes a call that may unmap memory: these
 * calls come through the library (call_log.c).
 */
#define _GNU_SOURCE
#include "inproc/lib/python_waits.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "common/hash.h"
#include "common/pages.h"
#include "common/spinlock.h"
#include "inproc/ring.h"
#include "unwind/modules.h"
#include "unwind/python/pyhost.h"

#define NAMES_MOST (1u << 16)
#define ROOM ((size_t)65536) /* for names, taken at once */
#define EXAMINED 256u
#define FIRST_IDS 1024u

struct name {
    uint32_t len;
    char text[];
};

struct python_waits {
    struct kept_chain chain;
    bool following; /* the chain is being changed */
    uint32_t *ids;  /* in the ring, by number of the name; 0: it is not logged */
    uint32_t ids_n;
    uint32_t logged;
    uint64_t words[RING_STACK_MAX];
};

static struct name *names[NAMES_MOST]; /* by number */
static uint32_t nnames;
static struct desertable_lock adding;
static uint32_t gone;

/* ---- what reading needs ---- */

uint32_t pyhost_changes(void)
{
    return __atomic_load_n(&gone, __ATOMIC_ACQUIRE) + modules_changes();
}

bool pyhost_begin_names(void)
{
    return desertable_take(&adding); /* a handler may leave this code by siglongjmp */
}

void pyhost_end_names(void)
{
    desertable_drop(&adding);
}

void pyhost_after_fork(void)
{
    adding = (struct desertable_lock){.deserted = 0};
}

const char *pyhost_store(const char *text, uint32_t len, uint64_t *pc)
{
    static char *room, *room_end;
    size_t size = (sizeof(struct name) + len + 7) & ~(size_t)7;
    struct name *name;

    if (nnames + 1 == NAMES_MOST || len > RING_FUNCTION_MAX)
        return NULL;
    if ((size_t)(room_end - room) < size) {
        room = pages_alloc(ROOM);
        room_end = room ? room + ROOM : NULL;
        if (!room)
            return NULL;
    }
    name = (struct name *)room;
    room += size;
    name->len = len;
    memcpy(name->text, text, len);
    names[nnames + 1] = name;
    __atomic_store_n(&nnames, nnames + 1, __ATOMIC_RELEASE);
    *pc = RING_IS_FUNCTION | nnames;
    return name->text;
}

void python_waits_after_fork(void)
{
    nnames = 0;
    pynames_after_fork();
}

/* ---- the interpreter ---- */

void python_waits_init(void)
{
    uint32_t unnamed;

    pyframes_look(NULL, &unnamed);
}

bool python_waits_found(void)
{
    return pyframes_python() != NULL;
}

/* Threads may overwrite each other's addresses, and then a module is examined again. */
void python_waits_look(const struct local_stack *s)
{
    static struct {
        uint32_t changes; /* of the modules */
        uintptr_t start[EXAMINED];
    } examined;
    uint32_t changes = modules_changes(), unnamed;
    struct module m = {.start = 0};

    if (__atomic_exchange_n(&examined.changes, changes, __ATOMIC_RELAXED) != changes)
        memset(examined.start, 0, sizeof examined.start);
    for (uint32_t i = 0; i < s->len; i++) {
        uintptr_t pc = s->pcs[i], *place;
        const struct link_map *module;

        if (pc - m.start < m.end - m.start || !modules_note(pc, &m))
            continue;
        place = &examined.start[(m.start * HASH_GOLDEN >> 32) % EXAMINED];
        if (__atomic_exchange_n(place, m.start, __ATOMIC_RELAXED) != m.start &&
            (module = modules_link_map(pc)) && pyframes_look(module, &unnamed))
            return;
    }
}

void python_waits_see(const struct patch_call *call)
{
    switch (call->number) {
    case SYS_mmap:
        if (!(call->args[3] & MAP_FIXED))
            return;
        break;
    case SYS_mprotect:
        if (call->args[2] & PROT_READ)
            return;
        break;
    case SYS_munmap:
    case SYS_mremap:
    case SYS_brk:
        break;
    default:
        return;
    }
    __atomic_fetch_add(&gone, 1, __ATOMIC_RELEASE);
}

/* ---- one thread ---- */

void python_waits_pass_on(struct python_waits *w)
{
    if (!w)
        return;
    w->chain.n = 0;
    w->logged = 0;
    if (w->ids)
        memset(w->ids, 0, w->ids_n * sizeof *w->ids);
}

/* Begins with an empty chain, in new memory: a handler has left the code that changed it by
 * siglongjmp. No id is given twice. */
static FLAME_COLD void begin_again(struct kept_chain *c)
{
    uint32_t last = c->ids.last + 1;

    memset(c, 0, sizeof *c);
    c->ids.last = last;
}

uint32_t python_waits_follow(struct python_waits **w)
{
    const struct python *py = pyframes_python();
    uint32_t id;

    if (!py || (unlikely(!*w) && !(*w = pages_alloc(sizeof **w))))
        return 0;
    if (unlikely((*w)->following))
        begin_again(&(*w)->chain);
    __atomic_store_n(&(*w)->following, true, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    id = kept_chain_follow(&(*w)->chain, py, 0);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&(*w)->following, false, __ATOMIC_RELAXED);
    return id;
}

/* Whether the code at `pc`, which has called the interpreter's loop, was made at run time for that
 * function
 * (-X perf). */
static bool is_trampoline(uintptr_t pc)
{
    struct module m;

    return !modules_note(pc, &m);
}

uint32_t python_waits_merge(struct python_waits *w, const struct local_stack *s, uint32_t most,
                            uint64_t **words)
{
    const struct pylink *links = w->chain.links;
    uint32_t left = w->chain.n, n = 0;

    most = most < RING_STACK_MAX ? most : RING_STACK_MAX;
    *words = w->words;
    /* From the inner end of the room outwards, as for libflamemem.so (pystacks.c). */
    for (uint32_t i = s->len; i-- > 0;) {
        uint32_t functions = 0;

        for (; i && left && local_holds(s, i, links[left - 1].mark); left--) {
            if (!links[left - 1].name.pc)
                continue;
            if (n == most)
                return 0;
            w->words[RING_STACK_MAX - ++n] = links[left - 1].name.pc;
            functions++;
        }
        if (n == most)
            return 0;
        w->words[RING_STACK_MAX - ++n] = s->pcs[i];
        if (functions == 1 && i && is_trampoline(s->pcs[i - 1]))
            i--;
    }
    *words = w->words + RING_STACK_MAX - n;
    return n;
}

/* Makes room for ids of all names that there are. */
static bool make_room(struct python_waits *w)
{
    uint32_t n = w->ids_n ? w->ids_n : FIRST_IDS;
    uint32_t *more;

    while (n <= __atomic_load_n(&nnames, __ATOMIC_ACQUIRE))
        n *= 2;
    if (n == w->ids_n)
        return true;
    more = w->ids ? pages_resize(w->ids, w->ids_n * sizeof *more, n * sizeof *more)
                  : pages_alloc(n * sizeof *more);
    if (!more)
        return false;
    w->ids = more;
    w->ids_n = n;
    return true;
}

uint64_t python_waits_unlogged(struct python_waits *w, const uint64_t *words, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (words[i] & RING_IS_FUNCTION && !python_waits_id(w, words[i]))
            return words[i];
    return 0;
}

/* By bytes, as the caller has not saved vector registers. */
uint32_t python_waits_name(uint64_t function, uint64_t *to)
{
    const struct name *name = names[(uint32_t)function];

    to[name->len ? (name->len - 1) / sizeof *to : 0] =
        0; /* bytes of the last word after the name */
    for (uint32_t i = 0; i < name->len; i++)
        ((char *)to)[i] = name->text[i];
    return name->len;
}

uint32_t python_waits_log(struct python_waits *w, uint64_t function)
{
    return make_room(w) ? w->ids[(uint32_t)function] = ++w->logged : 0;
}

uint32_t python_waits_id(const struct python_waits *w, uint64_t function)
{
    return (uint32_t)function < w->ids_n ? w->ids[(uint32_t)function] : 0;
}
