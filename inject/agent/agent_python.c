/*
 * Functions of Python between the native frames of a stack, read as by the recorder that is loaded
 * (unwind/python/kept_chain.h).
 *
 * No function of the interpreter or of the C library is called. The thread's state is read from
 * where the C library stores thread-specific data. Memory is read if it was mapped when flame last
 * read the list of mappings. About newer memory the kernel is asked, by a call that does nothing:
 * the agent's only one. In a process with a seccomp filter it is not made, and names of functions
 * in newer memory are missing until flame reads the list again.
 */
#include "inject/agent/agent.h"

#include <errno.h>
#include <sys/syscall.h>

#include "common/pages.h"
#include "common/processor/arch.h"
#include "common/processor/processor.h"
#include "unwind/python/kept_chain.h"
#include "unwind/python/pyhost.h"
#include "preload/store/truncate.h"

/* Attempts to take the lock. Its holder may have lost its CPU, and the agent does not wait. */
#define TRIES (1u << 14)

/* Memory for names, taken at once. */
#define ROOM ((uintptr_t)65536)

struct agent_frames {
    struct kept_chain chain;
    uintptr_t sps[AGENT_DEPTH]; /* stack pointers of the frames, innermost first */
    uint64_t pcs[AGENT_DEPTH];
};

static int adding;

/* ---- what reading needs ---- */

uintptr_t pyhost_thread(void)
{
    return arch_thread_pointer();
}

uintptr_t pyhost_state(const struct python *py, struct pypages *pages)
{
    const struct agent_python *a = &agent_shared.python;
    uintptr_t block, state;
    uint32_t key;

    if (!pyframes_key(py, pages, &key) || key >= AGENT_KEYS * AGENT_KEYS)
        return 0;
    block = *(const uintptr_t *)(arch_thread_pointer() + a->specific +
                                 key / AGENT_KEYS * sizeof(uintptr_t));
    if (!block ||
        !pypages_word(pages, block + key % AGENT_KEYS * a->entry_size + a->entry_data, &state))
        return 0;
    return state;
}

bool pyhost_readable(uintptr_t page)
{
    enum { NO_SUCH_OPERATION = 0x7fff };
    const struct agent_place *p = agent_place_of(page);
    const unsigned long ask[6] = {NO_SUCH_OPERATION, page, 0, 8};

    if (p && p->stack)
        return true;
    /* As kernel_readable asks. */
    return agent_shared.python.may_ask && processor_call(SYS_rt_sigprocmask, ask) == -EINVAL;
}

uint32_t pyhost_changes(void)
{
    return (uint32_t)__atomic_load_n(&agent_shared.maps_count, __ATOMIC_ACQUIRE);
}

bool pyhost_begin_names(void)
{
    for (uint32_t i = 0; i < TRIES; i++)
        if (!__atomic_exchange_n(&adding, 1, __ATOMIC_ACQUIRE))
            return true;
    return false;
}

void pyhost_end_names(void)
{
    __atomic_store_n(&adding, 0, __ATOMIC_RELEASE);
}

void pyhost_after_fork(void)
{
}

const char *pyhost_store(const char *text, uint32_t len, uint64_t *pc)
{
    static uintptr_t room, room_end;
    uintptr_t size = (sizeof(struct agent_name) + len + 7) & -(uintptr_t)8;
    uint64_t number = agent_shared.nnames + 1;
    struct agent_name *name;

    if (number >= AGENT_NAMES || len > AGENT_NAME_MOST)
        return NULL;
    if (room_end - room < size) {
        room = (uintptr_t)pages_alloc(ROOM);
        room_end = room ? room + ROOM : 0;
        if (!room)
            return NULL;
    }
    name = (struct agent_name *)room;
    room += size;
    name->len = len;
    memcpy(name->text, text, len);
    agent_shared.names[number] = name;
    __atomic_store_n(&agent_shared.nnames, number, __ATOMIC_RELEASE);
    *pc = STACK_NAME | number;
    return name->text;
}

/* ---- one stack ---- */

uintptr_t *agent_sps(struct agent_lane *lane)
{
    if (likely(!agent_shared.python.version))
        return NULL;
    if (unlikely(!lane->frames))
        lane->frames = pages_alloc(sizeof *lane->frames);
    return lane->frames ? lane->frames->sps : NULL;
}

/* Whether the stack memory at `at` belongs to frame `i` of n. The outermost one runs no functions,
 * and where a walk ended early all others would lie in it. */
static bool holds(const struct agent_frames *f, uint32_t n, uint32_t i, uintptr_t at)
{
    return i + 1 < n && at >= f->sps[i] && at < f->sps[i + 1];
}

/* Merges the n frames in `pcs` and the names into f->pcs. Returns their number; if it is
 * AGENT_DEPTH, outer ones may be missing. */
static uint32_t put_together(struct agent_frames *f, const uint64_t *pcs, uint32_t n)
{
    const struct pylink *links = f->chain.links;
    uint32_t left = f->chain.n, m = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t names = 0;

        for (; left && holds(f, n, i, links[left - 1].mark); left--) {
            if (m == AGENT_DEPTH)
                return m;
            if (links[left - 1].name.pc) {
                f->pcs[m++] = links[left - 1].name.pc;
                names++;
            }
        }
        if (m == AGENT_DEPTH)
            return m;
        f->pcs[m++] = pcs[i];
        /* With -X perf, code that was made for this one function calls the loop. */
        if (names == 1 && !agent_has_module(pcs[i + 1]))
            i++;
    }
    return m;
}

uint32_t agent_with_python(struct agent_lane *lane, uint32_t n, uint32_t *flags)
{
    const struct agent_python *a = &agent_shared.python;
    struct python py = {.layout = pylayout_of(a->version),
                        .runtime = a->runtime,
                        .code_type = a->code_type,
                        .text_type = a->text_type};
    struct agent_frames *f = lane->frames;

    if (!f || !py.layout || !kept_chain_follow(&f->chain, &py, 0) || !f->chain.n)
        return n;
    n = put_together(f, lane->pcs, n);
    if (n == AGENT_DEPTH)
        *flags |= AGENT_CUT;
    memcpy(lane->pcs, f->pcs, n * sizeof *f->pcs);
    return n;
}
