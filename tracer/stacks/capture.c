#define _GNU_SOURCE
#include "tracer/stacks/capture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "tracer/stacks/python_chain.h"
#include "tracer/stacks/stackcopy.h"
#include "tracer/stacks/stackregs.h"

/* Bytes that are copied of a new stack, and bytes beyond those that the last walk needed. */
#define FIRST_GUESS 6144
#define SPARE 512
#define GUESS_MAX (1u << 20)
#define FIRST_ROOM 1024
/* Approximate bytes of code from a thread's entry point to the return address of its first call. */
#define BEGINNING 24
/* Set in the place of a pc that is the number of a name (python_chain.h). */
#define IS_NAME ((uintptr_t)1 << 62)
/* Most frames of a stack; deeper ones lose their outer end. */
#define ROOM_MAX (1 << 21)

struct stacks {
    struct offtrace *to;
    struct spaces *spaces;
    uint32_t depth;
    struct stackcopy copy;
    pid_t reading; /* the thread whose code is read */
    uintptr_t *pcs;
    int room;
    struct python_chains *python; /* NULL: stacks have no functions of Python */
    uintptr_t *sps;               /* stack pointers of the frames in pcs; NULL: as above */
    bool sps_known;               /* for the last walk */
    uintptr_t *merged;            /* pcs and names */
    size_t merged_room;
    size_t deepest;     /* bytes from the stack pointer to the outermost frame of the last walk */
    bool whole;         /* the last walk reached the outermost frame */
    bool own_libraries; /* threads may have libraries of flame in them */
    uintptr_t agent, agent_end;
    uint64_t fallbacks, lost;
    uint64_t lost_before;           /* at the last line of FLAME_DEBUG */
    uint32_t guess[UINT16_MAX + 1]; /* bytes to copy first, by trace thread */
    uint32_t *likeness;             /* by node; of nodes below likeness_room */
    size_t likeness_room;
    bool *recorders; /* by node: whether it is the recorder's own work; of nodes below
                        recorders_room */
    size_t recorders_room;
};

struct stacks *stacks_new(struct offtrace *to, int depth)
{
    struct stacks *s = xcalloc(1, sizeof *s);

    s->to = to;
    s->spaces = spaces_new(to);
    s->depth = depth > 1 ? (uint32_t)depth : 2;
    s->room = FIRST_ROOM;
    s->pcs = xreallocarray(NULL, FIRST_ROOM, sizeof *s->pcs);
    return s;
}

void stacks_free(struct stacks *s)
{
    if (!s)
        return;
    stackcopy_release(&s->copy);
    spaces_free(s->spaces);
    python_chains_free(s->python);
    free(s->pcs);
    free(s->sps);
    free(s->merged);
    free(s->likeness);
    free(s->recorders);
    free(s);
}

void stacks_keep_sps(struct stacks *s)
{
    if (!s->sps)
        s->sps = xreallocarray(NULL, (size_t)s->room, sizeof *s->sps);
}

const uintptr_t *stacks_sps(const struct stacks *s)
{
    return s->sps_known ? s->sps : NULL;
}

void stacks_name_python(struct stacks *s)
{
    if (s->python)
        return;
    s->python = python_chains_new();
    stacks_keep_sps(s);
}

static void widen(struct stacks *s)
{
    s->room *= 2; /* not GROW, because the whole stack is walked again each time */
    s->pcs = xreallocarray(s->pcs, (size_t)s->room, sizeof *s->pcs);
    if (s->sps)
        s->sps = xreallocarray(s->sps, (size_t)s->room, sizeof *s->sps);
}

struct spaces *stacks_spaces(struct stacks *s)
{
    return s->spaces;
}

/* ---- callbacks for libunwind ---- */

struct session {
    struct stacks *s;
    struct space *sp;
};

static bool find_tables(void *arg, uintptr_t pc, struct remote_tables *out)
{
    const struct session *x = arg;
    uintptr_t bias;
    struct image *im = space_image(x->sp, pc, &bias);

    if (!im || !im->hdr_size)
        return false;
    *out = (struct remote_tables){.start = im->lo + bias,
                                  .end = im->hi + bias,
                                  .hdr = im->hdr_at + bias,
                                  .hdr_size = im->hdr_size};
    return true;
}

