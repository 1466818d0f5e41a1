/* Programs that a dynamic loader runs by its command line. */
#include "common/loaderline.h"

#include "tests/tap.h"

#define LINE(text) text, sizeof(text) - 1

static void finds(const char *text, size_t len, const char *want, const char *what)
{
    is_str(loaderline_program(text, len), want, "%s", what);
}

int main(void)
{
    ok(loaderline_is_loader("ld-linux-x86-64.so.2") && loaderline_is_loader("ld-linux-x86-64") &&
           loaderline_is_loader("ld-linux-aarch6") && loaderline_is_loader("ld-musl-x86_64.so.1") &&
           loaderline_is_loader("ld.so"),
       "loaders are known by their names");
    ok(!loaderline_is_loader("ld") && !loaderline_is_loader("ld.bfd") &&
           !loaderline_is_loader("") && !loaderline_is_loader("ldd"),
       "linkers and others are not");
    finds(LINE("ld.so\0./a\0--x\0"), "./a", "the program");
    finds(LINE("ld.so\0--library-path\0/tmp\0--list-tunables\0/bin/b\0c\0"), "/bin/b",
          "behind options, with values and without");
    finds(LINE("ld.so\0--argv0\0name\0b\0"), "b", "whatever it is to be called");
    finds(LINE("ld.so\0--verify\0"), NULL, "none");
    finds(LINE("ld.so\0--preload\0"), NULL, "no value");
    finds(LINE("ld.so\0b"), NULL, "cut");
    finds(LINE("ld.so\0\0"), NULL, "empty");
    finds("", 0, NULL, "nothing");
    return done_testing();
}
