/*
 * Problem: logging a call must cost less than a tenth of what it costs to sleep in it, without a
 * lock, an allocation or a system call, wherever and whenever programs make calls.
 *
 * Algorithm: a word of TLS points to the thread's memory; a page that the kernel wipes at fork
 * shows whether that belongs to this process. `busy` is set while the thread runs the code here,
 * and not while it is in the call. So a signal handler that makes calls finds it set only in the
 * few instructions around the call, and then its own call is not logged but stops. A handler that
 * leaves those instructions by siglongjmp leaves `busy` set. If a call finds it set with the stack
 * pointer above the value stored there, on the same stack, the frame that set it no longer exists.
 * That the stack is the same is certain only for the thread's own stack: handlers may switch to
 * another (swapcontext), and back to the frame later. Until then the thread's calls are not logged
 * but stop, and the ends of logged ones are not logged.
 *
 * A stack is recognised by its words (unwind/stack_cache.h) or walked by unwind rules. libunwind is
 * not called: a call whose stack only libunwind could walk stops for the tracer, which uses it. So
 * does a call below code without tables that cannot have kept a frame pointer.
 *
 * Whether the thread left its CPU is known without a system call (inproc/rseq.h), but the reason is
 * not: a writer to a pipe often loses its CPU to the thread it wakes, and did not wait. The kernel
 * counts voluntary and involuntary switches of a thread, and reading them is a call of 400 ns
 * (`counts`).
 *
 * So the counts are read only where they make a difference. A read or a lock in which the thread
 * left its CPU is taken for a sleep. For a write in which it did, the counts are read, and so for a
 * call that opens a path or is on a plain file, which seldom waits. Such a call has slept if the
 * number of voluntary switches since the last reading is larger than the number of calls taken for
 * sleeps. A thread that left its CPU outside of calls may have done either; then the counts are
 * read before the write as well.
 *
 * Every LOOK_EVERY calls the counts show whether calls that were taken for sleeps were preemptions.
 * Such a thread reads data that is there already and is switched away. Then the counts are read in
 * all its calls on descriptors for a while (ASK_FOR). Rejected: always reading them, because a
 * ping-pong by pipes then reads them twice a round, which is a third of what logging adds to it.
 */
#define _GNU_SOURCE
#include "inproc/lib/call_log.h"

#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "common/hash.h"
#include "common/kernel.h"
#include "common/pages.h"
#include "common/procmaps.h"
#include "common/sysnr.h"
#include "inproc/gate.h"
#include "inproc/syscall_mark.h"
#include "inproc/rseq.h"
#include "inproc/lib/eintr_retry.h"
#include "inproc/lib/held_signals.h"
#include "inproc/lib/lockall.h"
#include "inproc/lib/open_fds.h"
#include "inproc/lib/ownclock.h"
#include "inproc/lib/arg_memory.h"
#include "inproc/lib/polledfiles.h"
#include "inproc/lib/python_waits.h"
#include "inproc/lib/fpu_state.h"
#include "inproc/lib/vforkchild.h"
#include "common/processor/arch.h"
#include "unwind/local.h"
#include "unwind/modules.h"

#ifndef CLONE_NEWTIME /* Linux 5.6 */
#define CLONE_NEWTIME 0x80
#endif
#ifndef PR_SET_SYSCALL_USER_DISPATCH /* Linux 5.11 */
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

/* Number of cached stacks. */
#define KNOWN 2048u

/* Number of calls taken for sleeps until that is checked, and number of calls whose counts are read
 * if one was none. */
#define LOOK_EVERY 16u
#define ASK_FOR 256u

/* How often a thread has left its CPU: voluntarily, and by preemption. */
struct counts {
    long slept, lost;
};

struct home {
    uintptr_t from, to; /* 0: not searched for yet */
};

struct call_logger {
    struct ring *ring;
    const struct ring_control *control;
    uint32_t turn;             /* the ring's `turn` when the thread took it */
    uint64_t stuck;            /* 0, or 1 + the tail for which it waited in vain */
    uint64_t waited_ns, waits; /* wait for room, and number of such waits, not in the ring yet */
    uintptr_t busy;            /* 0, or the stack pointer of the call that is being logged */
    uint32_t process;          /* number of its process: see process_now */
    pid_t tid;                 /* thread number in its own namespace */
    uint64_t last; /* time of its last record, where a sandbox forbids to read the clock */
    uint32_t serial, stacks;
    struct home home;    /* the thread's own stack */
    struct counts asked; /* the kernel's last counts */
    /* How often it has left its CPU since then, by ran_on: in calls that were taken for sleeps, and
     * elsewhere. */
    unsigned slept, elsewhere;
    unsigned ask; /* number of further calls on descriptors for which the counts are read */
    struct local_stack stack;
    struct local_small small;
    struct python_waits *python; /* NULL: the thread has run no Python */
    uint32_t chain;              /* as python_waits_follow last returned it */
    struct {
        uint64_t hash;
        uint32_t id; /* 0: empty slot */
    } known[KNOWN];
    unsigned char vectors[] __attribute__((aligned(VECTORS_ALIGN)));
};

