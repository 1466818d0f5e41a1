/* Mangled names and Rust's escapes become the source's names, and no others change. */
#include "fold/symbols/plainname.h"

#include "tests/tap.h"

#define H "::h0123456789abcdef"

static void becomes(const char *name, const char *want)
{
    struct strbuf out = STRBUF_INIT;
    struct span s = span_of(name);

    strbuf_addstr(&out, "kept ");
    ok(plainname_may(s), "plainname_may accepts %s", name);
    ok(plainname(&out, s), "plainname changes %s", name);
    is_str(out.buf + strlen("kept "), want, "plainname gives the source's name of %s", name);
    strbuf_release(&out);
}

static void stays(const char *name)
{
    struct strbuf out = STRBUF_INIT;

    strbuf_addstr(&out, "kept");
    ok(!plainname(&out, span_of(name)), "plainname leaves %s", name);
    is_str(out.buf, "kept", "plainname adds nothing for an unchanged name");
    strbuf_release(&out);
}

int main(void)
{
    char long_name[6000];

    /* Mangled. */
    becomes("_ZN3std2io5Write9write_all17h0123456789abcdefE", "std::io::Write::write_all");
    becomes("_ZN2ns1fIiEEvT_", "void ns::f<int>(int)");
    becomes("_RNvCs1234_7mycrate3foo", "mycrate::foo");
    becomes("app`_ZN2ns1fIiEEvT_", "app`void ns::f<int>(int)");
    /* Half demangled. */
    becomes("core::ops::function::FnOnce::call_once" H, "core::ops::function::FnOnce::call_once");
    becomes("_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$::drop" H,
            "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop");
    becomes("core::ptr::drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$..$u7b$$u7b$closure"
            "$u7d$$u7d$$GT$" H,
            "core::ptr::drop_in_place<std::rt::lang_start<()>::{{closure}}>");
    becomes("f" H ".llvm.8052073739315931670", "f");
    becomes("f" H " (.llvm.80)", "f");
    becomes("a::_$LT$impl$u20$b$GT$::c", "a::<impl b>::c");
    becomes("f::$RF$$BP$$C$$SP$$u5b$$u5D$" H, "f::&*,@[]");
    becomes("f::$ue9$$u20ac$$u1f525$" H, "f::\xc3\xa9\xe2\x82\xac\xf0\x9f\x94\xa5");
    becomes("f::$LT$a.b$GT$", "f::<a.b>");
    /* No escapes, or none that mean a character. */
    becomes("f::$u$$u110000$$ud800$$u1$$uzz$$XX$$" H, "f::$u$$u110000$$ud800$$u1$$uzz$$XX$$");
    becomes("f::$u0041" H, "f::$u0041");
    /* Names that only look mangled or escaped. */
    stays("");
    stays("_");
    stays("_Z");
    stays("_ZN");
    stays("_Zqq");
    stays("_RN");
    stays("__libc_start_main");
    stays("scala.Foo$C$bar");
    stays("Main$$Lambda$14..run");
    stays("a$LT$b");
    stays("a$GT$b");
    stays("f.llvm.80");
    stays("f" H ".llvm.");
    stays("f" H ".llvm.80)");
    stays("f" H " (.llvm.80");
    stays("f" H ".cold");
    stays("a..b");
    stays("h0123456789abcdef");
    stays("::h0123456789abcdef");
    stays("f::h0123456789abcde");
    stays("f::h0123456789abcdeg");
    stays("f::h0123456789ABCDEF");
    stays("f::h0000000000000001");
    stays("app`main");
    stays("app`");
    /* Nesting that no call stack is deep enough for. */
    memset(long_name, 'P', sizeof long_name);
    memcpy(long_name, "_Z1f", 4);
    long_name[sizeof long_name - 1] = '\0';
    stays(long_name);
    return done_testing();
}
