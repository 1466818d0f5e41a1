#include "driver/kept/keptnames.h"

#include <stdlib.h>

#include "common/basename.h"
#include "common/str_starts.h"
#include "common/hash.h"

void keptnames_begin(struct keptnames *k, const struct keptspace *space)
{
    /* Only by tables of symbols: functions that are inlined would cost a hundred times as much, and
     * debug information is read in a process of its own (fold/fold_in_child.c). */
    *k = (struct keptnames){
        .space = space,
        .symbols = symbols_new(&(struct symbol_options){.lines = false, .no_inline = true})};
    hashslots_init(&k->known, 1024);
}

void keptnames_end(struct keptnames *k)
{
    for (uint32_t i = 0; i < k->n; i++)
        free(k->text[i]);
    free(k->text);
    while (k->ndistrusted > 0)
        free(k->distrusted[--k->ndistrusted]);
    hashslots_release(&k->known);
    symbols_free(k->symbols);
}

uint32_t keptnames_number(struct keptnames *k, const char *text, size_t len)
{
    uint32_t hash = (uint32_t)(fnv_bytes(FNV_BASIS, text, len) * HASH_GOLDEN >> 32), at;
    char *copy;

    for (size_t i = hashslots_first(&k->known, hash); hashslots_at(&k->known, i, &at);
         i = hashslots_next(&k->known, i))
        if (strlen(k->text[at]) == len && memcmp(k->text[at], text, len) == 0)
            return at;
    copy = xmalloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = '\0';
    GROW(k->text, k->n, k->room);
    k->text[k->n] = copy;
    hashslots_add(&k->known, hash, k->n);
    return k->n++;
}

struct symbol_module *keptnames_module(struct keptnames *k, uintptr_t addr, uint64_t *vaddr,
                                       const char **path)
{
    struct kept_module m;

    if (!k->space->module(k->space->arg, addr, &m))
        return NULL;
    *vaddr = addr - m.bias;
    *path = m.path;
    return symbols_module(k->symbols, m.path, m.build_id, m.build_id_size, m.layout);
}

struct symbol_frames keptnames_functions(struct keptnames *k, uintptr_t pc, bool exact)
{
    const char *path;
    uint64_t vaddr;
    struct symbol_module *m = keptnames_module(k, pc - !exact, &vaddr, &path);

    return m ? symbols_find(k->symbols, m, vaddr) : (struct symbol_frames){.n = 0};
}

bool keptnames_is_recorder(const char *path)
{
    return strcmp(base_name(path), "libflamemem.so") == 0;
}

bool keptnames_is_loader(const char *path)
{
    const char *name = base_name(path);

    return starts_with(name, "ld-linux") || starts_with(name, "ld-musl");
}

bool keptnames_is_allocator(const char *path)
{
    static const char *const files[] = {"libjemalloc.so", "libtcmalloc", "libmimalloc.so"};
    const char *name = base_name(path);

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (starts_with(name, files[i]))
            return true;
    return false;
}