_Static_assert(PATCH_NUMBERS == SHM_CALLS, "the session says what comes to the handler");

/* Begin and end of this library, by the linker. */
extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));

static const struct shm_view *session;
static FLAME_BULK struct call_logger
    *call_loggers[SHM_RINGS_MOST]; /* by ring: of its present or last owner */
static size_t vectors;
static uint32_t *process_now; /* wiped at fork; else the process's number */
/* A filter may forbid the calls that read memory, and would see marks. */
static bool confined;
static uintptr_t marked_pc; /* return address of marked calls; 0: no call is marked */
/* No thread of this process or of its forked children takes a ring any more. */
static bool no_more;
/* Forked children have another clock (a time namespace). */
static bool other_clock;
static __thread struct call_logger *own __attribute__((tls_model("initial-exec")));
/* Like `busy`, while the thread gets its memory. */
static __thread uintptr_t beginning __attribute__((tls_model("initial-exec")));

/* ---- whether the thread has left its CPU ---- */

static bool with_sequences;

static inline void arm(void)
{
    if (with_sequences)
        rseq_arm();
}

/* False: the thread may have left its CPU. */
static inline bool ran_on(void)
{
    return with_sequences && rseq_stayed();
}

static struct counts counts_now(void)
{
    struct rusage usage; /* large, so it is not cleared */

    usage.ru_nvcsw = usage.ru_nivcsw = 0;
    kernel_call(SYS_getrusage, RUSAGE_THREAD, &usage);
    return (struct counts){usage.ru_nvcsw, usage.ru_nivcsw};
}

/* ---- threads in this code ---- */

static bool on_signal_stack(void)
{
    stack_t stack = {.ss_flags = 0};

    return kernel_call(SYS_sigaltstack, 0, &stack) < 0 || stack.ss_flags & SS_ONSTACK;
}

/* The first thread's stack has a name; others have the thread's TLS at their end. */
static bool is_home(const struct procmap *map, void *arg)
{
    struct home *home = arg;
    uintptr_t tls = (uintptr_t)&own;
    bool first = kernel_call(SYS_gettid) == kernel_call(SYS_getpid);

    if (first ? !map->stack : tls < map->start || tls >= map->end)
        return false;
    home->from = map->start;
    home->to = first ? map->end : tls;
    return true;
}

/* Whether both lie in the thread's own stack, `low` below `high`. */
static bool are_at_home(struct home *home, uintptr_t low, uintptr_t high)
{
    /* The first thread's stack grows. */
    if (!no_more && (!home->to || (low < home->from && high >= home->from)))
        procmaps_each(0, is_home, home);
    return low >= home->from && high < home->to;
}

/* Whether `busy` was set by a frame that has been left since. */
static FLAME_COLD bool was_left(uintptr_t busy, struct home *home, const struct patch_call *call)
{
    return call->sp > busy && !on_signal_stack() && are_at_home(home, busy, call->sp);
}

/* Sets *busy if it still is `was`: by one instruction, as a signal's handler may run between a load
 * and a store, and run another stack before it returns. Without a `lock` prefix, as no other thread
 * writes it. */
static inline bool take(uintptr_t *busy, uintptr_t was, uintptr_t sp)
{
    bool same;

    __asm__ volatile("cmpxchg %3,%1" : "=@ccz"(same), "+m"(*busy), "+a"(was) : "r"(sp) : "memory");
    return same;
}

/* Makes the thread busy. False: it is busy, by a frame that may still run. */
static inline bool seize(uintptr_t *busy, struct home *home, const struct patch_call *call)
{
    uintptr_t left;

    if (likely(take(busy, 0, call->sp)))
        return true;
    left = __atomic_load_n(busy, __ATOMIC_RELAXED);
    return left && was_left(left, home, call) && take(busy, left, call->sp);
}

/* ---- threads ---- */

unsigned call_log_init(const struct shm_view *s)
{
    size_t page = 4096;

    vectors = fpu_state_size();
    if (!vectors)
        return SHM_NO_XSAVE;
    ownclock_begin();
    process_now = pages_alloc(page);
    if (!process_now || kernel_call(SYS_madvise, process_now, page, MADV_WIPEONFORK) < 0)
        return SHM_NO_WIPE;
    *process_now = (uint32_t)kernel_call(SYS_getpid);
    with_sequences = s->head->sequences && rseq_begin();
    modules_init(0);
    if (s->head->python)
        python_waits_init();
    open_fds_init(s);
    session = s;
    patch_numbers = s->head->calls;
    return 0;
}

void call_log_confined(void)
{
    confined = true;
}

void call_log_mark(uintptr_t pc)
{
    marked_pc = pc;
}

/* Stops logging: from now on calls of this process are made at their own places, and stop. */
static void withdraw(void)
{
    no_more = true;
    __atomic_store_n(&patch_handler, NULL, __ATOMIC_SEQ_CST);
}

/* Whether `at` is a thread pointer: by the processor's ABI, the word there is its own address. */
static bool is_thread_pointer(uintptr_t at)
{
    return at && kernel_readable(at, sizeof at) && *(const uintptr_t *)at == at;
}

