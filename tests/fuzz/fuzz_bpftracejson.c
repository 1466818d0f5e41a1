/* Any bytes as bpftrace's JSON: its maps are outside bytes. */
#include "tests/unit/readerfuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    readerfuzz("bpftrace-json", data, size);
    return 0;
}
