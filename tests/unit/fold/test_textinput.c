/*
 * Lines and records of an input, in pieces of any size. Borrowed lines stay where they are, a line
 * has a limit, and every reader makes the same of a file and of a pipe.
 */
#include "common/alloc.h"
#include "fold/stacks/textinput.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "fold/collapse/collapse.h"
#include "tests/rnd.h"
#include "tests/tap.h"
#include "tests/unit/pieces.h"
#include "tests/unit/said.h"

#define CORPUS "tests/corpus/collapse"

/* An input over a copy of a text, no byte larger. */
static void open_text(struct textinput *in, const char *text, size_t len)
{
    struct strbuf copy = {xmemdup0(text, len), len, len + 1};

    textinput_memory(in, "text", &copy);
}

static struct span span_at(const struct strbuf *sb, size_t from, size_t len)
{
    return (struct span){sb->buf + from, len};
}

static bool same(struct span a, struct span b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.s, b.s, a.len) == 0);
}

/* ---- records ---- */

struct lines {
    struct strbuf text;
    size_t at[1000], len[1000], n;
};

/* Lines of every length, some with a CR, the last without a newline. */
static void make_lines(struct lines *l)
{
    *l = (struct lines){.text = STRBUF_INIT, .n = ARRAY_LEN(l->at)};
    for (size_t i = 0; i < l->n; i++) {
        l->at[i] = l->text.len;
        l->len[i] = rnd() % (rnd() % 10 ? 30 : 700);
        if (i + 1 == l->n)
            l->len[i] = 5;
        for (size_t k = 0; k < l->len[i]; k++)
            strbuf_addch(&l->text, (char)('a' + rnd() % 26));
        if (i + 1 < l->n)
            strbuf_addstr(&l->text, rnd() % 5 ? "\n" : "\r\n");
    }
}

/* Reads records of random numbers of lines; returns how many lines were right, and stayed so. */
static size_t read_records(const struct lines *l, struct textinput *in)
{
    struct textrecord rec;
    struct span lent[8];
    size_t right = 0, first = 0, n;

    while (textinput_record(in, &rec)) {
        lent[0] = rec.line;
        for (n = 1; n < 1 + rnd() % ARRAY_LEN(lent) && textrecord_line(&rec, &lent[n]); n++)
            continue;
        if (n > 1 && rnd() % 3 == 0)
            textrecord_unread(&rec, lent[--n]);
        for (size_t i = 0; i < n && first + i < l->n; i++)
            right += same(lent[i], span_at(&l->text, l->at[first + i], l->len[first + i]));
        first += n;
        if (in->line != first)
            return 0;
    }
    return first == l->n ? right : 0;
}

static void test_records(void)
{
    struct lines l;
    struct textinput in;

    make_lines(&l);
    for (size_t most = 0; most <= 4096; most = most ? most * 4 : 1)
        for (size_t buffer = 1; buffer <= 65536; buffer *= 16) {
            struct pieces p = {.text = l.text.buf, .len = l.text.len, .most = most, .state = rnd()};

            pieces_open(&in, &p, buffer);
            is_int((intmax_t)read_records(&l, &in), (intmax_t)l.n,
                   "records have their lines, in pieces of at most %zu bytes with a buffer of %zu",
                   most, buffer);
            textinput_close(&in);
        }
    open_text(&in, l.text.buf, l.text.len);
    is_int((intmax_t)read_records(&l, &in), (intmax_t)l.n,
           "records of text in memory have their lines");
    textinput_close(&in);
    strbuf_release(&l.text);
}

static void test_second_record(void)
{
    struct textrecord rec, other;
    struct textinput in;

    open_text(&in, "a\nb\n", 4);
    ok(textinput_record(&in, &rec) && !textinput_record(&in, &other),
       "a second record of an input is refused");
    is_str(in.error,
           "line 1 was not done with when another was asked for; this is a fault of flame's, "
           "please report it",
           "a refused second record gives a message");
    ok(rec.line.len == 1 && rec.line.s[0] == 'a', "a refused second record leaves the first one");
    ok(!textinput_record(&in, &rec), "the first record is the last one of a refused input");
    textinput_close(&in);
}

#if TEXTINPUT_WATCHED
static volatile char taken;

