#include "tracer/capture.h"

#include <stdlib.h>

#include "common/strbuf.h"
#include "tracer/stackcopy.h"
#include "unwind/remote_libunwind.h"

/* Copied of a stack not seen before, and beyond what was needed last time. */
#define FIRST_GUESS 6144
#define SPARE 512
#define GUESS_MAX (1u << 20)
#define FIRST_ROOM 1024
/* Deeper stacks than this lose their outer end. */
#define ROOM_MAX (1 << 21)

struct stacks {
    struct offtrace *to;
    struct spaces *spaces;
    uint32_t depth;
    struct stackcopy copy;
    uintptr_t *pcs;
    int room;
    size_t deepest; /* bytes from the stack pointer to the outermost frame of the last walk */
    uint64_t fallbacks, lost;
    uint32_t guess[UINT16_MAX + 1]; /* bytes to copy first, by trace thread */
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
    free(s->pcs);
    free(s);
}

struct spaces *stacks_spaces(struct stacks *s)
{
    return s->spaces;
}

/* ---- libunwind's questions ---- */

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

/* ---- the walk ---- */

static void dwarf_order(const struct user_regs_struct *r, uint64_t out[REMOTE_REGS])
{
    const uint64_t regs[REMOTE_REGS] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
                                        r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
                                        r->r12, r->r13, r->r14, r->r15, r->rip};

    memcpy(out, regs, sizeof regs);
}

static int ask_libunwind(struct stacks *s, struct space *sp, const struct user_regs_struct *regs,
                         enum walk_end *end)
{
    struct session x = {s, sp};
    struct remote_source source = {
        .arg = &x, .rules = space_rules(sp), .tables = find_tables, .word = read_word};
    uint64_t all[REMOTE_REGS];

    s->fallbacks++;
    dwarf_order(regs, all);
    return remote_libunwind(all, &source, s->pcs, s->room, end);
}

/* The way the rules go; libunwind's where they end. */
static int walk_once(struct stacks *s, struct space *sp, const struct user_regs_struct *regs)
{
    struct walk_regs start = {regs->rip, regs->rsp, regs->rbp};
    struct remote_memory mem = {stackcopy_window, &s->copy, 0};
    enum walk_end end, other;
    int n, m;

    for (;;) {
        n = remote_walk(space_rules(sp), start, &mem, s->pcs, s->room, &end);
        if (likely(end == WALK_COMPLETE) || n == s->room)
            m = n;
        else
            m = ask_libunwind(s, sp, regs, &other);
        if (likely(m < s->room && n < s->room) || s->room >= ROOM_MAX)
            break;
        s->room *= 2;
        s->pcs = xreallocarray(s->pcs, (size_t)s->room, sizeof *s->pcs);
    }
    s->deepest = mem.deepest;
    if (likely(end == WALK_COMPLETE))
        return n;
    /* It may know less than the rules did (registers that nobody has). */
    if (m < n)
        n = remote_walk(space_rules(sp), start, &mem, s->pcs, s->room, &end);
    else
        end = other;
    s->lost += end != WALK_COMPLETE;
    return m < n ? n : m;
}

static int walk(struct stacks *s, struct space *sp, pid_t tid, size_t guess,
                const struct user_regs_struct *regs)
{
    int n;

    if (!space_prepare(sp, tid))
        return 0;
    stackcopy_begin(&s->copy, tid, guess);
    n = walk_once(s, sp, regs);
    if (unlikely(space_doubt(sp, tid)))
        n = walk_once(s, sp, regs);
    return n;
}

const uintptr_t *stacks_walk(struct stacks *s, struct space *sp, pid_t tid,
                             const struct user_regs_struct *regs, int *n)
{
    *n = walk(s, sp, tid, FIRST_GUESS, regs);
    return s->pcs;
}

static uint32_t push(struct stacks *s, uint32_t node, uintptr_t pc)
{
    return offtrace_node(s->to, node, pc & REMOTE_EXACT ? TRACE_NODE_PC_EXACT : TRACE_NODE_PC,
                         pc & ~REMOTE_EXACT);
}

uint32_t stacks_capture(struct stacks *s, struct space *sp, pid_t tid, uint16_t thread,
                        const struct user_regs_struct *regs)
{
    size_t guess = s->guess[thread] ? s->guess[thread] : FIRST_GUESS;
    int n = walk(s, sp, tid, guess, regs);
    uint32_t node, inner = 0, outer = (uint32_t)n;

    if (n <= 0)
        return 0;
    s->guess[thread] = (s->deepest < GUESS_MAX ? (uint32_t)s->deepest : GUESS_MAX) + SPARE;
    space_note_stack(sp, regs->rsp);
    if (unlikely(outer > s->depth)) {
        inner = s->depth / 2;
        outer = s->depth - inner;
    }
    node = offtrace_root(s->to, thread, space_epoch(sp));
    for (uint32_t i = (uint32_t)n; i > (uint32_t)n - outer; i--)
        node = push(s, node, s->pcs[i - 1]);
    if (unlikely(inner))
        node = offtrace_node(s->to, node, TRACE_NODE_TRUNCATED, (uint32_t)n - s->depth);
    for (uint32_t i = inner; i > 0; i--)
        node = push(s, node, s->pcs[i - 1]);
    return node;
}

uint64_t stacks_fallbacks(const struct stacks *s)
{
    return s->fallbacks;
}

uint64_t stacks_lost(const struct stacks *s)
{
    return s->lost;
}