static bool read_word(void *arg, uintptr_t addr, uint64_t *out)
{
    const struct session *x = arg;
    uintptr_t bias;
    struct image *im = space_image(x->sp, addr, &bias);

    if (im && image_read(im, addr - bias, out, sizeof *out))
        return true;
    return stackcopy_read(&x->s->copy, addr, out, sizeof *out);
}

/* ---- callbacks for a walk without a frame pointer ---- */

static bool read_code(void *arg, uintptr_t at, void *to, size_t size)
{
    const struct session *x = arg;
    struct iovec ours = {to, size}, theirs = {(void *)at, size}; /* NOLINT */

    return process_vm_readv(x->s->reading, &ours, 1, &theirs, 1, 0) == (ssize_t)size;
}

static bool find_function(void *arg, uintptr_t pc, uintptr_t *start)
{
    const struct session *x = arg;
    struct image *im;
    uintptr_t bias;

    *start = 0;
    if (!space_is_code(x->sp, pc))
        return false;
    im = space_image(x->sp, pc, &bias);
    if (im && image_function(im, pc - bias, start))
        *start += bias;
    return true;
}

/* ---- the walk ---- */

static int ask_libunwind(struct stacks *s, struct space *sp, const struct user_regs_struct *regs,
                         enum walk_end *end)
{
    struct session x = {s, sp};
    struct remote_source source = {
        .arg = &x, .rules = space_rules(sp), .tables = find_tables, .word = read_word};
    uint64_t all[REMOTE_REGS];

    s->fallbacks++;
    stackregs_dwarf(regs, all);
    return remote_libunwind(all, &source, s->pcs, s->room, end);
}

/* Whether the walk ended in code that belongs to no file. No thread begins in such code, so the
 * walk was lost there, for want of a frame pointer. */
static bool ends_in_made_code(struct stacks *s, struct space *sp, int n)
{
    uintptr_t pc = n > 0 ? s->pcs[n - 1] : 0, bias;

    pc = (pc & ~REMOTE_EXACT) - !(pc & REMOTE_EXACT);
    return n > 0 && rule_kind_of(rules_find(space_rules(sp), pc)) == RULE_NONE &&
           !space_image(sp, pc, &bias);
}

/* Whether the walk ended in the code that begins a thread: it clears its frame pointer, as the ABI
 * requires (musl's has no tables). */
static bool begins_thread(struct stacks *s, struct space *sp, int n)
{
    uintptr_t pc = n > 0 ? s->pcs[n - 1] & ~REMOTE_EXACT : 0;
    struct session x = {s, sp};
    uint8_t code[BEGINNING];

    return read_code(&x, pc - sizeof code, code, sizeof code) &&
           stackregs_clears_bp(code, sizeof code);
}

/* Whether the walk ended in Go's runtime, which switches to another stack with the old one's frame
 * pointer: there the walk ends, and so does the stack. */
static bool is_go(struct stacks *s, struct space *sp, int n)
{
    uintptr_t bias;
    const struct image *im = n > 0 ? space_image(sp, s->pcs[n - 1] & ~REMOTE_EXACT, &bias) : NULL;

    return im && im->keeps_frames;
}

static bool is_whole(struct stacks *s, struct space *sp, enum walk_end end, int n)
{
    /* The code of a process that may have ended cannot be read: its frame pointer is trusted. */
    if (end == WALK_BARE || end == WALK_BROKEN)
        return is_go(s, sp, n) || (end == WALK_BARE && (s->copy.given || begins_thread(s, sp, n)));
    return end == WALK_COMPLETE && !ends_in_made_code(s, sp, n);
}

