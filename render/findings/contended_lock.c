/*
 * Each line of the chain view is a row of frames: the sleeper's, its call last, then links that
 * each begin behind a "--". A link is a waker, from its call outward to its name: the first
 * ended the sleeper's wait, each further one the wait of the waker before. Two passes: the first
 * finds the lock with the largest sum, the second the holders of that lock.
 */
#define _GNU_SOURCE
#include "render/findings/contended_lock.h"

#include <ctype.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/str_starts.h"
#include "fold/stacks/lockframes.h"
#include "fold/symbols/anon_code.h"
#include "render/framename.h"
#include "render/text/value.h"

#define NEAR 4   /* functions from a futex to one that has "lock" in its name */
#define FAR 8    /* from another call to one that acquires a lock */
#define SHOWN 4  /* functions of a stack */
#define SMALL 20 /* 1/SMALL of a lock's time: a holder with less is not named */
#define NAME_SHOWN 100

/* Frames [begin, end) of a chain. */
struct link {
    size_t begin, end;
};

/* The purpose of a wait. */
struct wait_for {
    bool lock;
    const char *kind;   /* the table's name for it; NULL: the futex is the lock */
    const char *untold; /* not certainly a lock: the primitive that waits so, or "" for a futex
                           on a stack */
    const char *green;
};

/* Splits a line into frames. Of a deep stack both ends that matter are kept. */
static void split(const struct folded_line *line, struct waited_frames *f)
{
    const char *s = line->stack, *end = s + line->len;

    for (f->n = 0; f->n < ARRAY_LEN(f->s); s += f->len[f->n++] + 1) {
        const char *semicolon = memchr(s, ';', (size_t)(end - s));

        f->s[f->n] = s;
        f->len[f->n] = (size_t)((semicolon ? semicolon : end) - s);
        if (!semicolon) {
            f->n++;
            return;
        }
    }
}

/* ---- frames ---- */

static bool frame_begins(const struct waited_frames *f, size_t i, const char *with)
{
    return bytes_start_with(f->s[i], f->len[i], with);
}

/* Length of a frame's name without an annotation like "_[w]". */
static size_t bare(const struct waited_frames *f, size_t i)
{
    return f->len[i] > 4 && f->s[i][f->len[i] - 1] == ']' &&
                   memcmp(f->s[i] + f->len[i] - 4, "_[", 2) == 0
               ? f->len[i] - 4
               : f->len[i];
}

/* The length of a function's name without its place and C++'s arguments. Both may name a lock
 * that is not waited for: "drain contended_lock.c:12", "wait(std::unique_lock<std::mutex>&)". */
static size_t name_len(const struct waited_frames *f, size_t i)
{
    const char *s = f->s[i];

    for (size_t k = 1; k < f->len[i]; k++)
        if (s[k] == '(' && (isalnum((unsigned char)s[k - 1]) || s[k - 1] == '_' || s[k - 1] == '>'))
            return k;
    return framename_split(s, f->len[i]).function_len;
}

static bool holds(const struct waited_frames *f, size_t i, const char *part, size_t len)
{
    for (size_t k = 0; k + len <= f->len[i]; k++)
        if (strncasecmp(f->s[i] + k, part, len) == 0)
            return true;
    return false;
}

static bool is_called_lock(const struct waited_frames *f, size_t i)
{
    size_t len = name_len(f, i);

    for (size_t k = 0; k + 4 <= len; k++) {
        char before = k ? f->s[i][k - 1] : ' ';

        if (strncasecmp(f->s[i] + k, "lock", 4) == 0 && !strchr("bBcC", before))
            return true;
    }
    return false;
}

static bool is_separator(const struct waited_frames *f, size_t i)
{
    return f->len[i] == 2 && memcmp(f->s[i], "--", 2) == 0;
}

static bool same(const struct waited_frames *f, size_t a, size_t b)
{
    return bare(f, a) == bare(f, b) && memcmp(f->s[a], f->s[b], bare(f, a)) == 0;
}

