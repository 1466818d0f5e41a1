/*
 * output_link.h: a link in the directory of a run to the trace that it writes at its end, by which
 * the directory is found while it runs: the user knows the output's name only.
 */
#ifndef FLAME_DRIVER_RUNDIR_OUTPUT_LINK_H
#define FLAME_DRIVER_RUNDIR_OUTPUT_LINK_H

/* Makes the link in the directory `dir` of a run. Does nothing for an output that is no trace
 * (*.flame), or without an absolute name. */
void output_link_make(const char *dir, const char *output);

/* The directory of a run of this user that has such a link to `output`: in TMPDIR, in /tmp, or
 * beside the output. NULL: there is none. The caller frees it. */
char *output_link_find(const char *output);

#endif
