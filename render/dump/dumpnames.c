#include "render/dump/dumpnames.h"

static void text(const struct namepack *p, struct recordtext *w, const char *name, uint32_t string)
{
    struct namepack_text t = namepack_string(p, string);

    recordtext_bytes(w, name, t.s, t.len);
}

static void dump_place(const struct namepack *p, const struct namepack_module *m,
                       const struct namepack_place *place, struct recordtext *w)
{
    const struct namepack_frame *f = namepack_frames(p, place);

    for (uint32_t i = 0; i < place->n || i == 0; i++) {
        recordtext_record(w);
        recordtext_string(w, "module", namepack_path(m));
        recordtext_address(w, "place", place->vaddr);
        if (place->flags & NAMEPACK_SIGRETURN)
            recordtext_number(w, "sigreturn", 1);
        if (i < place->n) {
            recordtext_number(w, "inlined", i > 0);
            text(p, w, "name", f[i].name);
        }
        if (i < place->n && f[i].path) {
            text(p, w, "path", f[i].path);
            recordtext_number(w, "line", f[i].line);
        }
        recordtext_record_end(w);
    }
}

static void dump_module(const struct namepack *p, const struct namepack_module *m,
                        struct recordtext *w)
{
    const struct namepack_place *place;
    const struct namepack_object *o;

    for (size_t i = 0; (place = namepack_place_at(m, i)); i++)
        if (place->n || place->flags & NAMEPACK_SIGRETURN)
            dump_place(p, m, place, w);
    for (size_t i = 0; (o = namepack_object_at(m, i)); i++) {
        recordtext_record(w);
        recordtext_string(w, "module", namepack_path(m));
        recordtext_address(w, "object", o->vaddr);
        text(p, w, "name", o->name);
        recordtext_number(w, "offset", o->offset);
        recordtext_number(w, "size", o->size);
        recordtext_record_end(w);
    }
}

void dump_names(const struct namepack *names, struct recordtext *w)
{
    const struct namepack_code *code;

    if (!names)
        return;
    for (const struct namepack_module *m = namepack_next(names, NULL); m;
         m = namepack_next(names, m))
        dump_module(names, m, w);
    for (size_t i = 0; (code = namepack_made_at(names, i)); i++) {
        recordtext_record(w);
        recordtext_number(w, "pid", code->pid);
        recordtext_address(w, "addr", code->addr);
        text(names, w, "name", code->name);
        recordtext_record_end(w);
    }
}