static struct link link_from(const struct waited_frames *f, size_t begin)
{
    struct link l = {begin, begin};

    while (l.end < f->n && !is_separator(f, l.end))
        l.end++;
    return l;
}

/* Moves to the next link; false: none, or one without a frame. */
static bool next_link(const struct waited_frames *f, struct link *l)
{
    if (l->end + 1 >= f->n)
        return false;
    *l = link_from(f, l->end + 1);
    return l->end > l->begin;
}

/* ---- the purpose of a wait ---- */

static struct waited_known know(const struct waited_frames *f, size_t i)
{
    struct waited_known *at = NULL, k = {.s = f->s[i], .len = f->len[i]};

    if (f->memo) {
        at = &f->memo->known[((uintptr_t)k.s ^ (uintptr_t)k.s >> 13) % ARRAY_LEN(f->memo->known)];
        if (at->s == k.s && at->len == k.len)
            return *at;
    }
    k.row = lock_frame_find(k.s, k.len);
    k.called_lock = is_called_lock(f, i);
    k.acquires = k.called_lock && holds(f, i, "acqui", 5);
    if (at)
        *at = k;
    return k;
}

/* Whether only the function's name says that it takes a lock. Functions that take CPython's
 * locks are in the table, as queues are made of these locks. */
static bool is_only_called_lock(const struct waited_known *k)
{
    return k->called_lock && (!k->row || k->row->says == LOCK_RUNTIME);
}

/* `ended`: a call of futex ended the wait, which an uncertain lock requires. */
static struct wait_for wait_of_futex(const struct waited_frames *f, size_t leaf, bool ended)
{
    bool own = frame_begins(f, leaf, "futex [");
    struct lock_search search = {.says = LOCK_SAYS_NOTHING};
    size_t called = 0;

    for (size_t i = leaf; i-- > 1;) {
        struct waited_known k = know(f, i);

        if (!called && leaf - i <= NEAR && is_only_called_lock(&k))
            called = leaf - i;
        if (lock_search_take(&search, k.row, k.s, k.len))
            break;
    }
    if (called && (search.says == LOCK_SAYS_NOTHING || called < search.at))
        return (struct wait_for){.lock = true};
    switch (search.says) {
    case LOCK_TAKES:
    case LOCK_PARKS:
        return (struct wait_for){.lock = true, .kind = search.lock};
    case LOCK_UNTOLD:
        return (struct wait_for){.untold = ended ? search.lock : NULL};
    case LOCK_GREEN:
        return (struct wait_for){.green = search.lock};
    case LOCK_SAYS_NOTHING:
        return (struct wait_for){
            .untold = own && ended && frame_begins(f, leaf, "futex [stack]") ? "" : NULL};
    default:
        return (struct wait_for){.lock = false};
    }
}

static struct wait_for wait_if_ended(const struct waited_frames *f, size_t end, bool ended)
{
    size_t leaf = end - 1;

    if (end < 2)
        return (struct wait_for){.lock = false};
    if (frame_begins(f, leaf, "futex "))
        return wait_of_futex(f, leaf, ended);
    for (size_t i = leaf; i-- > 1 && leaf - i <= FAR;)
        if (know(f, i).acquires)
            return (struct wait_for){.lock = true};
    return (struct wait_for){.lock = false};
}

static struct wait_for wait_of(const struct waited_frames *f, size_t end)
{
    return wait_if_ended(f, end, end + 1 < f->n && frame_begins(f, end + 1, "futex "));
}

bool waited_is_lock(const struct waited_frames *f, size_t end)
{
    return wait_of(f, end).lock;
}

/* ---- descriptions ---- */

