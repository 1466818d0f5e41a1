#define _GNU_SOURCE
#include "render/view/cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include "common/alloc.h"
#include "common/termtext.h"

#define LARGEST 4096

static int within(int v, int least, int most)
{
    return v < least ? least : v > most ? most : v;
}

void cells_resize(struct cells *c, int width, int height)
{
    c->width = within(width, 1, LARGEST);
    c->height = within(height, 1, LARGEST);
    c->at = xreallocarray(c->at, (size_t)c->width * (size_t)c->height, sizeof *c->at);
    cells_clear(c);
}

void cells_clear(struct cells *c)
{
    size_t n = (size_t)c->width * (size_t)c->height;

    for (size_t i = 0; i < n; i++)
        c->at[i] = (struct cell){.cp = ' '};
}

void cells_release(struct cells *c)
{
    free(c->at);
    *c = (struct cells){0};
}

/* Replaces characters of two columns that reach over an edge of [x, end) by blanks. */
static void cut(struct cells *c, int y, int x, int end)
{
    if (x > 0 && cells_at(c, y, x)->cp == CELL_CONTINUED)
        cells_at(c, y, x - 1)->cp = ' ';
    if (end < c->width && cells_at(c, y, end)->cp == CELL_CONTINUED)
        cells_at(c, y, end)->cp = ' ';
}

void cells_fill(struct cells *c, int y, int x, int width, struct cell_look look)
{
    int first = x < 0 ? 0 : x, end = width < c->width - x ? x + width : c->width;

    if (y < 0 || y >= c->height || first >= end)
        return;
    cut(c, y, first, end);
    for (int i = first; i < end; i++)
        *cells_at(c, y, i) = (struct cell){.cp = ' ', .look = look};
}

/* The ASCII replacement of a character that the viewer itself draws. */
static const char *in_ascii(uint32_t cp)
{
    static const struct {
        uint32_t cp;
        const char *text;
    } known[] = {{0xb5, "u"},   {0x2026, "~"}, {0x2014, "-"}, {0x2212, "-"},
                 {0x2500, "-"}, {0x2502, "|"}, {0x258f, "|"}, {0x2588, "#"},
                 {0xb7, "."},   {0x25b2, "^"}, {0x25bc, "v"}, {0x203a, ">"}};

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (known[i].cp == cp)
            return known[i].text;
    return NULL;
}

/* A piece of text that is put whole or not at all: ASCII, or one character. */
struct piece {
    struct termtext c;
    const char *text; /* ASCII; NULL: the character itself */
    int columns;      /* 0: it belongs to the character before it */
};

static size_t next_piece(const struct cells *c, const char *s, size_t len, struct piece *p)
{
    size_t n = termtext_next(s, len, &p->c);

    p->text = p->c.escaped[0] ? p->c.escaped : NULL;
    p->columns = 1;
    if (!p->text && p->c.cp >= 0x80) {
        int width = c->ascii ? -1 : wcwidth((wchar_t)p->c.cp);

        p->columns = width;
        if (width < 0) {
            p->text = in_ascii(p->c.cp);
            if (!p->text) {
                snprintf(p->c.escaped, sizeof p->c.escaped, "\\u{%x}", (unsigned)p->c.cp);
                p->text = p->c.escaped;
            }
        }
    }
    if (p->text)
        p->columns = (int)strlen(p->text);
    return n;
}

static void combine(struct cell *with, uint32_t cp)
{
    for (size_t i = 0; i < CELL_MARKS; i++)
        if (!with->marks[i]) {
            with->marks[i] = cp;
            return;
        }
}

static void put_piece(struct cells *c, int y, int x, const struct piece *p, struct cell_look look)
{
    if (p->text) {
        for (int i = 0; i < p->columns; i++)
            *cells_at(c, y, x + i) = (struct cell){.cp = (unsigned char)p->text[i], .look = look};
        return;
    }
    *cells_at(c, y, x) = (struct cell){.cp = p->c.cp, .look = look};
    if (p->columns == 2)
        *cells_at(c, y, x + 1) = (struct cell){.cp = CELL_CONTINUED, .look = look};
}

size_t cells_fit(const struct cells *c, const char *s, size_t len, int width)
{
    size_t at = 0, used = 0;
    struct piece p;

    while (at < len) {
        size_t n = next_piece(c, s + at, len - at, &p);

        if (at && used + (size_t)p.columns > (size_t)(width < 0 ? 0 : width))
            break;
        used += (size_t)p.columns;
        at += n;
    }
    return at;
}

size_t cells_columns(const struct cells *c, const char *s, size_t len)
{
    size_t used = 0;
    struct piece p;

    for (size_t at = 0; at < len;) {
        at += next_piece(c, s + at, len - at, &p);
        used += (size_t)p.columns;
    }
    return used;
}

/* Whether s[0..len) takes no more than `room` columns. Reads no further than it must. */
static bool fits(const struct cells *c, const char *s, size_t len, int room)
{
    struct piece p;

    for (size_t at = 0; at < len;) {
        at += next_piece(c, s + at, len - at, &p);
        room -= p.columns;
        if (room < 0)
            return false;
    }
    return true;
}

int cells_put(struct cells *c, int y, int x, int width, const char *s, size_t len,
              struct cell_look look)
{
    int room = width < c->width - x ? width : c->width - x, used = 0, last = -1;
    struct piece p;
    bool whole;

    if (y < 0 || y >= c->height || x < 0 || room <= 0)
        return 0;
    whole = fits(c, s, len, room);
    cut(c, y, x, x + room);
    for (size_t at = 0; at < len; at += next_piece(c, s + at, len - at, &p)) {
        next_piece(c, s + at, len - at, &p);
        if (p.columns == 0) { /* without a character before it, it would belong to the neighbour */
            if (last >= 0)
                combine(cells_at(c, y, last), p.c.cp);
            continue;
        }
        if (used + p.columns > room - !whole)
            break;
        put_piece(c, y, x + used, &p, look);
        last = p.text ? -1 : x + used;
        used += p.columns;
    }
    if (!whole) {
        *cells_at(c, y, x + used) = (struct cell){.cp = c->ascii ? '~' : 0x2026, .look = look};
        used++;
    }
    return used;
}

int cells_put_text(struct cells *c, int y, int x, int width, const char *s, struct cell_look look)
{
    return cells_put(c, y, x, width, s, strlen(s), look);
}
