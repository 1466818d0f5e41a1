/*
 * Any folded text and any keys for the viewer. The text ends at the first NUL; each byte behind it
 * is a key, a click, another size or another source. After each of them the screen holds no byte
 * that a terminal must not get, and no half characters.
 */
#define _GNU_SOURCE
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "common/alloc.h"
#include "common/folded.h"
#include "render/view/viewdraw.h"
#include "render/view/viewkeys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
    if (!good)
        abort();
}

static bool is_safe(uint32_t cp)
{
    return cp >= 0x20 && !(cp >= 0x7f && cp < 0xa0) && !(cp >= 0x200b && cp <= 0x200f) &&
           !(cp >= 0x2028 && cp <= 0x202e) && !(cp >= 0x2060 && cp <= 0x206f) && cp != 0xfeff &&
           cp <= 0x10ffff && !(cp >= 0xd800 && cp < 0xe000);
}

static void check_cell(const struct cells *c, int y, int x)
{
    const struct cell *cell = cells_at(c, y, x);

    if (cell->cp == CELL_CONTINUED) {
        check(x > 0 && wcwidth((wchar_t)cell[-1].cp) == 2);
        return;
    }
    check(is_safe(cell->cp) && (!c->ascii || cell->cp < 0x7f));
    for (int i = 0; i < CELL_MARKS; i++)
        check(!cell->marks[i] || (is_safe(cell->marks[i]) && !c->ascii));
    if (wcwidth((wchar_t)cell->cp) == 2)
        check(x + 1 < c->width && cell[1].cp == CELL_CONTINUED);
}

static void draw(struct viewmodel *m, struct cells *c)
{
    viewmodel_settle(m);
    viewdraw(m, c);
    check(c->width == m->width && c->height == m->height);
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            check_cell(c, y, x);
}

/* Two sources of one tree: its counts, and every other one of them, some negative. */
struct sources {
    struct frametree tree;
    struct view_column columns[2][2];
    struct view_source source[2];
    double *self[2];
};

static void make_sources(struct sources *s, const char *text, size_t len)
{
    const char *end = text + len;

    frametree_init(&s->tree, false);
    while (text < end) {
        const char *next = memchr(text, '\n', (size_t)(end - text));
        struct folded_line line;

        if (!next)
            next = end;
        if (folded_parse_line(text, (size_t)(next - text), &line) == 1)
            check(frametree_add(&s->tree, &line) == 0);
        text = next + 1;
    }
    frametree_finish(&s->tree);
    for (int i = 0; i < 2; i++)
        s->self[i] = xcalloc(s->tree.n, sizeof(double));
    for (uint32_t i = 0; i < s->tree.n; i++) {
        s->self[0][i] = folded_count_double(frametree_self(&s->tree, i));
        s->self[1][i] = i % 2 ? 0 : i % 3 ? s->self[0][i] : -s->self[0][i];
    }
    for (int i = 0; i < 2; i++) {
        s->columns[i][0] = (struct view_column){.name = "a",
                                                .title = "A",
                                                .unit = "bytes",
                                                .self = s->self[i],
                                                .rate = i ? s->self[0] : NULL};
        s->columns[i][1] =
            (struct view_column){.name = "b", .title = "B", .unit = "us", .self = s->self[1 - i]};
        s->source[i] = (struct view_source){.tree = &s->tree,
                                            .columns = s->columns[i],
                                            .ncolumns = 2,
                                            .label = "x",
                                            .note = "",
                                            .rates = true};
    }
}

/* Acts on one byte, and on the next two where it needs them. */
static void act(struct viewmodel *m, const struct sources *s, uint8_t byte, uint8_t a, uint8_t b)
{
    if (byte < 0x80)
        viewmodel_key(m, byte);
    else if (byte < 0x90)
        viewmodel_key(m, VIEW_KEY_UP + (byte & 15) % (VIEW_KEY_NONE - VIEW_KEY_UP + 1));
    else if (byte < 0xa0)
        viewmodel_click(m, a, b);
    else if (byte < 0xb0)
        viewmodel_resize(m, a, b % 100);
    else if (byte < 0xc0)
        viewmodel_feed(m, &s->source[byte & 1]);
    else
        viewmodel_key(m, (uint32_t)byte << 8 | a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
    size_t len = nul ? (size_t)(nul - data) : size, at = nul ? len + 1 : size;
    struct cells cells = {0};
    struct sources s;
    struct viewmodel m;

    setlocale(LC_CTYPE, "C.UTF-8");
    cells.ascii = size % 2;
    make_sources(&s, (const char *)data, len);
    viewmodel_init(&m, &s.source[0], 0);
    m.live = true;
    draw(&m, &cells);
    for (size_t keys = 0; at < size && keys < 200; at++, keys++) {
        act(&m, &s, data[at], at + 1 < size ? data[at + 1] : 0, at + 2 < size ? data[at + 2] : 0);
        draw(&m, &cells);
    }
    viewmodel_release(&m);
    cells_release(&cells);
    frametree_release(&s.tree);
    free(s.self[0]);
    free(s.self[1]);
    return 0;
}
