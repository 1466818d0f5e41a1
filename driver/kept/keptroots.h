/*
 * keptroots.h: names for what leads to blocks from outside of the heap: variables of modules,
 * frames of threads' stacks, thread-local data, mappings.
 *
 *   [globals of libapp.so]   heading
 *     cache                  variable
 *       .list                its member, if few of its words lead to blocks; without debug
 *                            information +0x10, the offset of the word
 *   [stack of worker]
 *     main                   function; what its frame has. A callee stands on its caller
 *       handle
 *   [thread-local data]
 *   [mapped memory]          or [mapped by FUNCTION], where the call is recorded
 *   [shared memory], [loader], [result of a thread], [left out of the recording],
 *   [malloc's own data],
 *   [free heap memory, perhaps out of date], [below a stack, perhaps out of date]
 */
#ifndef FLAME_DRIVER_KEPT_KEPTROOTS_H
#define FLAME_DRIVER_KEPT_KEPTROOTS_H

#include "driver/kept/keptnames.h"
#include "driver/kept/keptheap.h"

/* By node, [0] is not used, as in struct heapgraph and struct keepers_input. */
struct keptroots {
    uint32_t *parent, *name;
    uint8_t *level;
    bool *heading;
    uint32_t n; /* number of roots */
    size_t room;
    uint32_t *of; /* the root of each root word of the heap */
    struct hashslots known;
};

/* Both are borrowed for the call. */
void keptroots_make(struct keptroots *k, const struct keptheap *h, struct keptnames *names);
void keptroots_release(struct keptroots *k);

#endif
