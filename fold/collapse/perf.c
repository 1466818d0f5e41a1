/*
 * perf script's text: one sample is a line with its process, time and event, then one line a
 * frame, leaf first, then an empty line.
 *
 *    comm PID/TID [CPU] TIME: PERIOD EVENT:
 *            ADDRESS NAME+0xOFFSET (MODULE)
 *
 * Problem: such files are hundreds of megabytes and hold few different lines. So a frame's line
 * is parsed once: its bytes are looked up in a table of lines that gives the ids of its frames.
 * Per line that leaves one search for the newline, one hash and one comparison. The table starts
 * afresh when it is full, so memory stays small where every address differs.
 *
 * The meaning of a line follows the output of the collapsers in common use (facts found by
 * comparing outputs): "a->b" is an inlined call, blanks in the command become '_'.
 * flame-collapse(1) lists the differences.
 *
 * Rejected: looking up whole samples by their bytes. Leaf addresses differ too often for that to
 * hit.
 */
#include "fold/collapse/perf.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "fold/stacks/texthash.h"
#include "fold/decode/funcname.h"
#include "fold/collapse/printed_addresses.h"
#include "fold/collapse/perfheader.h"
#include "fold/symbols/plainname.h"
#include "fold/stacks/span.h"

enum {
    LINES = 1 << 16,      /* at most half of them used */
    LINES_TEXT = 8 << 20, /* bytes of lines kept */
    LONG_LINE = 4096,     /* not kept */
    EVENTS_MOST = 256,    /* kinds of events that are told apart */
};

struct known {
    uint64_t hash;
    uint32_t at, len;  /* the line, in text */
    uint32_t first, n; /* its frames, in frames; n UNKNOWN: no frame line */
};

#define UNKNOWN UINT32_MAX

struct perf {
    struct collapse *c;
    const struct textrecord *rec; /* the line being parsed, and lines that belong to it */
    struct known *known;
    size_t nknown;
    struct strbuf text;
    uint32_t *frames; /* as pushed: innermost first */
    size_t nframes, frames_alloc;
    uint64_t seed;
    struct strbuf event; /* only samples of this event; empty: not known yet */
    bool event_given;
    struct event {
        char *name;
        uint64_t samples;
        bool wanted;
    } events[EVENTS_MOST]; /* events that were met; the last entry counts all further ones */
    size_t nevents;
    uint64_t flat; /* samples of one frame, on the event's line */
    bool in_sample, java;
    bool doubtful; /* the sample has neither a time nor an event: it is one if it has frames */
    bool is_perf;  /* an event or a frame was seen: this is perf's text */
    struct strbuf comm;
    struct stackset_count period;
    struct strbuf source;    /* where the frame being parsed is in its source, or empty */
    struct inlines *inlined; /* NULL: not asked for */
};

/* ---- frames ---- */

static void add_frame(struct perf *p, uint32_t id)
{
    GROW(p->frames, p->nframes, p->frames_alloc);
    p->frames[p->nframes++] = id;
}

static bool is_kernel(struct span mod)
{
    return (mod.len > 0 && mod.s[0] == '[' && !span_find(mod, "unknown")) ||
           (span_ends(mod, "vmlinux") && !span_find(mod, "unknown"));
}

/* Whether the module is the kernel's file, named like "vmlinux-6.1.0-13-amd64", as Debian and
 * others name it, or a kernel module's file. */
static bool is_kernel_file(struct span mod)
{
    struct span name = span_from(mod, span_rchr(mod, '/') + 1);

    return span_begins(name, "vmlinux-") || span_begins(name, "vmlinux.") ||
           span_ends(name, ".ko") || span_ends(name, ".ko.xz") || span_ends(name, ".ko.gz") ||
           span_ends(name, ".ko.zst");
}

/* Whether the module is "jitted-PID-NUMBER.so", which perf inject --jit makes, or
 * "jit-PID.dump", from which perf makes it. */
