/*
 * complete.h: completion scripts for shells, with flame's commands, options and their values. They
 * are made from the commands' own tables, so they are never out of date.
 */
#ifndef FLAME_COMMON_OPTIONS_COMPLETE_H
#define FLAME_COMMON_OPTIONS_COMPLETE_H

#include <stdio.h>

#include "common/options/opts.h"

/* Writes a script for "bash", "zsh" or "fish". FLAME_OK, or FLAME_USAGE after a line. */
int complete_write(const char *shell, const struct opts_command *const *commands, size_t n,
                   FILE *to);

#endif
