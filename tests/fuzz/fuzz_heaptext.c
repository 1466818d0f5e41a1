/* Any bytes as a heap profile in text: its counts, addresses and maps are outside bytes. */
#include "tests/unit/readerfuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    readerfuzz("heap-text", data, size);
    return 0;
}
