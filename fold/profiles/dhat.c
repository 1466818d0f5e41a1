/*
 * valgrind's DHAT: a JSON file of program points, each with its totals ("tb"
 * bytes in all) and its frames as numbers into a table of names, the leaf first.
 * The table comes last, so points wait for it.
 */
#include <stdlib.h>

#include "common/alloc.h"
#include "fold/decode/jsonread.h"
#include "fold/collapse/readers.h"
#include "fold/profiles/valgrind.h"

struct dhat {
    uint32_t *frames; /* of all points, one after the other */
    size_t nframes, frames_alloc;
    struct point {
        size_t first, n;
        struct stackset_count bytes;
    } * points;
    size_t npoints, points_alloc;
    uint32_t *names;
    size_t nnames, names_alloc;
};

static void read_point(struct json *j, struct dhat *d)
{
    struct strbuf key = STRBUF_INIT;
    struct point p = {d->nframes, 0, {0, 0}};
    struct span number;

    json_enter(j, '{');
    while (json_key(j, &key)) {
        if (strcmp(key.buf, "tb") == 0) {
            if (json_number(j, &number))
                stackset_count_parse(number.s, number.len, &p.bytes);
        } else if (strcmp(key.buf, "fs") == 0) {
            json_enter(j, '[');
            while (json_item(j) && json_number(j, &number)) {
                struct stackset_count index = {UINT64_MAX, 0};

                stackset_count_parse(number.s, number.len, &index);
                GROW(d->frames, d->nframes, d->frames_alloc);
                d->frames[d->nframes++] =
                    index.whole < UINT32_MAX ? (uint32_t)index.whole : UINT32_MAX;
            }
        } else {
            json_skip(j);
        }
    }
    p.n = d->nframes - p.first;
    GROW(d->points, d->npoints, d->points_alloc);
    d->points[d->npoints++] = p;
    strbuf_release(&key);
}

static void add_points(struct collapse *c, const struct dhat *d)
{
    for (size_t i = 0; i < d->npoints; i++) {
        const struct point *p = &d->points[i];

        for (size_t k = 0; k < p->n; k++) {
            uint32_t frame = d->frames[p->first + k];

            if (frame < d->nnames)
                collapse_push_id(c, d->names[frame]);
            else
                collapse_push_str(c, "[unknown]");
        }
        if (c->n > 0 && p->bytes.whole > 0)
            collapse_flush(c, LEAF_FIRST, &p->bytes);
        collapse_drop(c);
    }
}

void collapse_dhat_run(struct collapse *c)
{
    struct strbuf text = STRBUF_INIT, key = STRBUF_INIT;
    struct dhat d = {0};
    struct span name;
    struct json j;

    if (textinput_all(&c->in, &text)) {
        j = (struct json){text.buf, text.buf + text.len, false};
        json_enter(&j, '{');
        while (json_key(&j, &key)) {
            if (strcmp(key.buf, "pps") == 0) {
                json_enter(&j, '[');
                while (json_item(&j))
                    read_point(&j, &d);
            } else if (strcmp(key.buf, "ftbl") == 0) {
                json_enter(&j, '[');
                while (json_item(&j) && json_string(&j, &c->scratch)) {
                    GROW(d.names, d.nnames, d.names_alloc);
                    name = valgrind_name((struct span){c->scratch.buf, c->scratch.len}, c->opt);
                    d.names[d.nnames++] = collapse_name(c, name.s, name.len);
                }
            } else {
                json_skip(&j);
            }
        }
        add_points(c, &d);
        if (j.bad)
            collapse_unknown(c, j.s, (size_t)(j.end - j.s));
    }
    free(d.frames);
    free(d.points);
    free(d.names);
    strbuf_release(&text);
    strbuf_release(&key);
}

int collapse_dhat_probe(const char *text, size_t len)
{
    return span_find((struct span){text, len}, "\"dhatFileVersion\"") ? 99 : 0;
}
