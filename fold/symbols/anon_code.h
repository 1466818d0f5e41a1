/*
 * anon_code.h: names for generated code that lies in no file and has no name.
 *
 * Such code was generated while the program ran, by a runtime whose library is in the process.
 * Frames of it differ in nothing but addresses that mean nothing and that change from run to
 * run; the name of the language is all that there is to show. Pure functions, thread-safe.
 */
#ifndef FLAME_FOLD_SYMBOLS_ANON_CODE_H
#define FLAME_FOLD_SYMBOLS_ANON_CODE_H

#include <stdbool.h>

#include "common/trace/trace_reader.h"

/* The frame for such code in an address space of this epoch, "[java]"; NULL: there is no such
 * library. Searches all modules of the trace. */
const char *anon_code_name(const struct trace *t, uint32_t epoch);

/* Whether a name is that of all interpreted code together, as the JVM's own map has it: it says
 * no more than anon_code_name. */
bool anon_code_is_all(const char *name, size_t len);

/* Whether a frame's name is one that anon_code_name returns. */
bool anon_code_is_name(const char *name, size_t len);

#endif
