/* Programs that a dynamic loader runs from its command line. */
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
       "loaderline_is_loader recognises loaders by name");
    ok(!loaderline_is_loader("ld") && !loaderline_is_loader("ld.bfd") &&
           !loaderline_is_loader("") && !loaderline_is_loader("ldd"),
       "loaderline_is_loader refuses linkers and other programs");
    finds(LINE("ld.so\0./a\0--x\0"), "./a", "the program behind the loader's options is found");
    finds(LINE("ld.so\0--library-path\0/tmp\0--list-tunables\0/bin/b\0c\0"), "/bin/b",
          "the program behind options with and without values is found");
    finds(LINE("ld.so\0--argv0\0name\0b\0"), "b", "the program behind --argv0 is found");
    finds(LINE("ld.so\0--verify\0"), NULL, "an option without a program finds none");
    finds(LINE("ld.so\0--preload\0"), NULL, "an option without its value finds no program");
    finds(LINE("ld.so\0b"), NULL, "a truncated line finds no program");
    finds(LINE("ld.so\0\0"), NULL, "an empty word finds no program");
    finds("", 0, NULL, "an empty line finds no program");
    return done_testing();
}