/* Whether the thread has a thread pointer. A forked child may have been made with another than its
 * parent's, or none. No TLS may be read before that is known. */
static FLAME_COLD bool has_thread_pointer(void)
{
    uintptr_t at = 0;

    kernel_after_fork();
    if (kernel_call(SYS_arch_prctl, ARCH_GET_FS, &at) == 0 && is_thread_pointer(at))
        return true;
    withdraw();
    return false;
}

/* Prepares a forked child, in its first thread that makes a call. If the parent has no number, the
 * child is in its own pid namespace, where threads have other numbers than the tracer's. */
static void after_fork(void)
{
    kernel_after_fork();
    modules_after_fork();
    local_after_fork();
    python_waits_after_fork();
    if (kernel_call(SYS_getppid) == 0 || other_clock)
        no_more = true;
    *process_now = (uint32_t)kernel_call(SYS_getpid);
}

/* Sets the process's number, if that is not done yet. False: the thread is, or may be, a child of
 * vfork. */
static bool begin_process(void)
{
    if (!*process_now && !vforkchild_perhaps())
        after_fork();
    return *process_now != 0;
}

/* Whether a thread may take the ring (a shm_may_have). Other writers of the rings may mark one as
 * free while a thread of this process has it: then two threads would share memory. */
static bool may_have(uint32_t ring, uint32_t tid, bool begun)
{
    const struct call_logger *t = call_loggers[ring];

    return !t || t->process != *process_now || t->turn != session->controls[ring].turn ||
           (begun && t->tid == (pid_t)tid);
}

static struct call_logger *memory_for(struct ring *ring, pid_t tid)
{
    size_t index = (size_t)(ring - session->rings);
    struct call_logger **at = &call_loggers[index], *t = *at;

    if (!t) {
        t = pages_alloc(sizeof *t + vectors);
        if (!t)
            return NULL;
        local_stack_init(&t->stack, RING_STACK_MAX, &t->small);
        *at = t;
    }
    local_stack_pass_on(&t->stack);
    python_waits_pass_on(t->python);
    t->chain = 0;
    for (unsigned i = 0; i < KNOWN; i++)
        t->known[i].id = 0;
    t->ring = ring;
    t->control = &session->controls[index];
    t->process = *process_now;
    t->tid = tid;
    t->turn = __atomic_load_n(&t->control->turn, __ATOMIC_RELAXED);
    t->stuck = 0;
    t->waited_ns = t->waits = 0;
    t->busy = 0;
    t->home.to = 0;
    t->serial = t->stacks = 0;
    return t;
}

static FLAME_COLD struct call_logger *begin_thread(void)
{
    struct ring *ring;
    struct call_logger *t;
    pid_t tid;

    own = NULL;
    if (no_more)
        return NULL;
    if (!begin_process())
        return NULL;
    /* A child of vfork has its parent's memory, so the ring would remain the parent's after the
     * child's end. */
    if (no_more || (uint32_t)kernel_call(SYS_getpid) != *process_now)
        return NULL;
    tid = (pid_t)kernel_call(SYS_gettid);
    ring = shm_take_ring(session, *process_now, (uint32_t)tid, may_have);
    if (!ring)
        return NULL;
    t = memory_for(ring, tid);
    if (!t)
        return NULL;
    t->asked = (struct counts){0, 0};
    t->slept = 0;
    t->elsewhere = 1;
    t->ask = with_sequences ? 0 : ASK_FOR; /* without rseq it never decreases */
    own = t;
    return t;
}

/* Begins a thread in one frame at a time, because two would get the same ring. */
static FLAME_COLD struct call_logger *begin_alone(const struct patch_call *call)
{
    struct home home = {0, 0};
    struct call_logger *t;

    if (!seize(&beginning, &home, call))
        return NULL;
    t = begin_thread();
    __atomic_store_n(&beginning, 0, __ATOMIC_RELAXED);
    return t;
}

/* The thread's memory, which is now busy; NULL: this call is not logged here. */
static inline struct call_logger *enter(const struct patch_call *call)
{
    struct call_logger *t;

    if (unlikely(!*process_now) && !has_thread_pointer())
        return NULL;
    __asm__ volatile("" ::: "memory");
    t = own;
    if (unlikely(!t || t->process != *process_now) && !(t = begin_alone(call)))
        return NULL;
    return seize(&t->busy, &t->home, call) ? t : NULL;
}

static inline void leave(struct call_logger *t)
{
    __asm__ volatile("" ::: "memory");
    t->busy = 0;
}

/* ---- room ---- */

/* Spends the time of a sleep, where the library may make no call of its own. */
static long pass_time(const struct patch_call *call)
{
    uint64_t now = ownclock_now(), until = now + 5000000;

    (void)call;
    for (unsigned turns = 0; now ? now < until : turns < 10000000; turns++)
        now = ownclock_now();
    return 0;
}

/* Waits until there is room in the ring. A thread that has waited in vain does so again when the
 * reader has read on, but not once the rings have been given up (change_user). */
