/* The directory of a run: what is read of it, and how it goes away, whatever lies in it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files/plainfile.h"
#include "common/strbuf.h"
#include "common/trace/trace_reader.h"
#include "driver/rundir/remove_rundir.h"
#include "driver/rundir/rundir.h"
#include "tests/tap.h"

#define DEEP 40

static char top[] = "/tmp/rundir.XXXXXX";

static const char *in_top(const char *name)
{
    static struct strbuf sb = STRBUF_INIT;

    strbuf_clear(&sb);
    strbuf_addf(&sb, "%s/%s", top, name);
    return sb.buf;
}

static void make(const char *name, size_t size)
{
    int fd = open(in_top(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    ok(fd >= 0 && ftruncate(fd, (off_t)size) == 0, "a file is made");
    close(fd);
}

/* The result of plainfile_open. */
static int opened(const char *name, int flags)
{
    int fd = plainfile_open(in_top(name), flags);

    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

static void plain_files(void)
{
    make("plain", 10);
    ok(mkfifo(in_top("pipe"), 0600) == 0 && symlink("plain", in_top("link")) == 0 &&
           symlink("/dev/zero", in_top("endless")) == 0 && mkdir(in_top("folder"), 0700) == 0,
       "files other than plain ones are made");
    is_int(opened("plain", O_RDONLY | O_NOFOLLOW), 0, "plainfile_open opens a plain file");
    is_int(opened("link", O_RDONLY), 0, "plainfile_open opens the target of a link");
    is_int(opened("link", O_RDONLY | O_NOFOLLOW), PLAINFILE_IS_NONE,
           "plainfile_open with O_NOFOLLOW refuses a link");
    is_int(opened("pipe", O_RDONLY), PLAINFILE_IS_NONE,
           "plainfile_open for reading refuses a pipe without waiting");
    is_int(opened("pipe", O_WRONLY), PLAINFILE_IS_NONE,
           "plainfile_open for writing refuses a pipe without waiting");
    is_int(opened("endless", O_RDONLY), PLAINFILE_IS_NONE, "plainfile_open refuses a device");
    is_int(opened("folder", O_RDONLY), PLAINFILE_IS_NONE, "plainfile_open refuses a directory");
    is_str(plainfile_why(PLAINFILE_IS_NONE), "no plain file",
           "plainfile_why gives words for a file that is not plain");
    is_int(opened("nothing", O_RDONLY), -2, "plainfile_open returns -ENOENT for a missing file");
}

static const char *why_not(const char *name)
{
    static struct strbuf why = STRBUF_INIT;
    struct trace *t;

    strbuf_clear(&why);
    if (trace_load_or_why(in_top(name), &why, &t) == 0) {
        trace_free(t);
        return "it is one";
    }
    return why.buf;
}

static void not_begun(void)
{
    make("early.flame", 16384);
    make("empty.flame", 0);
    ok(trace_has_not_begun(in_top("early.flame")), "a trace of zeros has not begun");
    ok(trace_has_not_begun(in_top("empty.flame")), "an empty trace has not begun");
    ok(!trace_has_not_begun(in_top("pipe")), "a pipe is not a trace that has not begun");
    is_str(why_not("early.flame"), "not a trace",
           "a trace that has not begun is refused without advice");
    is_str(why_not("pipe"), "no plain file", "a pipe is refused as no plain file");
    is_str(why_not("endless"), "no plain file", "a link to a device is refused as no plain file");
}

static void names(void)
{
    uint32_t pid;
    char *name = rundir_program_of("/x/y/a.b.12.0.flame", &pid);

    is_str(name, "a.b", "rundir_program_of keeps dots in the program's name");
    is_int(pid, 12, "rundir_program_of finds the pid");
    free(name);
    name = rundir_program_of("odd.flame", &pid);
    is_str(name, "odd", "rundir_program_of finds the name where the pid is absent");
    is_int(pid, 0, "rundir_program_of returns pid 0 for a name without one");
    free(name);
    name = rundir_program_of(".flame", &pid);
    is_str(name, ".flame", "rundir_program_of keeps a name that is only an extension");
    free(name);
}

/* Directories in one another, `depth` of them. */
static void dig(const char *name, int depth)
{
    int at = open(in_top(name), O_PATH | O_DIRECTORY | O_CLOEXEC);

    for (int i = 0; i < depth; i++) {
        int next = mkdirat(at, "d", 0700) == 0 ? openat(at, "d", O_PATH | O_CLOEXEC) : -1;

        close(at);
        at = next;
    }
    close(at);
}

static void removing(void)
{
    char *kept[] = {(char[]){"kept"}};
    struct strbuf dir = STRBUF_INIT;

    strbuf_addf(&dir, "%s/run", top);
    ok(mkdir(dir.buf, 0700) == 0, "a run directory is made");
    for (int i = 0; i < 100; i++) {
        char name[32];

        snprintf(name, sizeof name, "run/%d", i);
        close(open(in_top(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    }
    make("run/kept", 1);
    ok(mkdir(in_top("run/sub"), 0700) == 0 && symlink("../plain", in_top("run/link")) == 0 &&
           mkfifo(in_top("run/pipe"), 0600) == 0,
       "the run directory has many files, a directory, a link and a pipe");
    ok(symlink("../../plain", in_top("run/sub/link")) == 0,
       "the run directory has a link in a subdirectory");
    make("run/sub/file", 1);
    dig("run/sub", 5);
    chmod(in_top("run/sub"), 0);
    remove_rundir_files(dir.buf, kept, 1);
    ok(access(in_top("run/kept"), F_OK) == 0,
       "remove_rundir_files keeps the files that it is told to keep");
    ok(access(in_top("run/1"), F_OK) != 0 && access(in_top("run/pipe"), F_OK) != 0 &&
           access(in_top("run/sub"), F_OK) != 0,
       "remove_rundir_files removes all other files and directories");
    remove_rundir_files(dir.buf, NULL, 0);
    ok(access(dir.buf, F_OK) != 0,
       "remove_rundir_files removes the directory when nothing is kept");
    ok(access(in_top("plain"), F_OK) == 0, "remove_rundir_files does not remove a link's target");

    mkdir(dir.buf, 0700);
    dig("run", DEEP);
    remove_rundir_files(dir.buf, NULL, 0);
    ok(access(dir.buf, F_OK) == 0, "remove_rundir_files gives up on a directory that is too deep");
    for (int i = 0; i <= DEEP && access(dir.buf, F_OK) == 0; i++) {
        struct strbuf deep = STRBUF_INIT;

        strbuf_add(&deep, dir.buf, dir.len);
        while (access(deep.buf, F_OK) == 0)
            strbuf_addstr(&deep, "/d");
        strbuf_setlen(&deep, deep.len - 2);
        remove_rundir_files(deep.buf, NULL, 0);
        strbuf_release(&deep);
    }
    ok(access(dir.buf, F_OK) != 0, "remove_rundir_files removes a deep directory from below");
    strbuf_release(&dir);
}

int main(void)
{
    if (!mkdtemp(top))
        return 1;
    plain_files();
    not_begun();
    names();
    removing();
    remove_rundir_files(top, NULL, 0);
    ok(access(top, F_OK) != 0, "the test leaves no file behind");
    return done_testing();
}
