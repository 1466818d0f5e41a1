#include "driver/leak/leakkeepers.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/folded.h"
#include "common/str_starts.h"
#include "common/strbuf.h"
#include "driver/kept/keptsites.h"
#include "fold/fold.h"

#define THROUGH 3u /* functions that are named, at most */

/* A stack of the view: frames after the process. */
struct chain {
    char *text; /* owned; cut into frames */
    char **frames;
    size_t n;
    double bytes;
};

struct chains {
    struct chain *chain;
    size_t n, room;
};

static void add_chain(struct chains *c, const struct folded_line *line)
{
    struct chain *x;
    size_t room = 0;

    GROW(c->chain, c->n, c->room);
    x = &c->chain[c->n++];
    *x = (struct chain){.text = xmemdup0(line->stack, line->len),
                        .bytes = (double)line->count.whole};
    for (char *s = strchr(x->text, ';'), *next; s; s = next) {
        *s++ = '\0';
        next = strchr(s, ';');
        GROW(x->frames, x->n, room);
        x->frames[x->n++] = s;
    }
}

static void take_text(struct chains *c, const struct strbuf *text)
{
    for (const char *s = text->buf, *end = s + text->len, *next; s < end; s = next + 1) {
        struct folded_line line;

        next = memchr(s, '\n', (size_t)(end - s));
        if (!next)
            next = end;
        if (folded_parse_line(s, (size_t)(next - s), &line) == 1)
            add_chain(c, &line);
    }
}

static void release(struct chains *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->chain[i].text);
        free(c->chain[i].frames);
    }
    free(c->chain);
}

/* ---- what a chain says ---- */

/* The length of a function's name without the mark of an inlined one. */
static size_t name_len(const char *frame)
{
    static const char inlined[] = "_[i]";
    size_t len = strlen(frame), mark = sizeof inlined - 1;

    return len > mark && strcmp(frame + len - mark, inlined) == 0 ? len - mark : len;
}

static bool is_same(const char *frame, const char *function)
{
    return strlen(function) == name_len(frame) && memcmp(frame, function, name_len(frame)) == 0;
}

/* Whether the frame is a variable's member: "+0x8", ".list", "[3].next". */
static bool is_member(const char *frame)
{
    return strchr("+.", *frame) || (*frame == '[' && frame[1] >= '0' && frame[1] <= '9');
}

/* Appends the owner, and returns the number of frames that it takes. */
static size_t add_owner(struct strbuf *sb, const struct chain *c)
{
    static const char of[] = "[globals of ";
    size_t len = strlen(c->frames[0]), n = 2;

    if (c->n < 2 || !starts_with(c->frames[0], of)) {
        strbuf_addstr(sb, c->frames[0]);
        return 1;
    }
    strbuf_addstr(sb, c->frames[1]);
    while (n < c->n && is_member(c->frames[n]))
        strbuf_addstr(sb, c->frames[n++]);
    strbuf_addstr(sb, " of ");
    strbuf_add(sb, c->frames[0] + sizeof of - 1, len - (sizeof of - 1) - 1);
    return n;
}

/* Functions between the owner and the site, the nearest to the site first. Frames of a stack are
 * no such functions, and nothing tells them from these. */
static void add_through(struct strbuf *sb, const struct chain *c, size_t first)
{
    size_t named = 0;

    if (starts_with(c->frames[0], "[stack of "))
        return;
    for (size_t i = c->n - 1; i-- > first && named < THROUGH;) {
        if (starts_with(c->frames[i], "[also kept by "))
            continue;
        strbuf_addf(sb, "%s%.*s", named++ ? " < " : "", (int)name_len(c->frames[i]), c->frames[i]);
    }
}

/* Appends " (also by second)" if others keep the blocks as well. */
static void add_others(struct strbuf *sb, const struct chain *c)
{
    static const char also[] = "[also kept ";

    for (size_t i = 0; i < c->n; i++)
        if (starts_with(c->frames[i], also)) {
            size_t len = strlen(c->frames[i]) - (sizeof also - 1) - 1;

            strbuf_addf(sb, " (also %.*s)", (int)len, c->frames[i] + sizeof also - 1);
            return;
        }
}

static void set_keeper(struct leak *leak, const struct chain *c)
{
    struct strbuf by = STRBUF_INIT, through = STRBUF_INIT;
    size_t first = add_owner(&by, c);

    add_others(&by, c);
    add_through(&through, c, first);
    leak->kept_by = strbuf_detach(&by, NULL);
    if (through.len)
        leak->through = strbuf_detach(&through, NULL);
    else
        strbuf_release(&through);
}

/* The function of a leak that is the site of its blocks; NULL: none is. */
static const char *site_of(const struct leak *leak)
{
    for (size_t i = 0; i < leak->nframes; i++) {
        const char *name = leak->frames[i].function;

        if (keptsites_is_site(name, strlen(name)))
            return name;
    }
    return NULL;
}

int leak_keepers_find(struct leak_list *l, struct trace *const *traces, size_t ntraces)
{
    struct fold_options opt = {.view = "kept", .own = true, .quiet = true};
    struct chains chains = {.n = 0};
    struct strbuf text = STRBUF_INIT;
    bool any = false;
    int status;

    for (size_t i = 0; i < ntraces; i++)
        any = any || traces[i]->header.features & TRACE_FEATURE_KEPT;
    if (!any || !l->n)
        return 0;
    status = fold_loaded(&opt, traces, ntraces, &text);
    if (!status)
        take_text(&chains, &text);
    for (size_t i = 0; i < l->n && !status; i++) {
        const char *site = site_of(&l->leaks[i]);
        const struct chain *best = NULL;

        for (size_t k = 0; site && k < chains.n; k++) {
            const struct chain *c = &chains.chain[k];

            if (c->n > 1 && strcmp(c->text, l->leaks[i].process) == 0 &&
                is_same(c->frames[c->n - 1], site) && (!best || c->bytes > best->bytes))
                best = c;
        }
        if (best)
            set_keeper(&l->leaks[i], best);
    }
    release(&chains);
    strbuf_release(&text);
    return status;
}