bool waited_is_own(const struct waited_frames *f, size_t i, size_t call)
{
    static const char *const library[] = {"futex", "_",      "lll_",  "pthread_",     "sem_",   "[",
                                          "clone", "usleep", "sleep", "start_thread", "syscall"};
    const char *space = memchr(f->s[call], ' ', f->len[call]);

    if (know(f, i).row)
        return false;
    for (size_t k = 0; k < ARRAY_LEN(library); k++)
        if (frame_begins(f, i, library[k]))
            return false;
    return !holds(f, i, f->s[call], space ? (size_t)(space - f->s[call]) : bare(f, call));
}

static bool is_made(const struct waited_frames *f, size_t i)
{
    return anon_code_is_name(f->s[i], bare(f, i));
}

/*
 * "give < work < serve": the program's own innermost functions, from frame `from` on in steps of
 * `step` before `end`; `call` is the call's frame. If an interpreter has named its functions,
 * only these; "[java]" if it is the innermost. False: there are none.
 */
static bool add_functions(const struct waited_frames *f, size_t from, size_t end, int step,
                          size_t call, size_t max, struct strbuf *sb)
{
    bool python = false;
    size_t n = 0;

    for (size_t i = from; i != end; i += (size_t)step)
        python = python || frame_begins(f, i, "py::");
    for (size_t i = from; i != end && n < max; i += (size_t)step) {
        const char *s = f->s[i], *colon;
        size_t len = name_len(f, i);

        if (python ? !frame_begins(f, i, "py::")
                   : !waited_is_own(f, i, call) && (n || !is_made(f, i)))
            continue;
        if (python) {
            s += 4;
            len = len > 4 ? len - 4 : 0;
            colon = memchr(s, ':', len);
            len = colon ? (size_t)(colon - s) : len;
        }
        strbuf_addstr(sb, n++ ? " < " : " in ");
        strbuf_add(sb, s, len);
    }
    return n > 0;
}

/* Describes a lock: its name, or else its kind and the functions that take it. */
static void describe_lock(const struct waited_frames *f, size_t leaf, const char *kind,
                          struct strbuf *sb)
{
    if (kind)
        strbuf_addstr(sb, kind);
    else
        strbuf_add(sb, f->s[leaf], f->len[leaf]);
    if (kind || !frame_begins(f, leaf, "futex ") || frame_begins(f, leaf, "futex ["))
        add_functions(f, leaf - 1, 0, -1, leaf, SHOWN, sb);
}

/* "worker in give_back". */
static void describe_waker(const struct waited_frames *f, struct link l, struct strbuf *sb)
{
    strbuf_add(sb, f->s[l.end - 1], bare(f, l.end - 1));
    if (l.end - l.begin > 1)
        add_functions(f, l.begin, l.end - 1, 1, l.begin, SHOWN - 1, sb);
}

/* Describes the last link's own wait, if the chain has it: "nanosleep of reporter in
 * write_report". */
static bool describe_end(const struct waited_frames *f, struct strbuf *sb)
{
    size_t begin = f->n;

    while (begin > 0 && !is_separator(f, begin - 1))
        begin--;
    if (begin == 0 || f->n - begin < 3 || !frame_begins(f, begin, "["))
        return false;
    strbuf_add(sb, f->s[begin + 1], bare(f, begin + 1));
    strbuf_addstr(sb, " of ");
    describe_waker(f, (struct link){begin + 1, f->n}, sb);
    return true;
}

/* ---- the lines ---- */

struct found {
    struct waited_list locks, holders, ends, untold, green;
};

/* Results about a sleeper's part of a stack. From SLEEPER_LOCK on it waits for a lock, whatever
 * ends the wait, and the number minus SLEEPER_LOCK is the lock's index in found.locks. */
enum sleeper {
    SLEEPER_UNKNOWN,
    SLEEPER_SILENT, /* it waits for no lock, and for nothing that may be one, whatever ends the
                       wait */
    SLEEPER_OTHER,  /* it waits for another lock than the wanted one, or for none */
    SLEEPER_LOCK,
};

/* Counts one line in the first pass. An uncertain lock counts as one only if the waker's call
 * fits. */