static bool is_injected(struct span mod)
{
    struct span name = span_from(mod, span_rchr(mod, '/') + 1);
    size_t n;

    if (span_begins(name, "jit-")) {
        name = span_from(name, strlen("jit-"));
        n = span_digits(name);
        return n && span_is(span_from(name, n), ".dump");
    }
    if (!span_begins(name, "jitted-"))
        return false;
    name = span_from(name, strlen("jitted-"));
    n = span_digits(name);
    name = span_from(name, n);
    if (!n || !span_begins(name, "-"))
        return false;
    name = span_from(name, 1);
    n = span_digits(name);
    return n && span_is(span_from(name, n), ".so");
}

/* /tmp/perf-PID.map, anywhere in the module's name. */
static bool is_jit(struct span mod)
{
    const char *at;

    while ((at = span_find(mod, "/tmp/perf-"))) {
        struct span rest = {at + 10, mod.len - (size_t)(at + 10 - mod.s)};
        size_t digits = span_digits(rest);

        mod = span_from(rest, digits);
        if (digits && span_begins(mod, ".map"))
            return true;
    }
    return false;
}

/* The name as shown, in `out`. */
static void tidy(struct perf *p, struct span func, struct strbuf *out)
{
    struct strbuf plain = STRBUF_INIT;

    if (p->c->opt->perl)
        func = funcname_cut_perf(func);
    else if (plainname_may(func) && plainname(&plain, func))
        func = (struct span){plain.buf, plain.len};
    strbuf_clear(out);
    for (size_t i = 0; i < func.len; i++)
        if (!p->c->opt->perl || (func.s[i] != '"' && func.s[i] != '\''))
            strbuf_addch(out, func.s[i]);
    if (p->java && out->len && out->buf[0] == 'L' && memchr(out->buf, '/', out->len)) {
        memmove(out->buf, out->buf + 1, out->len - 1);
        strbuf_setlen(out, out->len - 1);
    }
    strbuf_release(&plain);
}

/* Adds one function of a line. `last`: it is the innermost on this line, and the address is in
 * it. */
static void one_frame(struct perf *p, struct span func, struct span mod, struct span pc,
                      bool inlined, bool last)
{
    const struct collapse_options *opt = p->c->opt;
    struct strbuf *name = &p->c->scratch, *raw = &p->c->scratch2;

    if (span_is(func, "[unknown]")) {
        struct span shown = span_from(mod, span_rchr(mod, '/') + 1);

        if (span_is(mod, "[unknown]"))
            shown = span_of("unknown");
        strbuf_clear(raw);
        strbuf_addch(raw, '[');
        strbuf_add(raw, shown.s, shown.len);
        if (opt->addrs) {
            strbuf_addstr(raw, " <");
            strbuf_add(raw, pc.s, pc.len);
            strbuf_addch(raw, '>');
        }
        strbuf_addch(raw, ']');
        func = (struct span){raw->buf, raw->len};
    }
    tidy(p, func, name);
    func = (struct span){name->buf, name->len};
    if (inlined) {
        if (!span_find(func, "_[i]"))
            strbuf_addstr(name, "_[i]");
    } else if (opt->kernel && (is_kernel(mod) || (!opt->perl && is_kernel_file(mod)))) {
        strbuf_addstr(name, "_[k]");
    } else if (opt->jit && (is_jit(mod) || (!opt->perl && is_injected(mod))) &&
               !span_find(func, "_[j]")) {
        strbuf_addstr(name, "_[j]");
    }
    if (last && p->source.len) {
        strbuf_addch(name, ':');
        strbuf_add(name, p->source.buf, p->source.len);
    }
    add_frame(p, collapse_name_in(p->c, name->buf, name->len, mod.s, mod.len));
}

/* "NAME+0x1f" is "NAME". */
static struct span without_offset(struct span func)
{
    size_t n = func.len;

    while (n > 0 && is_hex_ch(func.s[n - 1]) && func.s[n - 1] >= '0' &&
           !(func.s[n - 1] >= 'A' && func.s[n - 1] <= 'F'))
        n--;
    if (n < func.len && n >= 3 && memcmp(func.s + n - 3, "+0x", 3) == 0)
        func.len = n - 3;
    return func;
}

