/*
 * drawn.h: files that are mistaken for recordings: what was drawn from one, the program that would
 * have to be recorded, recordings that are packed, or that another program reads.
 */
#ifndef FLAME_FOLD_STACKS_DRAWN_H
#define FLAME_FOLD_STACKS_DRAWN_H

#include "fold/stacks/textinput.h"

/* What a file is that begins with this text ("a picture (SVG)"). NULL: it may hold stacks, or is
 * one of those that drawn_refuse knows besides. */
const char *drawn_kind(const char *text, size_t len);

/* 0, or FLAME_USAGE after a line that says what the input is and what to give instead. To
 * be asked before its first record. */
int drawn_refuse(struct textinput *in);

#endif