static uint32_t count_wait(struct waited_stacks *chain, struct waited_frames *f, uint64_t us,
                           struct found *found)
{
    struct strbuf sb = STRBUF_INIT;
    uint32_t known = SLEEPER_UNKNOWN;
    struct link sleeper;
    struct wait_for w;

    chain->frames(chain, f, false);
    sleeper = link_from(f, 0);
    w = wait_if_ended(f, sleeper.end, true);
    if (!w.lock && !w.untold && !w.green)
        return SLEEPER_SILENT;
    if (w.untold) {
        chain->frames(chain, f, true);
        w = wait_of(f, sleeper.end);
    } else if (w.lock && found->locks.n < UINT32_MAX - SLEEPER_LOCK) {
        known = SLEEPER_LOCK + (uint32_t)found->locks.n;
    }
    if (w.lock) {
        describe_lock(f, sleeper.end - 1, w.kind, &sb);
        waited_add(&found->locks, sb.buf, sb.len, us);
    } else if (w.untold) {
        describe_lock(f, sleeper.end - 1, *w.untold ? w.untold : NULL, &sb);
        waited_add(&found->untold, sb.buf, sb.len, us);
    } else if (w.green) {
        waited_add(&found->green, w.green, strlen(w.green), us);
    }
    strbuf_release(&sb);
    return known;
}

/* Whether two futexes may serve the same lock: each waiter's own, or words of one variable. */
static bool alike(const struct waited_frames *f, size_t a, size_t b)
{
    static const size_t call = sizeof "futex " - 1;
    size_t n;

    if (!frame_begins(f, a, "futex ") || !frame_begins(f, b, "futex "))
        return false;
    if (frame_begins(f, a, "futex ["))
        return frame_begins(f, b, "futex [");
    for (n = call; n < bare(f, a) && f->s[a][n] != '+';)
        n++;
    return n < f->len[b] && memcmp(f->s[a], f->s[b], n) == 0 && strchr("+_", f->s[b][n]);
}

/*
 * The holder of the sleeper's lock: the waker, or the one that gave the lock to the waker, if
 * the waker got it by a wake on the same futex. If the lock is not its futex (`kind`), each
 * waiter has a futex of its own.
 */
static struct link holder_of(const struct waited_frames *f, struct link first, size_t leaf,
                             bool kind)
{
    struct link holder = first, l = first;

    while (frame_begins(f, holder.begin, "futex ") && next_link(f, &l) &&
           (kind ? alike(f, leaf, l.begin) : same(f, l.begin, leaf)))
        holder = l;
    return holder;
}

/* Whether the link shows no holder: the wait was given up, and usually tried again, or it was over
 * and the sleeper had no CPU. */
static bool has_no_holder(const struct waited_frames *f, struct link l)
{
    return frame_begins(f, l.begin, "[timer]") || frame_begins(f, l.begin, "[signal]") ||
           frame_begins(f, l.begin, "[unknown]") || frame_begins(f, l.begin, "[run queue]");
}

/* Counts one line in the second pass. Returns whether it waits for the lock `wanted`. */
static bool count_holder(const struct waited_frames *f, uint64_t us, const char *wanted,
                         struct found *found)
{
    struct link sleeper = link_from(f, 0), l = sleeper;
    struct wait_for w = wait_of(f, sleeper.end);
    struct strbuf sb = STRBUF_INIT;
    bool is_wanted;

    if (w.lock)
        describe_lock(f, sleeper.end - 1, w.kind, &sb);
    is_wanted = w.lock && strcmp(sb.buf, wanted) == 0;
    if (is_wanted && next_link(f, &l) && !has_no_holder(f, l)) {
        strbuf_clear(&sb);
        describe_waker(f, holder_of(f, l, sleeper.end - 1, w.kind), &sb);
        waited_add(&found->holders, sb.buf, sb.len, us);
        strbuf_clear(&sb);
        if (l.end < f->n && describe_end(f, &sb))
            waited_add(&found->ends, sb.buf, sb.len, us);
    }
    strbuf_release(&sb);
    return is_wanted;
}