/* Splits "  ADDRESS NAME (MODULE)". */
static bool split_frame(struct span line, struct span *pc, struct span *func, struct span *mod)
{
    struct span rest = span_ltrim(line);
    size_t close, open;

    *pc = span_to(rest, span_word(rest));
    if (pc->len == 0)
        return false;
    rest = span_ltrim(span_from(rest, pc->len));
    close = span_rchr(rest, ')');
    if (close == SIZE_MAX)
        return false;
    rest.len = close;
    if (span_ends(rest, " (deleted)"))
        rest.len -= strlen(" (deleted)");
    /* The last " (": a name may hold parentheses, a module hardly ever does. */
    open = span_last_open(rest);
    if (open == SIZE_MAX)
        return false;
    *mod = span_from(rest, open + 1);
    *func = span_to(rest, open > 0 ? open - 1 : 0);
    if (func->len == 0)
        *func = span_of("[unknown]");
    return true;
}

/*
 * Splits "  ADDRESS NAME+0x1f", the form of inlined frames with source lines: perf then puts
 * "(inlined)" behind the line instead of behind the name.
 */
static bool split_inlined(struct span line, struct span *pc, struct span *func, struct span *mod)
{
    struct span rest = span_trim(line);
    const char *offset;

    *pc = span_next(&rest);
    *func = span_ltrim(rest);
    *mod = span_of("inlined");
    offset = span_find(*func, "+0x");
    return pc->len > 0 && span_hex(*pc) == pc->len && offset && !span_ends(*func, ")");
}

/* The functions inlined at an address, innermost first. False: take the line as it is. */
static bool inlined_frames(struct perf *p, struct span func, struct span mod, struct span pc)
{
    struct strbuf *name = &p->c->scratch;
    struct symbol_frames found;

    if (!p->inlined || is_jit(mod) || span_chr(mod, '[') != SIZE_MAX || span_find(mod, "kernel.") ||
        mod.len == 0 || mod.s[0] != '/')
        return false;
    found = inlines_find(p->inlined, mod, func, pc);
    for (size_t i = found.n; i > 0; i--) {
        const struct symbol_frame *f = &found.frame[i - 1];

        strbuf_clear(name);
        strbuf_add(name, f->name, f->len);
        if (p->c->opt->context && f->file)
            strbuf_addf(name, ":%s:%u", f->file, f->line);
        add_frame(p, collapse_name_in(p->c, name->buf, name->len, mod.s, mod.len));
    }
    return found.n > 0;
}

static bool is_frame(struct span line)
{
    struct span pc, func, mod;

    return split_frame(line, &pc, &func, &mod) && span_hex(pc) == pc.len &&
           is_blank_ch(pc.s[pc.len]);
}

/* Takes a source line in one of perf's forms: "FILE:LINE", "FILE:LINE (inlined)",
 * "MODULE[ADDRESS]". */
static void take_source(struct perf *p, struct span line)
{
    struct strbuf *sb = &p->source;
    struct span text;

    for (size_t i = 0; i < line.len; i++) {
        const char *close = line.s[i] == '[' ? memchr(line.s + i, ']', line.len - i) : NULL;

        if (close)
            i = (size_t)(close - line.s);
        else
            strbuf_addch(sb, line.s[i]);
    }
    text = span_trim((struct span){sb->buf, sb->len});
    if (span_ends(text, " (inlined)"))
        text.len -= strlen(" (inlined)");
    memmove(sb->buf, text.s, text.len);
    strbuf_setlen(sb, text.len);
}

/*
 * Reads the source line below a frame, as perf script -F +srcline prints it, into p->source. It
 * is missing below a frame whose module perf does not know, and hardly ever else; the next line
 * then is the next frame, or the end of the sample.
 */
static void read_source(struct perf *p, struct span func, struct span mod)
{
    struct span line;

    strbuf_clear(&p->source);
    if (!p->c->opt->srcline || (span_is(func, "[unknown]") && span_is(mod, "[unknown]")) ||
        !textrecord_line(p->rec, &line))
        return;
    if (span_begins(line, " ") && !is_frame(line))
        take_source(p, line);
    else
        textrecord_unread(p->rec, line);
}

