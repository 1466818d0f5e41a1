/*
 * The parts of unwinding that only aarch64 has, tested on any processor: rules from rows, and
 * epilogues as gcc and clang write them (the words are instructions).
 */
#include "tests/tap.h"
#include "unwind/cfi_rule_aarch64.h"

#include "unwind/epilogue_aarch64.c"

#include "unwind/step_aarch64.h"

static struct rule of(struct row row)
{
    row.reg = row.reg ? row.reg : ARCH_CFI_SP;
    return to_rule(&row);
}

static bool is(struct rule r, enum rule_kind kind, int cfa, bool saved, int bp)
{
    return r.kind == kind && r.cfa_offset == cfa && r.bp_saved == saved && r.bp_offset == bp;
}

static void rules(void)
{
    struct rule r;

    ok(is(of((struct row){.offset = 0}), RULE_CFA_LR, 0, false, 0),
       "a leaf at its entry has its return address in x30");
    ok(is(of((struct row){.offset = 32}), RULE_CFA_LR, 32, false, 0),
       "a leaf with locals has its return address in x30");
    r = of((struct row){.offset = 48, .bp = {AT_CFA, -48}, .ra = {AT_CFA, -40}});
    ok(is(r, RULE_CFA_SP, 48, true, -48),
       "a frame made by stp x29, x30, [sp, #-48]! is counted from sp");
    ok(step_ra_at(rule_pack(r), 0x1000) == 0x1000 - 40,
       "a frame record has the return address behind x29");
    r = of((struct row){.offset = 16, .ra = {AT_CFA, -16}});
    ok(is(r, RULE_CFA_SP, 16, false, -16),
       "a frame made by str x30, [sp, #-16]! has no frame record");
    ok(step_ra_at(rule_pack(r), 0x1000) == 0x1000 - 16,
       "a frame without a record has the return address where x30 was saved");
    ok(is(of((struct row){
              .reg = ARCH_CFI_BP, .offset = 64, .bp = {AT_CFA, -64}, .ra = {AT_CFA, -56}}),
          RULE_CFA_BP, 64, true, -64),
       "a frame counted from x29 is recognised");
    ok(of((struct row){.offset = 48, .bp = {AT_CFA, -16}, .ra = {AT_CFA, -48}}).kind ==
           RULE_COMPLEX,
       "x30 saved elsewhere than behind x29 is too complex");
    ok(of((struct row){.offset = 48, .bp = {AT_CFA, -48}}).kind == RULE_COMPLEX,
       "x29 saved alone is too complex");
    ok(of((struct row){.offset = 16, .ra = {UNDEFINED, 0}}).kind == RULE_END,
       "an undefined return address marks the outermost frame");
    ok(of((struct row){.form = CFA_OTHER, .ra = {AT_CFA, -8}}).kind == RULE_COMPLEX,
       "a CFA expression is too complex");
    ok(of((struct row){.offset = INT64_C(1) << 40, .ra = {AT_CFA, -8}}).kind == RULE_COMPLEX,
       "an offset without room in a rule is too complex");
}

#define EPILOGUE(...)                                                                              \
    epilogue_rule((const uint8_t *)(const uint32_t[]){__VA_ARGS__},                                \
                  sizeof((const uint32_t[]){__VA_ARGS__}))

static void epilogues(void)
{
    ok(is(EPILOGUE(0xa8c17bfd, RET), RULE_CFA_SP, 16, true, -16),
       "the epilogue ldp x29, x30, [sp], #16; ret is understood");
    ok(is(EPILOGUE(0xa94153f3, 0xa8c37bfd, RET), RULE_CFA_SP, 48, true, -48),
       "the epilogue ldp x19, x20; ldp x29, x30, [sp], #48; ret is understood");
    ok(is(EPILOGUE(0xa8c17bfd, AUTIASP, RET), RULE_CFA_SP, 16, true, -16),
       "an epilogue with autiasp is understood");
    ok(is(EPILOGUE(0xa8c17bfd, RETAA), RULE_CFA_SP, 16, true, -16),
       "an epilogue with retaa is understood");
    ok(is(EPILOGUE(0xf84107fe, RET), RULE_CFA_SP, 16, false, -16),
       "the epilogue ldr x30, [sp], #16; ret is understood");
    ok(is(EPILOGUE(0xf9400bfe, 0x910083ff, RET), RULE_CFA_SP, 32, false, -16),
       "the epilogue ldr x30, [sp, #16]; add sp, sp, #32; ret is understood");
    ok(EPILOGUE(0x910083ff, RET).kind == RULE_NONE,
       "an epilogue that does not restore x30 gives no rule");
    ok(EPILOGUE(0xa8c17bfd, 0xd503201f).kind == RULE_NONE, "code without ret gives no rule");
    ok(EPILOGUE(0x94000001, RET).kind == RULE_NONE, "code with a call before ret gives no rule");
    ok(EPILOGUE(0xa9417bfd, RET).kind == RULE_NONE,
       "an epilogue that restores from beyond the frame gives no rule");
    ok(epilogue_rule(NULL, 0).kind == RULE_NONE, "empty code gives no rule");
}

int main(void)
{
    rules();
    epilogues();
    return done_testing();
}
