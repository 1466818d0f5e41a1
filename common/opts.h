/*
 * opts.h: what commands say about options they do not understand.
 */
#ifndef FLAME_COMMON_OPTS_H
#define FLAME_COMMON_OPTS_H

#include "common/compiler.h"

/*
 * For getopt_long's '?' and ':' (with opterr 0 and an option string that begins
 * with ':'): one line that names the option and returns FLAME_USAGE.
 */
int opts_wrong(const char *command, char **argv, int opt);

#endif