/* Appends a line's frames to p->frames, innermost first. False: no frame line. */
static bool parse_frame(struct perf *p, struct span line)
{
    struct span pc, func, mod;
    struct perf_header h;
    size_t first = p->nframes, i, j;

    /* A sample's first line whose command is not printed. */
    if (!p->c->opt->perl && perf_header_parse(line, &h) && h.timed)
        return false;
    if (!(p->c->opt->srcline && split_inlined(line, &pc, &func, &mod)) &&
        !split_frame(line, &pc, &func, &mod))
        return false;
    p->is_perf |= span_hex(pc) == pc.len;
    read_source(p, func, mod);
    if (inlined_frames(p, func, mod, pc))
        return true;
    func = without_offset(func);
    /* The command's name, in old versions of perf. */
    if (span_begins(func, "(") && !span_begins(func, "(anonymous namespace)"))
        return true;
    while (span_ends(func, "->") && !span_ends(func, "operator->"))
        func.len -= 2;
    for (size_t from = 0; from <= func.len;) {
        const char *arrow =
            p->c->opt->perl ? funcname_cut_arrow(func, from) : funcname_arrow(func, from);
        size_t end = arrow ? (size_t)(arrow - func.s) : func.len;

        if (func.len)
            one_frame(p, span_from(span_to(func, end), from), mod, pc, p->nframes > first, !arrow);
        from = end + (arrow ? 2 : 1);
    }
    for (i = first, j = p->nframes; i + 1 < j; i++) {
        uint32_t id = p->frames[--j];

        p->frames[j] = p->frames[i];
        p->frames[i] = id;
    }
    return true;
}

/* ---- the table of lines ---- */

static void forget_lines(struct perf *p)
{
    memset(p->known, 0, LINES * sizeof *p->known);
    p->nknown = 0;
    p->nframes = 0;
    strbuf_clear(&p->text);
}

static const struct known *remember(struct perf *p, struct known *k, uint64_t hash,
                                    struct span line)
{
    size_t first;

    if (p->nknown >= LINES / 2 || p->text.len + line.len > LINES_TEXT) {
        forget_lines(p);
        k = &p->known[hash & (LINES - 1)];
    }
    first = p->nframes;
    k->n = parse_frame(p, line) ? (uint32_t)(p->nframes - first) : UNKNOWN;
    k->hash = hash;
    k->first = (uint32_t)first;
    k->at = (uint32_t)p->text.len;
    k->len = (uint32_t)line.len;
    strbuf_add(&p->text, line.s, line.len);
    p->nknown++;
    return k;
}

static void event_line(struct perf *p, struct span line, const struct perf_header *h);

/* Handles a line that begins with a blank and is no frame. */
static void odd_line(struct perf *p, struct span line)
{
    struct perf_header h;

    if (!p->c->opt->perl && perf_header_parse(line, &h) && h.timed)
        event_line(p, line, &h);
    else
        collapse_unknown(p->c, line.s, line.len);
}

/* Handles a line that begins with a blank. */
static void frame_line(struct perf *p, struct span line)
{
    uint64_t hash = texthash(line.s, line.len, p->seed + p->java) | 1;
    struct known *k = &p->known[hash & (LINES - 1)];
    struct known once;
    const struct known *found = NULL;

    if (unlikely(line.len > LONG_LINE || p->c->opt->srcline)) {
        size_t keep = p->nframes;

        if (!p->in_sample && p->c->opt->srcline)
            return;
        once.first = (uint32_t)keep;
        once.n = parse_frame(p, line) ? (uint32_t)(p->nframes - keep) : UNKNOWN;
        found = &once;
        p->nframes = keep; /* valid until the next frame is added */
    }
    for (; !found; k = k + 1 == p->known + LINES ? p->known : k + 1) {
        if (!k->hash)
            found = remember(p, k, hash, line);
        else if (k->hash == hash && k->len == line.len &&
                 memcmp(p->text.buf + k->at, line.s, line.len) == 0)
            found = k;
    }
    if (unlikely(found->n == UNKNOWN)) {
        odd_line(p, line);
        return;
    }
    if (p->in_sample)
        for (uint32_t i = 0; i < found->n; i++)
            collapse_push_id(p->c, p->frames[found->first + i]);
}

/* ---- events ---- */

