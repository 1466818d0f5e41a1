#define _GNU_SOURCE
#include "render/backends/html_places.h"

#include "common/trace/varint_base64.h"
#include "fold/viewtable.h"
#include "render/frameplaces.h"
#include "render/text/json.h"

#define NAME_CHARS 1000

/* The view of a page whose columns are all of one recorder; else NULL. */
static const char *only_view(const struct render_options *o)
{
    const struct view *first = o->ncolumns ? view_find(o->columns[0].name) : NULL;

    for (size_t i = 1; first && i < o->ncolumns; i++) {
        const struct view *v = view_find(o->columns[i].name);

        if (!v || v->recorder != first->recorder)
            return NULL;
    }
    return first ? first->name : NULL;
}

static void add_kind(struct outstream *out, const struct frameplaces *p, enum frameplace kind,
                     const uint32_t *order)
{
    struct varint_writer of;

    strbuf_addf(&out->sb, "{\"kind\":\"%s\",\"told\":%s,\"depth\":%u,\"names\":[",
                frameplace_name(kind), p->t->module_of ? "true" : "false", p->depth);
    for (uint32_t i = 0; i < p->n; i++) {
        size_t len;
        const char *s = frameplaces_text(p, i, &len);

        strbuf_addstr(&out->sb, i ? "," : "");
        json_add_string(&out->sb, s, len, NAME_CHARS);
        outstream_some(out);
    }
    strbuf_addstr(&out->sb, "],\n\"of\":\"");
    varint_begin(&of, &out->sb);
    for (uint32_t i = 0; i < p->t->nnames; i++) {
        varint_add(&of, p->of[order[i]]);
        outstream_some(out);
    }
    varint_end(&of);
    strbuf_addstr(&out->sb, "\"}");
}

void html_places_add(struct outstream *out, const struct frametree *t,
                     const struct render_options *o, const uint32_t *order)
{
    static const enum frameplace kinds[] = {FRAMEPLACE_MODULE, FRAMEPLACE_FILE, FRAMEPLACE_THREAD,
                                            FRAMEPLACE_PROCESS};
    const char *comma = "";

    strbuf_addstr(&out->sb, "\"places\":[");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct frameplaces p;

        frameplaces_make(&p, t, kinds[i], only_view(o));
        if (p.known) {
            strbuf_addstr(&out->sb, comma);
            add_kind(out, &p, kinds[i], order);
            comma = ",\n";
        }
        frameplaces_release(&p);
    }
    strbuf_addstr(&out->sb, "],\n");
}
