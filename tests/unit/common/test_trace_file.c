/* Files of several traces: which of them are found, and which damaged places are refused. */
#include "common/files/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/error.h"
#include "common/trace/trace_origins.h"
#include "common/trace/trace_reader.h"
#include "tests/tap.h"
#include "tests/unit/trace_several.h"

#define TRACES 70 /* their list is longer than a unit */

static char dir[] = "/tmp/flame-test-XXXXXX", path[64];

static const char *part(uint32_t number)
{
    static char name[80];

    snprintf(name, sizeof name, "%s/%u", path, number);
    return name;
}

/* The error of opening a trace of the file that is written from `s`. */
static int error_of(const struct several *s, size_t len, uint32_t number)
{
    struct trace_file f;
    int err;

    several_write(s, path, len);
    err = trace_file_open(part(number), 0, &f);
    if (!err)
        close(f.fd);
    return err;
}

/* Bytes that the trace's row counts; 0: the trace is refused. */
static uint64_t bytes_of(const char *name)
{
    uint64_t bytes = 0;
    struct trace *t;

    if (trace_load_quietly(name, &t))
        return 0;
    for (uint32_t id = 0; id < t->row_limit; id++)
        bytes += t->rows[id].alloc_bytes;
    trace_free(t);
    return bytes;
}

static void test_split(void)
{
    static const char *const none[] = {"a.flame",    "a.flame/",         "a.flame/0",
                                       "a.flame/01", "a.flame/x",        "a.flame/1x",
                                       "/1",         "a.flame/12345678", "a.flame/-1"};
    uint32_t number = 0;
    char *file = trace_file_split("b/a.flame/12", &number);

    is_str(file, "b/a.flame", "the path of a trace in a file has the file's");
    is_int(number, 12, "the path of a trace in a file has its number");
    free(file);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        file = trace_file_split(none[i], &number);
        ok(!file, "no path of a trace in a file: %s", none[i]);
        free(file);
    }
}

static void test_valid(void)
{
    struct trace *t = NULL;
    struct trace_header h;
    struct trace_file f;
    struct several s;
    uint32_t n = 0;
    bool all = true;

    several_init(&s, TRACES, false);
    several_write(&s, path, s.len);
    is_int(trace_file_count(path, &n), 0, "the traces of a file are counted");
    is_int(n, TRACES, "the number of the traces of a file");
    for (uint32_t i = 0; i < TRACES; i++)
        all = all && bytes_of(part(i + 1)) == 100 + i;
    ok(all, "each trace of a file loads");
    is_int((intmax_t)bytes_of(path), 100, "the file itself loads as its first trace");
    is_int(trace_file_open(part(3), 0, &f), 0, "a trace of a file opens");
    ok(f.is_part && trace_file_header(&f, &h) && h.pid == 3, "a trace of a file has its header");
    ok(!trace_file_read(&f, f.size - 4, &h, 8), "no byte is read from behind a trace");
    ok(!trace_file_read(&f, UINT64_MAX - 4, &h, 8), "no byte is read from an offset that wraps");
    close(f.fd);
    is_int((intmax_t)trace_file_size(part(3)), (intmax_t)f.size, "a trace of a file has its size");
    ok(trace_file_is_part(part(TRACES)) && !trace_file_is_part(part(TRACES + 1)) &&
           !trace_file_is_part(path),
       "only the traces of a file are its parts");
    is_int(trace_load(part(2), &t), 0, "trace_load loads a trace of a file");
    is_str(t ? t->path : NULL, part(2), "a trace of a file has its path");
    trace_free(t);
    is_int(trace_file_open(part(TRACES + 1), 0, &f), -ENOENT, "a trace beyond the last is missing");
    is_int(trace_file_open(dir, 0, &f), -ENOTSUP, "a directory is no file of traces");
    several_release(&s);
}

static void test_alone(void)
{
    struct several s;
    struct trace_file f;
    uint32_t n = 9;

    several_init(&s, 2, false);
    for (uint32_t traces = 0; traces < 2; traces++) {
        several_header(&s, 0)->traces = traces;
        is_int(error_of(&s, several_place(&s, 1)->at, 1), -ENOTDIR,
               "a file of one trace has no parts, by the number %u", traces);
        ok(trace_file_count(path, &n) == 0 && n == 0, "a file of one trace, by the number %u",
           traces);
    }
    is_int(trace_file_open(path, 0, &f), 0, "a file of one trace opens");
    ok(!f.is_part && f.size == UINT64_MAX, "a file of one trace may grow");
    close(f.fd);
    several_release(&s);
}