/* The event's place in the list of those met. */
static size_t event_met(struct perf *p, struct span event)
{
    for (size_t i = 0; i < p->nevents; i++)
        if (span_is(event, p->events[i].name))
            return i;
    if (p->nevents == EVENTS_MOST)
        return EVENTS_MOST - 1;
    p->events[p->nevents].name = xmemdup0(event.s, event.len);
    return p->nevents++;
}

/* Counts a sample, and returns whether its event is wanted; without --event the first event met
 * is. */
static bool want_event(struct perf *p, struct span event)
{
    struct event *met = &p->events[event_met(p, event)];

    if (p->event.len == 0)
        strbuf_add(&p->event, event.s, event.len);
    met->samples++;
    met->wanted |= perf_header_is_event(event, (struct span){p->event.buf, p->event.len});
    return met->wanted;
}

/* Appends the events that are wanted, or those that are not: "cycles (12 samples), faults (1
 * sample)". */
static void list_events(const struct perf *p, struct strbuf *sb, bool wanted)
{
    size_t from = sb->len;

    for (size_t i = 0; i < p->nevents; i++)
        if (p->events[i].wanted == wanted)
            strbuf_addf(sb, "%s%s (%" PRIu64 ")", sb->len > from ? ", " : "", p->events[i].name,
                        p->events[i].samples);
}

/* Warns of the events that were left out. An event that was asked for and has no sample is an
 * error. */
static void judge_events(struct perf *p)
{
    struct textinput *in = &p->c->in;
    struct strbuf wanted = STRBUF_INIT, others = STRBUF_INIT;

    list_events(p, &wanted, true);
    list_events(p, &others, false);
    if (p->event_given && !wanted.len && others.len)
        textinput_refuse_all(in, "holds no samples of '%s', but of %s", p->event.buf, others.buf);
    else if (!p->event_given && others.len)
        flame_warn("%s: holds samples of several events; %s is counted, not %s; --event picks "
                   "another",
                   in->name, wanted.buf, others.buf);
    strbuf_release(&wanted);
    strbuf_release(&others);
}

/* ---- samples ---- */

static void end_sample(struct perf *p)
{
    if (!p->in_sample)
        return;
    p->in_sample = false;
    if (p->doubtful && !p->c->n)
        return;
    if (p->comm.len)
        collapse_push(p->c, p->comm.buf, p->comm.len);
    collapse_flush(p->c, LEAF_FIRST, &p->period);
}

static void take_comm(struct perf *p, const struct perf_header *h)
{
    const struct collapse_options *opt = p->c->opt;
    struct span comm = h->comm, pid = h->pid, tid = h->tid;

    /* One number is the thread's; "0/0" counts as one number. */
    if (tid.len == 0 || span_is(tid, "0")) {
        tid = pid.len ? pid : span_of("?");
        pid = span_of("?");
    }
    /* A stack needs a root even where the command is not printed. */
    if (comm.len == 0)
        comm = span_of("[unknown]");
    strbuf_clear(&p->comm);
    strbuf_add(&p->comm, comm.s, comm.len);
    for (size_t i = 0; i < p->comm.len; i++)
        if (p->comm.buf[i] == ' ')
            p->comm.buf[i] = '_';
    if (opt->tid || opt->pid) {
        strbuf_addch(&p->comm, '-');
        strbuf_add(&p->comm, pid.s, pid.len);
    }
    if (opt->tid) {
        strbuf_addch(&p->comm, '/');
        strbuf_add(&p->comm, tid.s, tid.len);
    }
    p->java = span_begins((struct span){p->comm.buf, p->comm.len}, "java");
}

/* Takes the frame on the event's line: without call stacks, it is the sample's only one. */
static void take_flat(struct perf *p, struct span rest)
{
    if (!is_frame(rest))
        return;
    frame_line(p, rest);
    end_sample(p);
    p->flat++;
}

