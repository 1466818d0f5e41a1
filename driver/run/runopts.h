/*
 * runopts.h: the options that `flame mem`, `flame leak` and `flame run` share. `flame off` has some
 * of them.
 *
 * Everything that can be wrong with them is found here, before anything runs.
 */
#ifndef FLAME_DRIVER_RUN_RUNOPTS_H
#define FLAME_DRIVER_RUN_RUNOPTS_H

#include "common/options/opts.h"
#include "driver/suppress/hide.h"
#include "fold/facts/ages.h"
#include "driver/watch/momentwatch.h"

enum run_output {
    RUN_OUTPUT_PICTURE, /* drawn by the back end of the file's ending */
    RUN_OUTPUT_FOLDED,
    RUN_OUTPUT_TRACE,
    RUN_OUTPUT_DIRECTORY, /* leak: results of its own in it, see leakoutput.h */
};

struct run_options {
    const char *me;      /* "mem", "leak", "off" or "run", for messages */
    bool records_memory; /* mem, leak, run */
    bool is_test;        /* leak: what was not seen may be what it is to find */
    bool traces_waits;   /* off, run */
    const char *output;  /* borrowed, or owned_output */
    char *owned_output;
    enum run_output kind;
    const char *view;
    unsigned depth;  /* 0: the recorder's default */
    uint64_t sample; /* mean bytes between samples; 0: every block */
    bool follow;
    bool quiet;
    bool pid, tid, ancestors; /* the result's roots, as in fold_options */
    bool no_names;            /* traces that are kept carry no names */
    bool only_shim;           /* mem --shim */
    bool inside;              /* mem: the C library's own mappings are seen */
    bool no_patch;            /* mem, run, leak: programs' own code is left as it is */
    bool python;              /* mem, run: stacks have Python's functions */
    bool rss;                 /* mem, run: processes look what is resident at their ends */
    bool directories;    /* the output may be one; whether it can be written is not looked at */
    bool look;           /* leak: processes look for what nothing leads to at their ends */
    bool tagged;         /* leak: pointers may have marks in their bits */
    bool live;           /* leak: all that is live at the end counts */
    bool growth;         /* leak: what grows with each pass counts, not what is left at the end */
    uint64_t growth_ns;  /* leak: how long a pass is; 0: the program marks them */
    int growth_signal;   /* leak: flame is sent it at the end of each pass; 0: it is not */
    bool misuse;         /* leak: how blocks are given back is judged */
    uint64_t max_bytes;  /* leak; RUN_NO_LIMIT: not given */
    uint64_t max_blocks; /* the same */
    unsigned leak_status;
    struct hide_options hide; /* leak: what does not count */
    struct hide *hides;       /* made of that before the command runs */
    const char *snapshots;    /* mem: directory for those the program asks for; NULL: nowhere */
    uint64_t max_disk;        /* mem: bytes for traces while the command runs; 0: no limit */
    bool faults;              /* mem: page faults are recorded */
    bool touched;             /* mem, run: and in processes, by whose memory was touched */
    const char *lifetimes;    /* mem, run: by "time" or "bytes"; NULL: they are not recorded */
    struct ages ages;         /* mem, run: of views short and old */
    bool moments;             /* mem, run: moments are taken, */
    struct moment_pace pace;  /* and when */
    bool shows_moments;       /* an output has room for them */
    unsigned attach;          /* mem: the process that is recorded from now on; 0: a command is */
    uint64_t attach_ns;       /* for so long; 0: until it ends, or we are told to */
    char **command;           /* argv of the command, NULL-terminated; NULL: there is none */
    const char *subject;      /* what is recorded, for the default output and the picture: the
                                 command's name */
    bool open;                /* the result is shown in a browser */
};

#define RUN_NO_LIMIT UINT64_MAX

/* The limits of --depth and --sample are the recorder's own, see preload/run/config.h. */
#define RUN_DEPTH_MIN 8
#define RUN_DEPTH_MAX 65536
#define RUN_SAMPLE_MAX ((double)((uint64_t)1 << 40))

/* Rows of several commands' tables: of the depth, of --open, and of -q, with the place of the value
 * in the command's struct. */
#define RUN_ROW_DEPTH(offset)                                                                      \
    {                                                                                              \
        "depth", .arg = "N", .help = "frames kept of a stack, 8 to 65536 (default: 1024)",         \
                 .take = opts_take_uint, .at = (offset), .least = RUN_DEPTH_MIN,                   \
                 .most = RUN_DEPTH_MAX                                                             \
    }
#define RUN_ROW_OPEN(offset)                                                                       \
    {                                                                                              \
        "open", .help = "show the result in the browser, a page unless -o says otherwise",         \
                .take = opts_take_true, .at = (offset)                                             \
    }
#define RUN_ROW_QUIET(offset)                                                                      \
    {                                                                                              \
        "quiet", 'q', NULL, "print no summary", .take = opts_take_true, .at = (offset)             \
    }

/* The same, of traces that are kept. */
#define RUN_ROW_NO_NAMES(offset)                                                                   \
    {                                                                                              \
        "no-names",                                                                                \
            .help =                                                                                \
                "of -o FILE.flame: do not put the names of functions and their lines into the "    \
                "file",                                                                            \
            .take = opts_take_true, .at = (offset)                                                 \
    }

/* Tables of rows, for a struct run_options: of what mem, off and run have in common, of what mem
 * and run have, and, of mem, leak and run, of processes and threads in the result. */
extern const struct opts_row run_rows[], run_rows_of_memory[], run_rows_of_roots[];

/*
 * Reads argv by the command's table into *o, which holds the defaults (me, view; output
 * NULL: made from the command's name). -1: go on; else the exit status, with --help
 * answered or one line on standard error.
 */
int run_options_parse(const struct opts_command *c, struct run_options *o, int argc, char **argv);
void run_options_release(struct run_options *o);

/* The parts of that, for commands with options of their own. The first takes what stands behind the
 * options. 0, or FLAME_USAGE after a line. */
int run_options_command(struct run_options *o, char **rest);

/* True, after a line, if --pid was given and the command is a number: somebody meant to attach. */
bool run_options_meant_pid(const struct run_options *o, const char *command);

/* The last part, for commands with options of their own: finds the output's default
 * and kind, and whether it can be written. -1, or an exit status after a line. */
int run_options_finish(struct run_options *o);

/* Whether a browser can show o->output, once that is settled; and FLAME_USAGE after a line that it
 * cannot. */
bool run_options_is_browsed(const struct run_options *o);
int run_options_not_browsed(const struct run_options *o);

/* The parts of that which are about memory. What o->view needs, and what does not go with it; and
 * o->snapshots as any process finds it, in *path, which the caller frees. 0, or FLAME_USAGE after a
 * line. */
int run_options_look(struct run_options *o);
int run_options_snapshots(struct run_options *o, char **path);

#endif
