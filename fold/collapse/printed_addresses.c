/*
 * Finding inlined functions from a name and an offset.
 *
 * Each module's symbols are listed once by the name that profilers print, the
 * demangled one, and looked up by bisection. An address is asked about once for
 * every different line of input, so this need not be fast.
 *
 * Rejected: taking the address alone. Nearly every file is loaded anywhere.
 */
#include "fold/collapse/printed_addresses.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/strbuf.h"
#include "fold/symbols/demangle.h"
#include "fold/symbols/elfsym.h"

struct named {
    char *name;
    uint64_t addr;
};

struct inline_module {
    char *path;
    struct symbol_module *module;
    struct named *names;
    size_t n;
};

struct inlines {
    struct symbol_options opt;
    struct symbols *symbols;
    struct inline_module *modules;
    size_t n;
};

struct inlines *inlines_new(bool lines)
{
    struct inlines *il = xcalloc(1, sizeof *il);

    il->opt.lines = lines;
    il->symbols = symbols_new(&il->opt);
    return il;
}

void inlines_free(struct inlines *il)
{
    if (!il)
        return;
    for (size_t i = 0; i < il->n; i++) {
        for (size_t k = 0; k < il->modules[i].n; k++)
            free(il->modules[i].names[k].name);
        free(il->modules[i].names);
        free(il->modules[i].path);
    }
    free(il->modules);
    symbols_free(il->symbols);
    free(il);
}

static int by_name(const void *pa, const void *pb)
{
    const struct named *a = pa, *b = pb;
    int c = strcmp(a->name, b->name);

    return c ? c : (a->addr > b->addr) - (a->addr < b->addr);
}

static void list_names(struct inline_module *m)
{
    struct elfsym *e = elfsym_open(m->path);
    struct symtab t = SYMTAB_INIT;

    if (!e)
        return;
    elfsym_add_symtab(e, &t);
    elfsym_add_dynsym(e, &t);
    symtab_finish(&t);
    m->names = xcalloc(t.n, sizeof *m->names);
    for (size_t i = 0; i < t.n; i++) {
        struct strbuf name = STRBUF_INIT;

        if (!demangle(&name, t.e[i].name, t.e[i].len))
            strbuf_add(&name, t.e[i].name, t.e[i].len);
        m->names[m->n++] = (struct named){strbuf_detach(&name, NULL), t.e[i].addr};
    }
    if (m->n)
        qsort(m->names, m->n, sizeof *m->names, by_name);
    symtab_release(&t);
    elfsym_close(e);
}

static struct inline_module *module_at(struct inlines *il, struct span path)
{
    struct inline_module *m;

    for (size_t i = 0; i < il->n; i++)
        if (span_is(path, il->modules[i].path))
            return &il->modules[i];
    il->modules = xreallocarray(il->modules, il->n + 1, sizeof *il->modules);
    m = &il->modules[il->n++];
    *m = (struct inline_module){.path = xmemdup0(path.s, path.len)};
    m->module = symbols_module(il->symbols, m->path, NULL, 0, 0);
    list_names(m);
    return m;
}

static bool address_of(const struct inline_module *m, struct span name, uint64_t *addr)
{
    size_t lo = 0, hi = m->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2, len = strlen(m->names[mid].name);
        int c = memcmp(m->names[mid].name, name.s, len < name.len ? len : name.len);

        if (c < 0 || (c == 0 && len < name.len))
            lo = mid + 1;
        else
            hi = mid;
    }
    /* A name that several functions have does not tell which of them is meant. */
    if (lo == m->n || !span_is(name, m->names[lo].name) ||
        (lo + 1 < m->n && span_is(name, m->names[lo + 1].name)))
        return false;
    *addr = m->names[lo].addr;
    return true;
}

static uint64_t hex(struct span s)
{
    uint64_t v = 0;

    for (size_t i = 0; i < span_hex(s); i++)
        v = v << 4 | (uint64_t)(is_digit_ch(s.s[i]) ? s.s[i] - '0' : (s.s[i] | 0x20) - 'a' + 10);
    return v;
}

struct symbol_frames inlines_find(struct inlines *il, struct span module, struct span function,
                                  struct span pc)
{
    struct inline_module *m = module_at(il, module);
    struct symbol_frames found = symbols_find(il->symbols, m->module, hex(pc));
    size_t plus = span_rchr(function, '+');
    uint64_t addr;

    if (found.n > 0 || plus == SIZE_MAX || !span_begins(span_from(function, plus), "+0x") ||
        !address_of(m, span_to(function, plus), &addr))
        return found;
    return symbols_find(il->symbols, m->module, addr + hex(span_from(function, plus + 3)));
}
