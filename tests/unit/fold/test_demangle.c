/* Names of C++ and Rust, and hostile names. */
#include <stdlib.h>

#include "fold/symbols/demangle.h"
#include "tests/tap.h"

static void becomes(const char *mangled, const char *want)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addstr(&sb, "<");
    ok(demangle(&sb, mangled, strlen(mangled)), "demangle accepts %s", mangled);
    is_str(sb.buf + 1, want, "demangle gives %s", want);
    strbuf_release(&sb);
}

static void stays(const char *name, size_t len, const char *what)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addstr(&sb, "<");
    ok(!demangle(&sb, name, len), "demangle refuses %s", what);
    is_str(sb.buf, "<", "demangle adds nothing for %s", what);
    strbuf_release(&sb);
}

/* Either answer is right, as long as there is one. */
static void survives(const char *name, size_t len, const char *what)
{
    struct strbuf sb = STRBUF_INIT;

    demangle(&sb, name, len);
    ok(sb.len <= 65536, "demangle survives %s with %zu bytes of output", what, sb.len);
    strbuf_release(&sb);
}

static char *repeat(const char *head, const char *part, size_t times, const char *tail)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addstr(&sb, head);
    for (size_t i = 0; i < times; i++)
        strbuf_addstr(&sb, part);
    strbuf_addstr(&sb, tail);
    return strbuf_detach(&sb, NULL);
}

/* p<int, int>, then p<that, that>, and so on: each is twice as long as the last. */
static char *doubling(unsigned levels)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct strbuf sb = STRBUF_INIT;

    strbuf_addstr(&sb, "_Z1f1pIiiE");
    for (unsigned i = 0; i < levels; i++)
        strbuf_addf(&sb, "S_IS%c_S%c_E", digits[i], digits[i]);
    return strbuf_detach(&sb, NULL);
}

int main(void)
{
    struct strbuf sb = STRBUF_INIT;
    static const char nul[] = "_Z1fv\0_Z1gv";
    char *s;

    becomes("_ZN3foo3barEi", "foo::bar(int)");
    becomes("_Znwm", "operator new(unsigned long)");
    becomes("_ZNSt6vectorIiSaIiEE9push_backERKi",
            "std::vector<int, std::allocator<int> >::push_back(int const&)");
    becomes("_ZN1SILi60EE3runEi.isra.0", "S<60>::run(int) [clone .isra.0]");
    becomes("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
    becomes("_RNvCsXXXXXXXXXXX_5crate4main", "crate::main");
    stays("main", 4, "a plain name");
    stays("_start", 6, "an underscore");
    stays("_Read", 5, "a name that begins like Rust");
    stays("_Z", 2, "the prefix _Z alone");
    stays("_ZZZZZZ", 7, "a meaningless mangled name");
    stays("", 0, "an empty name");
    becomes("_Z1fv", "f()");
    survives(nul, sizeof nul - 1, "a name with a NUL");

    /* More than libiberty's own limit allows, yet valid. */
    s = repeat("_Z2000", "a", 2000, "v");
    strbuf_clear(&sb);
    ok(demangle(&sb, s, strlen(s)) && sb.len == 2002, "demangle accepts a name of 2,000 letters");
    strbuf_release(&sb);
    free(s);
    s = repeat("_Z1fI", "i", 1500, "Evv");
    survives(s, strlen(s), "1,500 template arguments");
    free(s);
    s = repeat("_Z1f", "P", 4000, "i");
    survives(s, strlen(s), "a pointer to a pointer to...");
    free(s);
    s = repeat("_Z1f", "PFv", 1300, "v");
    survives(s, strlen(s), "functions in functions");
    free(s);
    s = repeat("_RN", "I", 4000, "C1a");
    survives(s, strlen(s), "nested Rust generics");
    free(s);
    s = repeat("_Z", "1a", 600000, "v");
    stays(s, strlen(s), "a name of a megabyte");
    free(s);
    s = doubling(1);
    becomes(s, "f(p<int, int>, p<p<int, int>, p<int, int> >)");
    free(s);
    s = doubling(10);
    survives(s, strlen(s), "ten doublings");
    free(s);
    s = doubling(35);
    stays(s, strlen(s), "a name of 300 bytes that expands to terabytes");
    free(s);
    return done_testing();
}