static FLAME_COLD bool wait_for_room(struct call_logger *t, unsigned words)
{
    bool may = t->stuck != t->control->tail + 1 && patch_handler == call_log_see, got;
    uint64_t began = may ? ownclock_now() : 0, ended;

    got = may && ring_wait(t->ring, t->control, words, &session->head->beat,
                           no_more ? pass_time : flame_gate);
    ended = may ? ownclock_now() : 0;
    if (began && ended > began) {
        t->waited_ns += ended - began;
        t->waits++;
    }
    t->stuck = got ? 0 : t->control->tail + 1;
    return got;
}

static inline bool has_room(struct call_logger *t, unsigned words)
{
    if (unlikely(!ring_has_room(t->ring, t->control, words)))
        return wait_for_room(t, words);
    return true;
}

/* Most words that a call needs: its stack, the memory it points to, its beginning and its end. */
#define ROOM                                                                                       \
    (RING_WAITED_WORDS + RING_MOST_WORDS + POINTED_MOST_WORDS + RING_CALL_WORDS + RING_DONE_WORDS)

/* ---- stacks ---- */

static uint64_t hash_of(const uint64_t *words, uint32_t n, uintptr_t leaf)
{
    uint64_t h = HASH_GOLDEN ^ modules_epoch() ^ leaf;

    for (uint32_t i = 0; i < n; i++) {
        h = (h ^ words[i]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

/* Logs the stack. `leaf`: the innermost frame, of the code that makes the call on behalf of the
 * others; 0: none. */
static void put_stack(struct call_logger *t, uint32_t id, const uint64_t *words, uint32_t n,
                      uintptr_t leaf)
{
    struct ring *r = t->ring;
    uint64_t at = r->head;

    r->words[at++ % RING_WORDS] = ring_word(RING_STACK, 1 + n + (leaf != 0), id);
    for (uint32_t i = 0; i < n; i++)
        r->words[at++ % RING_WORDS] = words[i] & RING_IS_FUNCTION
                                          ? RING_IS_FUNCTION | python_waits_id(t->python, words[i])
                                          : words[i];
    if (leaf)
        r->words[at++ % RING_WORDS] = leaf;
    __atomic_store_n(&r->head, at, __ATOMIC_RELEASE);
}

/* Whether a frame of the stack is this library's: a handler runs in a call that is being made here.
 */
static bool is_in_a_call(const struct local_stack *s)
{
    for (uint32_t i = 0; i < s->len; i++)
        if (s->pcs[i] >= (uintptr_t)&__ehdr_start && s->pcs[i] < (uintptr_t)&_end)
            return true;
    return false;
}

/* Follows the functions of Python that the thread runs: its stacks are recognised in their context.
 */
static FLAME_NOINLINE void follow(struct call_logger *t)
{
    fpu_state_save(t->vectors);
    t->chain = python_waits_follow(&t->python);
    local_set_context(&t->stack, t->chain == CHAIN_IDS_NONE ? 0 : t->chain);
    fpu_state_restore(t->vectors);
}

/* The words of the last walk's stack, and their number; 0: there are none, or too many. */
static uint32_t find_functions(struct call_logger *t, uintptr_t leaf, uint64_t **words)
{
    *words = (uint64_t *)t->stack.pcs;
    if (session->head->python && !python_waits_found())
        python_waits_look(&t->stack);
    return t->chain ? python_waits_merge(t->python, &t->stack, RING_STACK_MAX - (leaf != 0), words)
                    : t->stack.len;
}

/* Logs names of the stack's functions that the ring does not have. False: there is no room. */
static bool put_functions(struct call_logger *t, const uint64_t *words, uint32_t n)
{
    uint64_t function;

    while ((function = python_waits_unlogged(t->python, words, n))) {
        uint64_t record[RING_FUNCTION_WORDS(RING_FUNCTION_MAX)];
        uint32_t len = python_waits_name(function, record + 2);
        unsigned size = RING_FUNCTION_WORDS(len);
        uint32_t id = has_room(t, size) ? python_waits_log(t->python, function) : 0;

        if (!id)
            return false;
        record[0] = ring_word(RING_FUNCTION, size, id);
        record[1] = len;
        ring_put(t->ring, record, size);
    }
    return has_room(t, ROOM);
}

/* Walks the stack; its words, and their number, as find_functions gives them. The walk takes locks,
 * with signals held (held_signals.h) unless the call that takes may be forbidden. */
static uint32_t walk_words(struct call_logger *t, const struct patch_call *call, uint64_t **words,
                           bool *fell_back)
{
    const struct walk_regs regs = {.pc = call->pc, .sp = call->sp, .bp = call->bp};
    uint64_t before;
    bool held = !confined && !no_more && held_signals_begin(&before);
    uint32_t n;

    fpu_state_save(t->vectors);
    local_walk(&t->stack, regs, fell_back);
    n = find_functions(t, call->point ? marked_pc : 0, words);
    fpu_state_restore(t->vectors);
    if (held)
        held_signals_end(before);
    return n;
}

/* Walks the stack, and logs it if it is new; there must be room for RING_MOST_WORDS. Returns its
 * number; 0: the tracer has more ways to walk this stack, or it is deeper than a record can be. */
static FLAME_COLD uint32_t walk(struct call_logger *t, const struct patch_call *call)
{
    uintptr_t leaf = call->point ? marked_pc : 0;
    uint64_t hash, *words;
    bool fell_back;
    uint32_t at, n = walk_words(t, call, &words, &fell_back);

    if (!n || n + (leaf != 0) > RING_STACK_MAX || fell_back)
        return 0;
    if (unlikely(local_interrupted(&t->stack)) && is_in_a_call(&t->stack))
        return 0;
    if (unlikely(local_guessed(&t->stack)) &&
        (confined || no_more || !local_guess_holds(&t->stack, t->tid)))
        return 0;
    hash = hash_of(words, n, leaf);
    at = (uint32_t)(hash % KNOWN);
    if (t->known[at].hash != hash || !t->known[at].id) {
        if (words != (uint64_t *)t->stack.pcs && !put_functions(t, words, n))
            return 0;
        put_stack(t, ++t->stacks, words, n, leaf);
        t->known[at].hash = hash;
        t->known[at].id = t->stacks;
    }
    if (unlikely(t->chain == CHAIN_IDS_NONE))
        return t->known[at].id;
    fpu_state_save(t->vectors);
    local_mark(&t->stack, t->known[at].id);
    fpu_state_restore(t->vectors);
    return t->known[at].id;
}

/* ---- calls ---- */

/* Logs how long the thread has waited for room. There must be room for it. */
static FLAME_COLD void put_waited(struct call_logger *t)
{
    const uint64_t record[RING_WAITED_WORDS] = {ring_word(RING_WAITED, RING_WAITED_WORDS, 0),
                                                ownclock_now(), t->waited_ns, t->waits};

    if (!record[1])
        return;
    t->last = record[1];
    t->waited_ns = t->waits = 0;
    ring_put(t->ring, record, RING_WAITED_WORDS);
}

/* Logs the memory that the call's arguments point to. False: it cannot be logged. */
static bool put_pointed(struct call_logger *t, const struct patch_call *call)
{
    uint64_t from = t->ring->head;

    if (!arg_memory_put(t->ring, call, t->serial, t->tid))
        return false;
    polledfiles_forget(t->process, t->ring, from, t->ring->head, call);
    return true;
}

/* Logs the beginning of the call. Returns the time; 0: it cannot be logged. */
static inline uint64_t begin(struct call_logger *t, const struct patch_call *call, unsigned kind)
{
    const struct walk_regs regs = {.pc = call->pc, .sp = call->sp, .bp = call->bp};
    uint64_t record[RING_CALL_WORDS];
    uint32_t stack;

    if (!has_room(t, ROOM))
        return 0;
    if (unlikely(__atomic_load_n(&t->control->closed, __ATOMIC_RELAXED)))
        return 0;
    if (unlikely(t->waits))
        put_waited(t);
    if (unlikely(python_waits_found()))
        follow(t);
    stack = unlikely(t->chain == CHAIN_IDS_NONE) ? 0 : local_recall(&t->stack, regs);
    if (unlikely(!stack) && !(stack = walk(t, call)))
        return 0;
    t->serial++;
    if (unlikely(kind & RETRY_POINTS) && !put_pointed(t, call))
        return 0;
    record[0] = ring_word(RING_CALL, RING_CALL_WORDS, (uint32_t)call->number);
    for (unsigned i = 0; i < 6; i++)
        record[2 + i] = call->args[i];
    record[8] = stack | (uint64_t)t->serial << 32;
    record[9] = 0;
    record[1] = ownclock_now();
    if (unlikely(!record[1]))
        return 0;
    t->last = record[1];
    ring_put(t->ring, record, RING_CALL_WORDS);
    return record[1];
}

/* Logs the end of the call whose record ends at `at`. The time does not matter if the call did not
 * sleep and no signal ended it. */
static inline void end(struct call_logger *t, uint64_t at, uint32_t serial, long result,
                       uint32_t flags)
{
    uint64_t record[RING_DONE_WORDS] = {ring_word(RING_DONE, RING_DONE_WORDS, flags), 0,
                                        (uint64_t)result, serial};

    if (flags && result != -EINTR && ring_pass(t->ring, at, flags, result))
        return;
    record[1] = ownclock_now();
    if (unlikely(!record[1]))
        record[1] = t->last;
    t->last = record[1];

    /* There was room for it when the call began; handlers in the call may have used that. */
    if (has_room(t, RING_DONE_WORDS))
        ring_put(t->ring, record, RING_DONE_WORDS);
}

/* ---- regions and marks ---- */

/* Length of a NUL-terminated name, at most RING_NAME_MAX bytes. Not strnlen, which uses vector
 * registers. */
static unsigned length_of(const char *name)
{
    unsigned len = 0;

    while (len < RING_NAME_MAX && name[len])
        len++;
    return len;
}

bool call_log_region(enum ring_region what, const char *name)
{
    const struct patch_call here = {.sp = (uintptr_t)__builtin_frame_address(0)};
    uint64_t record[RING_REGION_WORDS(RING_NAME_MAX)];
    unsigned len = name ? length_of(name) : 0, words = RING_REGION_WORDS(len);
    struct call_logger *t;
    bool put;

    if (patch_handler != call_log_see || !(t = enter(&here)))
        return false;
    put = !__atomic_load_n(&t->control->lent, __ATOMIC_RELAXED) && has_room(t, words) &&
          !__atomic_load_n(&t->control->closed, __ATOMIC_RELAXED);
    if (put) {
        record[0] = ring_word(RING_REGION, words, (uint32_t)what | len << 8);
        record[1] = ownclock_now();
        if (!record[1])
            record[1] = t->last;
        t->last = record[1];
        if (len)
            record[words - 1] = 0; /* bytes of the last word after the name */
        for (unsigned i = 0; i < len; i++)
            ((char *)(record + 2))[i] = name[i];
        ring_put(t->ring, record, words);
    }
    leave(t);
    return put;
}

/* ---- calls that change what the library may do ---- */

static bool clock_is_free; /* reading the clock takes no call */

static bool nothing_may_be_called(long number, const unsigned long args[6])
{
    (void)args;
    return number == SYS_clock_gettime && clock_is_free && !ownclock_by_call;
}

/* Whether the vDSO reads the machine's clock by itself. */
static bool clock_takes_no_call(void)
{
    static const char *const free[] = {"tsc\n", "kvm-clock\n", "hyperv_clocksource_tsc_page\n"};
    char name[32] = "";
    int fd = kernel_open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                         O_RDONLY, 0);

    if (fd < 0)
        return false;
    kernel_call(SYS_read, fd, name, sizeof name - 1);
    kernel_call(SYS_close, fd);
    for (unsigned i = 0; i < sizeof free / sizeof *free; i++) {
        unsigned at = 0; /* not by strcmp, which uses vector registers */

        while (name[at] && name[at] == free[i][at])
            at++;
        if (name[at] == free[i][at])
            return true;
    }
    return false;
}

/* Whether no user ID of the process is the tracer's any more: it belongs to another user, and
 * cannot change that by itself. */
static bool is_anothers(uint32_t ids[3])
{
    return kernel_call(SYS_getresuid, &ids[0], &ids[1], &ids[2]) == 0 && ids[0] != session->user &&
           ids[1] != session->user && ids[2] != session->user;
}

/*
 * Unmaps the run's memory, because from now on code runs here with fewer rights than the code that
 * mapped it. Not in a child of vfork, whose memory is its parent's. Not in a sandbox, which may
 * forbid the calls that this takes.
 */
static FLAME_COLD void change_user(void)
{
    uint32_t ids[3];

    if (no_more || confined || patch_handler != call_log_see)
        return;
    if (!begin_process() || no_more || (uint32_t)kernel_call(SYS_getpid) != *process_now ||
        !is_anothers(ids))
        return;
    __atomic_store_n(&patch_handler, NULL, __ATOMIC_SEQ_CST);
    shm_refuse(session, SHM_OTHER_USER, *process_now, ids[1]);
    shm_leave(session);
}

/* Whether the program confines itself: calls that its filter forbids may end it. So the library
 * makes no call of its own from now on: threads that have a ring continue, others do not get one.
 */
static bool begins_sandbox(const struct patch_call *call)
{
    return (call->number == SYS_prctl && call->args[0] == PR_SET_SECCOMP) ||
           (call->number == SYS_seccomp &&
            (call->args[0] == SECCOMP_SET_MODE_STRICT || call->args[0] == SECCOMP_SET_MODE_FILTER));
}

/*
 * Whether no call can be logged any more after this one. The library's calls would reach the
 * program (its handler of SIGSYS), or the clock may become another one (a time namespace), or a
 * thread gets a thread pointer that does not lead to the library's TLS.
 */
static bool wants_no_log(const struct patch_call *call)
{
    if (call->number == SYS_prctl)
        return call->args[0] == PR_SET_SYSCALL_USER_DISPATCH && call->args[1];
    if (call->number == SYS_setns) /* 0: a descriptor of any kind */
        return !call->args[1] || call->args[1] & CLONE_NEWTIME;
    return call->number == SYS_arch_prctl && call->args[0] == ARCH_SET_FS &&
           !is_thread_pointer(call->args[1]);
}

static bool changes_user(const struct patch_call *call)
{
    return call->number == SYS_setuid || call->number == SYS_setreuid ||
           call->number == SYS_setresuid;
}

static FLAME_COLD long make_special(const struct patch_call *call)
{
    long result;

    python_waits_see(call);
    if (call->number == SYS_unshare && call->args[0] & CLONE_FILES)
        open_fds_distrust(*process_now);
    if (call->number == SYS_unshare && call->args[0] & CLONE_NEWTIME)
        other_clock = true;
    if (wants_no_log(call))
        withdraw();
    ownclock_look(call);
    if (begins_sandbox(call) && !no_more) {
        clock_is_free = clock_takes_no_call();
        no_more = true;
        kernel_shut();
        kernel_gatekeeper = nothing_may_be_called;
        kernel_reopen();
    }
    if (call->number == SYS_mlockall && !no_more)
        return lockall_but(call, (uintptr_t)session->shared, session->shared_size);
    result = patch_make(call);
    if (result == 0 && changes_user(call))
        change_user();
    return result;
}

/*
 * Whether the call can be logged. Calls on descriptors that may have to be made again
 * (eintr_retry.h) cannot where that is impossible: in a sandbox, which may forbid the calls it
 * takes, and in a child of vfork. Calls that point to memory cannot under filters that may forbid
 * to read that. Calls that the filter allows anyhow are not logged.
 */
static inline bool is_for_here(const struct call_logger *t, const struct patch_call *call,
                               unsigned kind)
{
    if (!kind)
        return true;
    if (unlikely(no_more) || unlikely(__atomic_load_n(&t->control->lent, __ATOMIC_RELAXED)))
        return false;
    if (unlikely(confined) && kind & (RETRY_POINTS | RETRY_OPENS))
        return false;
    if (kind & RETRY_TIMED_MS)
        return (int)call->args[3] != 0;
    return call->number != SYS_poll || (int)call->args[2] != 0;
}

/* Makes a call that has been logged. */
static long make_logged(const struct patch_call *call)
{
    struct patch_call marked;

    if (likely(!call->point))
        return flame_gate(call);
    marked = *call;
    syscall_mark_put(&marked);
    return patch_make(&marked);
}

/* ---- closed descriptors ---- */

/* Makes a close. One that the tracer need not see (open_fds.h) is made like a call that was
 * logged. */
static long make_close(const struct patch_call *call)
{
    unsigned fd = (unsigned)call->args[0];
    struct call_logger *t;
    bool quiet;

    if (!open_fds_is(*process_now, fd) || no_more || confined || (call->point && !marked_pc) ||
        !(t = enter(call)))
        return patch_make(call);
    quiet = !__atomic_load_n(&t->control->lent, __ATOMIC_RELAXED) &&
            !__atomic_load_n(&t->control->closed, __ATOMIC_RELAXED) &&
            open_fds_close(t->process, fd);
    leave(t);
    return quiet ? make_logged(call) : patch_make(call);
}

/* Makes a call by which the program reads the type of a descriptor that it has opened: then the
 * library need not query the kernel before the close. The call has just written the result for the
 * program, so it can be read. */
static long make_look(const struct patch_call *call)
{
    unsigned fd = (unsigned)call->args[0], at = call->number == SYS_fstat ? 1 : 2;
    long result = patch_make(call);
    const struct call_logger *t;

    if (result != 0 || !*process_now)
        return result;
    __asm__ volatile("" ::: "memory");
    t = own;
    /* Not in a child of vfork, which has other descriptors. */
    if (!t || t->process != *process_now || !open_fds_is(t->process, fd) ||
        __atomic_load_n(&t->control->lent, __ATOMIC_RELAXED))
        return result;
    if (at == 1 ||
        (call->args[3] & AT_EMPTY_PATH && call->args[1] && !*(const char *)call->args[1]))
        open_fds_seen(t->process, fd, ((const struct stat *)call->args[at])->st_mode);
    return result;
}

/* ---- whether the thread left its CPU, and for which reason ---- */

static void ask(struct call_logger *t)
{
    arm(); /* first: the counts may or may not include switches during the reading */
    t->asked = counts_now();
    t->slept = t->elsewhere = 0;
}

/* Calls that seldom wait themselves. ON_FILE: the call is on a plain file. */
#define ON_FILE 0x8000u
#define SELDOM (RETRY_WRITES | RETRY_OPENS | ON_FILE)

static inline bool is_asked_about(const struct call_logger *t, unsigned kind)
{
    return kind & SELDOM || (kind && t->ask);
}

/* Prepares to detect whether the thread leaves its CPU in a call. If the counts matter for the
 * call, they are read before it, too. t->busy must be set. */
static inline void watch(struct call_logger *t, unsigned kind)
{
    if (unlikely(!ran_on())) {
        t->elsewhere++;
        arm();
    }
    if (is_asked_about(t, kind) && (t->elsewhere || t->slept >= LOOK_EVERY) && !no_more)
        ask(t);
}

/* Whether the thread, which left its CPU in the call that it returns from, has slept in it. */
static bool has_slept(struct call_logger *t)
{
    long before = t->asked.slept, slept = t->slept;

    ask(t);
    return t->asked.slept - before > slept;
}

/* Checks by the counts whether calls that were taken for sleeps were none. */
static void look_back(struct call_logger *t)
{
    long before = t->asked.lost, elsewhere = t->elsewhere;

    ask(t);
    if (t->asked.lost - before > elsewhere)
        t->ask = ASK_FOR;
}

/* Whether the call wakes, or found the lock free: the thread has no reason to sleep. */
static bool never_sleeps(const struct patch_call *call, long result)
{
    const unsigned wakes = 1u << FUTEX_WAKE | 1u << FUTEX_WAKE_BITSET | 1u << FUTEX_WAKE_OP |
                           1u << FUTEX_REQUEUE | 1u << FUTEX_CMP_REQUEUE |
                           1u << FUTEX_CMP_REQUEUE_PI | 1u << FUTEX_UNLOCK_PI;

    return call->number == SYS_futex && (result == -EAGAIN || wakes >> (call->args[1] & 31) & 1);
}

/* Flags of a call that has ended, and in which the thread left its CPU. `alone`: no other call of
 * the thread was logged meanwhile. t->busy must be set. */
static uint32_t watched(struct call_logger *t, const struct patch_call *call, unsigned kind,
                        long result, bool alone)
{
    bool asked = is_asked_about(t, kind);

    arm();
    if (never_sleeps(call, result)) {
        t->elsewhere++;
        return RING_PREEMPTED;
    }
    if (no_more || !alone || (!kind && !with_sequences)) {
        t->elsewhere++;
        return 0;
    }
    if (!asked) {
        if (++t->slept >= LOOK_EVERY && kind)
            look_back(t);
        return 0;
    }
    if (has_slept(t)) {
        if (t->ask && with_sequences)
            t->ask--;
        return 0;
    }
    if (!(kind & SELDOM))
        t->ask = ASK_FOR;
    return RING_PREEMPTED;
}

/* State of the descriptor that a call is on, or makes. */
struct descriptor {
    uint16_t *used; /* NULL: not of a plain file, as far as is known */
    uint16_t *from; /* as `used`, of the directory that an open's path begins at */
    struct open_fds_opening opening;
};

static inline struct descriptor descriptor_begin(const struct call_logger *t,
                                                 const struct patch_call *call, unsigned kind)
{
    struct descriptor d = {.used = NULL, .from = NULL, .opening = {.table = NULL}};

    if (kind & (RETRY_READS | RETRY_WRITES))
        d.used = open_fds_use(t->process, (unsigned)call->args[0]);
    else if (kind & RETRY_OPENS) {
        d.opening = open_fds_begin(t->process);
        if (call->number == SYS_openat || call->number == SYS_openat2)
            d.from = open_fds_use(t->process, (unsigned)call->args[0]);
    }
    return d;
}

/* Ends a call of which nothing will be logged. */
static FLAME_COLD void descriptor_drop(const struct descriptor *d)
{
    if (d->used)
        open_fds_left(d->used, true);
    if (d->from)
        open_fds_left(d->from, true);
}

/* Ends a call; `flags` are its flags as far as they are known. Returns all flags. */
static inline uint32_t descriptor_end(struct call_logger *t, const struct descriptor *d,
                                      const struct patch_call *call, unsigned kind, uint32_t serial,
                                      long result, uint32_t flags)
{
    bool slept = !flags || result == -EINTR;

    if (d->used) {
        open_fds_left(d->used, slept);
        return flags ? flags | RING_NOBODY : 0;
    }
    if (likely(!(kind & RETRY_OPENS)))
        return flags;
    if (d->from)
        open_fds_left(d->from, slept);
    if (result >= 0)
        open_fds_end(&d->opening, (unsigned)result);
    if (slept && has_room(t, POINTED_PATH_WORDS))
        arg_memory_put_path(t->ring, call, serial, t->tid);
    return flags ? flags | RING_NOBODY : 0;
}

PATCH_HANDLER long call_log_see(const struct patch_call *call)
{
    unsigned kind = eintr_retry_kind(call->number);
    struct descriptor descriptor;
    struct call_logger *t;
    uint64_t began, at;
    uint32_t serial, flags;
    long result;
    bool alone;

    if (unlikely(kind & (RETRY_CLOSES | RETRY_LOOKS | RETRY_CHANGES)))
        return kind & RETRY_CLOSES  ? make_close(call)
               : kind & RETRY_LOOKS ? make_look(call)
                                    : make_special(call);
    if ((call->point && (!marked_pc || confined || no_more)) || !(t = enter(call)))
        return patch_make(call);
    began = likely(is_for_here(t, call, kind)) ? begin(t, call, kind) : 0;
    if (unlikely(!began)) {
        leave(t);
        return patch_make(call);
    }
    serial = t->serial;
    at = t->ring->head;
    descriptor = descriptor_begin(t, call, kind);
    kind |= descriptor.used ? ON_FILE : 0;
    watch(t, kind);
    leave(t);
    result = make_logged(call);
    /* A handler that ran in the call may have forked: in the child this is the parent's ring. */
    if (likely(own == t) && likely(t->process == *process_now)) {
        if (kind && unlikely(eintr_retry_may_be(kind, call, result)))
            result =
                eintr_retry_settle(t->control, confined ? kind & ~(unsigned)RETRY_MAKES_UP : kind,
                                   call, began, result, make_logged);
        if (unlikely(!seize(&t->busy, &t->home, call))) {
            descriptor_drop(&descriptor);
            return result;
        }
        /* Calls that handlers made in this one have been checked for switches since, and this one
         * has not. In a child of vfork, which then makes these calls, no struct rseq shows
         * switches. */
        alone =
            t->serial == serial && likely(!__atomic_load_n(&t->control->lent, __ATOMIC_RELAXED));
        flags = ran_on() && alone ? RING_RAN_ON : watched(t, call, kind, result, alone);
        end(t, at, serial, result,
            descriptor_end(t, &descriptor, call, kind, serial, result, flags));
        leave(t);
    }
    return result;
}
