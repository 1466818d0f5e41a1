/*
 * Call frame information written by hand, byte by byte, and the rules that must
 * come out of it at each address.
 */
#include "unwind/cfi.h"
#include "tests/tap.h"
#include "unwind/rules.h"

/* An image as a linker lays it out: .eh_frame_hdr, .eh_frame, and (only as
 * addresses) the functions, at TEXT from its start. */
#define TEXT 0x1000

static struct image {
    uint8_t b[0x2000] __attribute__((aligned(16)));
    size_t at, hdr_size, functions;
} img;

static void bytes(const void *p, size_t n)
{
    memcpy(img.b + img.at, p, n);
    img.at += n;
}

static void byte(unsigned v)
{
    uint8_t b = (uint8_t)v;

    bytes(&b, 1);
}

static void word(uint32_t v)
{
    bytes(&v, 4);
}

static size_t begin_entry(void)
{
    word(0);
    return img.at;
}

static void end_entry(size_t start)
{
    uint32_t length;

    while ((img.at - start) % 8 != 4)
        byte(0);
    length = (uint32_t)(img.at - start);
    memcpy(img.b + start - 4, &length, 4);
}

/* "zR" (or "zRS"), code 1, data -8, ra 16; CFA = rsp + 8, ra at CFA - 8. */
static size_t cie(const char *augmentation)
{
    size_t here = img.at, start = begin_entry();

    word(0);
    byte(1);
    bytes(augmentation, strlen(augmentation) + 1);
    byte(1);
    byte(0x78);
    byte(16);
    byte(1);
    byte(0x1b); /* pcrel sdata4 */
    bytes("\x0c\x07\x08\x90\x01", 5);
    end_entry(start);
    return here;
}

/* An FDE for `size` bytes of text at TEXT + offset. */
static size_t fde(size_t cie_at, uint32_t offset, uint32_t size, const void *program, size_t len)
{
    size_t here = img.at, start = begin_entry();

    word((uint32_t)(img.at - cie_at));
    word((uint32_t)(TEXT + offset - img.at));
    word(size);
    byte(0);
    bytes(program, len);
    end_entry(start);
    /* Its line in the search table; functions are added in order of address. */
    memcpy(img.b + 12 + img.functions * 8, &(uint32_t){TEXT + offset}, 4);
    memcpy(img.b + 16 + img.functions * 8, &(uint32_t){(uint32_t)here}, 4);
    img.functions++;
    memcpy(img.b + 8, &(uint32_t){(uint32_t)img.functions}, 4);
    return here;
}

static void begin_image(void)
{
    memset(&img, 0, sizeof img);
    memcpy(img.b, "\x01\x1b\x03\x3b", 4); /* version 1; pcrel frame pointer, udata4 count,
                                              datarel sdata4 table */
    img.at = 0x200;                       /* room for the table */
    img.hdr_size = 0x200;
}

static struct rule at(uint32_t offset)
{
    struct cfi_section s = {.hdr = img.b,
                            .hdr_size = img.hdr_size,
                            .lo = (uintptr_t)img.b,
                            .hi = (uintptr_t)img.b + sizeof img.b};

    return cfi_rule_at(&s, (uintptr_t)img.b + TEXT + offset);
}

static void is_rule(struct rule got, enum rule_kind kind, int cfa, bool saved, int bp,
                    const char *name)
{
    struct rule packed = rule_unpack(rule_pack(got));

    ok(got.kind == kind && got.cfa_offset == cfa && got.bp_saved == saved && got.bp_offset == bp,
       "%s (kind %d cfa %d saved %d bp %d)", name, got.kind, got.cfa_offset, got.bp_saved,
       got.bp_offset);
    ok(packed.kind == got.kind && packed.cfa_offset == got.cfa_offset &&
           packed.bp_offset == got.bp_offset && packed.bp_saved == got.bp_saved &&
           packed.bp_at_bp == got.bp_at_bp,
       "%s: packing loses nothing", name);
}

