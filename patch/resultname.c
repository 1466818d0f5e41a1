#include "patch/patcher.h"

static const char *const results[] = {"done",    "nothing", "unsound", "unmapped",
                                      "changed", "no-room", "refused", "again"};

const char *patch_result_name(enum patch_result r)
{
    return (unsigned)r < ARRAY_LEN(results) ? results[r] : "?";
}