static void event_line(struct perf *p, struct span line, const struct perf_header *h)
{
    bool perl = p->c->opt->perl;

    /* The empty line between samples may be missing, or the sample may have no frames. */
    if (p->in_sample && (p->c->n > 0 || !perl))
        end_sample(p);
    /* Records besides samples, which perf script --show-task-events and similar options print. */
    if (!perl && span_find(line, "PERF_RECORD_"))
        return;
    p->period = (struct stackset_count){1, 0};
    if (h->event.len) {
        p->is_perf = true;
        if (!want_event(p, h->event))
            return;
        if (h->period.len && !span_is(h->period, "0"))
            stackset_count_parse(h->period.s, h->period.len, &p->period);
    }
    take_comm(p, h);
    p->in_sample = true;
    p->doubtful = !perl && !h->event.len && !h->timed;
    if (!perl)
        take_flat(p, h->rest);
}

static bool parse_header(const struct perf *p, struct span line, struct perf_header *h)
{
    return p->c->opt->perl ? perf_header_parse_perl(line, h) : perf_header_parse(line, h);
}

static void other_line(struct perf *p, struct span line)
{
    struct perf_header h;

    if (line.len == 0)
        end_sample(p);
    else if (line.s[0] == '#')
        return;
    else if (!is_blank_ch(line.s[0]) && parse_header(p, line, &h) &&
             (h.timed || p->c->opt->perl || !is_frame(line)))
        event_line(p, line, &h);
    else
        frame_line(p, line);
}

struct perf *collapse_perf_open(struct collapse *c, const struct textrecord *rec)
{
    struct perf *p = xcalloc(1, sizeof *p);

    *p = (struct perf){.c = c,
                       .rec = rec,
                       .text = STRBUF_INIT,
                       .event = STRBUF_INIT,
                       .comm = STRBUF_INIT,
                       .source = STRBUF_INIT};
    p->known = xcalloc(LINES, sizeof *p->known);
    p->seed = texthash_seed() & ~(uint64_t)1;
    if (c->opt->inlined)
        p->inlined = inlines_new(c->opt->context);
    return p;
}

void collapse_perf_close(struct perf *p)
{
    inlines_free(p->inlined);
    for (size_t i = 0; i < p->nevents; i++)
        free(p->events[i].name);
    free(p->known);
    free(p->frames);
    strbuf_release(&p->text);
    strbuf_release(&p->event);
    strbuf_release(&p->comm);
    strbuf_release(&p->source);
    free(p);
}

void collapse_perf_frame(struct perf *p, struct span line)
{
    p->in_sample = true;
    frame_line(p, line);
}

bool collapse_perf_comm(struct span line, struct span *comm, struct span *pid, struct span *tid)
{
    return !is_blank_ch(line.s[0]) && perf_header_comm(line, comm, pid, tid);
}

void collapse_perf_run(struct collapse *c)
{
    struct textrecord rec = {.in = &c->in};
    struct perf *p = collapse_perf_open(c, &rec);

    if (c->opt->event) {
        strbuf_addstr(&p->event, c->opt->event);
        p->event_given = true;
    }
    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (likely(line.len && (line.s[0] == '\t' || line.s[0] == ' ')))
            frame_line(p, line);
        else
            other_line(p, line);
    }
    /* perf ends with an empty line; a file that was cut may not. */
    end_sample(p);
    if (!p->is_perf)
        c->samples = 0;
    judge_events(p);
    if (p->flat && p->flat == c->samples)
        flame_warn("%s: was recorded without call stacks (perf record -g), so each sample is one "
                   "function",
                   c->in.name);
    collapse_perf_close(p);
}

int collapse_perf_probe(const char *text, size_t len)
{
    struct span rest = {text, len}, line;
    struct perf_header h;
    bool sample = false;
    int sure = 0;

    while (span_line(&rest, &line)) {
        if (line.len == 0 || line.s[0] == '#')
            continue;
        if (perf_header_parse(line, &h) &&
            (h.timed || span_ends(span_rtrim(line), ":") || span_find(line, ": "))) {
            sample = true;
            if (h.event.len && is_frame(h.rest))
                return 80;
            if (h.event.len && rest.len)
                sure = 45;
        } else if (sample && is_frame(line) && /* some scripts lose the indent */
                   (is_blank_ch(line.s[0]) || span_hex(line) >= 8))
            return 80;
        else if (line.s[0] != ' ' && line.s[0] != '\t')
            sample = false;
    }
    /* No frame line was whole: the first one may be longer than the probed text. */
    return sure;
}
