/*
 * Call frame information written by hand, byte by byte, and the rules that must
 * come out of it at each address.
 */
#define _GNU_SOURCE
#include <link.h>

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
       "%s: the rule packs and unpacks unchanged", name);
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
    /* rbx by a value expression, whose bytes are no instructions; then def_cfa_offset. */
    fde(c, 0x120, 0x10, "\x16\x03\x02\x76\x00\x0e\x20", 7);
    fde(c, 0x130, 0x10, "\x2e\x41\x0e\x20", 4); /* GNU_args_size has an operand, too */

    is_rule(at(0x00), RULE_CFA_SP, 8, false, 0, "at entry");
    is_rule(at(0x01), RULE_CFA_SP, 16, true, -16, "after push");
    is_rule(at(0x04), RULE_CFA_BP, 16, true, -16, "after mov");
    is_rule(at(0x14), RULE_CFA_SP, 8, false, 0, "after leave");
    is_rule(at(0x15), RULE_CFA_BP, 16, true, -16, "after the state is restored");
    is_rule(at(0x47), RULE_CFA_SP, 0x1030, false, 0, "large frame");
    is_rule(at(0x46), RULE_CFA_SP, 8, false, 0, "one byte before a large frame is set up");
    is_int(at(0x85).kind, RULE_END, "an undefined return address marks the outermost frame");
    is_int(at(0x95).kind, RULE_COMPLEX, "a CFA by another register is too complex");
    is_rule(at(0xa5), RULE_CFA_MEM, -8, true, 0, "realigned stack");
    ok(at(0xa5).bp_at_bp, "a realigned stack has bp saved where bp points");
    is_rule(at(0xb6), RULE_CFA_SP, 8, false, 0, "PLT before its push");
    is_rule(at(0xbb), RULE_CFA_SP, 16, false, 0, "PLT after its push");
    is_rule(at(0xc0), RULE_CFA_SP, 8, false, 0, "the PLT's next entry");
    is_int(at(0xf5).kind, RULE_COMPLEX, "bp saved in a register is too complex");
    is_int(at(0x105).kind, RULE_COMPLEX, "an unknown instruction is too complex");
    is_rule(at(0x125), RULE_CFA_SP, 32, false, 0, "behind a value expression");
    is_rule(at(0x130), RULE_CFA_SP, 32, false, 0, "behind the size of arguments");
    is_int(at(0x110).kind, RULE_NONE, "an address after the last function has no rule");
    is_int(at(0x7fff).kind, RULE_NONE, "an address far away has no rule");
}

static void signal_frame(void)
{
    begin_image();
    fde(cie("zRS"), 0, 0x10, "", 0);
    is_int(at(0).kind, RULE_SIGNAL, "a signal frame is recognised");
}

/* One instruction after another, in a function that begins with CFA = sp + 8. */
static void instructions(void)
{
    static const struct {
        const char *name, *bytes;
        size_t n;
        enum rule_kind kind;
        int cfa;
        bool saved;
        int bp;
    } rows[] = {
        {"offset_extended", "\x05\x06\x02", 3, RULE_CFA_SP, 8, true, -16},
        {"offset_extended_sf", "\x11\x06\x7e", 3, RULE_CFA_SP, 8, true, 16},
        {"GNU_negative_offset_extended", "\x2f\x06\x02", 3, RULE_CFA_SP, 8, true, 16},
        {"restore", "\x86\x02\xc6", 3, RULE_CFA_SP, 8, false, 0},
        {"restore_extended", "\x86\x02\x06\x06", 4, RULE_CFA_SP, 8, false, 0},
        {"same_value", "\x86\x02\x08\x06", 4, RULE_CFA_SP, 8, false, 0},
        {"def_cfa_sf", "\x12\x06\x7e", 3, RULE_CFA_BP, 16, false, 0},
        {"def_cfa_offset_sf", "\x13\x7e", 2, RULE_CFA_SP, 16, false, 0},
        {"val_offset of sp, as always", "\x14\x07\x00", 3, RULE_CFA_SP, 8, false, 0},
        {"val_offset of sp", "\x14\x07\x01", 3, RULE_COMPLEX, 0, false, 0},
        {"val_offset_sf of sp", "\x15\x07\x7f", 3, RULE_COMPLEX, 0, false, 0},
        {"register of another", "\x09\x03\x0c", 3, RULE_CFA_SP, 8, false, 0},
        {"a frame below the red zone", "\x0c\x06\x90\x01\x90\x11\x86\x12", 8, RULE_CFA_FAR, 144,
         false, 0},
        {"a return address of no frame pointer's", "\x0c\x06\x90\x01\x90\x11\x86\x11", 8,
         RULE_COMPLEX, 0, false, 0},
        {"a frame pointer elsewhere", "\x0c\x06\x90\x01\x90\x10\x86\x12", 8, RULE_COMPLEX, 0, false,
         0},
        {"a frame below the red zone by sp", "\x0c\x07\x90\x01\x90\x11\x86\x12", 8, RULE_COMPLEX, 0,
         false, 0},
        {"advance_loc2", "\x03\x30\x00\x0e\x20", 5, RULE_CFA_SP, 32, false, 0},
        {"advance_loc2, further", "\x03\x40\x00\x0e\x20", 5, RULE_CFA_SP, 8, false, 0},
        {"advance_loc4", "\x04\x30\x00\x00\x00\x0e\x20", 7, RULE_CFA_SP, 32, false, 0},
        {"advance_loc4, further", "\x04\x00\x01\x00\x00\x0e\x20", 7, RULE_CFA_SP, 8, false, 0},
        {"restore_state of none", "\x0b", 1, RULE_COMPLEX, 0, false, 0},
        {"remember_state nine times", "\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a", 9, RULE_COMPLEX, 0,
         false, 0},
        {"an expression that goes on", "\x0f\x04\x76\x78\x06\x96", 6, RULE_COMPLEX, 0, false, 0},
        {"an expression without deref", "\x0f\x02\x76\x78", 4, RULE_COMPLEX, 0, false, 0},
        {"bp by an expression that goes on", "\x10\x06\x03\x76\x00\x96", 6, RULE_COMPLEX, 0, false,
         0},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rule got;

        begin_image();
        fde(cie("zR"), 0, 0x40, rows[i].bytes, rows[i].n);
        got = at(0x3f);
        if (rows[i].kind == RULE_COMPLEX)
            is_int(got.kind, RULE_COMPLEX, "%s: the rule is too complex", rows[i].name);
        else
            is_rule(got, rows[i].kind, rows[i].cfa, rows[i].saved, rows[i].bp, rows[i].name);
    }
}