static void read_ended(void)
{
    static char text[200];
    struct textrecord rec;
    struct textinput in;
    struct span kept;

    memset(text, 'x', sizeof text);
    text[99] = text[199] = '\n';
    open_text(&in, text, sizeof text);
    textinput_record(&in, &rec);
    kept = rec.line;
    textinput_record(&in, &rec);
    taken = kept.s[50];
}

static void test_watched(void)
{
    int status = 0;
    pid_t pid;

    fflush(stdout);
    said_begin();
    pid = fork();
    if (pid == 0) {
        read_ended();
        _exit(0);
    }
    waitpid(pid, &status, 0);
    ok(strstr(said_end(), "use-after-poison") && status != 0,
       "reading a line of an ended record is a use-after-poison");
}
#else
static void test_watched(void)
{
}
#endif

/* ---- limits ---- */

static ssize_t endless(void *opaque, char *to, size_t room)
{
    (void)opaque;
    memset(to, 'a', room);
    return (ssize_t)room;
}

static void test_endless(void)
{
    struct textrecord rec;
    struct textinput in;

    textinput_from(&in, "endless", endless, NULL, 1 << 16);
    ok(!textinput_record(&in, &rec), "an endless line is refused");
    is_str(in.error, "line 1 is longer than 64 MiB, the most a line may have; is it text?",
           "an endless line gives a message");
    ok(in.alloc <= 4 * (size_t)TEXTINPUT_LINE_MAX,
       "an endless line is refused before memory runs out");
    textinput_close(&in);
}

/* Whether a line of that length, and a short one behind it, are read. */
static bool reads_line(char *text, size_t len, size_t most, size_t buffer)
{
    struct pieces p = {.text = text, .len = len + 3, .most = most, .state = 1};
    struct textrecord rec;
    struct textinput in;
    bool read;

    memset(text, 'a', len);
    memcpy(text + len, "\nb\n", 3);
    pieces_open(&in, &p, buffer);
    read = textinput_record(&in, &rec) && rec.line.len == len && textinput_record(&in, &rec) &&
           rec.line.len == 1;
    textinput_close(&in);
    return read;
}

static void test_line_max(void)
{
    char *text = malloc((size_t)TEXTINPUT_LINE_MAX + 4);

    ok(reads_line(text, TEXTINPUT_LINE_MAX, 0, 1 << 18),
       "the longest allowed line is read as one piece");
    ok(reads_line(text, TEXTINPUT_LINE_MAX, 1 << 20, 1 << 12),
       "the longest allowed line is read in pieces");
    ok(!reads_line(text, (size_t)TEXTINPUT_LINE_MAX + 1, 0, 1 << 18),
       "a line a byte too long is refused as one piece");
    ok(!reads_line(text, (size_t)TEXTINPUT_LINE_MAX + 1, 1 << 20, 1 << 12),
       "a line a byte too long is refused in pieces");
    free(text);
}

/* `len` bytes of `text` over and over, packed with gzip. */
static void pack(struct strbuf *out, const char *text, size_t len, size_t times)
{
    z_stream z = {0};
    char packed[4096];

    deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
    for (size_t i = 0; i <= times; i++) {
        z.next_in = (Bytef *)(uintptr_t)text;
        z.avail_in = i < times ? (uInt)len : 0;
        do {
            z.next_out = (Bytef *)packed;
            z.avail_out = sizeof packed;
            deflate(&z, i < times ? Z_NO_FLUSH : Z_FINISH);
            strbuf_add(out, packed, sizeof packed - z.avail_out);
        } while (z.avail_out == 0);
    }
    deflateEnd(&z);
}

static void test_bomb(void)
{
    struct strbuf packed = STRBUF_INIT, text = STRBUF_INIT;
    static const char zeros[1 << 20];
    struct pieces p = {0};
    struct textinput in;

    pack(&packed, zeros, sizeof zeros, 200);
    p.text = packed.buf;
    p.len = packed.len;
    pieces_open(&in, &p, 1 << 18);
    ok(!textinput_all(&in, &text), "textinput_all refuses %zu bytes that unpack to 200 MiB",
       packed.len);
    is_str(in.error,
           "it unpacks to more than 256 times its size; if that is meant, unpack it first",
           "a refused input gives a message");
    ok(text.len < 140u << 20, "an input is refused early");
    textinput_close(&in);
    strbuf_release(&packed);
    strbuf_release(&text);
}

