/* Answers of the kernel's socket diagnostics, and addresses as programs give them. */
#include "common/strbuf.h"
#include "tracer/objects/sockets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strbuf name = STRBUF_INIT;
    struct unix_facts facts;

    sockets_parse_unix(data, size, &facts);
    sockets_address(data, size, false, &name);
    strbuf_release(&name);
    return 0;
}
