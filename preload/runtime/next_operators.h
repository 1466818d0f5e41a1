/*
 * next_operators.h: next definitions of C++'s operators new and delete. Not every process has them,
 * and they may differ from caller to caller.
 *
 * Each is looked up at its first call, as the loader would have resolved it without the recorder.
 * Definitions among the modules that the program starts with are found once and for all. Libraries
 * that dlopen loads later may have operators that other modules do not see: then the result depends
 * on the caller. No malloc; thread-safe. glibc from 2.35 on is asked without a lock. Older versions
 * are asked under the lock of the loader's list, which is never held while code of the program
 * runs. (dlsym would wait for the lock that is held while constructors run.)
 */
#ifndef FLAME_PRELOAD_RUNTIME_NEXT_OPERATORS_H
#define FLAME_PRELOAD_RUNTIME_NEXT_OPERATORS_H

#include <stdbool.h>

#include "common/compiler.h"

/* All operators, by their names in the Itanium C++ ABI: operator new and new[], plain, nothrow,
 * aligned, and both; delete and delete[], plain, nothrow, sized, aligned, and the combinations. */
#define NEXT_OPERATOR_NAMES(NEW, DELETE)                                                           \
    NEW(_Znwm)                                                                                     \
    NEW(_ZnwmRKSt9nothrow_t)                                                                       \
    NEW(_ZnwmSt11align_val_t)                                                                      \
    NEW(_ZnwmSt11align_val_tRKSt9nothrow_t)                                                        \
    NEW(_Znam)                                                                                     \
    NEW(_ZnamRKSt9nothrow_t)                                                                       \
    NEW(_ZnamSt11align_val_t)                                                                      \
    NEW(_ZnamSt11align_val_tRKSt9nothrow_t)                                                        \
    DELETE(_ZdlPv)                                                                                 \
    DELETE(_ZdlPvRKSt9nothrow_t)                                                                   \
    DELETE(_ZdlPvm)                                                                                \
    DELETE(_ZdlPvSt11align_val_t)                                                                  \
    DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t)                                                    \
    DELETE(_ZdlPvmSt11align_val_t)                                                                 \
    DELETE(_ZdaPv)                                                                                 \
    DELETE(_ZdaPvRKSt9nothrow_t)                                                                   \
    DELETE(_ZdaPvm)                                                                                \
    DELETE(_ZdaPvSt11align_val_t)                                                                  \
    DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t)                                                    \
    DELETE(_ZdaPvmSt11align_val_t)

#define NEXT_OPERATOR_ID(name) NEXT_OPERATOR_##name,
enum next_operator_id {
    NEXT_OPERATOR_NAMES(NEXT_OPERATOR_ID, NEXT_OPERATOR_ID) NEXT_OPERATOR_COUNT
};
#undef NEXT_OPERATOR_ID

/*
 * A function's address. With NEXT_OPERATOR_OWN the function is an allocator's own, and no other
 * hook sees its allocations: its module also defines malloc and exports it. Without it, the
 * function calls malloc, as libstdc++'s and most programs' operators do. 0: there is no such
 * function.
 */
typedef uintptr_t next_operators_at;
#define NEXT_OPERATOR_OWN ((uintptr_t)1 << 63)

/* By id. 0: not known yet. NEXT_OPERATOR_OWN alone: it depends on the caller. */
extern next_operators_at next_operators_known[NEXT_OPERATOR_COUNT];

/* From now on every call goes through next_operator(), which caches its results elsewhere. */
void next_operators_watch(void);

/* The function that a call from `caller` would have reached without the recorder. */
next_operators_at next_operator(enum next_operator_id id, uintptr_t caller);

/* To be called after every dlclose: cached functions may have been unloaded. */
void next_operators_invalidate(void);

#endif
