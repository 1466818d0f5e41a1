/*
 * trace_ingest.h: ingests the traces of ended processes while the command runs.
 *
 * A build may become thousands of processes. The driver has nothing to do while it waits, so a
 * thread examines the directory of the run now and then. It reads the traces that have no writer
 * any more, adds them up (run_totals.h) and frees their room on the disk. The result equals that of
 * reading them all at the end.
 *
 * An emptied file becomes a spare for a later process (common/run_status.h).
 */
#ifndef FLAME_DRIVER_MONITOR_TRACE_INGEST_H
#define FLAME_DRIVER_MONITOR_TRACE_INGEST_H

#include "driver/rundir/rundir.h"
#include "driver/monitor/run_totals.h"

struct trace_ingest;

/* Begins to examine the directory. Until trace_ingest_stop, `taken` belongs to the thread. NULL: no
 * thread can be created, and all traces are ingested at the end; trace_ingest_stop accepts that. */
struct trace_ingest *trace_ingest_start(struct rundir *rundir, struct run_totals *taken);

/* Ends ingestion. The remaining traces in the directory are for rundir_collect. */
void trace_ingest_stop(struct trace_ingest *in);

/*
 * Whether the trace open as `fd` is complete: no process can write to it any more, neither
 * through a descriptor nor through a mapping. False when that cannot be known.
 */
bool trace_ingest_is_complete(int fd);

#endif
