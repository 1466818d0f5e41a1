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

/* A frame's sign beside its colour, for people who cannot distinguish the colours. */
enum frame_sign {
    FRAME_PLAIN,
    FRAME_GREW, /* in a comparison, as for the next three */
    FRAME_SHRANK,
    FRAME_NEW,    /* it was not there before; in elided views */
    FRAME_GONE,   /* it is no longer there; in elided views */
    FRAME_THREAD, /* in a chain of wakers: a thread's name, a band across the chain */
};

/* Colours of frames that are gone and of new ones, in elided views. */
extern const struct rgb framecolor_gone, framecolor_new;

void framecolor_init(struct framecolor *f, const struct frametree *t,
                     const struct render_options *o);
void framecolor_release(struct framecolor *f);
/* Call it for each frame that is drawn, before the first call of framecolor_of. */
void framecolor_see(struct framecolor *f, uint32_t node);
struct rgb framecolor_of(struct framecolor *f, uint32_t node);
enum frame_sign framecolor_sign(const struct framecolor *f, uint32_t node);
/* "+ " or a minus sign and a blank (UTF-8) before the label of a frame that changed; else "". */
const char *framecolor_label(enum frame_sign sign);
/* In a comparison, the two counts whose change is shown. */
struct change framecolor_change(const struct framecolor *f, uint32_t node);

#endif
