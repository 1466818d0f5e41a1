/*
 * Findings as text: a sentence a line (render/findings), and below each, indented, its place:
 * the view and the stack, from the root to the frame that the sentence is about.
 */
#include <stdlib.h>

#include "common/alloc.h"
#include "render/backend.h"
#include "render/findings/findings.h"
#include "render/framename.h"
#include "render/text/outstream.h"

static void add_stack(struct strbuf *sb, const struct frametree *t, uint32_t node)
{
    uint32_t *path, at = node;
    size_t n = 0;

    for (; at; at = t->nodes[at].parent)
        n++;
    path = xcalloc(n + 1, sizeof *path);
    at = node;
    for (size_t i = n; i-- > 0; at = t->nodes[at].parent)
        path[i] = at;
    for (size_t i = 0; i < n; i++) {
        const struct frametree_name *name = frametree_name(t, path[i]);

        strbuf_addstr(sb, i ? ";" : "");
        framename_add_clean(sb, name->s, name->len);
    }
    free(path);
}

static int findings_write(FILE *out, const struct frametree *t, const struct render_options *o)
{
    struct outstream text = OUTSTREAM_INIT(out);
    struct findings f;

    findings_make(&f, t, o, true);
    for (size_t i = 0; i < f.n; i++) {
        const char *view = o->columns[f.f[i].column].name;

        strbuf_addf(&text.sb, "%s\n    ", f.f[i].text);
        framename_add_clean(&text.sb, view, strlen(view));
        if (f.f[i].node) {
            strbuf_addstr(&text.sb, *view ? " " : "");
            add_stack(&text.sb, t, f.f[i].node);
        }
        strbuf_addch(&text.sb, '\n');
        outstream_some(&text);
    }
    findings_release(&f);
    return outstream_end(&text);
}

const struct render_backend export_findings = {
    .name = "findings",
    .what = "what there is to see, in sentences, each with its stack",
    .all_views = true,
    .lines = true,
    .explores = true,
    .write = findings_write,
};
