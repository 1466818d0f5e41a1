/*
 * framecolor.h: the colour of each frame of a picture, from its options: palette,
 * differences, colours of earlier pictures, and the distance along a chain of wakers.
 *
 * Borrows tree and options, which must outlive it. Not thread-safe.
 */
#ifndef FLAME_RENDER_BACKENDS_FRAMECOLOR_H
#define FLAME_RENDER_BACKENDS_FRAMECOLOR_H

#include "render/backend.h"

struct framecolor {
    const struct frametree *t;
    const struct render_options *o;
    uint32_t *by_name;     /* 0, or 1 << 24 and the colour once it is known */
    uint8_t *hops;         /* by node: how many "--" lie below it; NULL without any */
    uint8_t *band;         /* by node: 1 for a thread's name; NULL as hops */
    struct change *totals; /* of a comparison that shows them, or NULL */
    double largest_delta;  /* of the frames that are drawn; see framecolor_see */
};

/* What a frame is beside its colour, for those who do not tell colours apart. */
enum frame_sign {
    FRAME_PLAIN,
    FRAME_GREW, /* of a comparison, as for the next four */
    FRAME_SHRANK,
    FRAME_NEW,    /* nothing of it was there before; in elided views */
    FRAME_GONE,   /* nothing of it is left; in elided views */
    FRAME_THREAD, /* of a chain of wakers: a thread's name, a band across it */
};

/* What is gone and what is new, in elided views. */
extern const struct rgb framecolor_gone, framecolor_new;

void framecolor_init(struct framecolor *f, const struct frametree *t,
                     const struct render_options *o);
void framecolor_release(struct framecolor *f);
/* To be called for each frame that is drawn, before the first colour is asked for. */
void framecolor_see(struct framecolor *f, uint32_t node);
struct rgb framecolor_of(struct framecolor *f, uint32_t node);
enum frame_sign framecolor_sign(const struct framecolor *f, uint32_t node);
/* "+ " or a minus sign and a blank (UTF-8) before the label of what changed; else "". */
const char *framecolor_label(enum frame_sign sign);
/* Of a comparison: the two counts whose change is shown. */
struct change framecolor_change(const struct framecolor *f, uint32_t node);

#endif
