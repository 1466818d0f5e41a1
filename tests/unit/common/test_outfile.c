/* test_outfile.c: output is whole or not there. */
#include "common/files/outfile.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "tests/tap.h"

static char dir[] = "/tmp/flame-test-outfile.XXXXXX";

static int entries_named(const char *prefix)
{
    char cmd[256], buf[32] = "";
    FILE *p;

    snprintf(cmd, sizeof cmd, "ls %s | grep -c '^%s'", dir, prefix);
    p = popen(cmd, "r");
    if (!p || !fgets(buf, sizeof buf, p))
        buf[0] = '\0';
    if (p)
        pclose(p);
    return atoi(buf);
}

static const char *in_dir(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void test_commit_and_abort(void)
{
    struct outfile out;
    struct stat st;
    char line[16] = "";
    FILE *f;

    is_int(outfile_open(&out, in_dir("a")), 0, "opened");
    fputs("first\n", out.f);
    ok(access(in_dir("a"), F_OK) != 0, "not there before the commit");
    is_int(outfile_commit(&out), 0, "committed");
    is_int(entries_named("a"), 1, "nothing left beside it");

    is_int(outfile_open(&out, in_dir("a")), 0, "opened again");
    fputs("second\n", out.f);
    outfile_abort(&out);
    f = fopen(in_dir("a"), "r");
    ok(f && fgets(line, sizeof line, f), "the old file is there after an abort");
    is_str(line, "first\n", "and unchanged");
    if (f)
        fclose(f);
    is_int(entries_named("a"), 1, "the aborted one is gone");

    umask(022);
    is_int(outfile_open(&out, in_dir("b")), 0, "opened under umask 022");
    is_int(outfile_commit(&out), 0, "committed");
    ok(stat(in_dir("b"), &st) == 0 && (st.st_mode & 0777) == 0644, "mode as the umask has it");
}

static void test_errors(void)
{
    struct outfile out;

    is_int(outfile_open(&out, in_dir("none/c")), -ENOENT, "no such directory");
    is_int(outfile_open(&out, "/dev/full"), 0, "a device is written in place");
    fputs("x", out.f);
    ok(outfile_commit(&out) < 0, "a full disk is seen at the commit");
    is_int(outfile_open(&out, "-"), 0, "- is standard output");
    ok(out.f == stdout, "indeed");
    is_int(outfile_commit(&out), 0, "and stays open");
}

int main(void)
{
    char cmd[128];

    if (!ok(mkdtemp(dir) != NULL, "scratch directory"))
        return done_testing();
    test_commit_and_abort();
    test_errors();
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    is_int(system(cmd), 0, "scratch directory removed");
    return done_testing();
}
