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
       "a leaf, and where a function begins: the address is in its register");
    ok(is(of((struct row){.offset = 32}), RULE_CFA_LR, 32, false, 0), "a leaf with locals");
    r = of((struct row){.offset = 48, .bp = {AT_CFA, -48}, .ra = {AT_CFA, -40}});
    ok(is(r, RULE_CFA_SP, 48, true, -48), "stp x29, x30, [sp, #-48]!");
    ok(step_ra_at(rule_pack(r), 0x1000) == 0x1000 - 40, "which has the address behind x29");
    r = of((struct row){.offset = 16, .ra = {AT_CFA, -16}});
    ok(is(r, RULE_CFA_SP, 16, false, -16), "str x30, [sp, #-16]!: no frame record");
    ok(step_ra_at(rule_pack(r), 0x1000) == 0x1000 - 16, "where the address is");
    ok(is(of((struct row){
              .reg = ARCH_CFI_BP, .offset = 64, .bp = {AT_CFA, -64}, .ra = {AT_CFA, -56}}),
          RULE_CFA_BP, 64, true, -64),
       "a frame counted from x29");
    ok(of((struct row){.offset = 48, .bp = {AT_CFA, -16}, .ra = {AT_CFA, -48}}).kind ==
           RULE_COMPLEX,
       "x30 elsewhere than behind x29 is libunwind's");
    ok(of((struct row){.offset = 48, .bp = {AT_CFA, -48}}).kind == RULE_COMPLEX,
       "and so is x29 saved alone");
    ok(of((struct row){.offset = 16, .ra = {UNDEFINED, 0}}).kind == RULE_END, "the outermost");
    ok(of((struct row){.form = CFA_OTHER, .ra = {AT_CFA, -8}}).kind == RULE_COMPLEX,
       "an expression");
    ok(of((struct row){.offset = INT64_C(1) << 40, .ra = {AT_CFA, -8}}).kind == RULE_COMPLEX,
       "no room for the offset");
}

#define EPILOGUE(...)                                                                              \
    epilogue_rule((const uint8_t *)(const uint32_t[]){__VA_ARGS__},                                \
                  sizeof((const uint32_t[]){__VA_ARGS__}))

static void epilogues(void)
{
    ok(is(EPILOGUE(0xa8c17bfd, RET), RULE_CFA_SP, 16, true, -16), "ldp x29, x30, [sp], #16; ret");
    ok(is(EPILOGUE(0xa94153f3, 0xa8c37bfd, RET), RULE_CFA_SP, 48, true, -48),
       "ldp x19, x20, [sp, #16]; ldp x29, x30, [sp], #48; ret");
    ok(is(EPILOGUE(0xa8c17bfd, AUTIASP, RET), RULE_CFA_SP, 16, true, -16), "with autiasp");
    ok(is(EPILOGUE(0xa8c17bfd, RETAA), RULE_CFA_SP, 16, true, -16), "with retaa");
    ok(is(EPILOGUE(0xf84107fe, RET), RULE_CFA_SP, 16, false, -16), "ldr x30, [sp], #16; ret");
    ok(is(EPILOGUE(0xf9400bfe, 0x910083ff, RET), RULE_CFA_SP, 32, false, -16),
       "ldr x30, [sp, #16]; add sp, sp, #32; ret");
    ok(EPILOGUE(0x910083ff, RET).kind == RULE_NONE, "x30 is not restored: nobody knows");
    ok(EPILOGUE(0xa8c17bfd, 0xd503201f).kind == RULE_NONE, "no ret");
    ok(EPILOGUE(0x94000001, RET).kind == RULE_NONE, "another call comes first");
    ok(EPILOGUE(0xa9417bfd, RET).kind == RULE_NONE, "restored from beyond the frame");
    ok(epilogue_rule(NULL, 0).kind == RULE_NONE, "no code");
}

int main(void)
{
    rules();
    epilogues();
    return done_testing();
}
