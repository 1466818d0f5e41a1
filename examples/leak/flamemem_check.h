/*
 * Check: a test that leaks fails, when the program runs under `flame leak`. Copy it, and say
 * for each test case, before its other fixtures, so that it is the first to begin and the last
 * to end:
 *
 *     flamemem_tcase(tcase);
 *
 * Check runs each test in a process of its own unless CK_FORK=no says otherwise. With processes
 * `flame leak` scans at the end of each as well.
 */
#ifndef FLAMEMEM_CHECK_H
#define FLAMEMEM_CHECK_H

#include <inttypes.h>

#include <check.h>

#include "flamemem.h"

static void flamemem_setup(void)
{
    flamemem_leak_begin("a test of Check"); /* Check does not pass the test's name */
}

static void flamemem_teardown(void)
{
    struct flamemem_left left = flamemem_leak_end();

    if (left.blocks)
        ck_abort_msg("leaks %" PRIu64 " bytes in %" PRIu64 " blocks", left.bytes, left.blocks);
}

static void flamemem_tcase(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, flamemem_setup, flamemem_teardown);
}

#endif
