#include <stdlib.h>

#include "flamemem_check.h"

static void *volatile kept;

START_TEST(test_good)
{
    free(malloc(400));
}
END_TEST

START_TEST(test_leaky)
{
    kept = malloc(401);
    kept = NULL;
}
END_TEST

START_TEST(test_good_again)
{
    free(malloc(402));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("names");
    TCase *tcase = tcase_create("names");
    SRunner *runner = srunner_create(suite);
    int failed;

    flamemem_tcase(tcase);
    tcase_add_test(tcase, test_good);
    tcase_add_test(tcase, test_leaky);
    tcase_add_test(tcase, test_good_again);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_VERBOSE);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
