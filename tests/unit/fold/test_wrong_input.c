/* Files that a user may mistake for a recording: fold/stacks/wrong_input.h. */
#include "fold/stacks/wrong_input.h"

#include "tests/tap.h"

static const char *kind_of(const char *text)
{
    const char *kind = wrong_input_kind(text, strlen(text));

    return kind ? kind : "";
}

int main(void)
{
    static const char *const halves[] = {"<",        "<!",           "<!-",       "<!--",
                                         "<?",       "<?xml ?",      "<!DOCTYPE", "<!DOCTYPE ",
                                         "<!-- a -", "\xef\xbb\xbf", "\x89PNG"};

    is_str(kind_of("<svg width=\"1\">"), "a picture (SVG)", "bare");
    is_str(kind_of("<?xml version=\"1.0\"?>\n<!-- x > y -->\n<svg>"), "a picture (SVG)",
           "behind a declaration and a comment");
    is_str(kind_of("<?xml version=\"1.0\"?><!DOCTYPE svg PUBLIC \"x\"><svg>"), "a picture (SVG)",
           "behind a document type");
    is_str(kind_of("\xef\xbb\xbf <SVG>"), "a picture (SVG)", "a byte order mark and a blank");
    is_str(kind_of("<!doctype html>\n<meta>"), "a page (HTML)", "a page");
    is_str(kind_of("<html>\n"), "a page (HTML)", "without its type");
    is_str(kind_of("\x89PNG\r\n\x1a\n"), "a picture (PNG)", "pixels");
    is_str(kind_of("%PDF-1.7"), "a document (PDF)", "a document");
    is_str(kind_of("\177ELF\2\1"), "a program", "a program");
    is_str(kind_of("<init>;run 12\n"), "", "a constructor is a frame");
    is_str(kind_of("<svg>;draw 12\n<svg> 3\n"), "", "so is whatever ends in a count");
    is_str(kind_of("<xml><svg>"), "", "another document that has a picture inside");
    is_str(kind_of("main;f 1\n<svg>"), "", "stacks");
    for (size_t i = 0; i < ARRAY_LEN(halves); i++)
        is_str(kind_of(halves[i]), "", "cut after %zu bytes", strlen(halves[i]));
    is_str(kind_of(""), "", "nothing");
    return done_testing();
}