/* The lines of packed data that comes in pieces of at most `most` bytes, then the error. */
static char *unpacked(const struct strbuf *packed, size_t most)
{
    struct pieces p = {.text = packed->buf, .len = packed->len, .most = most};
    struct strbuf got = STRBUF_INIT;
    struct textrecord rec;
    struct textinput in;

    pieces_open(&in, &p, 1 << 18);
    while (textinput_record(&in, &rec)) {
        strbuf_add(&got, rec.line.s, rec.line.len);
        strbuf_addch(&got, '|');
    }
    strbuf_addstr(&got, in.error ? in.error : "no error");
    textinput_close(&in);
    return strbuf_detach(&got, NULL);
}

/* Bytes behind the packed text give the same result in pieces of any size. */
static void is_unpacked(const char *behind, size_t len, const char *want, const char *name)
{
    static const size_t sizes[] = {0, 1, 2, 3, 20};
    struct strbuf packed = STRBUF_INIT;

    pack(&packed, "a\nb\n", 4, 1);
    strbuf_add(&packed, behind, len);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        char *got = unpacked(&packed, sizes[i]);

        is_str(got, want, "%s, in pieces of %zu", name, sizes[i]);
        free(got);
    }
    strbuf_release(&packed);
}

static void test_behind(void)
{
    /* A member that looks like one for ten bytes, and after "c" the beginning of a stored block. */
    static const char member[] = "\x1f\x8b\x08\0\0\0\0\0\0\3", stored[] = "\0\2\0\xfd\xff"
                                                                          "c\n\7";
    struct strbuf damaged = STRBUF_INIT;

    is_unpacked("", 0, "a|b|no error", "nothing behind packed data");
    is_unpacked("\0\0\0\0", 4, "a|b|no error", "padding behind packed data");
    is_unpacked("text", 4, "a|b|no error", "text");
    is_unpacked("\x1ftext", 5, "a|b|no error", "text behind packed data that begins like a member");
    is_unpacked("\x1f\x8btext", 6, "a|b|no error",
                "text behind packed data that begins with a member's magic");
    is_unpacked("\x1f\x8b\x08", 3, "a|b|its compressed data is cut short",
                "half a member's header behind packed data");
    is_unpacked(member, sizeof member - 1, "a|b|its compressed data is cut short",
                "a member's header behind packed data");
    strbuf_add(&damaged, member, sizeof member - 1);
    strbuf_add(&damaged, stored, sizeof stored - 1);
    is_unpacked(damaged.buf, damaged.len, "a|b|c|its gzip data is damaged",
                "lines before the damage");
    strbuf_release(&damaged);
}

/* ---- every reader ---- */

struct way {
    size_t most, buffer; /* of pieces; buffer 0: the file at once */
    struct collapse_options opt;
};

/* Folded lines that a reader makes of a text, and the count of lines that it did not understand. */
static char *folded(const struct collapse_kind *kind, const struct way *way, const char *text,
                    size_t len)
{
    struct pieces p = {.text = text, .len = len, .most = way->most, .state = rnd()};
    struct stackset *stacks = stackset_new();
    struct collapse c;
    char *out = NULL;
    size_t size;
    FILE *f;

    collapse_init(&c, &way->opt, stacks);
    if (way->buffer)
        pieces_open(&c.in, &p, way->buffer);
    else
        open_text(&c.in, text, len);
    kind->run(&c);
    f = open_memstream(&out, &size);
    stackset_write(stacks, BY_STACK, f);
    fprintf(f, "%ju samples, %ju unknown, line %ju: %s, %s\n", (uintmax_t)c.samples,
            (uintmax_t)c.unknown, (uintmax_t)c.unknown_line, c.unknown_text.buf,
            c.in.error ? c.in.error : "no error");
    fclose(f);
    collapse_release(&c);
    stackset_free(stacks);
    return out;
}

