#include "driver/leak/misuselines.h"

#include <inttypes.h>

#include "common/error.h"
#include "common/hash.h"
#include "driver/leak/leakgroups.h"
#include "render/text/value.h"

const struct leak_frame *misuse_place(const struct misuse *m, enum misuse_stack which)
{
    return leak_place(&m->at[which]);
}

static void add_number(struct strbuf *sb, uint64_t n)
{
    value_add_number(sb, (struct folded_count){.whole = n}, true);
}

static void add_bytes(struct strbuf *sb, uint64_t n)
{
    value_add_counted(sb, n, "byte", "bytes");
}

/* Appends the kind of misuse, without its place. */
static void add_wrong(struct strbuf *sb, const struct misuse *m)
{
    const struct trace_misuse *f = &m->facts;

    switch (f->kind) {
    case TRACE_MISUSE_DOUBLE_FREE:
        strbuf_addstr(sb, f->call == TRACE_CALL_FREE ? "double free of " : "");
        if (f->call != TRACE_CALL_FREE)
            strbuf_addf(sb, "double free, by %s, of ", misuse_call_names[f->call]);
        add_bytes(sb, f->size);
        return;
    case TRACE_MISUSE_REALLOC_FREED:
        strbuf_addf(sb, "%s of freed memory of ", misuse_call_names[f->call]);
        add_bytes(sb, f->size);
        return;
    case TRACE_MISUSE_MISMATCH:
        strbuf_addf(sb, "%s of ", misuse_call_names[f->call]);
        add_bytes(sb, f->size);
        strbuf_addf(sb, " from %s", misuse_made_names[f->made_by]);
        return;
    case TRACE_MISUSE_SIZE:
        strbuf_addf(sb, "%s with a size of ", misuse_call_names[f->call]);
        add_number(sb, f->given);
        strbuf_addstr(sb, " for ");
        add_bytes(sb, f->size);
        return;
    default:
        strbuf_addf(sb, "%s of a pointer that was never handed out", misuse_call_names[f->call]);
        if (f->forgets)
            strbuf_addstr(sb, ", or was freed long ago");
    }
}

static void add_who(struct strbuf *sb, const struct misuse *m)
{
    if (m->processes > 1) {
        strbuf_addf(sb, "%zu processes", m->processes);
        return;
    }
    if (*m->who.thread)
        strbuf_addf(sb, "thread %s of ", m->who.thread);
    strbuf_addf(sb, "%s", m->process);
    if (m->pid)
        strbuf_addf(sb, " %" PRIu32, m->pid);
}

void misuse_add_line(struct strbuf *sb, const struct misuse *m)
{
    add_wrong(sb, m);
    if (m->facts.count > 1) {
        strbuf_addstr(sb, ", ");
        add_number(sb, m->facts.count);
        strbuf_addstr(sb, " times");
    }
    strbuf_addstr(sb, ": ");
    leak_add_place(sb, misuse_place(m, MISUSE_CALL));
    strbuf_addstr(sb, " (");
    add_who(sb, m);
    strbuf_addch(sb, ')');
}

/* Begins the next of several parts. */
static void next(struct strbuf *sb, size_t begun, const char *between)
{
    if (sb->len > begun)
        strbuf_addstr(sb, between);
}

static void add_where(struct strbuf *sb, const struct trace_misuse *f)
{
    if (f->where == TRACE_WHERE_INSIDE) {
        strbuf_addstr(sb, "it is ");
        add_bytes(sb, f->offset);
        strbuf_addstr(sb, " into a block of ");
        add_bytes(sb, f->size);
    } else {
        strbuf_addf(sb, "it is %s", misuse_where_names[f->where]);
    }
}

void misuse_add_more(struct strbuf *sb, const struct misuse *m, const char *between)
{
    const struct trace_misuse *f = &m->facts;
    bool freed = f->kind == TRACE_MISUSE_DOUBLE_FREE || f->kind == TRACE_MISUSE_REALLOC_FREED;
    size_t begun = sb->len;

    if (f->where)
        add_where(sb, f);
    if (m->at[MISUSE_ALLOC].nframes) {
        next(sb, begun, between);
        strbuf_addstr(sb, "allocated at ");
        leak_add_place(sb, misuse_place(m, MISUSE_ALLOC));
    }
    if (m->at[MISUSE_FREE].nframes) {
        next(sb, begun, between);
        strbuf_addstr(sb, "freed at ");
        leak_add_place(sb, misuse_place(m, MISUSE_FREE));
        if (*m->freed.thread && m->freed.tid != m->who.tid)
            strbuf_addf(sb, " (thread %s)", m->freed.thread);
    } else if (freed) {
        next(sb, begun, between);
        strbuf_addstr(sb, "freed before the process was forked");
    }
    if (f->forgets) {
        next(sb, begun, between);
        strbuf_addstr(sb, "what was freed more than ");
        add_number(sb, f->forgets);
        strbuf_addstr(sb, " frees ago is not known");
    }
}

uint64_t misuse_fingerprint(const struct misuse *m)
{
    uint64_t hash = fnv_text(FNV_BASIS, misuse_kind_names[m->facts.kind]);

    hash = fnv_text(hash, misuse_call_names[m->facts.call]);
    for (int s = 0; s < MISUSE_STACKS; s++)
        hash = leak_hash_frames(hash, &m->at[s]);
    return hash;
}

static void print_one(const struct misuse *m)
{
    struct strbuf sb = STRBUF_INIT;

    misuse_add_line(&sb, m);
    flame_warn("  %s", sb.buf);
    strbuf_clear(&sb);
    misuse_add_more(&sb, m, "\n");
    for (char *s = sb.buf, *end; sb.len && s; s = end) {
        end = strchr(s, '\n');
        if (end)
            *end++ = '\0';
        flame_warn("    %s", s);
    }
    strbuf_release(&sb);
}

void misuse_lines_print(const struct misuse_list *l, size_t most)
{
    struct strbuf sb = STRBUF_INIT;
    uint64_t times = 0;

    for (size_t i = 0; i < l->n; i++)
        times += l->misuse[i].facts.count;
    value_add_counted(&sb, times, "misuse", "misuses");
    flame_warn("leak: %s of the allocator%s", sb.buf, l->n ? ":" : "");
    for (size_t i = 0; i < l->n && i < most; i++)
        print_one(&l->misuse[i]);
    if (l->n > most)
        flame_warn("  and %zu more", l->n - most);
    strbuf_clear(&sb);
    value_add_counted(&sb, l->unjudged, "free", "frees");
    if (l->unjudged)
        flame_warn("leak: %s could not be judged: what they freed may have been handed out unseen",
                   sb.buf);
    strbuf_release(&sb);
}
