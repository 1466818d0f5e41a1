/*
 * Any bytes as folded text: every line is parsed, every key looked up. The tree with the modules in
 * its names, and with the times in its comments, is built and exported in both directions. A frame
 * that folded_add_frame makes of the input must read back as one frame. (fuzz_picture draws.)
 */
#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/folded.h"
#include "fold/stacks/place.h"
#include "render/top/toplist.h"
#include "render/top/topplaces.h"
#include "tests/unit/foldedtree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* replay.c defines it, a fuzzer does not. */
extern const bool replays_all __attribute__((weak));

static void check(int good)
{
    if (!good)
        abort();
}

/* The exported text holds as many stacks with a count as the tree, and no other lines. */
static void check_folded(const struct foldedtree *f)
{
    const struct frametree *t = &f->tree;
    size_t len, stacks = 0, want = 0;
    char *text = foldedtree_written(f, &export_folded, &len);
    struct folded_line line;

    for (size_t at = 0; at < len;) {
        const char *nl = memchr(text + at, '\n', len - at);
        int kind = folded_parse_line(text + at, (size_t)(nl - text) - at, &line);

        check(kind == 1 || (kind == 0 && at == 0));
        stacks += kind == 1;
        at = (size_t)(nl - text) + 1;
    }
    for (uint32_t i = 0; i < t->n; i++)
        want += t->nodes[i].self > 0 || (t->self_part && t->self_part[i] > 0) ||
                (t->delta && t->delta[i] < 0);
    check(stacks == want);
    free(text);
}

static bool has_fractions(const struct frametree *t)
{
    for (uint32_t i = 0; t->delta && i < t->n; i++)
        if (t->delta[i] != floor(t->delta[i]))
            return true;
    return t->self_part != NULL;
}

/* A fuzzer tries more inputs if each is written in one format, which the input selects. */
static bool skips(const struct foldedtree *f, size_t i, size_t n)
{
    size_t sum = 0;

    for (const char *p = f->text; *p; p++)
        sum = sum * 31 + (unsigned char)*p;
    return !&replays_all && sum % n != i;
}

static void export(const struct foldedtree *f)
{
    size_t len, n = 0;

    check_folded(f);
    while (render_backends[n])
        n++;
    for (size_t i = 0; i < n; i++) {
        const struct render_backend *b = render_backends[i];

        if (skips(f, i, n))
            continue;
        if (strncmp(b->name, "png", 3) == 0 || b == &export_folded || b == &render_svg ||
            b == &render_html)
            continue;
        /* These would report on standard error that they round. */
        if (has_fractions(&f->tree) && (b == &export_pprof || b == &export_otlp ||
                                        b == &export_callgrind || b == &export_massif))
            continue;
        if (b == &export_pprof || b == &export_otlp || b == &export_perfetto)
            free(foldedtree_written(f, b, &len));
        else
            free(foldedtree_text(f, b));
    }
}

/* For each kind of place the self counts add up to the whole, and no total exceeds it. */
static void check_places(const struct frametree *t)
{
    for (int kind = FRAMEPLACE_MODULE; kind < FRAMEPLACES; kind++) {
        double sum = 0, all = folded_count_double(frametree_total(t, 0));
        struct frameplaces p;
        struct top_row *rows;
        size_t n, len;

        frameplaces_make(&p, t, (enum frameplace)kind, kind % 2 ? "alloc" : NULL);
        rows = topplaces_make(&p, NULL, TOP_BY_TOTAL, &n);
        check(n <= p.n);
        for (size_t i = 0; i < n; i++) {
            sum += folded_count_double(rows[i].self);
            check(folded_count_double(rows[i].total) <= all * 1.000001 + 0.001);
            check(frameplaces_text(&p, rows[i].name, &len) != NULL);
        }
        check(t->saturated || fabs(sum - all) <= all * 1e-6 + 0.001);
        free(rows);
        frameplaces_release(&p);
    }
}

static void merge(const char *s, size_t size, bool reverse)
{
    struct foldedtree f;
    struct top_row *rows;
    size_t n;

    foldedtree_make(&f, s, size, reverse);
    check_places(&f.tree);
    rows = toplist_make(&f.tree, NULL, TOP_BY_SELF, &n);
    check(n < f.tree.nnames);
    free(rows);
    export(&f);
    foldedtree_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *s = (const char *)data, *value;
    struct strbuf sb = STRBUF_INIT;
    struct folded_line f;
    size_t n;

    for (size_t at = 0; at < size;) {
        const char *nl = memchr(s + at, '\n', size - at);
        size_t len = nl ? (size_t)(nl - s) - at : size - at;

        if (folded_parse_line(s + at, len, &f) == 1)
            check(f.stack == s + at && f.len < len && f.count.part >= 0 && f.count.part < 1);
        if (folded_find_meta(s + at, len, "unit", &value, &n))
            check(value + n <= s + at + len);
        at += len + 1;
    }
    folded_add_frame(&sb, s, size);
    n = sb.len;
    strbuf_addstr(&sb, " 1");
    check(folded_parse_line(sb.buf, sb.len, &f) == 1 && !f.differential && f.len == n);
    check(!memchr(sb.buf, ';', sb.len) && !memchr(sb.buf, '\n', sb.len));
    strbuf_clear(&sb);
    strbuf_add(&sb, s, size);
    place_strip_text(&sb);
    check(sb.len <= size && (!sb.len || !memchr(sb.buf, PLACE_MARK, sb.len)));
    strbuf_release(&sb);
    merge(s, size, false);
    merge(s, size, true);
    return 0;
}
