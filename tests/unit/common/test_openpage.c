/* Addresses of files, and the words of a command in BROWSER. */
#include "common/env/openpage.h"
#include "tests/tap.h"

static struct strbuf sb = STRBUF_INIT;

static const char *address(const char *path)
{
    strbuf_clear(&sb);
    openpage_add_address(&sb, path);
    return sb.buf;
}

/* The words with '|' between them. */
static const char *words(const char *command, size_t want)
{
    size_t n;

    strbuf_clear(&sb);
    n = openpage_add_words(&sb, command, strlen(command), "file:///a%20b");
    ok(n == want, "the number of words is %zu in \"%s\"", want, command);
    for (size_t i = 0; i + 1 < sb.len; i++)
        if (!sb.buf[i])
            sb.buf[i] = '|';
    return sb.buf;
}

int main(void)
{
    is_str(address("/tmp/x.html"), "file:///tmp/x.html", "the address of a plain path");
    is_str(address("/a b/#1?x=%41&\"<'\n.html"), "file:///a%20b/%231%3Fx=%2541%26%22%3C%27%0A.html",
           "special characters in an address are escaped");
    is_str(address("/\xc3\xa9\xff"), "file:///%C3%A9%FF",
           "bytes of any encoding in an address are escaped");

    is_str(words("firefox", 2), "firefox|file:///a%20b", "the address follows the command");
    is_str(words("  firefox\t--new-tab ", 3), "firefox|--new-tab|file:///a%20b",
           "the address follows the command's options");
    is_str(words("show %s now", 3), "show|file:///a%20b|now", "the address replaces %%s");
    is_str(words("show --url=%s %s", 3), "show|--url=file:///a%20b|file:///a%20b",
           "the address replaces each %%s");
    is_str(words("a%%s%c%x%", 2), "a%s:%x%|file:///a%20b",
           "%%%% and %%c are expanded, other percent signs are kept");
    is_str(words("a '$(b)' ;", 4), "a|'$(b)'|;|file:///a%20b",
           "shell characters are not interpreted");
    is_str(words("", 0), "", "an empty command has no words");
    is_str(words(" \t", 0), "", "a blank command has no words");
    strbuf_release(&sb);
    return done_testing();
}
