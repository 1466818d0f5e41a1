/*
 * cmocka: a test that leaks fails, when the program runs under `flame leak`. Copy it, and write
 *
 *     flamemem_unit_test(test_parse)    for    cmocka_unit_test(test_parse)
 *
 * The look is the test's teardown, where cmocka reports a test that fails as an error. A test
 * with a setup and a teardown of its own calls these two in them, first and last.
 */
#ifndef FLAMEMEM_CMOCKA_H
#define FLAMEMEM_CMOCKA_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "flamemem.h"

/* cmocka does not pass the test's name to a setup function, so the name is the state it starts
 * with. */
static int flamemem_setup(void **state)
{
    flamemem_leak_begin(*state);
    return 0;
}

static int flamemem_teardown(void **state)
{
    struct flamemem_left left = flamemem_leak_end();

    (void)state;
    if (!left.blocks)
        return 0;
    print_error("leaks %" PRIu64 " bytes in %" PRIu64 " blocks\n", left.bytes, left.blocks);
    return -1;
}

#define flamemem_unit_test(f)                                                                      \
    cmocka_unit_test_prestate_setup_teardown(f, flamemem_setup, flamemem_teardown, #f)

#endif
