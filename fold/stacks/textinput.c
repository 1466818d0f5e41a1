/*
 * Lines of a plain, gzip or zstd file through one buffer.
 *
 * Problem: profiles are gigabytes, often compressed, often on a pipe. The buffer is small enough
 * to stay in the processor's cache between the read that fills it and the scan that empties it.
 * The rest of a cut line moves to the front before the next read; unless a line before it
 * belongs to the same record and so is still borrowed: then the rest goes to another buffer, and
 * this one is held until the record ends. That is rare, and the common case does not pay for it:
 * the buffer checks which lines are borrowed only when it is empty.
 *
 * Rejected: lines in memory of their own (all would be copied for the sake of the few that lie
 * on both sides of a read); addresses reserved for a buffer that never moves (a pipe has no end,
 * so something has to be given back some time, and that time is the question).
 *
 * Rejected: mmap. It saves the copy, but every page of the file then counts as flame's own
 * memory, a file that shrinks meanwhile is a SIGBUS, and pipes and compressed files need this
 * way as well.
 */
#include "fold/stacks/textinput.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/files/trace_file.h"

#if TEXTINPUT_WATCHED
#include <sanitizer/asan_interface.h>
#endif

enum {
    BUFFER = 256 * 1024,
    LINE = 64, /* of the cache */
};

/*
 * Unpacked bytes that textinput_all accepts of packed ones. Text and traces shrink to a tenth,
 * traces of idle programs to a hundredth; a file that shrinks to a thousandth was made to fill a
 * memory.
 */
#define UNPACKED_FREE ((uint64_t)64 << 20)
#define UNPACKED_RATIO 256

struct textcodec {
    enum { GZIP, ZSTD } kind;
    z_stream gz;
    ZSTD_DCtx *zd;
    gz_header head;
    bool between;      /* at the end of a member or frame: end of file is fine here */
    bool later;        /* in the member or header behind another member */
    bool over;         /* the following bytes are no gzip data */
    bool reported;     /* bytes behind the last member have been reported */
    const char *error; /* an error behind the unpacked bytes, which are read first */
    uint64_t taken;    /* packed bytes read so far */
    size_t pos, end;
    char packed[BUFFER];
};

/* Sets whether bytes of a record that has ended may be read; see textinput.h. */
static void watch(const struct textinput *in, bool allowed, size_t from, size_t to)
{
#if TEXTINPUT_WATCHED
    if (from < to && allowed)
        ASAN_UNPOISON_MEMORY_REGION(in->buf + from, to - from);
    else if (from < to)
        ASAN_POISON_MEMORY_REGION(in->buf + from, to - from);
#else
    (void)in, (void)allowed, (void)from, (void)to;
#endif
}

