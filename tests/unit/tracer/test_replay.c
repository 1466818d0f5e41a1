/*
 * The state machine, run again over logs of real runs (tests/corpus/events/NAME.log, in the format
 * of tracer/offcpu/replaylog.h). Its result must be NAME.want, byte for byte, and no more and no
 * less than the program's own clock and the log allow. No result here depends on a clock.
 *
 * The logs are of programs of tests/victims/off: by stops, in-process, and beside four busy loops.
 * To change the expected result, `make renew-replays` (RENEW_REPLAYS=1 in the environment of this
 * program) writes NAME.want; read the difference. When the machine asks its world other questions
 * than before, scripts/record-replays.sh records the logs anew.
 */
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/tap.h"
#include "tests/unit/replaytruth.h"

#define CORPUS "tests/corpus/events"

static bool read_all(struct strbuf *sb, const char *name, const char *ending)
{
    struct strbuf path = STRBUF_INIT;
    int err;

    strbuf_addf(&path, CORPUS "/%s.%s", name, ending);
    err = strbuf_read_file(sb, path.buf, 16u << 20);
    strbuf_release(&path);
    return err == 0;
}

static bool write_want(const char *name, const struct strbuf *text)
{
    struct strbuf path = STRBUF_INIT;
    bool is;
    int fd;

    strbuf_addf(&path, CORPUS "/%s.want", name);
    fd = open(path.buf, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    strbuf_release(&path);
    is = fd >= 0 && write(fd, text->buf, text->len) == (ssize_t)text->len;
    if (fd >= 0)
        close(fd);
    return is;
}

/* The first line that differs. */
static void show_difference(const struct strbuf *got, const struct strbuf *want)
{
    const char *g = got->buf, *w = want->buf;
    size_t line = 1;

    while (*g && *w) {
        size_t m = strcspn(g, "\n"), n = strcspn(w, "\n");

        if (m != n || memcmp(g, w, m) != 0)
            break;
        g += m + (g[m] == '\n');
        w += n + (w[n] == '\n');
        line++;
    }
    diag("  line %zu: got  %.*s", line, (int)strcspn(g, "\n"), g);
    diag("  line %zu: want %.*s", line, (int)strcspn(w, "\n"), w);
}

static void check_text(const char *name, const struct replayed *r)
{
    struct strbuf want = STRBUF_INIT;

    if (getenv("RENEW_REPLAYS"))
        ok(write_want(name, &r->text), "%s.want is written", name);
    if (!ok(read_all(&want, name, "want") && want.len == r->text.len &&
                memcmp(want.buf, r->text.buf, want.len) == 0,
            "%s: the replay has the expected sleeps and wakers", name))
        show_difference(&r->text, &want);
    strbuf_release(&want);
}

static void check_sums(const char *name, const struct replayed *r, const struct strbuf *log)
{
    struct strbuf wrong = STRBUF_INIT;
    size_t truths = replay_check_truths(r, log->buf, log->len, &wrong);

    if (!ok(truths && !wrong.len, "%s: %zu sleeps agree with the program's own clock", name,
            truths))
        diag("%.*s", (int)wrong.len, wrong.buf);
    strbuf_clear(&wrong);
    replay_check_threads(r, &wrong);
    if (!ok(!wrong.len, "%s: each thread's times add up", name))
        diag("%.*s", (int)wrong.len, wrong.buf);
    strbuf_release(&wrong);
}

/* Counts lines that differ when they are read and written again. */
static size_t lines_that_change(const struct strbuf *log)
{
    struct replay_memory memory = {.words = NULL};
    struct strbuf again = STRBUF_INIT;
    struct replay_record r;
    size_t n = 0, line = 0, len;

    for (const char *at = log->buf; *at; at += len + 1) {
        len = strcspn(at, "\n");
        line++;
        strbuf_clear(&again);
        if (*at == '#')
            continue;
        if (replay_read(&r, &memory, at, len) == 0)
            replay_add(&again, &r);
        n += WRONG(again.len != len || memcmp(again.buf, at, len) != 0, line);
    }
    strbuf_release(&again);
    replay_memory_release(&memory);
    return n;
}

static void check_log(const char *name)
{
    struct strbuf log = STRBUF_INIT;
    struct replayed r;

    if (!ok(read_all(&log, name, "log"), "%s.log is readable", name))
        return;
    replay_run(&r, log.buf, log.len);
    if (r.elsewhere) {
        skip("%s: this processor lacks a call of the log", name);
    } else {
        if (!ok(!r.line, "%s: the state machine asks its source what it asked when recorded", name))
            diag("  line %zu of the log: %s", r.line, r.wrong);
        is_int((intmax_t)lines_that_change(&log), 0,
               "%s: each line of the log reads and writes back unchanged", name);
        check_text(name, &r);
        check_sums(name, &r, &log);
    }
    replayed_release(&r);
    strbuf_release(&log);
}

/* With arguments: those logs alone. */
static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc == 1;
}

static int is_log(const struct dirent *d)
{
    const char *dot = strrchr(d->d_name, '.');

    return dot && strcmp(dot, ".log") == 0;
}

int main(int argc, char **argv)
{
    struct dirent **list;
    int n = scandir(CORPUS, &list, is_log, alphasort);

    ok(n > 0, CORPUS " has logs; run from the root of the sources");
    for (int i = 0; i < n; i++) {
        *strrchr(list[i]->d_name, '.') = '\0';
        if (is_wanted(list[i]->d_name, argc, argv))
            check_log(list[i]->d_name);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    return done_testing();
}
