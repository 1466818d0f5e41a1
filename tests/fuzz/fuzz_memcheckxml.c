/* Any bytes as memcheck's XML: its elements are outside bytes. */
#include "tests/unit/readerfuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    readerfuzz("memcheck-xml", data, size);
    return 0;
}