static void take_holders(struct waited_list *l, struct waited_lock *out)
{
    size_t reported = 0;

    waited_rank(l);
    while (reported < l->n && reported < LOCK_HOLDERS &&
           (!reported || l->w[reported].us >= out->lock.us / SMALL))
        reported++;
    for (size_t i = reported; i < l->n; i++) {
        out->more_holders++;
        out->more_us += l->w[i].us;
    }
    if (out->more_us < out->lock.us / SMALL)
        out->more_holders = 0;
    out->nholders = waited_take(l, out->holders, reported);
}

static void take_first(struct waited_list *l, struct waited *out)
{
    waited_rank(l);
    waited_take(l, out, 1);
}

/*
 * Results about sleepers, by their numbers. A sleeper that waits for a lock is described once:
 * its other stacks only add to that.
 */
struct sleepers {
    uint32_t *known; /* enum sleeper, and above */
    bool numbered;   /* false: there are no numbers, and no result is cached */
};

/* The next stack whose sleeper is unknown or waits for a lock. */
static bool next_but(struct waited_stacks *chain, const struct sleepers *s, uint64_t *us)
{
    while (chain->next(chain, us)) {
        uint32_t known = s->numbered ? s->known[chain->sleeper] : SLEEPER_UNKNOWN;

        if (known == SLEEPER_UNKNOWN || known >= SLEEPER_LOCK)
            return true;
    }
    return false;
}

static void note(const struct waited_stacks *chain, struct sleepers *s, uint32_t known)
{
    if (s->numbered)
        s->known[chain->sleeper] = known;
}

/* The first pass. */
static void find_locks(struct waited_stacks *chain, struct sleepers *s, struct waited_frames *f,
                       struct found *found)
{
    uint64_t us;

    chain->again(chain);
    while (next_but(chain, s, &us)) {
        if (s->numbered && s->known[chain->sleeper] >= SLEEPER_LOCK)
            found->locks.w[s->known[chain->sleeper] - SLEEPER_LOCK].us += us;
        else
            note(chain, s, count_wait(chain, f, us, found));
    }
}

/* Between the passes, marks the sleepers that wait for another lock than the wanted one.
 * found->locks must still be in the order in which it was made. */
static void leave_others(const struct waited_stacks *chain, struct sleepers *s,
                         const struct found *found, const char *wanted)
{
    for (size_t i = 0; s->numbered && i < chain->nsleepers; i++)
        if (s->known[i] >= SLEEPER_LOCK)
            s->known[i] = strcmp(found->locks.w[s->known[i] - SLEEPER_LOCK].what, wanted) == 0
                              ? SLEEPER_UNKNOWN
                              : SLEEPER_OTHER;
}

/* The largest sum of equal texts, the first by text of several, in the order of waited_rank. */
static struct waited copy_of_first(const struct waited_list *l)
{
    struct waited_list all = {NULL, 0, 0};
    struct waited first = {NULL, 0};

    for (size_t i = 0; i < l->n; i++)
        waited_add(&all, l->w[i].what, strlen(l->w[i].what), l->w[i].us);
    take_first(&all, &first);
    return first;
}

struct waited_lock waited_lock_of(struct waited_stacks *chain, struct waited_memo *memo)
{
    struct found found = {.locks = {NULL, 0, 0}};
    struct waited_lock out = {.lock = {NULL, 0}};
    struct waited_frames *f = xcalloc(1, sizeof *f);
    struct sleepers sleepers = {xcalloc(chain->nsleepers + 1, sizeof *sleepers.known),
                                chain->nsleepers > 0};
    uint64_t us;