/* Walks by the rules, and by libunwind where they end and it may know more. */
static int walk_once(struct stacks *s, struct space *sp, const struct user_regs_struct *regs,
                     bool partial)
{
    struct walk_regs start = stackregs_walk(regs);
    struct session x = {s, sp};
    struct remote_code code = {&x, read_code, find_function};
    struct remote_memory mem = {stackcopy_window, &s->copy, partial ? &code : NULL, NULL, 0};
    enum walk_end end, other;
    int n, m;

    s->reading = s->copy.tid;
    for (;;) {
        s->sps_known = s->sps != NULL;
        mem.sps = s->sps; /* widen() moves it */
        n = remote_walk(space_rules(sp), start, &mem, s->pcs, s->room, &end);
        if (likely(end != WALK_LOST) || partial || n == s->room)
            m = n;
        else {
            m = ask_libunwind(s, sp, regs, &other);
            s->sps_known = false;
        }
        if (likely(m < s->room && n < s->room) || s->room >= ROOM_MAX)
            break;
        widen(s);
    }
    s->deepest = mem.deepest;
    /* libunwind may know less than the rules did (registers that no table restores). */
    if (unlikely(end == WALK_LOST && !partial)) {
        if (m < n) {
            n = remote_walk(space_rules(sp), start, &mem, s->pcs, s->room, &end);
            s->sps_known = s->sps != NULL;
        } else {
            end = other;
        }
    }
    n = m < n ? n : m;
    s->whole = is_whole(s, sp, end, n);
    s->lost += !s->whole;
    return n;
}

static int walk(struct stacks *s, struct space *sp, pid_t tid, size_t guess,
                const struct user_regs_struct *regs, bool partial)
{
    int n;

    s->whole = true;
    if (!space_prepare(sp, tid))
        return 0;
    stackcopy_begin(&s->copy, tid, guess);
    n = walk_once(s, sp, regs, partial);
    if (unlikely(space_doubt(sp, tid)))
        n = walk_once(s, sp, regs, partial);
    return n;
}

const uintptr_t *stacks_walk(struct stacks *s, struct space *sp, pid_t tid,
                             const struct user_regs_struct *regs, bool partial, int *n)
{
    *n = walk(s, sp, tid, FIRST_GUESS, regs, partial);
    return s->pcs;
}

static uint32_t push(struct stacks *s, uint32_t node, uintptr_t pc)
{
    const struct python_name *name;

    if (unlikely(pc & IS_NAME)) {
        name = s->python ? python_chains_name(s->python, (uint32_t)pc) : NULL;
        return name ? offtrace_name(s->to, node, TRACE_NODE_NAME, name->text, name->len) : node;
    }
    return offtrace_node(s->to, node, pc & REMOTE_EXACT ? TRACE_NODE_PC_EXACT : TRACE_NODE_PC,
                         pc & ~REMOTE_EXACT);
}

static void show_walk(const struct stacks *s, pid_t tid, const struct user_regs_struct *regs, int n)
{
    struct strbuf pcs = STRBUF_INIT;

    for (int i = 0; i < n && i < 16; i++)
        strbuf_addf(&pcs, " %" PRIxPTR, s->pcs[i] & ~REMOTE_EXACT);
    flame_debug(FLAME_DEBUG_STACKS, "thread %d at sp %llx: %d frames, %zu bytes copied, %s:%s%s",
                (int)tid, (unsigned long long)stackregs_walk(regs).sp, n, (size_t)s->deepest,
                s->lost > s->lost_before ? "cut short" : "whole", pcs.buf, n > 16 ? " ..." : "");
    strbuf_release(&pcs);
}

/* ---- functions of Python ---- */

/* Whether the stack memory at `at` belongs to frame `i` of n. The outermost one runs no functions,
 * and where a walk ended early all others would lie in it. */
static bool holds(const struct stacks *s, int n, int i, uintptr_t at)
{
    return i + 1 < n && at >= s->sps[i] && at < s->sps[i + 1];
}

/* Merges the n frames in s->pcs and the functions, both innermost first, into s->merged. Returns
 * their number. */
static int merge(struct stacks *s, struct space *sp, int n, const struct python_function *functions,
                 size_t left)
{
    uintptr_t bias;
    int m = 0;

    GROW_TO(s->merged, (size_t)n + left, s->merged_room);
    for (int i = 0; i < n; i++) {
        uint32_t names = 0;

        for (; left && holds(s, n, i, functions->mark); left--, functions++)
            if (functions->name) {
                s->merged[m++] = functions->name->number | IS_NAME;
                names++;
            }
        s->merged[m++] = s->pcs[i];
        /* With -X perf, code that was made for this one function calls the loop. */
        if (names == 1 && i + 1 < n && !space_image(sp, s->pcs[i + 1] & ~REMOTE_EXACT, &bias))
            i++;
    }
    return m;
}

