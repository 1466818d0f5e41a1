/*
 * leakunchecked.h: what of a run `flame leak` has not judged: programs that were not recorded, and
 * processes that were but did not look. Where nothing was found that is no clean bill.
 */
#ifndef FLAME_DRIVER_LEAK_LEAKUNCHECKED_H
#define FLAME_DRIVER_LEAK_LEAKUNCHECKED_H

#include "common/strbuf.h"
#include "driver/files/notrecorded.h"
#include "driver/leak/leaklooks.h"

struct leak_unchecked {
    bool command;      /* the command itself was not judged */
    bool others;       /* another process was not, and that was not asked for */
    struct strbuf who; /* and why, for people; "": all was judged that was to be */
};

/*
 * `pid` is the command's. With `look` who has not looked is not judged; else, where live blocks or
 * growth are asked for, every process that was recorded is. Release it.
 */
void leak_unchecked_find(struct leak_unchecked *u, const struct notrecorded *others,
                         const struct leak_looks *looks, bool look, uint32_t pid);
void leak_unchecked_release(struct leak_unchecked *u);

#endif
