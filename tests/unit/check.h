/*
 * check.h: CHECK(condition) in the processes that a test starts. The first that does not hold is
 * printed as a diagnostic, and `failed` is its line; the test decides what follows from it.
 */
#ifndef FLAME_TESTS_UNIT_CHECK_H
#define FLAME_TESTS_UNIT_CHECK_H

#include <errno.h>

#include "tests/tap.h"

static int failed;

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond) && !failed) {                                                                  \
            failed = __LINE__;                                                                     \
            diag("line %d: %s, errno %d", __LINE__, #cond, errno);                                 \
        }                                                                                          \
    } while (0)

#endif
