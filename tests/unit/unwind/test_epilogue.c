/* The rule for code without tables just before its return. */
#include "tests/tap.h"
#include "unwind/epilogue.h"

#define CODE(...)                                                                                  \
    (const uint8_t[])                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define RULE(...) epilogue_rule((CODE(__VA_ARGS__)), sizeof(CODE(__VA_ARGS__)))

int main(void)
{
    struct rule r = RULE(0x48, 0x83, 0xc4, 0x08, 0xc3);

    ok(r.kind == RULE_CFA_SP && r.cfa_offset == 16 && !r.bp_saved,
       "add $8,%%rsp; ret is understood");
    r = RULE(0x48, 0x81, 0xc4, 0x28, 0x01, 0, 0, 0x5b, 0x5d, 0x41, 0x5c, 0xc3);
    ok(r.kind == RULE_CFA_SP && r.cfa_offset == 0x128 + 32,
       "add $0x128,%%rsp; three pops; ret is understood");
    ok(r.bp_saved && r.bp_offset == -24, "the second of three pops restores rbp");
    r = RULE(0x5d, 0xc3);
    ok(r.cfa_offset == 16 && r.bp_saved && r.bp_offset == -16, "pop %%rbp; ret is understood");
    r = RULE(0xc3);
    ok(r.kind == RULE_CFA_SP && r.cfa_offset == 8, "ret alone is understood");

    ok(RULE(0x48, 0x83, 0xc4, 0x08).kind == RULE_NONE, "code without ret gives no rule");
    ok(RULE(0x48, 0x83, 0xc4).kind == RULE_NONE, "a cut add gives no rule");
    ok(RULE(0x41).kind == RULE_NONE, "a cut pop gives no rule");
    ok(RULE(0x48, 0x83, 0xc4, 0xf8, 0xc3).kind == RULE_NONE, "a growing stack gives no rule");
    ok(RULE(0x48, 0x83, 0xc4, 0x04, 0xc3).kind == RULE_NONE, "an add of half a word gives no rule");
    ok(RULE(0x5c, 0xc3).kind == RULE_NONE, "pop %%rsp gives no rule");
    ok(RULE(0x90, 0xc3).kind == RULE_NONE, "any other instruction gives no rule");
    ok(epilogue_rule(NULL, 0).kind == RULE_NONE, "empty code gives no rule");
    return done_testing();
}
