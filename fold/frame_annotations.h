/*
 * frame_annotations.h: frames with an annotation (flame-folded(5)) in place of their own.
 */
#ifndef FLAME_FOLD_FRAME_ANNOTATIONS_H
#define FLAME_FOLD_FRAME_ANNOTATIONS_H

#include "fold/aggregate.h"

struct frame_annotations {
    struct aggregate *to;
    char letter;
    uint32_t *of; /* by frame: the marked frame, plus one; 0: not made yet */
    size_t n;
};

/* `to` is borrowed; letter 'w' gives _[w]. */
void frame_annotations_init(struct frame_annotations *m, struct aggregate *to, char letter);
void frame_annotations_release(struct frame_annotations *m);

/* The frame with the name of `frame` and this mark, in the place of its own mark if it has one. */
uint32_t frame_annotations_frame(struct frame_annotations *m, uint32_t frame);

#endif
