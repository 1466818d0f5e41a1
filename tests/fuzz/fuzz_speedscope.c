/* Any bytes as a profile of speedscope's: its JSON, indices and times are outside bytes. */
#include "tests/unit/readerfuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    readerfuzz("speedscope", data, size);
    return 0;
}
