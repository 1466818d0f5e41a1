/* Any bytes as a profile of V8: its JSON, its nodes and their links are outside bytes. */
#include "tests/unit/readerfuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    readerfuzz("v8", data, size);
    return 0;
}
