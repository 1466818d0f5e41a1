/* Where function names end, and where one line has several of them. */
#include "fold/decode/funcname.h"

#include "tests/tap.h"

/* The parts of a name at its arrows, with '|' between. */
static void check_arrows(const char *name, const char *want)
{
    struct span s = span_of(name);
    char got[256] = "";
    size_t from = 0;

    for (const char *at; (at = funcname_arrow(s, from)); from = (size_t)(at - s.s) + 2)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%.*s|",
                 (int)((size_t)(at - s.s) - from), name + from);
    snprintf(got + strlen(got), sizeof got - strlen(got), "%s", name + from);
    is_str(got, want, "the parts of '%s' at its arrows", name);
}

static void check_offset(const char *name, size_t want)
{
    is_int((intmax_t)funcname_before_offset(span_of(name)).len, (intmax_t)want,
           "the length of %s before its offset", name);
}

static void check_cut(const char *name, const char *perf, const char *dtrace)
{
    struct span p = funcname_cut_perf(span_of(name)), d = funcname_cut_dtrace(span_of(name));

    ok(span_is(p, perf), "perf's shortened form of %s", name);
    ok(span_is(d, dtrace), "dtrace's shortened form of %s", name);
}

int main(void)
{
    check_arrows("", "");
    check_arrows("->", "|");
    check_arrows("a->b", "a|b");
    check_arrows("La/B;::f->Lc/D;::<init>->Le/F;::g", "La/B;::f|Lc/D;::<init>|Le/F;::g");
    check_arrows("a->", "a|");
    check_arrows("P::operator->() const", "P::operator->() const");
    check_arrows("P::operator->*(A)", "P::operator->*(A)");
    check_arrows("bool operator<< <A>(A, A)->b", "bool operator<< <A>(A, A)|b");
    check_arrows("my_operator<a->b", "my_operator<a->b");
    check_arrows("decltype (p->begin()) first<P>(P&)", "decltype (p->begin()) first<P>(P&)");
    check_arrows("<fn(i32) -> i32 as Trait>::call", "<fn(i32) -> i32 as Trait>::call");
    check_arrows("fn(i32) -> i32", "fn(i32) -> i32");
    check_arrows("a>)}->b", "a>)}|b");

    check_offset("", 0);
    check_offset("f+0x1f", 1);
    check_offset("f+0x1f/0x30 [app]", 1);
    check_offset("ns::operator+(A, B)", strlen("ns::operator+(A, B)"));
    check_offset("ns::operator+(A, B)+0x2", strlen("ns::operator+(A, B)"));
    check_offset("f+0x", 4);
    check_offset("+0x1", 0);

    check_cut("f(int)", "f", "f(int)");
    check_cut("ns::A<int>::f(int)+0x1", "ns::A<int>::f", "ns::A<int>::f");
    check_cut("(anonymous namespace)::f(int)", "(anonymous namespace)::f",
              "(anonymous namespace)::f");
    check_cut("net/http.(*Client).Do", "net/http.(*Client).Do", "net/http.(*Client).Do");
    check_cut("run<main()::T>", "run<main", "run<main()::T>");
    return done_testing();
}
