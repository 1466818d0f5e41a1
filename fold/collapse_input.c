/*
 * Lines of a plain, gzip or zstd file through one buffer.
 *
 * Problem: profiles are gigabytes, often compressed, often on a pipe. The buffer
 * is small enough to stay in the processor's cache between the read that fills
 * it and the scan that empties it. What is left of a cut line moves to the front
 * before the next read.
 *
 * Rejected: mmap. It saves the copy, but every page of the file then counts as
 * ours while we run, a file that shrinks under us is a SIGBUS, and pipes and
 * compressed files need this way as well.
 */
#include "fold/collapse_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "common/error.h"

enum {
    BUFFER = 256 * 1024,
    LINE = 64, /* of the cache */
};

struct collapse_codec {
    enum { GZIP, ZSTD } kind;
    z_stream gz;
    ZSTD_DCtx *zd;
    bool between; /* at the end of a member or frame: end of file is fine here */
    bool told;    /* of bytes behind the last member */
    size_t pos, end;
    char packed[BUFFER];
};

static size_t read_fd(struct collapse_input *in, char *to, size_t room)
{
    for (;;) {
        ssize_t n = 0;

        if (in->to) {
            if (room > in->to - in->at)
                room = in->to - in->at;
            n = pread(in->fd, to, room, (off_t)in->at);
            in->at += n > 0 ? (uint64_t)n : 0;
        } else if (in->fd >= 0) {
            n = read(in->fd, to, room);
        }
        if (n >= 0)
            return (size_t)n;
        if (errno != EINTR) {
            in->error = strerror(errno);
            return 0;
        }
    }
}

/* gzip itself ignores what follows a whole member, and says so unless it is padding. */
static void leave_out(struct collapse_input *in)
{
    struct collapse_codec *c = in->codec;

    if (!c->told && c->packed[c->pos] != '\0')
        flame_warn("%s: what follows its gzip data is no gzip data and is left out", in->name);
    c->told = true;
    c->gz.avail_in = 0;
}

/* Unpacks some of what is packed into to[0..room). */
static size_t unpack(struct collapse_input *in, char *to, size_t room)
{
    struct collapse_codec *c = in->codec;

    if (c->kind == ZSTD) {
        ZSTD_inBuffer src = {c->packed, c->end, c->pos};
        ZSTD_outBuffer dst = {to, room, 0};
        size_t left = ZSTD_decompressStream(c->zd, &dst, &src);

        c->pos = src.pos;
        c->between = left == 0;
        if (ZSTD_isError(left))
            in->error = "its zstd data is damaged";
        return dst.pos;
    }
    if (c->between && inflateReset(&c->gz) != Z_OK)
        in->error = "its gzip data is damaged";
    c->gz.next_in = (Bytef *)c->packed + c->pos;
    c->gz.avail_in = (uInt)(c->end - c->pos);
    c->gz.next_out = (Bytef *)to;
    c->gz.avail_out = (uInt)(room > 1u << 30 ? 1u << 30 : room);
    room = c->gz.avail_out;
    switch (inflate(&c->gz, Z_NO_FLUSH)) {
    case Z_STREAM_END:
        c->between = true;
        break;
    case Z_OK:
    case Z_BUF_ERROR:
        c->between = false;
        break;
    default:
        if (c->between)
            leave_out(in);
        else
            in->error = "its gzip data is damaged";
    }
    c->pos = c->end - c->gz.avail_in;
    return room - c->gz.avail_out;
}

static size_t read_packed(struct collapse_input *in, char *to, size_t room)
{
    struct collapse_codec *c = in->codec;

    for (;;) {
        size_t before = c->pos, n = 0;

        if (c->pos < c->end || !c->between)
            n = unpack(in, to, room);
        if (n > 0 || in->error)
            return n;
        if (c->pos < c->end && c->pos != before)
            continue;
        c->pos = 0;
        c->end = read_fd(in, c->packed, BUFFER);
        if (c->end == 0) {
            if (!c->between && !in->error)
                in->error = "its compressed data is cut short";
            return 0;
        }
    }
}

/*
 * What is left moves to the front, but so that what is read behind it begins at a
 * cache line: the kernel copies twice as fast to there.
 */
static void move_to_front(struct collapse_input *in)
{
    size_t left = in->end - in->pos;
    size_t to = (size_t)(-((uintptr_t)in->buf + left) % LINE);

    if (to < in->pos) {
        memmove(in->buf + to, in->buf + in->pos, left);
        in->pos = to;
        in->end = to + left;
    }
}

