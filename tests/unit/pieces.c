/* See pieces.h. */
#include "tests/unit/pieces.h"

static uint32_t next(struct pieces *p)
{
    p->state = p->state * 1664525u + 1013904223u;
    return p->state >> 8;
}

ssize_t pieces_read(void *opaque, char *to, size_t room)
{
    struct pieces *p = opaque;
    size_t n = p->len - p->at < room ? p->len - p->at : room;

    if (p->most && n) {
        size_t piece = 1 + next(p) % p->most;

        n = piece < n ? piece : n;
    }
    if (n)
        memcpy(to, p->text + p->at, n);
    p->at += n;
    return (ssize_t)n;
}

void pieces_open(struct textinput *in, struct pieces *p, size_t buffer)
{
    textinput_from(in, "pieces", pieces_read, p, buffer);
}
