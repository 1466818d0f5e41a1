/* Verdicts on a file before it is executed: common/preloadable.h and elfdyn.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/elfdyn.h"
#include "common/preloadable.h"
#include "tests/tap.h"

static char dir[] = "/tmp/preloadable.XXXXXX";

static void put(const char *name, const void *bytes, size_t size, mode_t mode)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || fchmod(fd, mode) < 0)
        ok(false, "%s is written", name);
    close(fd);
}

static struct preloadable_answer judge(const char *path)
{
    static struct preloadable_answer answer;

    preloadable_judge(path, &preloadable_here, &answer);
    return answer;
}

static void scripts(void)
{
    char text[300] = "#!";
    struct preloadable_answer a;

    put("s0", "#! /bin/true -x\n", 16, 0700);
    a = judge("s0");
    ok(a.verdict == PRELOADABLE_YES, "a script is judged by its interpreter");
    is_str(a.interpreter, "/bin/true", "an interpreter's name ends at a blank");
    put("s1", "#!./s0", 6, 0700);
    a = judge("s1");
    ok(a.verdict == PRELOADABLE_YES, "a script run by a script is judged by the last interpreter");
    is_str(a.interpreter, "/bin/true", "a script run by a script has the last interpreter's name");
    put("loop", "#!./loop", 8, 0700);
    a = judge("loop");
    ok(a.verdict == PRELOADABLE_NO_FILE && a.err == ELOOP,
       "a script that is its own interpreter gives ELOOP");
    put("gone", "#!/no/such/thing\n", 17, 0700);
    a = judge("gone");
    ok(a.verdict == PRELOADABLE_NO_FILE && a.err == ENOENT,
       "a script with a missing interpreter gives ENOENT");
    is_str(a.interpreter, "/no/such/thing", "a missing interpreter is named");
    memset(text + 2, 'x', sizeof text - 2);
    put("long", text, sizeof text, 0700);
    a = judge("long");
    ok(a.verdict == PRELOADABLE_NO_FILE && strlen(a.interpreter) == PRELOADABLE_HEAD - 2,
       "an interpreter's name is truncated where the kernel does it");
    put("bare", "echo\n", 5, 0700);
    ok(judge("bare").verdict == PRELOADABLE_NO_FORMAT, "a text without #! has no known format");
    put("empty", "", 0, 0700);
    ok(judge("empty").verdict == PRELOADABLE_NO_FORMAT, "an empty file has no known format");
    put("mark", "#!", 2, 0700);
    ok(judge("mark").verdict == PRELOADABLE_NO_FORMAT, "a lone #! has no known format");
}

static void no_programs(void)
{
    is_int(judge("no-such").err, ENOENT, "a missing program gives ENOENT");
    is_int(judge(".").err, EISDIR, "a directory gives EISDIR");
    put("plain", "x", 1, 0600);
    is_int(judge("plain").err, EACCES, "a file without execute permission gives EACCES");
    mkfifo("pipe", 0700);
    is_int(judge("pipe").err, EACCES, "a pipe gives EACCES without waiting");
}

static void elf_files(void)
{
    struct preloadable_machine other = preloadable_here;
    struct preloadable_answer a;
    char head[64];
    int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);

    if (read(fd, head, sizeof head) != sizeof head)
        ok(false, "the head of /bin/true is readable");
    close(fd);
    ok(judge("/bin/true").verdict == PRELOADABLE_YES, "a dynamic program is preloadable");
    other.processor++;
    preloadable_judge("/bin/true", &other, &a);
    ok(a.verdict == PRELOADABLE_MACHINE, "a program for another processor is not preloadable");
    other = preloadable_here;
    other.word = ELFCLASS32;
    preloadable_judge("/bin/true", &other, &a);
    ok(a.verdict == PRELOADABLE_MACHINE, "a program with another word size is not preloadable");
    put("cut", head, 20, 0700);
    ok(judge("cut").verdict == PRELOADABLE_DAMAGED, "a program truncated in its header is damaged");
    put("cut", head, sizeof head, 0700);
    ok(judge("cut").verdict == PRELOADABLE_DAMAGED,
       "a program truncated after its header is damaged");
}

static void search(void)
{
    char buf[64], path[256];

    put("tool", "#!/bin/sh\n", 10, 0700);
    snprintf(path, sizeof path, "/nowhere:%s/plain:%s:/tmp", dir, dir);
    is_int(preloadable_find("tool", path, buf, sizeof buf), 0,
           "preloadable_find searches PATH in order");
    ok(strncmp(buf, dir, strlen(dir)) == 0 && strcmp(buf + strlen(dir), "/tool") == 0,
       "preloadable_find returns the path that it found");
    is_int(preloadable_find("tool", "/nowhere::/tmp", buf, sizeof buf), 0,
           "preloadable_find searches the current directory for an empty name in PATH");
    is_str(buf, "tool", "preloadable_find returns no directory for the current one");
    is_int(preloadable_find("plain", path, buf, sizeof buf), EACCES,
           "preloadable_find gives EACCES for a file that is not executable");
    is_int(preloadable_find("no-such", path, buf, sizeof buf), ENOENT,
           "preloadable_find gives ENOENT for a missing program");
    is_int(preloadable_find("sh", NULL, buf, sizeof buf), 0,
           "preloadable_find searches the default path without PATH");
    is_int(preloadable_find("no-such", "/a-directory-with-a-name-too-long-for-it", buf, 16),
           ENAMETOOLONG, "preloadable_find gives ENAMETOOLONG for a path that does not fit");
}

/* The C library is there, and its symbols are known. */
static void symbols(void)
{
    static const char *const places[] = {"/lib/x86_64-linux-gnu/libc.so.6",
                                         "/lib/aarch64-linux-gnu/libc.so.6", "/lib64/libc.so.6",
                                         "/usr/lib/libc.so.6"};
    static const char *const needs[] = {"libasan.so", "ld-linux"};
    struct elfdyn e;
    char name[8];
    int fd = -1;

    for (size_t i = 0; fd < 0 && i < ARRAY_LEN(places); i++)
        fd = open(places[i], O_RDONLY | O_CLOEXEC);
    ok(fd >= 0 && elfdyn_open(&e, fd), "elfdyn_open opens the C library");
    ok(elfdyn_defines(&e, "malloc") && elfdyn_defines(&e, "execve") && elfdyn_defines(&e, "wait4"),
       "elfdyn_defines finds the C library's symbols");
    ok(!elfdyn_defines(&e, "__asan_init") && !elfdyn_defines(&e, "mallo") &&
           !elfdyn_defines(&e, "mallocc") && !elfdyn_defines(&e, ""),
       "elfdyn_defines does not find other names");
    ok(!elfdyn_defines(&e, "__tls_get_addr"), "elfdyn_defines does not find an undefined symbol");
    ok(elfdyn_needs(&e, needs, 2) && !elfdyn_needs(&e, needs, 1),
       "elfdyn_needs finds the C library's loader");
    is_int(elfdyn_interpreter(&e, name, sizeof name), 7, "elfdyn_interpreter truncates the name");
    close(fd);
}

int main(void)
{
    if (!mkdtemp(dir) || chdir(dir) < 0)
        return 1;
    scripts();
    no_programs();
    elf_files();
    search();
    symbols();
    if (chdir("/") == 0 && dir[0]) {
        static const char *const made[] = {"s0",    "s1",   "loop",  "gone", "long", "bare",
                                           "empty", "mark", "plain", "pipe", "cut",  "tool"};

        for (size_t i = 0; i < ARRAY_LEN(made); i++) {
            char path[64];

            snprintf(path, sizeof path, "%s/%s", dir, made[i]);
            unlink(path);
        }
        rmdir(dir);
    }
    return done_testing();
}
