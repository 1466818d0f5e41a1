/*
 * collapse.h: other profilers' text in, folded stacks out. What the readers
 * (collapse_NAME.c, one a file) and `flame collapse` share.
 *
 * A reader takes lines from c->in, builds one stack after the other with
 * collapse_push, and gives each to collapse_flush or collapse_drop. It trusts
 * nothing: a line that it does not understand goes to collapse_unknown, and the
 * reader goes on. A reader ends at the end of input; only the input fails.
 *
 * Not thread-safe for one struct collapse.
 */
#ifndef FLAME_FOLD_COLLAPSE_H
#define FLAME_FOLD_COLLAPSE_H

#include "fold/collapse_input.h"
#include "fold/collapse_stacks.h"
#include "fold/place.h"

struct collapse_options {
    const char *event;     /* perf: this event only; NULL: the first one met */
    bool pid, tid;         /* process (and thread) ids in the root frame */
    bool kernel, jit;      /* mark frames _[k], _[j] */
    bool addrs;            /* addresses of unknown frames */
    bool srcline;          /* perf: the input has source lines; massif, dhat: keep them */
    bool inlined;          /* perf: look up inlined functions */
    bool context;          /* with inlined: file and line as well */
    enum place_kind place; /* names carry their place where the input tells it (place.h) */
    bool wake, chain;      /* perf-sched: the waker's stack as well; and what woke the waker */
};

struct collapse {
    const struct collapse_options *opt;
    struct collapse_input in;
    struct collapse_stacks *stacks; /* may be shared by several files */
    /* The stack being built, in the order pushed. */
    uint32_t *ids;
    size_t n, alloc;
    struct strbuf scratch, scratch2; /* for the reader, between lines */
    /* Folded text only: which column its counts are for (0 or 1; a line of two counts is then
     * not understood; -1: as the line has them), and where its "# flame:" line goes. */
    int column;
    struct strbuf *meta;
    bool meta_differs; /* *meta held another one */
    /* Folded text only: added to these, by column, is what filters left out; or NULL. */
    struct collapse_count *left_out;
    bool has_left_out; /* the text said so, were it only 0 */
    /* What happened. */
    uint64_t samples;               /* stacks flushed */
    uint64_t unknown, unknown_line; /* lines not understood, the first of them */
    struct strbuf unknown_text;
};

struct collapse_kind {
    const char *name;
    const char *what;
    /* How sure: 0 not this format, 100 nothing else. text is what the file
     * begins with, cut anywhere; NULL: only on demand. */
    int (*probe)(const char *text, size_t len);
    void (*run)(struct collapse *c);
};

/* All readers, ended by one without a name. */
extern const struct collapse_kind collapse_kinds[];

const struct collapse_kind *collapse_kind_find(const char *name);
/* The reader for a file that begins so; NULL when none will have it. */
const struct collapse_kind *collapse_kind_guess(const char *text, size_t len);

/* One file's state; the stacks stay the caller's. Release it also when a file was not opened. */
void collapse_init(struct collapse *c, const struct collapse_options *opt,
                   struct collapse_stacks *stacks);
void collapse_release(struct collapse *c);

/* Adds a frame, its name made safe as by folded_add_frame. */
void collapse_push(struct collapse *c, const char *name, size_t len);
void collapse_push_str(struct collapse *c, const char *name);
void collapse_push_id(struct collapse *c, uint32_t id);
/* The id of a name made safe. */
uint32_t collapse_name(struct collapse *c, const char *name, size_t len);
/*
 * The same with the module at `path` behind a mark, if opt->place asks for it. "inlined",
 * as perf has it, is the module of the frame below.
 */
uint32_t collapse_name_in(struct collapse *c, const char *name, size_t len, const char *path,
                          size_t path_len);

enum collapse_order { ROOT_FIRST, LEAF_FIRST };
/* Adds what was pushed to the stacks, and starts the next. */
void collapse_flush(struct collapse *c, enum collapse_order order,
                    const struct collapse_count *count);
void collapse_flush_one(struct collapse *c, enum collapse_order order);
void collapse_drop(struct collapse *c);

/* Counts the line last read as not understood. */
void collapse_unknown(struct collapse *c, const char *line, size_t len);

#endif
