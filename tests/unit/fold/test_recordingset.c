/* The traces that stand for the names of files: those in a file of several, files beside it. */
#include "fold/analysis/recordingset.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "tests/tap.h"
#include "tests/unit/trace_several.h"

static char dir[] = "/tmp/flame-test-XXXXXX";

static uint32_t recorder = RECORDINGSET_ALL;

/* The names that are found for `paths`, with a blank behind each. The caller frees them. */
static char *found(const char *const *paths, size_t n)
{
    struct strbuf names = STRBUF_INIT;
    struct recordingset s;

    recordingset_find(&s, (char *const *)paths, n, recorder);
    for (size_t i = 0; i < s.n; i++)
        strbuf_addf(&names, "%s ", s.paths[i]);
    recordingset_release(&s);
    return strbuf_detach(&names, NULL);
}

#define IS_FOUND(want, name, ...)                                                                  \
    do {                                                                                           \
        const char *const paths[] = {__VA_ARGS__};                                                 \
        char *got = found(paths, sizeof paths / sizeof *paths);                                    \
                                                                                                   \
        is_str(got, want, name);                                                                   \
        free(got);                                                                                 \
    } while (0)

static void test_one_file(void)
{
    struct several s;

    several_init(&s, 3, true);
    several_write(&s, "a.flame", s.len);
    IS_FOUND("a.flame/1 a.flame/2 a.flame/3 ", "a file of several is its traces", "a.flame");
    IS_FOUND("a.flame/2 ", "a trace of a file, named alone, stays alone", "a.flame/2");
    IS_FOUND("a.flame/1 a.flame/3 ./a.flame/2 ", "a trace that is named, too, is listed once",
             "a.flame", "./a.flame/2");
    symlink("a.flame", "link");
    IS_FOUND("link/1 link/2 link/3 ", "a link leads to the traces of a file", "link");
    ok(recordingset_are_of_one("a.flame/1", "link/2"), "two traces of a file are of one recording");
    ok(!recordingset_are_of_one("a.flame/2", "link/2"), "a trace is not another one of its file");
    several_header(&s, 1)->magic[0] = 0;
    several_write(&s, "a.flame", s.len);
    IS_FOUND("a.flame/1 a.flame/2 a.flame/3 ", "a damaged trace is left for the reader", "a.flame");
    freopen("/dev/null", "w", stderr);
    several_write(&s, "a.flame", s.len - 1);
    IS_FOUND("a.flame ", "of a file that is cut the first trace is left", "a.flame");
    several_release(&s);
}

/* A file of two traces of memory and one of waiting. */
static void test_recorders(void)
{
    struct several s;

    several_init(&s, 3, true);
    several_header(&s, 2)->recorder = TRACE_RECORDER_OFF;
    several_write(&s, "a.flame", s.len);
    IS_FOUND("a.flame/1 a.flame/2 a.flame/3 ", "all traces are listed on request", "a.flame");
    recorder = TRACE_RECORDER_OFF;
    IS_FOUND("a.flame/3 ", "those of waiting are listed on request", "a.flame");
    IS_FOUND("a.flame/1 ", "a trace that is named by its number stays", "a.flame/1");
    IS_FOUND("a.flame/3 ", "a trace that is named, too, stands for those of its recorder",
             "a.flame", "a.flame/3");
    recorder = TRACE_RECORDER_MEM;
    IS_FOUND("a.flame/1 a.flame/2 ", "those of memory are listed on request", "a.flame");
    recorder = RECORDINGSET_FIRST;
    IS_FOUND("a.flame/1 a.flame/2 ", "those of the first recorder are listed on request",
             "a.flame");
    IS_FOUND("a.flame/1 ./a.flame/2 ", "traces of a file that is named, too, are chosen likewise",
             "a.flame", "./a.flame/2");
    several_header(&s, 0)->magic[0] = 0;
    several_write(&s, "b.flame", s.len);
    recorder = TRACE_RECORDER_OFF;
    IS_FOUND("b.flame ", "a file whose first trace is damaged is left for the reader", "b.flame");
    several_header(&s, 0)->magic[0] = TRACE_MAGIC[0];
    several_header(&s, 1)->magic[0] = 0;
    several_write(&s, "b.flame", s.len);
    IS_FOUND("b.flame/2 b.flame/3 ", "a damaged trace is left for the reader of any recorder",
             "b.flame");
    several_header(&s, 2)->recorder = TRACE_RECORDER_MEM;
    several_write(&s, "b.flame", s.len);
    IS_FOUND("b.flame/1 b.flame/2 b.flame/3 ", "all are listed if none is of the recorder",
             "b.flame");
    recorder = RECORDINGSET_ALL;
    several_release(&s);
}

static void test_files(void)
{
    struct several s;

    several_init(&s, 2, true);
    several_header(&s, 0)->traces = 0;
    several_write(&s, "b.flame", several_place(&s, 1)->at);
    memmove(s.data, s.data + several_place(&s, 1)->at, several_place(&s, 1)->size);
    several_write(&s, "b.2.flame", several_place(&s, 1)->size);
    IS_FOUND("b.flame b.2.flame ", "the first of several files stands for all", "b.flame");
    IS_FOUND("b.2.flame ", "another one of several files stays alone", "b.2.flame");
    IS_FOUND("none.flame - ", "names of no file, and of standard input, stay", "none.flame", "-");
    several_release(&s);
}

int main(void)
{
    static const char *const names[] = {"a.flame", "b.flame", "b.2.flame", "link"};

    if (!ok(mkdtemp(dir) && chdir(dir) == 0, "a directory for the test's files is made"))
        return done_testing();
    test_files();
    test_one_file();
    test_recorders();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(names[i]);
    rmdir(dir);
    return done_testing();
}
