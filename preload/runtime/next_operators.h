/*
 * next_operators.h: functions beneath us that not every process has, and that may differ from
 * caller to caller: C++'s operators new and delete.
 *
 * Each is looked up at its first call, as the loader would have resolved it without us.
 * What a program starts with is found once for ever. Libraries that come later, with dlopen,
 * may have operators that others do not see: then it depends on who calls. No malloc;
 * thread-safe. glibc from 2.35 on is asked without a lock; before that under the lock of the
 * loader's list, which it holds for no code of the program's. (dlsym would wait for the one
 * that is held while constructors run.)
 */
#ifndef FLAME_PRELOAD_RUNTIME_NEXT_OPERATORS_H
#define FLAME_PRELOAD_RUNTIME_NEXT_OPERATORS_H

#include <stdbool.h>

#include "common/compiler.h"

/* All there are, in the names of the Itanium C++ ABI: operator new and new[], plain, nothrow,
 * aligned, and both; delete and delete[], plain, nothrow, sized, aligned, and those together. */
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
 * A function's address. With NEXT_OPERATOR_OWN it is an allocator's own, of whose calls nobody
 * else will tell us: its module defines malloc as well, for others to use. Without it, it
 * is one that calls malloc, as libstdc++'s and most programs' do. 0: there is no such
 * function.
 */
typedef uintptr_t next_operators_at;
#define NEXT_OPERATOR_OWN ((uintptr_t)1 << 63)

/* By id; 0: not known yet; NEXT_OPERATOR_OWN alone: it depends on the caller. */
extern next_operators_at next_operators_known[NEXT_OPERATOR_COUNT];

/* From now on every call comes to next_operator(): what is found is kept elsewhere. */
void next_operators_watch(void);

/* The function that a call from `caller` would have reached without us. */
next_operators_at next_operator(enum next_operator_id id, uintptr_t caller);

/* After every dlclose: what came with dlopen may be gone. */
void next_operators_invalidate(void);

#endif
