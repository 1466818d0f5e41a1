/*
 * demangle.h: names as the programmer wrote them.
 */
#ifndef FLAME_FOLD_SYMBOLS_DEMANGLE_H
#define FLAME_FOLD_SYMBOLS_DEMANGLE_H

#include <stdbool.h>

#include "common/strbuf.h"

/*
 * Appends the demangled form of the C++ (Itanium ABI) or Rust (legacy and v0)
 * symbol name[0..len) to sb. False, and sb as it was, when the name is not
 * mangled, is hopelessly long, or would grow beyond all measure. Not thread-safe.
 */
bool demangle(struct strbuf *sb, const char *name, size_t len);

#endif
