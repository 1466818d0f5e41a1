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

    is_str(kind_of("<svg width=\"1\">"), "a picture (SVG)", "an SVG picture is recognised");
    is_str(kind_of("<?xml version=\"1.0\"?>\n<!-- x > y -->\n<svg>"), "a picture (SVG)",
           "an SVG picture behind a declaration and a comment is recognised");
    is_str(kind_of("<?xml version=\"1.0\"?><!DOCTYPE svg PUBLIC \"x\"><svg>"), "a picture (SVG)",
           "an SVG picture behind a document type is recognised");
    is_str(kind_of("\xef\xbb\xbf <SVG>"), "a picture (SVG)",
           "an SVG picture behind a byte order mark and a blank is recognised");
    is_str(kind_of("<!doctype html>\n<meta>"), "a page (HTML)", "an HTML page is recognised");
    is_str(kind_of("<html>\n"), "a page (HTML)",
           "an HTML page without a document type is recognised");
    is_str(kind_of("\x89PNG\r\n\x1a\n"), "a picture (PNG)", "a PNG picture is recognised");
    is_str(kind_of("%PDF-1.7"), "a document (PDF)", "a PDF document is recognised");
    is_str(kind_of("\177ELF\2\1"), "a program", "a program is recognised");
    is_str(kind_of("<init>;run 12\n"), "",
           "folded stacks that begin with a constructor are not mistaken");
    is_str(kind_of("<svg>;draw 12\n<svg> 3\n"), "",
           "folded stacks that begin with a tag are not mistaken");
    is_str(kind_of("<xml><svg>"), "",
           "another XML document with a picture inside is not recognised");
    is_str(kind_of("main;f 1\n<svg>"), "", "folded stacks are not mistaken");
    for (size_t i = 0; i < ARRAY_LEN(halves); i++)
        is_str(kind_of(halves[i]), "", "a picture truncated to %zu bytes is not recognised",
               strlen(halves[i]));
    is_str(kind_of(""), "", "an empty file is not recognised");
    return done_testing();
}
