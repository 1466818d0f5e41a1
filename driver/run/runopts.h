/*
 * runopts.h: the options that `flame mem`, `flame leak` and `flame run` share. `flame off` has
 * some of them.
 *
 * All errors in them are found here, before anything runs.
 */
#ifndef FLAME_DRIVER_RUN_RUNOPTS_H
#define FLAME_DRIVER_RUN_RUNOPTS_H

#include "common/options/opts.h"
#include "driver/suppress/leak_filter.h"
#include "fold/analysis/age_limits.h"
#include "driver/monitor/momentwatch.h"

enum run_output {
    RUN_OUTPUT_PICTURE, /* drawn by the back end of the file's ending */
    RUN_OUTPUT_FOLDED,
    RUN_OUTPUT_TRACE,
    RUN_OUTPUT_DIRECTORY, /* leak: a directory for its results, see leakoutput.h */
};

struct run_options {
    const char *me;      /* "mem", "leak", "off" or "run", for messages */
    bool records_memory; /* mem, leak, run */
    bool is_test;        /* leak: the run is a test; unrecorded processes may have leaks */
    bool traces_waits;   /* off, run */
    bool waits_suffice; /* run: a command without the recorder of memory is recorded all the same */
    const char *output; /* borrowed, or owned_output */
    char *owned_output;
    enum run_output kind;
    const char *view;
    bool view_is_default; /* off, run: no --view was given, so a page may begin with another one */
    unsigned depth;       /* 0: the recorder's default */
    uint64_t sample;      /* mean bytes between samples; 0: every block */
    bool follow;
    bool quiet;
    bool pid, tid, ancestors; /* the result's roots, as in fold_options */
    bool no_names;            /* stored traces carry no names */
    bool only_shim;           /* mem --shim */
    bool kept;                /* mem -p: it is found who keeps blocks */
    bool libc_mappings;       /* mem: the C library's own mappings are recorded */
    bool no_patch;            /* mem, run, leak: programs' own code is not patched */
    bool no_python;           /* mem, run: stacks have no functions of Python */
    bool python;              /* the default */
    bool jit_names;           /* mem, off, run: runtimes that the command starts write names */
    bool rss;                 /* mem, run: processes measure their resident memory at their ends */
    bool directories;         /* the output may be a directory; whether it can be written is not
                               * checked */
    bool look;                /* leak: processes scan for leaks at their ends */
    bool tagged;              /* leak: pointers may have tags in their bits */
    bool live;                /* leak: all that is live at the end counts */
    bool growth; /* leak: memory that grows with each pass counts, not live blocks at the end */
    uint64_t growth_ns;  /* leak: length of a pass; 0: the program marks passes */
    int growth_signal;   /* leak: the signal that flame receives at the end of each pass; 0: none */
    bool misuse;         /* leak: how blocks are freed is checked (misuses) */
    uint64_t max_bytes;  /* leak; RUN_NO_LIMIT: not given */
    uint64_t max_blocks; /* leak; RUN_NO_LIMIT: not given */
    unsigned leak_status;
    struct leak_filter_options hide; /* leak: suppressions and baseline */
    struct leak_filter *hides;       /* prepared from that before the command runs */
    const char *snapshots;  /* mem: directory for snapshots that the program requests; NULL: none */
    uint64_t max_disk;      /* mem: bytes for traces while the command runs; 0: no limit */
    bool faults;            /* mem: page faults are recorded */
    bool touched;           /* mem, run: and in processes, by the function that first touched
                             * the memory */
    const char *lifetimes;  /* mem, run: by "time" or "bytes"; NULL: they are not recorded */
    struct age_limits ages; /* mem, run: of views short and old */
    bool moments;           /* mem, run: moments are taken */
    struct moment_pace pace; /* mem, run: pace at which moments are taken */
    bool shows_moments;      /* an output has room for them */
    bool shows_waits;        /* off, run: an output has room for the times of waits */
    bool needs_waits;        /* off, run: an output has nothing else */
    size_t lane_bytes;       /* off, run: that much room (lanetext.h); 0: a page's */
    unsigned attach;         /* mem: the process that is recorded from now on; 0: a command is */
    uint64_t attach_ns;      /* for so long; 0: until it ends, or flame receives a signal */
    char **command;          /* argv of the command, NULL-terminated; NULL: there is none */
    const char *subject;     /* the name of the command or process, for the default output and
                              * the picture */
    bool open;               /* the result is shown in a browser */
};

#define RUN_NO_LIMIT UINT64_MAX

/* The limits of --depth and --sample are the recorder's own, see preload/runtime/config.h. */
#define RUN_DEPTH_MIN 8
#define RUN_DEPTH_MAX 65536
#define RUN_SAMPLE_MAX ((double)((uint64_t)1 << 40))

/* Option rows of several commands: --depth, --open and -q. `offset` is the place of the value in
 * the command's struct. */
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

/* Option row of --no-names, for stored traces. `offset` is as above. */
#define RUN_ROW_NO_NAMES(offset)                                                                   \
    {                                                                                              \
        "no-names",                                                                                \
            .help =                                                                                \
                "of -o FILE.flame: do not put the names of functions and their lines into the "    \
                "file",                                                                            \
            .take = opts_take_true, .at = (offset)                                                 \
    }

/* Option rows for a struct run_options: run_rows are for mem, off and run; run_rows_of_memory
 * for mem and run. run_rows_of_roots are for mem, leak and run: processes and threads in the
 * result. */
extern const struct opts_row run_rows[], run_rows_of_memory[], run_rows_of_roots[];

/*
 * Reads argv by the command's table into *o, which holds the defaults (me, view; output NULL:
 * derived from the command's name). -1: no error; else the exit status, with --help answered or one
 * line on standard error.
 */
int run_options_parse(const struct opts_command *c, struct run_options *o, int argc, char **argv);
void run_options_release(struct run_options *o);

/* These are steps of run_options_parse, for commands with options of their own. The first reads the
 * command, the arguments after the options. 0, or FLAME_USAGE after a line. */
int run_options_command(struct run_options *o, char **rest);

/* True, after a line, if --pid was given and the command is a number: the user probably meant to
 * attach. */
bool run_options_meant_pid(const struct run_options *o, const char *command);

/* The last step, for commands with options of their own: finds the output's default and kind,
 * and whether it can be written. -1, or an exit status after a line. */
int run_options_finish(struct run_options *o);

/* Whether a browser can show o->output, once that is settled. The second function reports that
 * it cannot, and returns FLAME_USAGE. */
bool run_options_is_browsed(const struct run_options *o);
int run_options_not_browsed(const struct run_options *o);

/* Steps for the options of memory; each returns 0, or FLAME_USAGE after a line. The first sets
 * the features that o->view needs and rejects options that contradict it. The second sets *path
 * to o->snapshots as an absolute path, for a process in any directory; the caller frees it. */
int run_options_look(struct run_options *o);
int run_options_snapshots(struct run_options *o, char **path);

#endif
