/*
 * collapse.h: turns other profilers' text into folded stacks: the parts that the readers (listed
 * in readers.h) and `flame collapse` share.
 *
 * A reader takes lines from c->in, builds one stack after the other with collapse_push, and
 * gives each to collapse_flush or collapse_drop. It trusts nothing: a line that it does not
 * understand goes to collapse_unknown, and the reader continues. A reader ends at the end of its
 * input and cannot fail; c->in knows whether the input could be read (textinput.h).
 *
 * Not thread-safe for one struct collapse.
 */
#ifndef FLAME_FOLD_COLLAPSE_COLLAPSE_H
#define FLAME_FOLD_COLLAPSE_COLLAPSE_H

#include "common/folded/columns.h"
#include "fold/stacks/textinput.h"
#include "fold/stacks/stackset.h"
#include "fold/stacks/missing_symbols.h"
#include "fold/stacks/place.h"
#include "fold/spill/spill.h"

struct collapse_options {
    const char *event;     /* perf: this event only; NULL: the first one met */
    bool pid, tid;         /* process (and thread) ids in the root frame */
    bool kernel, jit;      /* mark frames _[k], _[j] */
    bool addrs;            /* addresses of unknown frames */
    bool srcline;          /* perf: the input has source lines; massif, dhat: keep them */
    bool inlined;          /* perf: look up inlined functions */
    bool context;          /* with inlined: file and line as well */
    enum place_kind place; /* frames carry their place where the input has it (place.h) */
    bool perl;             /* cut names as the Perl scripts do */
    bool wake, chain;      /* perf-sched: add the waker's stack; and the waker's own waker, and
                              so on */
    const char *type;      /* for inputs with several kinds of values: the kind to count; NULL:
                              the input's default */
    const char *label;     /* pprof: keys "a,b" of labels that become frames at the root; NULL */
};

struct collapse {
    const struct collapse_options *opt;
    struct textinput in;
    struct stackset *stacks; /* may be shared by several files; another one after spilling */
    struct spill *spill;     /* takes stacks out of memory when they are too many; borrowed;
                                NULL: none does */
    /* The stack being built, in the order pushed. */
    uint32_t *ids;
    size_t n, alloc;
    struct strbuf scratch, scratch2; /* for the reader, between lines */
    struct made_plain *plain;        /* plain forms of names that are mangled, or look so */
    /* Folded text only: the column that its counts are for (0 or 1; a line of two counts is then
       not understood; -1: as the line has them), and `meta`, which gets its "# flame:" line. */
    int column;
    struct folded_columns columns; /* begun: columns of each line */
    bool begun;                    /* `columns` is known */
    struct strbuf *meta;
    bool meta_differs; /* *meta held another line already */
    /* Folded text only: the sums, one for each column, to which the counts that the text reports
       as filtered out are added; or NULL. */
    struct stackset_count *left_out;
    bool has_left_out; /* the text has such a line, even if it says 0 */
    bool modules;      /* the text has a line that says its names begin with their modules */
    struct missing_symbols *lost; /* gets the modules that lost their names, as the text lists them;
                               or NULL */
    /* Results. */
    uint64_t samples;               /* stacks flushed */
    uint64_t unknown, unknown_line; /* lines not understood, the first of them */
    struct strbuf unknown_text;
};

/* How much of a file's beginning readers see before they judge whether it is theirs, in bytes. */
#define COLLAPSE_LOOK (128u << 10)

struct collapse_kind {
    const char *name;
    const char *what;
    /* Returns how sure the reader is: 0: this is not its format, 100: it can be nothing else.
       `text` is the file's beginning, cut anywhere. NULL: the reader is taken only when it is
       asked for by name. */
    int (*probe)(const char *text, size_t len);
    void (*run)(struct collapse *c);
};

/* All readers, ended by one without a name. */
extern const struct collapse_kind collapse_kinds[];

const struct collapse_kind *collapse_kind_find(const char *name);
/* The reader for a file that begins with this text; NULL when no reader knows it. */
const struct collapse_kind *collapse_kind_guess(const char *text, size_t len);

/* For commands that take folded text: refuses other formats. 0, or FLAME_USAGE after a line that
 * says that the input's format has to be folded first. No record may have been taken from the
 * input. */
int collapse_refuse(struct textinput *in);

/* One file's state; the stacks stay the caller's. Release it also when a file was not opened. */
void collapse_init(struct collapse *c, const struct collapse_options *opt, struct stackset *stacks);
void collapse_release(struct collapse *c);

/* Adds a frame, its name made safe as by folded_add_frame. */
void collapse_push(struct collapse *c, const char *name, size_t len);
void collapse_push_str(struct collapse *c, const char *name);
void collapse_push_id(struct collapse *c, uint32_t id);
/* The id of a name made plain (plainname.h; not as the Perl scripts have it) and safe. */
uint32_t collapse_name(struct collapse *c, const char *name, size_t len);
/*
 * Like collapse_name, with the module at `path` behind a mark if opt->place asks for it. The
 * path "inlined", which perf prints, means the module of the frame below.
 */
uint32_t collapse_name_in(struct collapse *c, const char *name, size_t len, const char *path,
                          size_t path_len);

enum collapse_order { ROOT_FIRST, LEAF_FIRST };
/* Adds the stack that was pushed, and begins the next. */
void collapse_flush(struct collapse *c, enum collapse_order order,
                    const struct stackset_count *count);
void collapse_flush_one(struct collapse *c, enum collapse_order order);
void collapse_drop(struct collapse *c);

/* Counts the line last read as not understood. */
void collapse_unknown(struct collapse *c, const char *line, size_t len);

#endif
