#include "fold/frame_annotations.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "fold/stacks/place.h"

void frame_annotations_init(struct frame_annotations *m, struct aggregate *to, char letter)
{
    *m = (struct frame_annotations){.to = to, .letter = letter};
}

void frame_annotations_release(struct frame_annotations *m)
{
    free(m->of);
    *m = (struct frame_annotations){0};
}

static uint32_t make(struct frame_annotations *m, uint32_t frame)
{
    struct strbuf sb = STRBUF_INIT;
    size_t all, len;
    const char *text = aggregate_frame_text(m->to, frame, &all), *place;

    /* Filters find a frame's place behind its name. */
    len = place_name_len(text, all);
    place = text + len;
    all -= len;

    if (len > 4 && memcmp(text + len - 4, "_[", 2) == 0 && strchr("kji", text[len - 2]) &&
        text[len - 1] == ']')
        len -= 4;
    strbuf_add(&sb, text, len);
    strbuf_addf(&sb, "_[%c]", m->letter);
    strbuf_add(&sb, place, all);
    frame = aggregate_safe_frame(m->to, sb.buf, sb.len);
    strbuf_release(&sb);
    return frame;
}

uint32_t frame_annotations_frame(struct frame_annotations *m, uint32_t frame)
{
    GROW_FILLED(m->of, frame, m->n, 0);
    if (!m->of[frame])
        m->of[frame] = make(m, frame) + 1;
    return m->of[frame] - 1;
}
