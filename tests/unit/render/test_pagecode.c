/* The script in a page without its comments and blanks, and its digest in a policy's form. */
#include "render/backends/pagecode.h"
#include "tests/tap.h"

static struct strbuf sb = STRBUF_INIT;

static const char *packed(const char *code)
{
    strbuf_clear(&sb);
    pagecode_add(&sb, code, strlen(code));
    return sb.buf;
}

static const char *hash(const char *s)
{
    struct strbuf text = STRBUF_INIT;

    strbuf_addstr(&text, s);
    strbuf_clear(&sb);
    pagecode_add_hash(&sb, &text);
    strbuf_release(&text);
    return sb.buf;
}

int main(void)
{
    is_str(packed("/* A\n * long one. */\n\nconst a = 1;\n\n    b(); /* why */\n"),
           "const a = 1;\nb(); /* why */\n",
           "comments and blanks at the beginning of a line are removed");
    is_str(packed("/* one */ /* two */ a();\n"), "a();\n",
           "several comments in a line are removed");
    is_str(packed("/***/a();\n/**/\n/*/ still one */b();"), "a();\nb();",
           "short comments are removed");
    is_str(packed("a = \"/* no */\";\nb = /\\/\\*x/;\n"), "a = \"/* no */\";\nb = /\\/\\*x/;\n",
           "text within a line that looks like a comment stays");
    is_str(packed("// a line\n\t}\n"), "// a line\n}\n", "a // comment stays");
    is_str(packed("a();\n/* no end"), "a();\n", "a comment without an end takes the rest");
    is_str(packed("a();\n/*"), "a();\n", "a short comment without an end takes the rest");
    is_str(packed("a();\n/"), "a();\n/", "a lone slash stays");
    is_str(packed(""), "", "empty code stays empty");
    is_str(packed(" \n\t\n"), "", "blank code becomes empty");
    is_str(hash(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
           "the hash of empty code");
    is_str(hash("alert('Hello, world.');"), "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='",
           "the hash of the CSP standard's example");
    strbuf_release(&sb);
    return done_testing();
}
