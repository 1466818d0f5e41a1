/* Symbol tables and address ranges by hand, then this very program's own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/strbuf.h"
#include "common/trace/trace_reader.h"
#include "fold/symbols/elfsym.h"
#include "fold/fold.h"
#include "fold/symbols/rangemap.h"
#include "fold/symbols/symbols.h"
#include "fold/symbols/symtab.h"
#include "tests/tap.h"
#include "tests/unit/trace_build.h"

/* ---- symtab ---- */

static void add(struct symtab *t, uint64_t addr, uint64_t size, enum symtab_rank rank,
                const char *name)
{
    symtab_add(t, addr, size, 0x9000, rank, name, strlen(name));
}

static void finds(const struct symtab *t, uint64_t addr, const char *want)
{
    const struct symtab_entry *e = symtab_find(t, addr);
    char *got = e ? xmemdup0(e->name, e->len) : xstrdup("(none)");

    is_str(got, want, "symtab_find at 0x%llx finds %s", (unsigned long long)addr, want);
    free(got);
}

static void test_symtab(void)
{
    struct symtab t = SYMTAB_INIT;

    finds(&t, 1, "(none)");
    symtab_finish(&t);
    finds(&t, 1, "(none)");

    add(&t, 0x1000, 0x100, SYMTAB_RANK_GLOBAL, "outer");
    add(&t, 0x1040, 0x10, SYMTAB_RANK_LOCAL, "inner");
    add(&t, 0x2000, 0, SYMTAB_RANK_GLOBAL, "asm_one");
    add(&t, 0x2080, 0, SYMTAB_RANK_LABEL, "asm_two");
    add(&t, 0x3000, 0x10, SYMTAB_RANK_GLOBAL, "__libc_malloc");
    add(&t, 0x3000, 0x10, SYMTAB_RANK_GLOBAL, "malloc");
    add(&t, 0x3000, 0x10, SYMTAB_RANK_GLOBAL, "__malloc");
    add(&t, 0x4000, 0x10, SYMTAB_RANK_LOCAL, "a_local");
    add(&t, 0x4000, 0x10, SYMTAB_RANK_GLOBAL, "z_global");
    add(&t, 0x5000, 0x10, SYMTAB_RANK_LABEL, "a_label");
    add(&t, 0x5000, 0x10, SYMTAB_RANK_LOCAL, "z_local");
    add(&t, 0x6000, 0, SYMTAB_RANK_GLOBAL, "a_sizeless");
    add(&t, 0x6000, 0x10, SYMTAB_RANK_LOCAL, "z_sized");
    add(&t, UINT64_MAX - 10, 100, SYMTAB_RANK_GLOBAL, "at the end");
    add(&t, 0x9100, 0, SYMTAB_RANK_GLOBAL, "beyond its section");
    add(&t, 0x7000, 0x10, SYMTAB_RANK_GLOBAL, "");
    symtab_finish(&t);

    finds(&t, 0xfff, "(none)");
    finds(&t, 0x1000, "outer");
    finds(&t, 0x103f, "outer");
    finds(&t, 0x1040, "inner");
    finds(&t, 0x1050, "outer");
    finds(&t, 0x10ff, "outer");
    finds(&t, 0x1100, "(none)");
    finds(&t, 0x207f, "asm_one");
    finds(&t, 0x2080, "asm_two");
    finds(&t, 0x2fff, "asm_two");
    finds(&t, 0x3000, "malloc");
    finds(&t, 0x300f, "malloc");
    finds(&t, 0x3010, "(none)");
    finds(&t, 0x4000, "z_global");
    finds(&t, 0x5000, "z_local");
    finds(&t, 0x6000, "z_sized");
    finds(&t, 0x6010, "(none)");
    finds(&t, 0x7000, "(none)");
    finds(&t, 0x9100, "(none)");
    finds(&t, UINT64_MAX - 1, "at the end");
    symtab_release(&t);
}

