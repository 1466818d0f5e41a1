#define _GNU_SOURCE
#include "fold/analysis/unpacktraces.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/files/plainfile.h"
#include "common/trace/trace_reader.h"
#include "fold/stacks/textinput.h"

/* Whether a file begins as packed ones do. Most files do not, and no buffer is made for them. */
static bool is_packed(const char *path)
{
    int fd = plainfile_open(path, O_RDONLY);
    char first[TEXTINPUT_PACKED_LOOK];
    ssize_t n = fd < 0 ? -1 : pread(fd, first, sizeof first, 0);

    if (fd >= 0)
        close(fd);
    return n > 0 && textinput_is_packed(first, (size_t)n);
}

static bool has_several(struct textinput *in)
{
    struct trace_header h;
    const char *text;
    size_t len = textinput_peek(in, &text, sizeof h);

    if (len < sizeof h || !trace_magic_matches(text, len))
        return false;
    memcpy(&h, text, sizeof h);
    return h.traces > 1;
}

/* A file in memory with these bytes, or -1. */
static int file_of(const struct strbuf *bytes)
{
    int fd = memfd_create("traces", MFD_CLOEXEC);
    size_t at = 0;

    while (fd >= 0 && at < bytes->len) {
        ssize_t n = write(fd, bytes->buf + at, bytes->len - at);

        if (n > 0) {
            at += (size_t)n;
        } else if (errno != EINTR) {
            close(fd);
            fd = -1;
        }
    }
    return fd;
}

int unpacktraces(const char *path)
{
    struct strbuf bytes = STRBUF_INIT;
    struct textinput in;
    int fd = -1;

    if (!is_packed(path) || textinput_open(&in, path) != 0)
        return -1;
    if (has_several(&in) && textinput_all(&in, &bytes))
        fd = file_of(&bytes);
    strbuf_release(&bytes);
    textinput_close(&in);
    return fd;
}
