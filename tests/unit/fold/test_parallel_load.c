/* Two files loaded by two threads are what one thread loads; all that is not plain is refused. */
#define _GNU_SOURCE /* CPU_COUNT */
#include "fold/parallel_load.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/rnd.h"
#include "tests/tap.h"

static const struct fold_options options;
static char before[] = "/tmp/flame-halves-XXXXXX", after[] = "/tmp/flame-halves-XXXXXX";
static char *paths[] = {before, after};

/* A file of stacks, whose names differ in addresses, too. `last` is its last line. */
static void make(const char *path, const char *first, int lines, const char *last)
{
    FILE *f = fopen(path, "w");

    fputs(first, f);
    for (int i = 0; i < lines; i++) {
        fprintf(f, "main");
        for (int k = (int)(rnd() % 12); k >= 0; k--)
            fprintf(f, ";function_%u 0x%x", rnd() % 500, rnd() % 3);
        fprintf(f, rnd() % 4 ? " %u\n" : " %u.25\n", rnd() % 1000);
    }
    fputs(last, f);
    fclose(f);
}

static char *text_of(struct load *l)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    fprintf(f, "%s\n", l->meta.buf);
    for (int i = 0; i < 2; i++)
        fprintf(f, "%ju\n", (uintmax_t)l->left_out[i].whole);
    stackset_write(l->stacks, BY_LINE, f);
    fclose(f);
    return text;
}

static void init(struct load *l, bool strip)
{
    load_init(l, "compare", &options);
    stackset_want_two(l->stacks);
    stackset_strip(l->stacks, strip);
}

static bool halves(bool strip, char **text)
{
    struct load l;
    bool done;

    init(&l, strip);
    done = parallel_load(&l, paths, strip);
    *text = text_of(&l);
    load_release(&l);
    return done;
}

static void check_same(bool strip, const char *what)
{
    struct load l;
    char *got, *want;

    init(&l, strip);
    for (int k = 0; k < 2; k++) {
        l.column = k;
        load_file(&l, paths[k]);
    }
    want = text_of(&l);
    ok(halves(strip, &got), "%s: two threads load two files", what);
    ok(strcmp(got, want) == 0, "%s: two threads give the text of one", what);
    free(got);
    free(want);
    load_release(&l);
}

static void check_refused(const char *what)
{
    char *text;

    ok(!halves(false, &text), "%s is left to one thread", what);
    ok(strcmp(text, "\n0\n0\n") == 0, "%s: a refused parallel load leaves nothing behind", what);
    free(text);
}

static void check_all(void)
{
    make(before, "# flame: view=live unit=bytes\n# flame: left-out=7\n", 30000, "main;last 3");
    make(after, "# flame: view=live unit=bytes\n", 20000, "main;last 18446744073709551615\n");
    check_same(false, "plain files");
    check_same(true, "addresses stripped");

    make(after, "# flame: view=count unit=calls\n", 20000, "");
    check_refused("another view");
    make(after, "", 20000, "# flame: view=live unit=bytes\n");
    check_refused("a heading in the second half");
    make(after, "", 20000, "# flame: left-out=5\n");
    check_refused("a left-out sum in the second half");
    make(after, "", 20000, "what is this\n");
    check_refused("a malformed line");
    make(after, "", 20000, "a 1 2\n");
    check_refused("a line of two counts");
    make(after, "", 0, "");
    check_refused("an empty file");
    make(after, "", 20000, "");
    make(before, "", 10, "");
    check_refused("a small file");
    unlink(after);
    check_refused("a missing file");
}

int main(void)
{
    cpu_set_t cpus;
    int fds[] = {mkstemp(before), mkstemp(after)};

    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) > 1)
        check_all();
    else
        skip("this machine has one processor");
    for (int i = 0; i < 2; i++) {
        close(fds[i]);
        unlink(paths[i]);
    }
    return done_testing();
}