/* The stack in s->pcs, with names between its frames if it runs Python. *n is its length. */
static const uintptr_t *with_python(struct stacks *s, struct space *sp, uint16_t thread, int *n)
{
    struct python_process p = {.pid = space_pid(sp), .epoch = space_epoch(sp)};
    const struct python_function *functions;
    size_t count;

    /* A thread that serves page faults may be stopped, and its pages must not be read. */
    if (likely(!s->sps_known) || s->copy.given || s->copy.wary || !space_python(sp, &p.at))
        return s->pcs;
    count = python_chain_read(s->python, &p, s->copy.tid, thread, &functions);
    if (!count)
        return s->pcs;
    *n = merge(s, sp, *n, functions, count);
    return s->merged;
}

/* ---- nodes ---- */

static void note_likeness(struct stacks *s, uint32_t node, const uintptr_t *pcs, int n)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a, a word at a time */

    GROW_FILLED(s->likeness, node, s->likeness_room, 0);
    if (s->likeness[node])
        return;
    for (int i = 0; i < n && i < STACKS_ALIKE_FRAMES; i++)
        h = (h ^ pcs[i]) * 0x100000001b3u;
    s->likeness[node] = (uint32_t)(h ^ h >> 32) | 1;
}

uint32_t stacks_likeness(const struct stacks *s, uint32_t node)
{
    return node < s->likeness_room ? s->likeness[node] : 0;
}

/* Node of the n addresses s->pcs, innermost first. */
static uint32_t node_of(struct stacks *s, struct space *sp, uint16_t thread, int n)
{
    const uintptr_t *pcs = with_python(s, sp, thread, &n);
    uint32_t node, inner = 0, outer = (uint32_t)n;

    if (unlikely(outer > s->depth)) {
        inner = s->depth / 2;
        outer = s->depth - inner;
    }
    node = offtrace_root(s->to, thread, space_epoch(sp));
    if (unlikely(!s->whole))
        node = offtrace_name(s->to, node, TRACE_NODE_NAME, TRACE_STACK_INCOMPLETE,
                             sizeof TRACE_STACK_INCOMPLETE - 1);
    for (uint32_t i = (uint32_t)n; i > (uint32_t)n - outer; i--)
        node = push(s, node, pcs[i - 1]);
    if (unlikely(inner))
        node = offtrace_node(s->to, node, TRACE_NODE_TRUNCATED, (uint32_t)n - s->depth);
    for (uint32_t i = inner; i > 0; i--)
        node = push(s, node, pcs[i - 1]);
    if (node)
        note_likeness(s, node, pcs, n);
    return node;
}

static bool is_own(const struct image *im, uintptr_t addr)
{
    return addr >= im->own_lo && addr < im->own_hi;
}

static enum library_note library_at(const struct stacks *s, const struct image *im, uintptr_t pc)
{
    if (im)
        return im->library;
    return pc >= s->agent && pc < s->agent_end ? LIBRARY_RECORDER : LIBRARY_NONE;
}

/*
 * Removes the frames of flame's libraries from a stack of n frames; returns the number of frames
 * that are left.
 *
 * Frames of the library of waits are inside of calls that it makes. The frame outside of them is
 * where the program made the call: exact, as if that call had stopped. Frames of the memory
 * recorder are between the program and the function that it called, unless the recorder does work
 * of its own: then *own is set, and all frames inside belong to it.
 */
static int pass_over(struct stacks *s, struct space *sp, int n, bool *own)
{
    enum library_note inside = LIBRARY_NONE;
    int kept = 0;

    *own = false;
    for (int i = 0; i < n; i++) {
        uintptr_t bias, pc = s->pcs[i] & ~REMOTE_EXACT;
        const struct image *im = space_image(sp, pc, &bias);
        enum library_note library = library_at(s, im, pc);

        if (library == LIBRARY_NONE && s->sps)
            s->sps[kept] = s->sps[i];
        if (library == LIBRARY_NONE)
            s->pcs[kept++] = s->pcs[i] | (inside == LIBRARY_WAITS ? REMOTE_EXACT : 0);
        if (library == LIBRARY_RECORDER && (i == 0 || (im && is_own(im, pc - bias)))) {
            *own = true;
            kept = 0;
        }
        inside = library;
    }
    return kept;
}

