/*
 * recording.h: one run under the recorder of memory, the tracer of waiting or both, from the checks
 * to the traces and the result. `flame mem`, `flame leak`, `flame off` and `flame run` share it.
 */
#ifndef FLAME_DRIVER_RUN_RECORDING_H
#define FLAME_DRIVER_RUN_RECORDING_H

#include "common/strbuf.h"
#include "driver/rundir/unrecorded.h"
#include "driver/rundir/rundir.h"
#include "driver/rundir/unreadable_traces.h"
#include "driver/run/launch.h"
#include "driver/run/runopts.h"
#include "driver/monitor/run_totals.h"
#include "driver/monitor/rss_sampler.h"

struct recording {
    struct rundir rundir;
    struct launch_result run;
    struct run_totals taken;     /* all traces of memory */
    struct trace *const *traces; /* their sums (tracesums.h); owned by `taken` */
    size_t ntraces;
    struct recording_waits {
        struct run_totals taken; /* the trace of waiting, which is one for all processes; empty if
                                    it cannot be read */
        bool cut;                /* another process truncated it while it was written */
        uint64_t frozen_ns;      /* no times were kept from then on (--freeze-when); 0: they were */
        struct trace *const *traces;
        size_t ntraces;
    } waits;
    struct recording_attached {
        bool is;      /* processes that ran already are recorded (-p) */
        bool asked;   /* they were asked for names of functions at the end (--jit-names) */
        bool refused; /* one has not written them, which a line said */
    } attached;
    bool no_recorder; /* the command itself is without the recorder of memory, which a line said */
    struct unrecorded others;
    struct unreadable_traces unread; /* traces that could not be read */
    struct rss_sampler *watch;       /* or NULL */
    struct growthwatch *growth;      /* or NULL */
    struct momentwatch *moments;
};

/*
 * Makes the run's directory, records into it and fills in `run`. 0, or an enum
 * flame_exit after a line when nothing ran.
 */
typedef int recording_maker(struct recording *r, const struct run_options *o);

/*
 * Records, reads the traces and hands them to `then`, which reports or draws them and returns an
 * enum flame_exit. Returns the exit status: the command's own if it failed (its failure is more
 * important than that of its recording), else the result of `then`; or ends by the signal that
 * ended the command. When the result cannot be written the traces remain, and a line gives their
 * path. Traces that cannot be read are skipped, after a line; a run that is a test (o->is_test) has
 * then failed.
 */
int recording_run(const struct run_options *o, recording_maker *record,
                  int (*then)(const struct recording *r, const struct run_options *o));

/* Options for folding as o requests: its view, its roots, and without forked children's copies of
 * their parents' blocks. */
struct fold_options recording_fold_options(const struct run_options *o);

/* Appends the folded stacks of o->view to `folded`; with `own` without forked children's copies of
 * their parents' blocks, with `lines` with files and lines after names. 0, or an enum flame_exit
 * after a line. */
int recording_fold(const struct recording *r, const struct run_options *o, bool own, bool lines,
                   struct strbuf *folded);

/* True when o->output is a page or an export that shows all views. */
bool recording_wants_all(const struct run_options *o);
/* True when o->output is an export that shows waits in time order instead of the view off. */
bool recording_wants_waits(const struct run_options *o);
/* True when the frames in o->output are to have file and line. */
bool recording_wants_lines(const struct run_options *o);

/* True when they are to carry their modules, which recording_put takes off again for text. */
bool recording_wants_modules(const struct run_options *o);

/* Appends to `folded` the text that o->output shows: all views, or one; nothing for a trace. 0, or
 * an enum flame_exit after a line. */
int recording_text(const struct recording *r, const struct run_options *o, struct strbuf *folded);

/* Prints the findings in that text on standard error, in the sentences of its page; `without` as
 * for sentences_of. */
void recording_print_findings(const struct recording *r, const struct run_options *o,
                              const struct strbuf *folded, const char *without);

/*
 * Writes o->output from the folded stacks (recording_text), or for a trace from the run's files.
 * *empty: there was nothing to draw, and no picture was written. 0, or an enum flame_exit after a
 * line.
 */
int recording_put(const struct recording *r, const struct run_options *o,
                  const struct strbuf *folded, bool *empty);

/* Appends as text the reasons why the recording may be incomplete: processes whose traces cannot be
 * read, a status file that was overwritten. Appends nothing if there is no such reason. */
void recording_add_doubts(struct strbuf *sb, const struct recording *r);

/* Reports that there is no trace of memory, and why; returns FLAME_FAILED. */
int recording_left_nothing(const struct recording *r, const struct run_options *o);

/* Writes text to a file, whole or not at all. 0, or an enum flame_exit after a line. */
int recording_write_text(const struct strbuf *text, const char *to);

/* Removes an older file of that name, which would be taken for this run's. */
void recording_remove_older(const char *path);

/* Writes the run's traces to o->output, into one file (recording_traces.c). 0, or an enum
 * flame_exit after a line. */
int recording_keep_traces(const struct recording *r, const struct run_options *o);

/* Whether the traces at `output`, several of them, became a file each. */
bool recording_has_files(const char *output);
/* The name of the trace of waiting, if it is a file beside those of memory. */
char *recording_waits_name(const char *output);

#endif