    f->memo = memo;
    find_locks(chain, &sleepers, f, &found);
    out.lock = copy_of_first(&found.locks);
    if (out.lock.what)
        leave_others(chain, &sleepers, &found, out.lock.what);
    waited_take(&found.locks, NULL, 0);
    take_first(&found.untold, &out.untold);
    take_first(&found.green, &out.green);
    chain->again(chain);
    while (out.lock.what && next_but(chain, &sleepers, &us)) {
        chain->frames(chain, f, true);
        if (!count_holder(f, us, out.lock.what, &found)) {
            note(chain, &sleepers, SLEEPER_OTHER);
        } else if (us > out.stack_us) {
            out.stack = chain->at;
            out.stack_us = us;
        }
    }
    take_holders(&found.holders, &out);
    take_first(&found.ends, &out.end);
    free(sleepers.known);
    free(f);
    return out;
}

struct text_stacks {
    struct waited_stacks stacks;
    const struct strbuf *text;
    struct folded_line line;
};

static bool next_of_text(struct waited_stacks *stacks, uint64_t *us)
{
    struct text_stacks *s = (struct text_stacks *)stacks;

    if (!waited_next_line(s->text, &stacks->at, &s->line))
        return false;
    *us = s->line.count.whole;
    return true;
}

static void text_frames(struct waited_stacks *stacks, struct waited_frames *f, bool whole)
{
    (void)whole;
    split(&((struct text_stacks *)stacks)->line, f);
}

static void text_again(struct waited_stacks *s)
{
    s->at = 0;
}

struct waited_lock waited_lock(const struct strbuf *chain)
{
    struct text_stacks text = {
        .stacks = {.next = next_of_text, .frames = text_frames, .again = text_again},
        .text = chain};

    return waited_lock_of(&text.stacks, NULL);
}

void waited_lock_release(struct waited_lock *l)
{
    free(l->lock.what);
    free(l->end.what);
    free(l->untold.what);
    free(l->green.what);
    for (size_t i = 0; i < l->nholders; i++)
        free(l->holders[i].what);
    *l = (struct waited_lock){.lock = {NULL, 0}};
}

/* ---- a lock in a sentence ---- */

void waited_add_short(struct strbuf *sb, const char *what)
{
    size_t len = strlen(what);

    if (len <= NAME_SHOWN) {
        strbuf_addstr(sb, what);
        return;
    }
    /* A path is recognized by its end, a list of functions by its beginning. */
    if (memchr(what, '/', len) && !strstr(what, " < "))
        strbuf_addf(sb, "...%s", what + len - NAME_SHOWN);
    else
        strbuf_addf(sb, "%.*s...", NAME_SHOWN, what);
}

static void add_time(struct strbuf *sb, uint64_t us)
{
    if (!value_add_human(sb, (struct folded_count){.whole = us * 1000}, "nanoseconds"))
        strbuf_addstr(sb, "0 ns");
}

void waited_lock_say(struct strbuf *sb, const struct waited_lock *l)
{
    waited_add_short(sb, l->lock.what);
    strbuf_addstr(sb, ", ");
    add_time(sb, l->lock.us);
    for (size_t i = 0; i < l->nholders; i++) {
        strbuf_addstr(sb, i ? ", " : ", of that ");
        add_time(sb, l->holders[i].us);
        strbuf_addstr(sb, " until ");
        waited_add_short(sb, l->holders[i].what);
        strbuf_addstr(sb, i ? " did" : " gave it back");
    }
    if (l->more_holders) {
        strbuf_addstr(sb, ", ");
        add_time(sb, l->more_us);
        strbuf_addf(sb, " until %zu %s did", l->more_holders,
                    l->more_holders == 1 ? "other" : "others");
    }
}

bool waited_lock_say_end(struct strbuf *sb, const struct waited_lock *l)
{
    if (!l->end.what)
        return false;
    waited_add_short(sb, l->end.what);
    strbuf_addstr(sb, ", ");
    add_time(sb, l->end.us);
    strbuf_addstr(sb, " of it");
    return true;
}
