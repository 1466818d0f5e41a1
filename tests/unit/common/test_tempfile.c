/* A signal that ends the process removes its unfinished output, and no other file. */
#include "common/files/tempfile.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/files/outfile.h"
#include "tests/tap.h"

static char dir[] = "/tmp/flame-test-tempfile.XXXXXX";

static const char *in_dir(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* Names in the directory, each followed by a blank. */
static const char *entries(void)
{
    static char names[512];
    char cmd[256];
    FILE *p;
    size_t n;

    snprintf(cmd, sizeof cmd, "ls %s | sed 's/tmp....../tmp/' | tr '\\n' ' '", dir);
    p = popen(cmd, "r");
    n = p ? fread(names, 1, sizeof names - 1, p) : 0;
    names[n] = '\0';
    if (p)
        pclose(p);
    return names;
}

static void clear(void)
{
    char cmd[256];

    snprintf(cmd, sizeof cmd, "rm -f %s/*", dir);
    ok(system(cmd) == 0, "the directory is emptied");
}

/* The end of a process that does `work` in a child of its own: its status, or 128 and a signal. */
static int ending(void (*work)(int sig), int sig)
{
    int status = 0;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        work(sig);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void interrupted(int sig)
{
    struct outfile done, a, b;

    if (outfile_open(&done, in_dir("done")) || outfile_commit(&done) ||
        outfile_open(&a, in_dir("a")) || outfile_open(&b, in_dir("b")))
        _exit(1);
    fputs("half", a.f);
    fflush(a.f);
    raise(sig);
}

static void test_signals(void)
{
    const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        is_int(ending(interrupted, signals[i]), 128 + signals[i],
               "signal %d ends a process that writes", signals[i]);
        is_str(entries(), "done ", "signal %d removes unfinished output alone", signals[i]);
        clear();
    }
}

static void ignoring(int sig)
{
    struct outfile a;

    signal(sig, SIG_IGN);
    if (outfile_open(&a, in_dir("a")))
        _exit(1);
    raise(sig);
    _exit(outfile_commit(&a) ? 2 : 0);
}

static void test_ignored(void)
{
    is_int(ending(ignoring, SIGHUP), 0, "a signal that is ignored ends no output");
    is_str(entries(), "a ", "output is complete after a signal that is ignored");
    clear();
}

static void forking(int sig)
{
    struct outfile a;
    int status;
    pid_t pid;

    if (outfile_open(&a, in_dir("a")))
        _exit(1);
    pid = fork();
    if (pid == 0) {
        raise(sig);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != sig)
        _exit(2);
    _exit(outfile_commit(&a) ? 3 : 0);
}

static void test_fork(void)
{
    is_int(ending(forking, SIGTERM), 0, "a forked child that a signal ends leaves output alone");
    is_str(entries(), "a ", "the parent's output is complete");
    clear();
}

static void many(int sig)
{
    struct outfile out[TEMPFILE_MOST];
    char name[16];

    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < ARRAY_LEN(out); i++) {
            snprintf(name, sizeof name, "%zu", i);
            if (outfile_open(&out[i], in_dir(name)))
                _exit(1);
        }
        if (round == 2)
            raise(sig);
        for (size_t i = 0; i < ARRAY_LEN(out); i++)
            outfile_abort(&out[i]);
    }
}

static void test_many(void)
{
    is_int(ending(many, SIGINT), 128 + SIGINT, "a signal ends a process with many outputs");
    is_str(entries(), "", "a signal removes all outputs");
    clear();
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    test_signals();
    test_ignored();
    test_fork();
    test_many();
    rmdir(dir);
    return done_testing();
}
