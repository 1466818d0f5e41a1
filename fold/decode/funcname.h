/*
 * funcname.h: functions' names as other profilers print them.
 *
 * Names are shown whole: functions that differ in their arguments only are different
 * functions, and so are run<main::{lambda()#1}> and run<main::{lambda()#2}>. The scripts in
 * common use cut names instead; the functions with `cut` in their names do so, too, for users
 * who compare with the scripts' output. Pure functions, thread-safe.
 */
#ifndef FLAME_FOLD_DECODE_FUNCNAME_H
#define FLAME_FOLD_DECODE_FUNCNAME_H

#include "fold/stacks/span.h"

/*
 * The next "->" from s[from] on that joins a function and one that was inlined into it, as
 * compilers for Java name their code; or NULL. A "->" that belongs to an operator, is in
 * brackets or follows a blank is part of a name of C++ or Rust and is skipped.
 */
const char *funcname_arrow(struct span s, size_t from);

/* A name without "+0x1f" and anything behind it. "operator+" is no offset. */
struct span funcname_before_offset(struct span s);

/* Like funcname_arrow, by the rule of stackcollapse-perf.pl: any "->" but an operator's joins
 * functions. */
const char *funcname_cut_arrow(struct span s, size_t from);
/* A function's name as stackcollapse-perf.pl cuts it: the part before the first '(', unless that
 * is an anonymous namespace's or the name looks like one of Go's methods. */
struct span funcname_cut_perf(struct span func);
/* A name in dtrace's text as stackcollapse.pl cuts it: the part before the last '(' or '<'
 * behind the first "::", and before the last '+'. */
struct span funcname_cut_dtrace(struct span s);

#endif