static uint32_t draw(uint32_t below)
{
    static uint64_t seed = 7;

    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* Compared with a search of each range: the range that begins last, then the shortest, wins. */
static void test_rangemap(void)
{
    for (int round = 0; round < 50; round++) {
        struct rangemap m = {0};
        struct range all[40];
        size_t n = 1 + draw(ARRAY_LEN(all));
        int wrong = 0;

        for (size_t i = 0; i < n; i++) {
            all[i].low = draw(100);
            all[i].high = all[i].low + draw(round % 2 ? 10 : 60);
            rangemap_add(&m, all[i].low, all[i].high, (uint32_t)i);
        }
        rangemap_finish(&m);
        for (uint64_t addr = 0; addr < 170; addr++) {
            size_t best = SIZE_MAX;
            uint32_t got = rangemap_find(&m, addr);

            for (size_t i = 0; i < n; i++)
                if (all[i].low <= addr && addr < all[i].high &&
                    (best == SIZE_MAX || all[i].low > all[best].low ||
                     (all[i].low == all[best].low && all[i].high <= all[best].high)))
                    best = i;
            wrong += best == SIZE_MAX ? got != RANGEMAP_NONE : got != best;
        }
        is_int(wrong, 0, "rangemap_find agrees with a search of each range, round %d", round);
        rangemap_release(&m);
    }
}

/* ---- this program ---- */

FLAME_NOINLINE void a_function_to_be_found(void);

void a_function_to_be_found(void)
{
    __asm__ volatile("");
}

static char *name_of(struct symbols *s, struct symbol_module *m, uint64_t vaddr)
{
    struct symbol_frames f = symbols_find(s, m, vaddr);

    return f.n ? xmemdup0(f.frame[0].name, f.frame[0].len) : xstrdup("(none)");
}

static void test_self(void)
{
    struct symbol_options opt = {.no_inline = true};
    struct symbols *s = symbols_new(&opt);
    struct symbol_module *m = symbols_module(s, "/proc/self/exe", NULL, 0, 0);
    const struct link_map *map = NULL;
    uint64_t vaddr;
    Dl_info info;
    char *name;

    dladdr1((void *)(uintptr_t)a_function_to_be_found, &info, (void **)&map, RTLD_DL_LINKMAP);
    vaddr = (uint64_t)(uintptr_t)a_function_to_be_found - map->l_addr;
    name = name_of(s, m, vaddr);
    is_str(name, "a_function_to_be_found", "symbols_find finds a function of this program");
    free(name);
    ok(symbols_module(s, "/proc/self/exe", NULL, 0, 0) == m, "symbols_module opens a module once");
    name = name_of(s, m, 1);
    is_str(name, "(none)", "symbols_find finds no function at address 1");
    free(name);
    m = symbols_module(s, "/proc/self/exe", (const uint8_t *)"other", 5, 0);
    if (!freopen("/dev/null", "w", stderr))
        exit(EXIT_FAILURE);
    name = name_of(s, m, vaddr);
    is_str(name, "(none)", "a module with another build id has no symbols");
    free(name);
    m = symbols_module(s, "/nonexistent", NULL, 0, 0);
    name = name_of(s, m, vaddr);
    is_str(name, "(none)", "a missing module has no symbols");
    free(name);
    m = symbols_module(s, "/dev/null", NULL, 0, 0);
    name = name_of(s, m, vaddr);
    is_str(name, "(none)", "a device as module has no symbols");
    free(name);
    m = symbols_module(s, "[vdso]", NULL, 0, 0);
    name = name_of(s, m, vaddr);
    is_str(name, "(none)", "a module without a path has no symbols");
    free(name);
    symbols_free(s);
}

static void *volatile returns_to;

static void handler(int sig)
{
    (void)sig;
    returns_to = __builtin_return_address(0);
}

static void test_sigreturn(void)
{
    struct symbol_options opt = {.no_inline = true};
    struct symbols *s = symbols_new(&opt);
    const struct link_map *map = NULL;
    struct symbol_module *m;
    uint64_t vaddr;
    Dl_info info;

    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    if (!ok(dladdr1(returns_to, &info, (void **)&map, RTLD_DL_LINKMAP) && map->l_name[0] == '/',
            "a signal handler returns into a library"))
        goto out;
    m = symbols_module(s, map->l_name, NULL, 0, 0);
    vaddr = (uint64_t)(uintptr_t)returns_to - map->l_addr;
    ok(symbols_is_sigreturn(s, m, vaddr),
       "symbols_is_sigreturn recognises a handler's return address");
    ok(!symbols_is_sigreturn(s, m, vaddr + 1),
       "symbols_is_sigreturn refuses an address within sigreturn");
    ok(!symbols_is_sigreturn(s, m, (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "qsort") - map->l_addr),
       "symbols_is_sigreturn refuses another function");
out:
    symbols_free(s);
}

static void add_module(struct trace_build *b, const struct link_map *map, const char *path)
{
    tb_module_plain(b, map->l_addr, map->l_addr + 0x1000000, map->l_addr, path);
}

/*
 * An address interrupted at its first instruction: one byte before it is another function, so the
 * name is right only if the address is used as it is.
 */
static void test_interrupted(void)
{
    struct fold_options opt = {.no_header = true, .symbols = {.no_inline = true}};
    uint64_t first = (uint64_t)(uintptr_t)a_function_to_be_found;
    const struct link_map *self = NULL, *libc = NULL;
    struct strbuf got = STRBUF_INIT;
    struct trace_build b;
    struct trace *t = NULL;
    uint32_t id;
    Dl_info info;

    if (!dladdr1((void *)(uintptr_t)first, &info, (void **)&self, RTLD_DL_LINKMAP) ||
        !dladdr1(returns_to, &info, (void **)&libc, RTLD_DL_LINKMAP)) {
        ok(false, "this program's modules are found");
        return;
    }
    tb_init(&b);
    tb_meta_string(&b, TRACE_META_COMM, "app");
    add_module(&b, self, "/proc/self/exe");
    add_module(&b, libc, libc->l_name);
    id = tb_node(&b, TRACE_NODE_PC, first, tb_root(&b, 0, 0));
    id = tb_node(&b, TRACE_NODE_PC, (uint64_t)(uintptr_t)returns_to, id);
    tb_row(&b, id, 0, 5, 1);
    is_int(trace_load_bytes("t", b.data, b.len, false, &t), 0,
           "a trace of an interrupted program loads");
    is_int(fold_loaded(&opt, &t, 1, &got), 0, "a trace of an interrupted program folds");
    is_str(got.buf, "app;a_function_to_be_found;__restore_rt 5\n",
           "the function interrupted at its first instruction is named");
    strbuf_release(&got);
    trace_free(t);
    tb_release(&b);
}

static void test_build_id(void)
{
    struct elfsym *e = elfsym_open("/proc/self/exe");
    uint8_t at;
    size_t len;

    if (!ok(e != NULL, "elfsym_open opens this program"))
        return;
    ok(elfsym_has_section(e, ".text"), "this program has a .text section");
    elfsym_build_id(e, &len);
    ok(len == 0 || len >= 8, "this program's build id is empty or at least 8 bytes long");
    ok(!elfsym_read(e, UINT64_MAX - 3, &at, 1) && !elfsym_read(e, 0, &at, SIZE_MAX),
       "elfsym_read refuses addresses outside of the file");
    elfsym_close(e);
    ok(!elfsym_open("/"), "elfsym_open refuses a directory");
    ok(!elfsym_open_memory(xmemdup0("\177ELF", 4), 4), "elfsym_open_memory refuses four bytes");
    ok(!elfsym_open_memory(xmemdup0("", 0), 0), "elfsym_open_memory refuses an empty file");
}

int main(void)
{
    test_symtab();
    test_rangemap();
    test_build_id();
    test_sigreturn();
    test_interrupted();
    test_self();
    return done_testing();
}
