/*
 * Demangling by libiberty, with bounds.
 *
 * Names come from untrusted files, and two things grow without bound: the demangler's recursion
 * with the length of the name, and the output with its back-references (each may repeat the text
 * before, so that forty bytes can become gigabytes). The first is bounded by libiberty's own
 * limit, which also refuses any name of more than about 1,000 bytes; honest template code has
 * such names, so up to LONG_NAME bytes are tried again without it, as that much stack is surely
 * there. The second is bounded here: text comes through a callback, which jumps out when there
 * is too much of it. (The demangler keeps its state on the stack, so that only a Rust
 * identifier's scratch memory leaks.)
 */
#include "fold/symbols/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>

#include "common/alloc.h"

#define LONG_NAME 4096
#define OUTPUT_MAX 65536

struct sink {
    struct strbuf *sb;
    size_t begin;
    jmp_buf enough;
};

static void take(const char *s, size_t len, void *opaque)
{
    struct sink *sink = opaque;

    if (sink->sb->len - sink->begin + len > OUTPUT_MAX)
        longjmp(sink->enough, 1);
    strbuf_add(sink->sb, s, len);
}

typedef int (*demangler)(const char *, int, demangle_callbackref, void *);

static bool try(struct strbuf *sb, demangler run, const char *name, int options)
{
    struct sink sink = {.sb = sb, .begin = sb->len};
    /* Not changed after setjmp, so it has its value after a longjmp too. */
    const size_t begin = sb->len;

    if (setjmp(sink.enough) == 0 && run(name, options, take, &sink) && sb->len > begin)
        return true;
    strbuf_setlen(sb, begin);
    return false;
}

bool demangle(struct strbuf *sb, const char *name, size_t len)
{
    const int options = DMGL_PARAMS | DMGL_ANSI;
    char *copy;
    bool done;

    if (len < 3 || len > LONG_NAME || name[0] != '_')
        return false;
    if (name[1] != 'Z' && name[1] != 'R' && (name[1] != '_' || (name[2] != 'Z' && name[2] != 'R')))
        return false;
    copy = xmemdup0(name, len);
    done = try(sb, rust_demangle_callback, copy, options) ||
           try(sb, cplus_demangle_v3_callback, copy, options) ||
           try(sb, cplus_demangle_v3_callback, copy, options | DMGL_NO_RECURSE_LIMIT);
    free(copy);
    return done;
}