/* A list of 5 with one number changed; the third trace, and the last, are opened. */
static void test_damaged(void)
{
    struct several good, s;
    uint32_t n;

    several_init(&good, 5, false);
#define SPOILED(what, third, last, name)                                                           \
    do {                                                                                           \
        several_init(&s, 5, false);                                                                \
        what;                                                                                      \
        is_int(error_of(&s, s.len, 3), third ? TRACE_FILE_DAMAGED : 0, "%s: the third", name);     \
        is_int(error_of(&s, s.len, 5), last ? TRACE_FILE_DAMAGED : 0, "%s: the last", name);       \
        several_release(&s);                                                                       \
    } while (0)
    SPOILED((void)0, false, false, "nothing is damaged");
    SPOILED(several_place(&s, 2)->at += TRACE_UNIT, true, false, "a place that runs into the next");
    SPOILED(several_place(&s, 2)->at -= TRACE_UNIT, true, false, "a place that begins too early");
    SPOILED((several_place(&s, 2)->at += 8, several_place(&s, 2)->size -= 8), true, false,
            "a place at no unit");
    SPOILED(several_place(&s, 2)->at = UINT64_MAX - 1023, true, false, "a place that wraps");
    SPOILED(several_place(&s, 2)->size += 1, true, false, "a size that is too large");
    SPOILED(several_place(&s, 2)->size = UINT64_MAX, true, false, "a size that wraps");
    SPOILED(several_place(&s, 4)->size += TRACE_UNIT, false, true, "a last size beyond the list");
    SPOILED(several_place(&s, 0)->at = TRACE_UNIT, false, false, "a first place that is not 0");
    SPOILED(several_list(&s)->traces = 4, true, true, "a list of another number");
    SPOILED(several_list(&s)->magic[0] ^= 1, true, true, "a list without its name");
    SPOILED(several_header(&s, 0)->traces = UINT32_MAX, true, true, "four billion traces");
    SPOILED(several_header(&s, 0)->traces = 6, true, true, "more traces than the list has");
#undef SPOILED
    several_place(&good, 0)->at = TRACE_UNIT;
    is_int(error_of(&good, good.len, 1), TRACE_FILE_DAMAGED, "a first place that is not 0");
    several_place(&good, 0)->at = 0;
    is_int(error_of(&good, good.len - 1, 3), TRACE_FILE_DAMAGED, "a file that is cut");
    ok(trace_file_count(path, &n) == TRACE_FILE_DAMAGED && n == 5,
       "a file that is cut, and its number of traces");
    several_release(&good);
}

/* A damaged trace costs itself only. */
static void test_damaged_trace(void)
{
    struct strbuf why = STRBUF_INIT;
    struct several s;
    struct trace *t;

    several_init(&s, 3, false);
    several_header(&s, 1)->units += 1;
    several_write(&s, path, s.len);
    is_int(trace_load_linked_or_why(part(2), &why, &t), FLAME_USAGE,
           "a trace whose header goes beyond its place is refused");
    ok(strstr(why.buf, "cut: its header says") != NULL, "the reason: %s", why.buf);
    ok(bytes_of(part(1)) == 100 && bytes_of(part(3)) == 102, "the traces beside it load");
    several_header(&s, 0)->features = UINT32_MAX;
    several_write(&s, path, s.len);
    ok(!bytes_of(part(1)) && bytes_of(part(3)) == 102,
       "a first trace that is refused costs itself");
    strbuf_release(&why);
    several_release(&s);
}

static void test_hollow(void)
{
    struct several s;
    uint32_t n = 0;
    int fd;

    several_init(&s, 2, false);
    several_write(&s, path, s.len);
    fd = open(path, O_WRONLY);
    is_int(ftruncate(fd, (off_t)40 << 30), 0, "a file grows by a hole");
    pwrite(fd, s.data + s.list_at, s.len - s.list_at,
           (off_t)(((uint64_t)40 << 30) - (s.len - s.list_at)));
    close(fd);
    is_int(trace_file_count(path, &n), TRACE_FILE_DAMAGED, "a file of holes is refused");
    several_release(&s);
}

int main(void)
{
    if (!ok(mkdtemp(dir) != NULL, "a directory for the test's files is made"))
        return done_testing();
    snprintf(path, sizeof path, "%s/a.flame", dir);
    test_split();
    test_valid();
    test_alone();
    test_damaged();
    test_damaged_trace();
    test_hollow();
    unlink(path);
    rmdir(dir);
    return done_testing();
}
