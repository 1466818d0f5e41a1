/*
 * perfheader.h: the first line of a sample in perf script's text: process, time and event.
 *
 *    COMM PID/TID [CPU] TIME: PERIOD EVENT: TEXT
 *
 * All but one of them may be missing (perf script -F). The text behind the event is a
 * tracepoint's or, without call stacks, the sample's one frame: "ADDRESS NAME+0x1f (MODULE)".
 *
 * Pure. Spans are in the line.
 */
#ifndef FLAME_FOLD_COLLAPSE_PERFHEADER_H
#define FLAME_FOLD_COLLAPSE_PERFHEADER_H

#include "fold/stacks/span.h"

struct perf_header {
    struct span comm;     /* empty: it is not printed */
    struct span pid, tid; /* empty: not printed; if only one number is printed, it is in `pid` */
    bool timed;
    struct span period, event; /* empty: not printed */
    struct span rest;          /* behind the event's colon, without blanks around */
};

/* Parses a line. False: it is not the first line of a sample. */
bool perf_header_parse(struct span line, struct perf_header *h);

/* Like perf_header_parse, by the rules of the Perl scripts: the command and a number must be
 * there, and an event with anything behind it is not recognized. */
bool perf_header_parse_perl(struct span line, struct perf_header *h);

/* Splits "COMM PID/TID " or "COMM TID " (*tid is empty then); the command may hold blanks. */
bool perf_header_comm(struct span line, struct span *comm, struct span *pid, struct span *tid);

/*
 * Whether `wanted` names this event. A processor with two kinds of cores counts an event once for
 * each kind, as "cpu_core/cycles/" and "cpu_atom/cycles/": "cycles" names both.
 */
bool perf_header_is_event(struct span event, struct span wanted);

#endif
