/* From a file to the package with its symbols, by lists as dpkg has them. */
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

static void remove_all(void)
{
    static const char *const names[] = {"tool.list", "libfoo1:amd64.list", "libc6:amd64.list",
                                        "tool.md5sums", "rough.list"};
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
    is_of("/usr/bin/tool", "tool-dbgsym", "a program");
    is_of("/usr/bin/tool-more", "tool-dbgsym", "another, whose name begins like the first");
    is_of("/usr/bin/too", NULL, "part of a name is nothing");
    is_of("/bin/tool", "tool-dbgsym", "/bin is /usr/bin");
    is_of("/usr/lib/x86_64-linux-gnu/libfoo.so.1.2", "libfoo1-dbgsym",
          "and /usr/lib is /lib; the architecture is no part of the name");
    is_of("/lib/x86_64-linux-gnu/libc.so.6", "libc6-dbg", "the C library's is of the old kind");
    is_of("/usr/bin/no end", "rough-dbgsym", "a last line without an end");
    is_of("/opt/other", NULL, "other files of dpkg's are no lists");
    is_of("", NULL, "no path");
    remove_all();
    is_of("/usr/bin/tool", NULL, "a machine without dpkg");
    return done_testing();
}
