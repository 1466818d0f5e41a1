#include "common/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/alloc.h"

char strbuf_empty[1];

void strbuf_release(struct strbuf *sb)
{
    if (sb->alloc)
        free(sb->buf);
    *sb = (struct strbuf)STRBUF_INIT;
}

void strbuf_clear(struct strbuf *sb)
{
    sb->len = 0;
    if (sb->alloc)
        sb->buf[0] = '\0';
}

void strbuf_grow(struct strbuf *sb, size_t extra)
{
    size_t need, alloc;

    if (__builtin_add_overflow(sb->len, extra, &need) || need > SIZE_MAX / 2)
        alloc_failed(extra);
    if (sb->alloc > need)
        return;
    alloc = sb->alloc < 48 ? 64 : sb->alloc + sb->alloc / 2;
    if (alloc <= need)
        alloc = need + 1;
    sb->buf = xrealloc(sb->alloc ? sb->buf : NULL, alloc);
    sb->alloc = alloc;
    sb->buf[sb->len] = '\0';
}

void strbuf_add(struct strbuf *sb, const void *data, size_t len)
{
    strbuf_grow(sb, len);
    if (len)
        memcpy(sb->buf + sb->len, data, len);
    sb->len += len;
    sb->buf[sb->len] = '\0';
}

void strbuf_addstr(struct strbuf *sb, const char *s)
{
    strbuf_add(sb, s, strlen(s));
}

void strbuf_addch(struct strbuf *sb, char c)
{
    strbuf_add(sb, &c, 1);
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
    va_list ap, again;
    int n;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n > 0) {
        strbuf_grow(sb, (size_t)n);
        vsnprintf(sb->buf + sb->len, (size_t)n + 1, fmt, again);
        sb->len += (size_t)n;
    }
    va_end(again);
}

void strbuf_setlen(struct strbuf *sb, size_t len)
{
    sb->len = len;
    if (sb->alloc)
        sb->buf[len] = '\0';
}

char *strbuf_detach(struct strbuf *sb, size_t *len)
{
    char *out;

    strbuf_grow(sb, 0);
    out = sb->buf;
    if (len)
        *len = sb->len;
    *sb = (struct strbuf)STRBUF_INIT;
    return out;
}

static int read_up_to(struct strbuf *sb, int fd, size_t max)
{
    for (;;) {
        ssize_t n;

        strbuf_grow(sb, 65536);
        n = read(fd, sb->buf + sb->len, sb->alloc - sb->len - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        sb->len += (size_t)n;
        sb->buf[sb->len] = '\0';
        if (sb->len > max)
            return -EFBIG;
    }
    return 0;
}

int strbuf_read_fd(struct strbuf *sb, int fd)
{
    return read_up_to(sb, fd, SIZE_MAX);
}

int strbuf_read_file(struct strbuf *sb, const char *path, size_t max)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), err;

    if (fd < 0)
        return -errno;
    err = read_up_to(sb, fd, max);
    close(fd);
    return err;
}
