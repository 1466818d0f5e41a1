/*
 * plainname.h: names as the programmer wrote them, where a profiler printed the compiler's form:
 * mangled ones of C++ and Rust, and those of Rust that went through a demangler that knows C++
 * alone, which leaves "$LT$" for '<', ".." for "::" and the hash at the end.
 *
 * Source of both: the Rust project's description of its legacy and v0 manglings (rustc's book,
 * "Symbol Mangling") and of the escapes in its own sources, as facts.
 */
#ifndef FLAME_FOLD_SYMBOLS_PLAINNAME_H
#define FLAME_FOLD_SYMBOLS_PLAINNAME_H

#include "common/strbuf.h"
#include "fold/stacks/span.h"

/*
 * Appends the plain form of a name to out, and is true; false, and out as it was, where the name
 * is plain already. A module before a '`', as dtrace prints it, stays. Hashes of Rust's
 * functions go: flame's own symbols have none either. What only looks like an escape, as names of
 * Scala and Java do ("a$C$b"), stays: without a hash there must be both "$LT$" and "$GT$".
 * Not thread-safe (demangle.h).
 */
bool plainname(struct strbuf *out, struct span name);

/* Whether plainname may change the name; quick. */
bool plainname_may(struct span name);

#endif
