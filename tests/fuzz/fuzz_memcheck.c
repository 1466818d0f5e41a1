/* Any bytes as memcheck's report: its leaks are outside bytes. */
#include "tests/unit/readerfuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    readerfuzz("memcheck", data, size);
    return 0;
}
