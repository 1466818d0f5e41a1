/*
 * keptsites.h: sites of blocks: the innermost function of a stack that does not only pass memory
 * on.
 */
#ifndef FLAME_DRIVER_KEPT_KEPTSITES_H
#define FLAME_DRIVER_KEPT_KEPTSITES_H

#include "common/strbuf.h"
#include "driver/kept/keptnames.h"

struct keptsites {
    uint32_t *of;     /* of each row: its site's name, a number of keptnames */
    bool *weak;       /* of each row: its blocks are the C library's own */
    uint32_t n;       /* number of rows */
    uint64_t *frames; /* of each name: the one frame of that site; KEPTSITES_MANY: there are
                       * several; 0: it is a mere name */
    size_t room;
};

#define KEPTSITES_MANY 1u

/* For the rows below `rows`. */
void keptsites_find(struct keptsites *s, struct keptnames *names, uint32_t rows);
void keptsites_release(struct keptsites *s);

/* Whether a function of that name may be a site. */
bool keptsites_is_site(const char *name, size_t len);

/* Appends the name of a row's site. False: it is not known, and nothing is appended. */
bool keptsites_name(struct keptnames *names, uint32_t row, struct strbuf *to);

#endif
