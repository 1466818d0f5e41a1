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
           "const a = 1;\nb(); /* why */\n", "comments and blanks that begin a line go");
    is_str(packed("/* one */ /* two */ a();\n"), "a();\n", "several");
    is_str(packed("/***/a();\n/**/\n/*/ still one */b();"), "a();\nb();", "short ones");
    is_str(packed("a = \"/* no */\";\nb = /\\/\\*x/;\n"), "a = \"/* no */\";\nb = /\\/\\*x/;\n",
           "what only looks like one, in a line, stays");
    is_str(packed("// a line\n\t}\n"), "// a line\n}\n", "another kind of comment stays");
    is_str(packed("a();\n/* no end"), "a();\n", "one without an end is the rest");
    is_str(packed("a();\n/*"), "a();\n", "that is short");
    is_str(packed("a();\n/"), "a();\n/", "a slash");
    is_str(packed(""), "", "nothing");
    is_str(packed(" \n\t\n"), "", "blanks");
    is_str(hash(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='", "of nothing");
    is_str(hash("alert('Hello, world.');"), "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='",
           "the policy's own example");
    strbuf_release(&sb);
    return done_testing();
}
