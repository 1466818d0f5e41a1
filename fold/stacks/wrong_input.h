/*
 * wrong_input.h: files that are mistaken for recordings: a picture that was drawn from one, the
 * program that would have to be recorded, a packed recording, or one for another program.
 */
#ifndef FLAME_FOLD_STACKS_WRONG_INPUT_H
#define FLAME_FOLD_STACKS_WRONG_INPUT_H

#include "fold/stacks/textinput.h"

/* A description of the file that begins with this text ("a picture (SVG)"). NULL: it may hold
 * stacks, or is one of those that only wrong_input_refuse recognizes. */
const char *wrong_input_kind(const char *text, size_t len);

/* 0, or FLAME_USAGE after a line that says what the input is and what to give instead. Call it
 * before the first record is read. */
int wrong_input_refuse(struct textinput *in);

#endif
