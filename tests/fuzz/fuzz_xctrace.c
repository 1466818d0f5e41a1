/* Any bytes as an export of xctrace: its elements and ids are outside bytes. */
#include "tests/unit/readerfuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    readerfuzz("xctrace", data, size);
    return 0;
}