static size_t read_fd(struct textinput *in, char *to, size_t room)
{
    for (;;) {
        ssize_t n = 0;

        if (in->source) {
            n = in->source(in->opaque, to, room);
            if (n < 0)
                errno = (int)-n;
        } else if (in->to) {
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

/*
 * Skips the bytes behind the last member. gzip itself ignores them, and warns unless they are
 * padding. All of them are skipped, in however many reads they come: it would be chance if some
 * of them looked like a member.
 */
static void leave_out(struct textinput *in)
{
    struct textcodec *c = in->codec;
    bool padding = c->between; /* or the bytes of an apparent member have been read before */

    for (size_t i = c->pos; i < c->end; i++)
        padding &= c->packed[i] == '\0';
    if (!c->reported && !padding) {
        flame_warn("%s: the bytes after its gzip data are not gzip data and are ignored", in->name);
        c->reported = true;
    }
    c->between = c->over = true;
    c->pos = c->end;
}

/* Begins a member: from here to the end of its header an error means that it is no member. */
static void member_start(struct textinput *in)
{
    struct textcodec *c = in->codec;

    c->head.done = 0;
    if (inflateReset(&c->gz) != Z_OK || inflateGetHeader(&c->gz, &c->head) != Z_OK)
        in->error = "its gzip data is damaged";
}

/* Unpacks some of the packed bytes into to[0..room). */
static size_t unpack(struct textinput *in, char *to, size_t room)
{
    struct textcodec *c = in->codec;

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
    if (c->over) {
        leave_out(in);
        return 0;
    }
    if (c->between)
        member_start(in);
    c->gz.next_in = (Bytef *)c->packed + c->pos;
    c->gz.avail_in = (uInt)(c->end - c->pos);
    c->gz.next_out = (Bytef *)to;
    c->gz.avail_out = (uInt)(room > 1u << 30 ? 1u << 30 : room);
    room = c->gz.avail_out;
    switch (inflate(&c->gz, Z_NO_FLUSH)) {
    case Z_STREAM_END:
        c->between = c->later = true;
        break;
    case Z_OK:
    case Z_BUF_ERROR:
        c->between = false;
        break;
    default:
        if (c->later && c->head.done != 1) {
            leave_out(in);
            return 0;
        }
        in->error = "its gzip data is damaged";
    }
    c->pos = c->end - c->gz.avail_in;
    return room - c->gz.avail_out;
}

static size_t read_packed(struct textinput *in, char *to, size_t room)
{
    struct textcodec *c = in->codec;

    for (;;) {
        size_t before = c->pos, n = 0;

        if (c->error)
            in->error = c->error;
        else if (c->pos < c->end || !c->between)
            n = unpack(in, to, room);
        if (n > 0) {
            c->error = in->error;
            in->error = NULL;
        }
        if (n > 0 || in->error)
            return n;
        if (c->pos < c->end && c->pos != before)
            continue;
        c->pos = 0;
        c->end = read_fd(in, c->packed, BUFFER);
        c->taken += c->end;
        if (c->end == 0) {
            if (!c->between && !in->error)
                in->error = "its compressed data is cut short";
            return 0;
        }
    }
}

/*
 * Moves the rest to the front, but so that the bytes read behind it begin at a cache line: the
 * kernel copies twice as fast to there.
 */
static void move_to_front(struct textinput *in)
{
    size_t left = in->end - in->pos;
    size_t to = (size_t)(-((uintptr_t)in->buf + left) % LINE);

    if (to < in->pos) {
        memmove(in->buf + to, in->buf + in->pos, left);
        in->pos = to;
        in->end = to + left;
    }
}

static void free_held(struct textinput *in)
{
    while (in->nheld > 0)
        free(in->held[--in->nheld]);
}

static size_t next_alloc(const struct textinput *in)
{
    return in->alloc ? in->alloc * 2 : in->first_alloc;
}

/* Makes room to read into while lines before in->pos are borrowed: they must not move. */
static void room_behind(struct textinput *in)
{
    size_t left = in->end - in->pos;
    char *before = in->buf;

    in->alloc = left < in->alloc / 2 ? in->alloc : next_alloc(in);
    in->buf = xmalloc(in->alloc);
    if (left)
        memcpy(in->buf, before + in->pos, left);
    in->held = xreallocarray(in->held, in->nheld + 1, sizeof *in->held);
    in->held[in->nheld++] = before;
    in->pos = in->ended = 0;
    in->end = left;
}

/* Makes room to read into while no line is borrowed. */
static void room_in_place(struct textinput *in)
{
    free_held(in);
    watch(in, true, 0, in->alloc);
    move_to_front(in);
    if (in->alloc - in->end <= in->first_alloc / 2) {
        in->alloc = next_alloc(in);
        in->buf = xrealloc(in->buf, in->alloc);
        move_to_front(in);
    }
    watch(in, false, 0, in->pos);
    in->ended = in->pos;
}

static bool too_long(struct textinput *in)
{
    if (in->end - in->pos <= TEXTINPUT_LINE_MAX)
        return false;
    snprintf(in->why, sizeof in->why,
             "line %" PRIu64 " is longer than %u MiB, the most a line may have; is it text?",
             in->line + 1, TEXTINPUT_LINE_MAX >> 20);
    in->error = in->why;
    return true;
}

/* Reads more behind the present bytes. False when there is no more. `lent`: lines are borrowed. */
static bool fill(struct textinput *in, bool lent)
{
    size_t n, room, most = (size_t)TEXTINPUT_LINE_MAX + 1 - (in->end - in->pos);

    if (in->eof || in->error || too_long(in))
        return false;
    if (!lent)
        room_in_place(in);
    else if (in->alloc - in->end <= in->first_alloc / 2)
        room_behind(in);
    /* However large the buffer has become, no line in it is longer than the limit. */
    room = in->alloc - in->end < most ? in->alloc - in->end : most;
    n = in->codec ? read_packed(in, in->buf + in->end, room) : read_fd(in, in->buf + in->end, room);
    in->end += n;
    in->eof = n == 0;
    return n > 0;
}

static bool is_gzip(const char *s, size_t len)
{
    static const unsigned char magic[] = {0x1f, 0x8b, 8};

    return len >= sizeof magic && memcmp(s, magic, sizeof magic) == 0;
}

static bool is_zstd(const char *s, size_t len)
{
    static const unsigned char magic[] = {0x28, 0xb5, 0x2f, 0xfd};

    return len >= sizeof magic && memcmp(s, magic, sizeof magic) == 0;
}

bool textinput_is_packed(const char *s, size_t len)
{
    return is_gzip(s, len) || is_zstd(s, len);
}

static void unpack_start(struct textinput *in)
{
    struct textcodec *c;
    size_t begin;
    bool gzip;

    while (in->end - in->pos < TEXTINPUT_PACKED_LOOK && fill(in, false))
        continue;
    begin = in->end - in->pos;
    gzip = is_gzip(in->buf + in->pos, begin);
    if (!gzip && !is_zstd(in->buf + in->pos, begin))
        return;
    in->codec = c = xcalloc(1, sizeof *c);
    c->kind = gzip ? GZIP : ZSTD;
    if (gzip ? inflateInit2(&c->gz, 15 + 16) != Z_OK : !(c->zd = ZSTD_createDCtx()))
        in->error = "no memory to unpack it";
    /* The buffer has not grown yet, so it fits. */
    c->taken = c->end = in->end - in->pos;
    memcpy(c->packed, in->buf + in->pos, c->end);
    in->pos = in->end = 0;
    in->eof = false;
}

int textinput_open(struct textinput *in, const char *path)
{
    bool std = !path || strcmp(path, "-") == 0;
    struct stat st;

    *in = (struct textinput){.name = std ? "standard input" : path, .first_alloc = BUFFER};
    in->fd = std ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0) {
        int err = -errno;

        in->is_part = in->eof = err == -ENOTDIR && trace_file_is_part(path);
        return in->is_part ? 0 : err;
    }
    if (fstat(in->fd, &st) == 0 && S_ISDIR(st.st_mode))
        return -EISDIR;
    posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    unpack_start(in);
    return 0;
}

bool textinput_split(struct textinput *in, struct textinput *rest)
{
    struct stat st;
    char text[4096];
    const char *nl = NULL;
    uint64_t cut;
    ssize_t n;

    if (fstat(in->fd, &st) != 0)
        return false;
    *rest = (struct textinput){.name = in->name, .line = 1, .first_alloc = BUFFER};
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

void textinput_memory(struct textinput *in, const char *name, struct strbuf *text)
{
    *in = (struct textinput){.name = name, .fd = -1, .first_alloc = BUFFER, .eof = true};
    in->buf = strbuf_detach(text, &in->end);
    in->alloc = in->end + 1;
}

void textinput_from(struct textinput *in, const char *name, textinput_source *source, void *opaque,
                    size_t buffer)
{
    *in = (struct textinput){.name = name,
                             .fd = -1,
                             .source = source,
                             .opaque = opaque,
                             .first_alloc = buffer < BUFFER ? buffer : BUFFER};
    unpack_start(in);
}

void textinput_close(struct textinput *in)
{
    if (in->codec) {
        if (in->codec->kind == GZIP)
            inflateEnd(&in->codec->gz);
        ZSTD_freeDCtx(in->codec->zd);
        free(in->codec);
    }
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    free_held(in);
    free(in->held);
    free(in->buf);
    *in = (struct textinput){.fd = -1};
}

size_t textinput_peek(struct textinput *in, const char **text, size_t want)
{
    while (in->end - in->pos < want && fill(in, false))
        continue;
    *text = in->buf ? in->buf + in->pos : "";
    return in->end - in->pos;
}

/* The next line. `lent`: lines before it are borrowed. */
static bool next_line(struct textinput *in, struct span *line, bool lent)
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
        *line = (struct span){s, have};
        return true;
    } while (fill(in, lent) || (in->eof && in->end > in->pos && !in->error));
    return false;
}

bool textinput_next(struct textinput *in, struct textrecord *rec)
{
    bool more;

    if (in->open && in->open != rec) {
        textinput_refuse(in, "was not done with when another was asked for; this is a fault of "
                             "flame's, please report it");
        return false;
    }
    watch(in, false, in->ended, in->pos);
    in->ended = in->pos;
    more = next_line(in, &rec->line, false);
    rec->in = in;
    in->open = more ? rec : NULL;
    return more;
}

bool textrecord_line(const struct textrecord *rec, struct span *line)
{
    return rec->in->open == rec && next_line(rec->in, line, true);
}

void textrecord_unread(const struct textrecord *rec, struct span line)
{
    struct textinput *in = rec->in;

    in->pos = (size_t)(line.s - in->buf);
    in->line--;
}

void textinput_refuse(struct textinput *in, const char *what)
{
    if (in->error)
        return;
    snprintf(in->why, sizeof in->why, "line %" PRIu64 " %s", in->line, what);
    in->error = in->why;
    in->pos = in->end;
}

void textinput_refuse_all(struct textinput *in, const char *format, ...)
{
    va_list args;

    if (in->error)
        return;
    va_start(args, format);
    vsnprintf(in->why, sizeof in->why, format, args);
    va_end(args);
    in->error = in->why;
    in->pos = in->end;
}

int textinput_cannot_read(const struct textinput *in)
{
    return flame_error(FLAME_USAGE, "%s: cannot read: %s", in->name, in->error);
}

/* Whether the input has unpacked to more than it should have. */
static bool inflated(struct textinput *in, uint64_t unpacked)
{
    const struct textcodec *c = in->codec;

    if (!c || unpacked <= UNPACKED_FREE + c->taken * UNPACKED_RATIO)
        return false;
    snprintf(in->why, sizeof in->why,
             "it unpacks to more than %d times its size; if that is meant, unpack it first",
             UNPACKED_RATIO);
    in->error = in->why;
    return true;
}

bool textinput_all(struct textinput *in, struct strbuf *out)
{
    do {
        if (in->end > in->pos)
            strbuf_add(out, in->buf + in->pos, in->end - in->pos);
        in->pos = in->end;
    } while (!inflated(in, out->len) && fill(in, false));
    return !in->error;
}