static void plain_functions(void)
{
    size_t c;

    begin_image();
    c = cie("zR");
    /* push rbp; mov rbp, rsp; ...; leave; ret, with a shrink-wrapped second exit. */
    fde(c, 0x00, 0x40, "\x41\x0e\x10\x86\x02\x43\x0d\x06\x50\x0a\xc6\x0c\x07\x08\x41\x0b", 16);
    /* sub rsp, 0x1000-ish: a two-byte uleb and advance_loc1. */
    fde(c, 0x40, 0x40, "\x02\x07\x0e\xb0\x20", 5);
    fde(c, 0x80, 0x10, "\x07\x10", 2);     /* undefined ra: outermost */
    fde(c, 0x90, 0x10, "\x0c\x0a\x00", 3); /* CFA = r10 */
    fde(c, 0xa0, 0x10, "\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00", 10); /* realigned stack */
    /* The PLT's expression. */
    fde(c, 0xb0, 0x40, "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", 13);
    fde(c, 0xf0, 0x10, "\x09\x06\x03", 3); /* bp kept in rbx */
    fde(c, 0x100, 0x10, "\x3f", 1);        /* no such instruction */

    is_rule(at(0x00), RULE_CFA_SP, 8, false, 0, "at entry");
    is_rule(at(0x01), RULE_CFA_SP, 16, true, -16, "after push");
    is_rule(at(0x04), RULE_CFA_BP, 16, true, -16, "after mov");
    is_rule(at(0x14), RULE_CFA_SP, 8, false, 0, "after leave");
    is_rule(at(0x15), RULE_CFA_BP, 16, true, -16, "after the state is restored");
    is_rule(at(0x47), RULE_CFA_SP, 0x1030, false, 0, "large frame");
    is_rule(at(0x46), RULE_CFA_SP, 8, false, 0, "one byte before it is set up");
    is_int(at(0x85).kind, RULE_END, "undefined return address");
    is_int(at(0x95).kind, RULE_COMPLEX, "CFA by another register");
    is_rule(at(0xa5), RULE_CFA_MEM, -8, true, 0, "realigned stack");
    ok(at(0xa5).bp_at_bp, "its bp is saved where bp points");
    is_rule(at(0xb6), RULE_CFA_SP, 8, false, 0, "PLT before its push");
    is_rule(at(0xbb), RULE_CFA_SP, 16, false, 0, "PLT after its push");
    is_rule(at(0xc0), RULE_CFA_SP, 8, false, 0, "the PLT's next entry");
    is_int(at(0xf5).kind, RULE_COMPLEX, "bp in a register");
    is_int(at(0x105).kind, RULE_COMPLEX, "an unknown instruction");
    is_int(at(0x110).kind, RULE_NONE, "after the last function");
    is_int(at(0x7fff).kind, RULE_NONE, "far away");
}

static void signal_frame(void)
{
    begin_image();
    fde(cie("zRS"), 0, 0x10, "", 0);
    is_int(at(0).kind, RULE_SIGNAL, "a signal frame");
}

/* Every byte of a good image in turn is set to bad values: no crash (the
 * sanitizers watch), and what is found stays one of the kinds. */
static void damaged(void)
{
    static const uint8_t bad[] = {0x00, 0x7f, 0x80, 0xff};
    size_t strange = 0;

    plain_functions();
    for (size_t i = 0; i < img.at; i++)
        for (size_t k = 0; k < sizeof bad; k++) {
            uint8_t was = img.b[i];

            img.b[i] = bad[k];
            for (uint32_t offset = 0; offset < 0x120; offset += 5) {
                uint8_t kind = at(offset).kind;

                strange += kind == RULE_UNSET || kind > RULE_BOGUS;
            }
            img.b[i] = was;
        }
    is_int((long long)strange, 0, "damaged images give rules or none");
}

int main(void)
{
    plain_functions();
    signal_frame();
    damaged();
    return done_testing();
}
