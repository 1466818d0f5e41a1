#include <stdlib.h>

#include "flamemem_cmocka.h"

static void *volatile kept;

static void test_good(void **state)
{
    (void)state;
    free(malloc(300));
}

static void test_leaky(void **state)
{
    (void)state;
    kept = malloc(301);
    kept = NULL;
}

static void test_good_again(void **state)
{
    (void)state;
    free(malloc(302));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        flamemem_unit_test(test_good),
        flamemem_unit_test(test_leaky),
        flamemem_unit_test(test_good_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
