#include "render/colormap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <uthash.h>

#include "common/alloc.h"

struct entry {
    UT_hash_handle hh;
    struct rgb color;
    size_t len;
    char name[];
};

struct colormap {
    struct entry *entries;
};

struct colormap *colormap_new(void)
{
    return xcalloc(1, sizeof(struct colormap));
}

void colormap_free(struct colormap *m)
{
    struct entry *e, *tmp;

    if (!m)
        return;
    HASH_ITER (hh, m->entries, e, tmp) {
        HASH_DEL(m->entries, e);
        free(e);
    }
    free(m);
}

struct rgb colormap_color(struct colormap *m, const char *name, size_t len, struct rgb otherwise)
{
    struct entry *e;

    HASH_FIND(hh, m->entries, name, len, e);
    if (e)
        return e->color;
    e = xmalloc(sizeof *e + len + 1);
    memset(e, 0, sizeof *e);
    e->color = otherwise;
    e->len = len;
    memcpy(e->name, name, len);
    e->name[len] = '\0';
    HASH_ADD_KEYPTR(hh, m->entries, e->name, len, e);
    return otherwise;
}

static void take_line(struct colormap *m, char *line, size_t len)
{
    unsigned r, g, b;
    char *arrow = NULL;
    int used = 0;

    /* The last one: a name may hold "->" itself. */
    for (size_t i = 0; i + 6 < len; i++)
        if (memcmp(line + i, "->rgb(", 6) == 0)
            arrow = line + i;
    if (arrow && sscanf(arrow, "->rgb(%3u,%3u,%3u)%n", &r, &g, &b, &used) == 3 && used && r < 256 &&
        g < 256 && b < 256)
        colormap_color(m, line, (size_t)(arrow - line),
                       (struct rgb){(uint8_t)r, (uint8_t)g, (uint8_t)b});
}

int colormap_read(struct colormap *m, const char *path)
{
    struct strbuf sb = STRBUF_INIT;
    int err = strbuf_read_file(&sb, path, SIZE_MAX);

    if (err == -ENOENT)
        err = 0;
    for (size_t at = 0; !err && at < sb.len;) {
        char *nl = memchr(sb.buf + at, '\n', sb.len - at);
        size_t len = nl ? (size_t)(nl - sb.buf) - at : sb.len - at;

        if (nl)
            *nl = '\0';
        take_line(m, sb.buf + at, len);
        at += len + 1;
    }
    strbuf_release(&sb);
    return err;
}

static int by_name(const struct entry *a, const struct entry *b)
{
    int c = memcmp(a->name, b->name, a->len < b->len ? a->len : b->len);

    return c ? c : a->len < b->len ? -1 : a->len > b->len;
}

int colormap_write(struct colormap *m, struct outfile *out)
{
    HASH_SORT(m->entries, by_name);
    for (struct entry *e = m->entries; e; e = e->hh.next) {
        fwrite(e->name, 1, e->len, out->f);
        fprintf(out->f, "->rgb(%u,%u,%u)\n", e->color.r, e->color.g, e->color.b);
    }
    return outfile_commit(out);
}
