/*
 * leaklist.h: the leaks of a run, one by one.
 *
 * A leak is the blocks of one class that one thread of one process has allocated in one stack. All
 * strings are safe text (folded_add_frame: no control characters, valid UTF-8), but names in them
 * are the program's: writers of other formats must escape them.
 *
 * Not thread-safe.
 */
#ifndef FLAME_DRIVER_LEAK_LEAKLIST_H
#define FLAME_DRIVER_LEAK_LEAKLIST_H

#include <stdbool.h>

#include "common/trace/trace_reader.h"

enum leak_class {
    LEAK_DEFINITE, /* nothing leads to it */
    LEAK_INDIRECT, /* only blocks that are leaked do */
    LEAK_INNER,    /* reached, but only by pointers to the inside of blocks: no leak */
    LEAK_LIVE,     /* --live: not checked whether anything leads to it */
    LEAK_REGION,   /* still live at the end of a region of the program */
    LEAK_GROWTH,   /* --growth: more is live with each pass; counts are per pass */
    LEAK_CLASSES,
};

/* "definite", "indirect", "inner", "live", "region", "growth". */
extern const char *const leak_class_names[LEAK_CLASSES];

struct leak_frame {
    const char *function; /* demangled; "[libc.so.6+0x1234]" when no symbol is known */
    const char *module;   /* path of the file that the code is in; "": not known */
    const char *file;     /* path in the source, as the compiler knew it; NULL: not known */
    unsigned line;        /* 0: not known */
    bool inlined;
};

struct leak {
    enum leak_class class;
    uint64_t bytes, blocks;
    const char *process; /* its name */
    uint32_t pid;        /* 0: several processes, or not known */
    const char *thread;  /* its name at its first event; "": not known */
    uint32_t tid;        /* 0: not known, or several threads */
    struct leak_frame *frames;
    size_t nframes;     /* the innermost first */
    const char *region; /* LEAK_REGION: its name; else NULL */
    uint64_t rows;      /* LEAK_GROWTH: number of rows in it */
    uint64_t passes;    /* LEAK_GROWTH: number of passes that were compared */
    double fit;         /* how well they lie along a line (mark_growth.h), 0.75 to 1 */
    char *kept_by;      /* LEAK_GROWTH: "cache+0x8 of app"; owned. NULL: not known */
    char *through;      /* functions that allocated the blocks between, "a < b", the nearest to the
                         * leak's blocks first; owned. NULL: there are none */
    char *text;         /* the text that holds the other strings; owned */
};

struct leak_list {
    struct leak *leaks; /* sorted by bytes, the largest first */
    size_t n, room;
};

/*
 * Fills the list, which is empty, from traces with one kind of verdicts: LEAK_DEFINITE for leaks at
 * the ends of processes and regions, LEAK_GROWTH; the traces must then have separate processes and
 * threads (as run_totals.h has them). Or LEAK_LIVE, from any traces. 0, or an enum flame_exit after
 * a line, and the list is empty.
 */
int leak_list_make(struct leak_list *l, struct trace *const *traces, size_t ntraces,
                   enum leak_class what);
void leak_list_release(struct leak_list *l);

/* Whether the entry counts as a leak: blocks reached by pointers to the inside of blocks do not. */
bool leak_counts(const struct leak *leak);

/* Sums over the leaks that count, either those of regions or the others: a block may be both, still
 * live at a region's end and leaked at the program's end. */
uint64_t leak_list_bytes(const struct leak_list *l, bool regions);
uint64_t leak_list_blocks(const struct leak_list *l, bool regions);

/*
 * The frame that a reader wants to see first: the innermost of the program's own source,
 * else the innermost that is no allocator's (operator new, std::allocator and their like).
 * NULL: the leak has no frames.
 */
const struct leak_frame *leak_place(const struct leak *leak);

/* Makes the frames of leak->text, which has them with a ';' before each, the outermost first, and
 * with their places (PLACE_ALL). */
void leak_take_frames(struct leak *leak);

/* Comparison for qsort: by the frames and the region only. */
int leak_compare_frames(const struct leak *a, const struct leak *b);

#endif