/* Node of the stack, without frames of flame's libraries. */
static uint32_t node_without_guests(struct stacks *s, struct space *sp, uint16_t thread, int n)
{
    uint32_t node;
    bool own;

    if (likely(!s->own_libraries))
        return node_of(s, sp, thread, n);
    n = pass_over(s, sp, n, &own);
    node = node_of(s, sp, thread, n);
    if (!own || !node)
        return node;
    node = offtrace_name(s->to, node, TRACE_NODE_NAME, STACKS_RECORDER, sizeof STACKS_RECORDER - 1);
    GROW_FILLED(s->recorders, node, s->recorders_room, false);
    s->recorders[node] = true;
    return node;
}

bool stacks_is_recorder(const struct stacks *s, uint32_t node)
{
    return node < s->recorders_room && s->recorders[node];
}

/* Whether a stack that the thread itself has walked ends where a thread begins. Where no table
 * covers the code, such a walk ends without an error, as it would at a thread's start. */
static bool is_whole_as_given(struct stacks *s, struct space *sp, int n)
{
    uintptr_t pc = s->pcs[n - 1] & ~REMOTE_EXACT;

    if (rule_kind_of(rules_find(space_rules(sp), n > 1 ? pc - 1 : pc)) != RULE_NONE)
        return true;
    return is_whole(s, sp, WALK_BARE, n) && !ends_in_made_code(s, sp, n);
}

uint32_t stacks_inproc(struct stacks *s, struct space *sp, pid_t tid, uint16_t thread,
                       const uint64_t *pcs, size_t n)
{
    uintptr_t bias;

    if (!n || !space_prepare(sp, tid))
        return 0;
    while ((size_t)s->room < n)
        widen(s);
    s->sps_known = false;
    for (size_t i = 0; i < n; i++) {
        s->pcs[i] = pcs[n - 1 - i] & ~REMOTE_EXACT;
        if (!(s->pcs[i] & IS_NAME))
            space_image(sp, s->pcs[i], &bias); /* adds the module to the trace */
    }
    s->pcs[0] |= REMOTE_EXACT;
    s->reading = tid;
    s->whole = is_whole_as_given(s, sp, (int)n);
    s->lost += !s->whole;
    return node_without_guests(s, sp, thread, (int)n);
}

uint64_t stacks_function(struct stacks *s, const char *name, size_t len)
{
    return s->python ? python_chains_intern(s->python, name, len)->number | IS_NAME : 0;
}

void stacks_have_own_libraries(struct stacks *s)
{
    s->own_libraries = true;
}

void stacks_have_agent(struct stacks *s, uintptr_t begin, uintptr_t end)
{
    s->agent = begin;
    s->agent_end = end;
}

uint32_t stacks_capture(struct stacks *s, struct space *sp, pid_t tid, uint16_t thread,
                        const struct user_regs_struct *regs, bool partial)
{
    size_t guess = s->guess[thread] ? s->guess[thread] : FIRST_GUESS;
    int n = walk(s, sp, tid, guess, regs, partial);

    if (unlikely(flame_debugs(FLAME_DEBUG_STACKS))) {
        show_walk(s, tid, regs, n);
        s->lost_before = s->lost;
    }
    if (n <= 0)
        return 0;
    s->guess[thread] = (s->deepest < GUESS_MAX ? (uint32_t)s->deepest : GUESS_MAX) + SPARE;
    space_note_stack(sp, stackregs_walk(regs).sp);
    return node_without_guests(s, sp, thread, n);
}

uint32_t stacks_copied(struct stacks *s, struct space *sp, pid_t tid, uint16_t thread,
                       const struct user_regs_struct *regs, const uint8_t *bytes, size_t size)
{
    int n;

    if (!space_prepare(sp, tid))
        return 0;
    stackcopy_give(&s->copy, stackregs_walk(regs).sp, bytes, size);
    s->whole = true;
    n = walk_once(s, sp, regs, false);
    return n > 0 ? node_without_guests(s, sp, thread, n) : 0;
}

uint64_t stacks_fallbacks(const struct stacks *s)
{
    return s->fallbacks;
}

uint64_t stacks_lost(const struct stacks *s)
{
    return s->lost;
}

void stacks_beware(struct stacks *s)
{
    s->copy.wary = true;
}