/* Sets every byte of a good image in turn to bad values: no crash (the sanitizers watch), and each
 * rule stays one of the kinds. */
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

                strange += kind == RULE_UNSET || kind > RULE_CFA_FAR;
            }
            img.b[i] = was;
        }
    is_int((long long)strange, 0, "damaged images give valid rules or none");
}

/* ---- continuing from the last lookup ---- */

static bool same_rule(struct rule a, struct rule b)
{
    return a.kind == b.kind && a.bp_saved == b.bp_saved && a.bp_at_bp == b.bp_at_bp &&
           a.cfa_offset == b.cfa_offset && a.bp_offset == b.bp_offset;
}

struct looks {
    unsigned differ, gone_on, all;
};

static void look(const struct cfi_section *s, uintptr_t pc, struct cfi_memo *memo, struct looks *n)
{
    struct cfi_memo before = *memo;

    n->differ += !same_rule(cfi_rule_from(s, pc, memo), cfi_rule_at(s, pc));
    n->gone_on += before.fde && before.fde == memo->fde && pc >= before.loc;
    n->all++;
}

/* Every address of the libraries in this process, and then some back and forth. */
static int each_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct cfi_section s = {.lo = UINTPTR_MAX};
    struct cfi_memo memo = {.fde = NULL};
    uintptr_t text = 0, end = 0, pc;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + ph->p_vaddr;

        if (ph->p_type == PT_LOAD) {
            s.lo = at < s.lo ? at : s.lo;
            s.hi = at + ph->p_memsz > s.hi ? at + ph->p_memsz : s.hi;
        }
        if (ph->p_type == PT_LOAD && (ph->p_flags & PF_X)) {
            text = at;
            end = at + ph->p_memsz;
        }
        if (ph->p_type == PT_GNU_EH_FRAME) {
            s.hdr = (const uint8_t *)at;
            s.hdr_size = ph->p_memsz;
        }
    }
    for (pc = text; pc < end; pc += 1 + pc % 5)
        look(&s, pc, &memo, arg);
    for (unsigned i = 0; i < 100000 && text; i++) {
        pc = text + (pc - text + 2654435761u * i) % (end - text);
        look(&s, pc, &memo, arg);
        look(&s, pc + i % 300, &memo, arg);
        look(&s, pc + i % 100, &memo, arg);
    }
    return 0;
}

static void memos(void)
{
    struct looks n = {0};

    dl_iterate_phdr(each_module, &n);
    is_int(n.differ, 0,
           "a lookup that continues from the last one finds what one from the start finds");
    ok(n.gone_on > n.all / 20, "many lookups continue from the last one (%u of %u)", n.gone_on,
       n.all);
}

int main(void)
{
    memos();
    plain_functions();
    signal_frame();
    instructions();
    damaged();
    return done_testing();
}
