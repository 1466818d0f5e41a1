/* Any bytes as a profile of callgrind's: its names' numbers and its call graph are outside bytes.
 */
#include "tests/unit/readerfuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    readerfuzz("callgrind", data, size);
    return 0;
}
