/*
 * A program that writes its own TAP: a test that leaks is "not ok", when the program runs under
 * `flame leak`. Copy it; flamemem_tap runs a test that says whether it passed, and counts.
 */
#ifndef FLAMEMEM_TAP_H
#define FLAMEMEM_TAP_H

#include <inttypes.h>
#include <stdio.h>

#include "flamemem.h"

static int flamemem_tap_count, flamemem_tap_failed;

static void flamemem_tap(const char *name, int (*test)(void))
{
    struct flamemem_left left;
    int passed;

    flamemem_leak_begin(name);
    passed = test();
    left = flamemem_leak_end();
    passed = passed && !left.blocks;
    flamemem_tap_failed += !passed;
    printf("%sok %d - %s\n", passed ? "" : "not ", ++flamemem_tap_count, name);
    if (left.blocks)
        printf("# leaks %" PRIu64 " bytes in %" PRIu64 " blocks\n", left.bytes, left.blocks);
}

/* The plan; returns what main is to return. */
static int flamemem_tap_end(void)
{
    printf("1..%d\n", flamemem_tap_count);
    return flamemem_tap_failed != 0;
}

#endif
