/* The kernel's text about descriptors, and names made of it. */
#include <stdlib.h>

#include "common/strbuf.h"
#include "tracer/objects/fdinfo.h"
#include "tracer/objects/objname.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct strbuf name = STRBUF_INIT;
    struct epoll_member m;
    struct net_line net;
    struct unix_line un;
    size_t at = 0, last = 0;
    uint64_t n;

    while (fdinfo_epoll(text, size, &at, &m)) {
        if (at <= last || m.fd > INT32_MAX)
            abort();
        last = at;
    }
    fdinfo_number(text, size, "eventfd-id", &n);
    anon_kind(text, size);
    for (size_t start = 0; start < size;) {
        const char *end = memchr(text + start, '\n', size - start);
        size_t len = end ? (size_t)(end - text) - start : size - start;

        if (net_line_parse(text + start, len, &net) && net.state > UINT8_MAX)
            abort();
        if (unix_line_parse(text + start, len, &un) &&
            (un.path < text + start || un.path + un.path_len > text + start + len))
            abort();
        start += len + 1;
    }
    objname_path(text, size, false, &name);
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.buf[i] < ' ' || name.buf[i] == 127)
            abort();
    strbuf_release(&name);
    return 0;
}
