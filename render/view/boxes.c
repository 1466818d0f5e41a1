#include "render/view/boxes.h"

#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"

static void put(struct boxes *b, struct box box, uint32_t first)
{
    if (box.row < first)
        return;
    GROW(b->at, b->n, b->room);
    b->at[b->n++] = box;
}

struct open {
    uint32_t child; /* the next one to place */
    double left;    /* where it begins, in counts */
};

void boxes_make(struct boxes *b, const struct sumtree *s, uint32_t zoom, int columns,
                uint32_t first, uint32_t rows)
{
    uint32_t depth = sumtree_depth(s, zoom), node = zoom, last = first + rows;
    double all = s->width[zoom];
    struct open *path = NULL;
    size_t n = 0, room = 0;

    b->n = 0;
    for (uint32_t row = depth + 1; row-- > 0; node = s->nodes[node].parent)
        if (row < last)
            put(b, (struct box){node, row, 0, columns}, first);
    for (size_t i = 0; i < b->n / 2; i++) { /* they came from the inside out */
        struct box other = b->at[i];

        b->at[i] = b->at[b->n - 1 - i];
        b->at[b->n - 1 - i] = other;
    }
    if (!(all > 0) || depth + 1 >= last)
        return;
    GROW(path, n, room);
    path[n++] = (struct open){s->nodes[zoom].first, 0};
    while (n) {
        struct open *at = &path[n - 1];
        uint32_t c = at->child;
        double from, to;
        int x, end;

        if (c == FRAMETREE_NONE) {
            n--;
            continue;
        }
        from = at->left;
        at->left = to = from + s->width[c];
        at->child = s->nodes[c].next;
        x = (int)lround(from / all * columns);
        end = (int)lround(to / all * columns);
        end = end > columns ? columns : end; /* fractions add up to a little more */
        if (end <= x)
            continue;
        put(b, (struct box){c, depth + (uint32_t)n, x, end - x}, first);
        if (depth + n + 1 < last && s->nodes[c].first != FRAMETREE_NONE) {
            GROW(path, n, room);
            path[n++] = (struct open){s->nodes[c].first, from};
        }
    }
    free(path);
}

void boxes_release(struct boxes *b)
{
    free(b->at);
    *b = (struct boxes){0};
}

const struct box *boxes_of(const struct boxes *b, uint32_t node)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->at[i].node == node)
            return &b->at[i];
    return NULL;
}
