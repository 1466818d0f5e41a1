/* Finds the package with a file's symbols in lists like those of dpkg. */
#include "fold/symbols/debpackage.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

static char dir[] = "/tmp/flame-test-XXXXXX";

static void put(const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "w");
    if (!f)
        return;
    fputs(text, f);
    fclose(f);
}

static void is_of(const char *path, const char *want, const char *name)
{
    struct strbuf sb = STRBUF_INIT;
    bool found = debpackage_of_symbols(dir, path, &sb);

    is_str(found ? sb.buf : NULL, want, "%s", name);
    strbuf_release(&sb);
}

static void command_is(const char *release, const char *package, const char *want, const char *name)
{
    struct strbuf sb = STRBUF_INIT;
    char path[256];

    put("release", release);
    snprintf(path, sizeof path, "%s/release", dir);
    debpackage_add_command(path, package, &sb);
    is_str(sb.buf, want, "%s", name);
    strbuf_release(&sb);
}

static void commands(void)
{
#define TO_LIST                                                                                    \
    " | sudo tee /etc/apt/sources.list.d/debug.list && sudo apt update && sudo apt install "       \
    "dash-dbgsym"
#define DEBIAN "echo deb http://deb.debian.org/debian-debug bookworm-debug main" TO_LIST

    command_is("PRETTY_NAME=\"Debian 12\"\nVERSION_CODENAME=bookworm\nID=debian\n", "dash-dbgsym",
               DEBIAN, "the command for Debian adds the archive of debug symbols");
    command_is("ID=\"debian\"\nVERSION_CODENAME='bookworm'", "dash-dbgsym", DEBIAN,
               "values in quotes are read, and a last line without a newline");
    command_is(
        "ID=ubuntu\nVERSION_CODENAME=noble\n", "dash-dbgsym",
        "sudo apt install ubuntu-dbgsym-keyring && echo deb http://ddebs.ubuntu.com noble main "
        "universe" TO_LIST,
        "the command for Ubuntu adds its archive and the key");
    command_is("ID=debian\nVERSION_CODENAME=bookworm\n", "libc6-dbg", "sudo apt install libc6-dbg",
               "symbols of the C library are in the usual archive");
    command_is("ID=debian\nVERSION_CODENAME=a;rm -rf b\n", "dash-dbgsym",
               "sudo apt install dash-dbgsym",
               "a codename with other characters is not put into a command");
    command_is("ID=other\nVERSION_CODENAME=bookworm\n", "dash-dbgsym",
               "sudo apt install dash-dbgsym", "another distribution has no known archive");
    command_is("", "dash-dbgsym", "sudo apt install dash-dbgsym",
               "an empty description names no archive");
}

static void remove_all(void)
{
    static const char *const names[] = {"release",          "tool.list",    "libfoo1:amd64.list",
                                        "libc6:amd64.list", "tool.md5sums", "rough.list"};
    char path[256];

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    put("tool.list", "/.\n/usr\n/usr/bin\n/usr/bin/tool\n/usr/bin/tool-more\n");
    put("libfoo1:amd64.list", "/lib/x86_64-linux-gnu/libfoo.so.1.2\n");
    put("libc6:amd64.list", "/lib/x86_64-linux-gnu/libc.so.6");
    put("tool.md5sums", "/opt/other\n");
    put("rough.list", "\n\n/usr/\n/x\001\n/usr/bin/no end");
    is_of("/usr/bin/tool", "tool-dbgsym", "a program's package is found");
    is_of("/usr/bin/tool-more", "tool-dbgsym",
          "a program whose name begins with another's is found");
    is_of("/usr/bin/too", NULL, "a part of a file name finds no package");
    is_of("/bin/tool", "tool-dbgsym", "/bin is searched as /usr/bin");
    is_of("/usr/lib/x86_64-linux-gnu/libfoo.so.1.2", "libfoo1-dbgsym",
          "/usr/lib is searched as /lib, and the architecture is not in the name");
    is_of("/lib/x86_64-linux-gnu/libc.so.6", "libc6-dbg", "libc6 has a package named -dbg");
    is_of("/usr/bin/no end", "rough-dbgsym", "a last line without a newline is read");
    is_of("/opt/other", NULL, "other files of dpkg are not read as lists");
    is_of("", NULL, "an empty path finds no package");
    commands();
    remove_all();
    is_of("/usr/bin/tool", NULL, "without dpkg's lists no package is found");
    return done_testing();
}
