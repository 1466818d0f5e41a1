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
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void test_commit_and_abort(void)
{
    struct outfile out;
    struct stat st;
    char line[16] = "";
    FILE *f;

    is_int(outfile_open(&out, in_dir("a")), 0, "outfile_open succeeds");
    fputs("first\n", out.f);
    ok(access(in_dir("a"), F_OK) != 0, "the file is absent before the commit");
    is_int(outfile_commit(&out), 0, "outfile_commit succeeds");
    is_int(entries_named("a"), 1, "a commit leaves no temporary file");

    is_int(outfile_open(&out, in_dir("a")), 0, "outfile_open of an existing file succeeds");
    fputs("second\n", out.f);
    outfile_abort(&out);
    f = fopen(in_dir("a"), "r");
    ok(f && fgets(line, sizeof line, f), "an abort keeps the old file");
    is_str(line, "first\n", "an abort keeps the old contents");
    if (f)
        fclose(f);
    is_int(entries_named("a"), 1, "an abort leaves no temporary file");

    umask(022);
    is_int(outfile_open(&out, in_dir("b")), 0, "outfile_open under umask 022 succeeds");
    is_int(outfile_commit(&out), 0, "outfile_commit under umask 022 succeeds");
    ok(stat(in_dir("b"), &st) == 0 && (st.st_mode & 0777) == 0644,
       "a committed file has the mode of the umask");
}

static void test_errors(void)
{
    struct outfile out;

    is_int(outfile_open(&out, in_dir("none/c")), -ENOENT,
           "outfile_open in a missing directory returns -ENOENT");
    is_int(outfile_open(&out, "/dev/full"), 0, "outfile_open of a device succeeds");
    fputs("x", out.f);
    ok(outfile_commit(&out) < 0, "outfile_commit reports a full device");
    is_int(outfile_open(&out, "-"), 0, "outfile_open of - succeeds");
    ok(out.f == stdout, "outfile_open of - gives standard output");
    is_int(outfile_commit(&out), 0, "outfile_commit leaves standard output open");
}

static void test_long_names(void)
{
    struct outfile out;
    char name[257];

    memset(name, 'n', 256);
    for (size_t len = 244; len <= 255; len++) {
        name[len] = '\0';
        is_int(outfile_open(&out, in_dir(name)), 0, "outfile_open of %zu bytes succeeds", len);
        is_int(outfile_commit(&out), 0, "outfile_commit of %zu bytes succeeds", len);
        is_int(access(in_dir(name), F_OK), 0, "the file of %zu bytes is there", len);
        unlink(in_dir(name));
        name[len] = 'n';
    }
    name[256] = '\0';
    is_int(outfile_open(&out, in_dir(name)), -ENAMETOOLONG,
           "outfile_open of 256 bytes returns -ENAMETOOLONG");
    is_int(entries_named("flame"), 0, "a long name leaves no temporary file");
}

int main(void)
{
    char cmd[128];

    if (!ok(mkdtemp(dir) != NULL, "a scratch directory is made"))
        return done_testing();
    test_commit_and_abort();
    test_errors();
    test_long_names();
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    is_int(system(cmd), 0, "the scratch directory is removed");
    return done_testing();
}