/* Whether all ways to read a text give the same result, by this reader and with these options. */
static bool reads_alike(const struct collapse_kind *kind, struct collapse_options opt,
                        const char *text, size_t len)
{
    static const size_t sizes[][2] = {{0, 32}, {1, 1}, {7, 64}, {100, 256}, {3000, 4096}};
    struct way way = {.opt = opt};
    char *want = folded(kind, &way, text, len);
    bool alike = true;

    for (size_t i = 0; i < ARRAY_LEN(sizes) && alike; i++) {
        char *got;

        way.most = sizes[i][0];
        way.buffer = sizes[i][1];
        got = folded(kind, &way, text, len);
        alike = strcmp(got, want) == 0;
        if (!alike)
            diag("%s, pieces of %zu bytes, a buffer of %zu", kind->name, way.most, way.buffer);
        free(got);
    }
    free(want);
    return alike;
}

static bool all_read_alike(const char *text, size_t len)
{
    const struct collapse_options plain = {0}, all = {.pid = true,
                                                      .tid = true,
                                                      .kernel = true,
                                                      .jit = true,
                                                      .addrs = true,
                                                      .srcline = true,
                                                      .perl = true,
                                                      .place = PLACE_MODULE,
                                                      .wake = true,
                                                      .chain = true};
    bool alike = true;

    for (const struct collapse_kind *k = collapse_kinds; k->name; k++)
        alike &= row(reads_alike(k, plain, text, len) && reads_alike(k, all, text, len),
                     "%s reads '%.200s' in pieces as it does whole", k->name, text);
    return alike;
}

static void read_file(struct strbuf *sb, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || strbuf_read_fd(sb, fd) != 0)
        diag("%s: cannot be read", path);
    close(fd);
}

static void test_corpus(void)
{
    DIR *dir = opendir(CORPUS);
    struct dirent *e;
    int files = 0;

    while (dir && (e = readdir(dir))) {
        struct strbuf path = STRBUF_INIT, text = STRBUF_INIT;

        if (e->d_name[0] == '.')
            continue;
        strbuf_addf(&path, CORPUS "/%s", e->d_name);
        read_file(&text, path.buf);
        ok(all_read_alike(text.buf, text.len < 20000 ? text.len : 20000),
           "every reader reads %s in pieces as it does whole", e->d_name);
        files++;
        strbuf_release(&path);
        strbuf_release(&text);
    }
    ok(files > 20, "the readers' corpus has files");
    if (dir)
        closedir(dir);
}

/* Frames of several functions with one source line below; and one whose line is missing. */
static void test_srcline(void)
{
    static const char text[] = "java 1/1 1.0: 5 cycles:\n"
                               "\t10 La/B;::f->Lc/D;::g (/tmp/perf-1.map)\n"
                               "  D.java:7\n"
                               "\t20 Lmain;::m->Lx/Y;::z->Ln/O;::p (/tmp/perf-1.map)\n"
                               "\t30 start (/bin/java)\n"
                               "  start.c:9 (inlined)\n"
                               "\n"
                               "java 1/1 2.0: 6 cycles:\n"
                               "\t40 last (/bin/java)\n"
                               "\n"
                               "java 1/1 2.0: 7 cycles:\n"
                               "\t50 [unknown] ([unknown])\n"
                               "\t40 last (/bin/java)\n"
                               "  last.c:1\n"
                               "\n";
    const struct collapse_options opt = {.srcline = true};
    const struct collapse_kind *perf = collapse_kind_find("perf");
    const struct way way = {.opt = opt};
    char *got = folded(perf, &way, text, strlen(text));

    is_str(got,
           "java;last 6\n"
           "java;last:last.c:1;[unknown] 7\n"
           "java;start:start.c:9;Lmain:::m;x/Y:::z_[i];n/O:::p_[i];a/B:::f;c/D:::g_[i]:D.java:7 5\n"
           "3 samples, 0 unknown, line 0: , no error\n",
           "perf: a source line belongs to the innermost function of its frame");
    ok(reads_alike(perf, opt, text, strlen(text)),
       "perf: source lines are read in pieces as they are whole");
    free(got);
}

int main(void)
{
    test_records();
    test_second_record();
    test_watched();
    test_endless();
    test_line_max();
    test_bomb();
    test_behind();
    test_corpus();
    test_srcline();
    return done_testing();
}
