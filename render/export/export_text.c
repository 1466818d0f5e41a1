/*
 * The tree as plain text, for mails and pagers: what `flame top --tree` prints of all
 * frames, with all digits.
 */
#include "render/backend.h"
#include "render/export/exporttext.h"
#include "render/export/series.h"
#include "render/top/toptext.h"
#include "render/top/toptree.h"

static int text_write(FILE *file, const struct frametree *t, const struct render_options *o)
{
    struct outstream out = OUTSTREAM_INIT(file);
    struct strbuf widest = STRBUF_INIT;
    struct toptree_look look = {.exact = true, .unit = o->columns[0].unit};

    toptext_add_value(&widest, frametree_total(t, 0), look.unit, true, 10);
    look.width = widest.len;
    strbuf_release(&widest);
    exporttext_heading(&out.sb, o);
    strbuf_addstr(&out.sb, " (");
    toptext_add_name(&out.sb, look.unit, strlen(look.unit), 0);
    strbuf_addstr(&out.sb, ")\n");
    toptext_add_columns(&out.sb, look.width, "frame\n");
    toptree_write(&out, t, 0, &look);
    return outstream_end(&out);
}

const struct render_backend export_text = {
    .name = "text",
    .endings = "txt",
    .what = "the tree as plain text",
    .write = text_write,
};
