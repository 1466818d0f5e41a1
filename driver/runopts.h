/*
 * runopts.h: the options `flame mem` and `flame leak` share, and of which `flame off` has
 * some.
 *
 * Everything that can be wrong with them is found here, before anything runs.
 */
#ifndef FLAME_DRIVER_RUNOPTS_H
#define FLAME_DRIVER_RUNOPTS_H

#include <stdbool.h>

#include "common/compiler.h"

enum run_output {
    RUN_OUTPUT_PICTURE, /* drawn by the back end of the file's ending */
    RUN_OUTPUT_FOLDED,
    RUN_OUTPUT_TRACE,
};

struct run_options {
    const char *me;     /* "mem" or "leak", for messages */
    const char *output; /* borrowed, or owned_output */
    char *owned_output;
    enum run_output kind;
    const char *view;
    const char *depth; /* NULL: the recorder's default */
    uint64_t sample;   /* mean bytes between samples; 0: every block */
    bool follow;
    bool quiet;
    bool only_shim;      /* mem --shim */
    uint64_t max_bytes;  /* leak */
    char **command;      /* argv of the command, NULL-terminated */
    const char *subject; /* what is recorded, for the default output and the picture: the
                            command's name */
};

/*
 * Reads argv into *o, which holds the defaults (me, view; output NULL: made from
 * the command's name). -1: go on; else the exit status, with --help answered or
 * one line on standard error. `help` prints the command's help.
 */
int run_options_parse(struct run_options *o, int argc, char **argv, void (*help)(void));
void run_options_release(struct run_options *o);

/* Its last part, for commands with options of their own: the output's default, kind and
 * whether it can be written. -1, or an exit status after a line. */
int run_options_finish(struct run_options *o);

/* Checks a depth or a view of that recorder. 0, or FLAME_USAGE after a line. */
int run_check_depth(const char *me, const char *depth);
int run_check_view(const char *me, const char *view, uint32_t recorder);

/* Bytes with an optional k, m or g (powers of 1024). False when it is none. */
bool run_parse_bytes(const char *s, uint64_t *bytes);

#endif
