#include "render/dump/dumpsites.h"

#include <errno.h>

#include "common/error.h"
#include "fold/symbols/elfsym.h"
#include "tracer/offcpu/calls.h"

int dump_sites_load(const char *path, struct site_list *list)
{
    int err = sites_find_in(list, path);

    if (err == -ENOEXEC)
        return flame_error(FLAME_USAGE,
                           "%s: no ELF file with code for x86-64; --sites takes a program or a "
                           "library",
                           path);
    if (err == -E2BIG)
        return flame_error(FLAME_USAGE, "%s: more than %d system calls; no program has so many",
                           path, SITES_MAX);
    return err ? flame_cannot_read(path, err) : FLAME_OK;
}

static void dump_file(const char *path, const struct site_list *list, struct recordtext *w)
{
    char id[2 * SITES_BUILD_ID_MAX + 1] = "";
    size_t patchable = 0;

    for (size_t i = 0; i < list->build_id_len; i++)
        snprintf(id + 2 * i, 3, "%02x", list->build_id[i]);
    for (size_t i = 0; i < list->n; i++)
        patchable += list->sites[i].kind != SITE_NONE;
    recordtext_section(w, "file");
    recordtext_record(w);
    recordtext_number(w, "sites", list->n);
    recordtext_number(w, "patchable", patchable);
    recordtext_number(w, "code_bytes", list->code_bytes);
    recordtext_number(w, "instructions", list->instructions);
    recordtext_number(w, "unreadable_bytes", list->unreadable);
    recordtext_string(w, "build_id", id);
    recordtext_string(w, "path", path);
    recordtext_record_end(w);
}

static void dump_sum(struct recordtext *w, const char *what, const char *name, size_t count)
{
    if (!count)
        return;
    recordtext_record(w);
    recordtext_string(w, what, name);
    recordtext_number(w, "sites", count);
    recordtext_record_end(w);
}

static void dump_sums(const struct site_list *list, struct recordtext *w)
{
    size_t kinds[SITE_KINDS] = {0}, reasons[SITE_REASONS] = {0};

    for (size_t i = 0; i < list->n; i++) {
        kinds[list->sites[i].kind]++;
        reasons[list->sites[i].reason]++;
    }
    recordtext_section(w, "sum");
    for (unsigned i = SITE_NONE + 1; i < SITE_KINDS; i++)
        dump_sum(w, "kind", site_kind_name(i), kinds[i]);
    for (unsigned i = SITE_FINE + 1; i < SITE_REASONS; i++)
        dump_sum(w, "reason", site_reason_name(i), reasons[i]);
}

static void dump_site(const struct patch_site *s, const struct symtab *names, struct recordtext *w)
{
    const struct symtab_entry *in = symtab_find(names, s->call);

    recordtext_record(w);
    recordtext_address(w, "call", s->call);
    recordtext_string(w, "kind", site_kind_name(s->kind));
    recordtext_string(w, "reason", site_reason_name(s->reason));
    recordtext_signed(w, "number", s->number);
    recordtext_string(w, "name", call_find(s->number) ? call_name(s->number) : "");
    recordtext_address(w, "window", s->at);
    recordtext_number(w, "length", s->length);
    recordtext_bytes(w, "function", in ? in->name : "", in ? in->len : 0);
    recordtext_record_end(w);
}

void dump_sites(const char *path, const struct site_list *list, struct recordtext *w)
{
    struct elfsym *elf = elfsym_open(path);
    struct symtab names = SYMTAB_INIT;

    if (elf && !elfsym_add_symtab(elf, &names))
        elfsym_add_dynsym(elf, &names);
    symtab_finish(&names);
    dump_file(path, list, w);
    dump_sums(list, w);
    recordtext_section(w, "site");
    for (size_t i = 0; i < list->n; i++)
        dump_site(&list->sites[i], &names, w);
    symtab_release(&names);
    elfsym_close(elf);
}
