/*
 * Any bytes as folded text drawn, as a picture and as a page, both ways round: no input may get
 * markup or a control character into either. What both have of their own is most of the work:
 * fuzz_folded has the rest and is quick.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/foldedtree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
    if (!good)
        abort();
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, part)); p++)
        n++;
    return n;
}

static void draw(const char *s, size_t size, bool reverse)
{
    struct foldedtree f;
    char *text;

    foldedtree_make(&f, s, size, reverse);
    text = foldedtree_text(&f, &render_svg);
    check(count_of(text, "<script") == 1 && count_of(text, "<style") == 1);
    check(count_of(text, "<g data-x=") <= f.tree.n);
    free(text);
    text = foldedtree_text(&f, &render_html);
    check(count_of(text, "<script") == 2 && count_of(text, "</script") == 2);
    check(count_of(text, "<!--") == 0 && count_of(text, "<style") == 1);
    free(text);
    foldedtree_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    draw((const char *)data, size, false);
    draw((const char *)data, size, true);
    return 0;
}