/* Reads more behind what is there. False when there is no more. */
static bool fill(struct collapse_input *in)
{
    size_t n;

    if (in->eof || in->error)
        return false;
    move_to_front(in);
    if (in->alloc - in->end < BUFFER / 2) {
        in->alloc = in->alloc ? in->alloc * 2 : BUFFER;
        in->buf = xrealloc(in->buf, in->alloc);
        move_to_front(in);
    }
    n = in->codec ? read_packed(in, in->buf + in->end, in->alloc - in->end)
                  : read_fd(in, in->buf + in->end, in->alloc - in->end);
    in->end += n;
    in->eof = n == 0;
    return n > 0;
}

static void unpack_start(struct collapse_input *in)
{
    static const unsigned char gz[] = {0x1f, 0x8b, 8}, zs[] = {0x28, 0xb5, 0x2f, 0xfd};
    struct collapse_codec *c;
    bool gzip, zstd;

    while (in->end - in->pos < sizeof zs && fill(in))
        continue;
    gzip = in->end >= sizeof gz && memcmp(in->buf, gz, sizeof gz) == 0;
    zstd = in->end >= sizeof zs && memcmp(in->buf, zs, sizeof zs) == 0;
    if (!gzip && !zstd)
        return;
    in->codec = c = xcalloc(1, sizeof *c);
    c->kind = gzip ? GZIP : ZSTD;
    if (gzip ? inflateInit2(&c->gz, 15 + 16) != Z_OK : !(c->zd = ZSTD_createDCtx()))
        in->error = "no memory to unpack it";
    /* One read, so it fits. */
    c->end = in->end;
    memcpy(c->packed, in->buf, c->end);
    in->pos = in->end = 0;
    in->eof = false;
}

int collapse_input_open(struct collapse_input *in, const char *path)
{
    bool std = !path || strcmp(path, "-") == 0;

    *in = (struct collapse_input){.name = std ? "standard input" : path};
    in->fd = std ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0)
        return -errno;
    posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    unpack_start(in);
    return 0;
}

bool collapse_input_split(struct collapse_input *in, struct collapse_input *rest)
{
    struct stat st;
    char text[4096];
    const char *nl = NULL;
    uint64_t cut;
    ssize_t n;

    if (fstat(in->fd, &st) != 0)
        return false;
    *rest = (struct collapse_input){.name = in->name, .line = 1};
    rest->fd = fcntl(in->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    cut = (uint64_t)st.st_size / 2;
    while (rest->fd >= 0 && (n = pread(in->fd, text, sizeof text, (off_t)cut)) > 0 &&
           !(nl = memchr(text, '\n', (size_t)n)))
        cut += (uint64_t)n;
    cut += nl ? (uint64_t)(nl - text) + 1 : 0;
    in->at = in->end - in->pos;
    in->to = cut;
    in->eof = false;
    rest->at = cut;
    rest->to = UINT64_MAX;
    return rest->fd >= 0 && in->at < in->to && in->pos == 0;
}

void collapse_input_memory(struct collapse_input *in, const char *name, const char *text,
                           size_t len)
{
    *in = (struct collapse_input){.name = name, .fd = -1};
    in->buf = xmemdup0(text, len);
    in->alloc = len + 1;
    in->end = len;
}

void collapse_input_close(struct collapse_input *in)
{
    if (in->codec) {
        if (in->codec->kind == GZIP)
            inflateEnd(&in->codec->gz);
        ZSTD_freeDCtx(in->codec->zd);
        free(in->codec);
    }
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    free(in->buf);
    *in = (struct collapse_input){.fd = -1};
}

size_t collapse_input_peek(struct collapse_input *in, const char **text, size_t want)
{
    while (in->end - in->pos < want && fill(in))
        continue;
    *text = in->buf ? in->buf + in->pos : "";
    return in->end - in->pos;
}

bool collapse_input_more(struct collapse_input *in, const char **line, size_t *len)
{
    size_t seen = 0;

    do {
        size_t have = in->end - in->pos;
        const char *s = have ? in->buf + in->pos : NULL; /* there may be no buffer yet */
        const char *nl = have > seen ? memchr(s + seen, '\n', have - seen) : NULL;

        if (nl) {
            in->pos += (size_t)(nl - s) + 1;
            have = (size_t)(nl - s);
        } else if (in->eof && have > 0) {
            in->pos = in->end;
        } else {
            seen = have;
            continue;
        }
        in->line++;
        if (have > 0 && s[have - 1] == '\r')
            have--;
        *line = s;
        *len = have;
        return true;
    } while (fill(in) || (in->eof && in->end > in->pos && !in->error));
    return false;
}

bool collapse_input_all(struct collapse_input *in, struct strbuf *out)
{
    do {
        if (in->end > in->pos)
            strbuf_add(out, in->buf + in->pos, in->end - in->pos);
        in->pos = in->end;
    } while (fill(in));
    return !in->error;
}
