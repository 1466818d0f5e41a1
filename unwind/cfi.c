/*
 * Problem: unwinding by interpreting DWARF costs microseconds a frame, yet for one address the
 * answer is always the same few numbers.
 *
 * Algorithm: find the FDE by the binary search table of .eh_frame_hdr. Run the CIE's and the FDE's
 * instructions up to the address, with a row that knows only the CFA, the return address and the
 * frame pointer. Put the row into a struct rule. The two expressions that occur everywhere are
 * recognised: the PLT's (its value depends on the address alone, so it is a constant here) and
 * gcc's for functions that realign their stack. All other expressions become RULE_COMPLEX.
 *
 * Rejected: a full evaluator of expressions. Other expressions use registers other than sp and bp,
 * which the walk does not track, and libunwind handles them.
 */
#include "unwind/cfi.h"

#include "common/processor/arch.h"
#include "unwind/cfi_row.h"
#if ARCH_LINK
#include "unwind/cfi_rule_aarch64.h"
#else
#include "unwind/cfi_rule_x86_64.h"
#endif
#include "unwind/dwarf_numbers.h"

#define REG_BP ARCH_CFI_BP
#define REG_SP ARCH_CFI_SP
#define REG_RA ARCH_CFI_RA

#define STATE_DEPTH 8

/* Id of a CIE in .debug_frame, where .eh_frame has 0. The 64-bit form of DWARF is not read: no
 * linker makes one of less than 4 GiB. */
#define DEBUG_FRAME_CIE 0xffffffffu

struct cursor {
    const uint8_t *at, *end;
    bool bad;
};

static uint64_t fixed(struct cursor *c, size_t n)
{
    uint64_t value = 0;

    if ((size_t)(c->end - c->at) < n) {
        c->bad = true;
        c->at = c->end;
        return 0;
    }
    memcpy(&value, c->at, n); /* little-endian, as x86-64 and aarch64 are */
    c->at += n;
    return value;
}

static uint64_t uleb(struct cursor *c)
{
    uint64_t value = 0;

    for (unsigned shift = 0; c->at < c->end; shift += 7) {
        uint8_t byte = *c->at++;

        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    c->bad = true;
    return 0;
}

static int64_t sleb(struct cursor *c)
{
    uint64_t value = 0;

    for (unsigned shift = 0; c->at < c->end;) {
        uint8_t byte = *c->at++;

        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80)) {
            if (byte & 0x40 && shift < 64)
                value |= ~(uint64_t)0 << shift;
            return (int64_t)value;
        }
    }
    c->bad = true;
    return 0;
}

static void skip(struct cursor *c, uint64_t n)
{
    if (n > (uint64_t)(c->end - c->at)) {
        c->bad = true;
        c->at = c->end;
    } else {
        c->at += n;
    }
}

/* An encoded pointer; `data` is what DW_EH_PE_datarel counts from. Indirect pointers are
 * not followed: only personality routines use them, and those are skipped. */
static uintptr_t encoded(struct cursor *c, uint8_t encoding, uintptr_t data)
{
    uintptr_t here = (uintptr_t)c->at;
    uint64_t value;

    switch (encoding & DW_EH_PE_format) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        value = fixed(c, 8);
        break;
    case DW_EH_PE_uleb128:
        value = uleb(c);
        break;
    case DW_EH_PE_udata2:
        value = fixed(c, 2);
        break;
    case DW_EH_PE_udata4:
        value = fixed(c, 4);
        break;
    case DW_EH_PE_sleb128:
        value = (uint64_t)sleb(c);
        break;
    case DW_EH_PE_sdata2:
        value = (uint64_t)(int16_t)fixed(c, 2);
        break;
    case DW_EH_PE_sdata4:
        value = (uint64_t)(int32_t)fixed(c, 4);
        break;
    default:
        c->bad = true;
        return 0;
    }
    switch (encoding & DW_EH_PE_base) {
    case DW_EH_PE_absptr:
        return value;
    case DW_EH_PE_pcrel:
        return here + value;
    case DW_EH_PE_datarel:
        return data + value;
    default:
        c->bad = true;
        return 0;
    }
}

/* ---- finding the FDE ---- */

/* The FDE that may cover `pc`, by the sorted table of (start, FDE) pairs. */
static const uint8_t *search_table(const struct cfi_section *s, uintptr_t pc)
{
    struct cursor c = {s->hdr, s->hdr + s->hdr_size, false};
    uintptr_t data = (uintptr_t)s->hdr;
    uint8_t version, frame_encoding, count_encoding, table_encoding;
    uint64_t count, lo = 0, hi;

    version = (uint8_t)fixed(&c, 1);
    frame_encoding = (uint8_t)fixed(&c, 1);
    count_encoding = (uint8_t)fixed(&c, 1);
    table_encoding = (uint8_t)fixed(&c, 1);
    /* Every linker writes the table as pairs of 4 bytes relative to the header. */
    if (c.bad || version != 1 || count_encoding == DW_EH_PE_omit ||
        table_encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
        return NULL;
    if (frame_encoding != DW_EH_PE_omit)
        encoded(&c, frame_encoding, data);
    count = encoded(&c, count_encoding, data);
    if (c.bad || count > (uint64_t)(c.end - c.at) / 8 || count == 0)
        return NULL;
    hi = count;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        int32_t start;

        memcpy(&start, c.at + mid * 8, sizeof start);
        if (data + (uintptr_t)(intptr_t)start <= pc)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == 0)
        return NULL;
    {
        int32_t fde;

        memcpy(&fde, c.at + (lo - 1) * 8 + 4, sizeof fde);
        return (const uint8_t *)(data + (uintptr_t)(intptr_t)fde);
    }
}

/* The body of the entry at `at` (a CIE or FDE): everything after its length. */
static bool open_entry(const struct cfi_section *s, const uint8_t *at, struct cursor *body)
{
    uint64_t length;

    if ((uintptr_t)at < s->lo || (uintptr_t)at >= s->hi)
        return false;
    *body = (struct cursor){at, (const uint8_t *)s->hi, false};
    length = fixed(body, 4);
    if (length == 0xffffffff)
        length = fixed(body, 8);
    if (body->bad || length == 0 || length > (uint64_t)(body->end - body->at))
        return false;
    body->end = body->at + length;
    return true;
}

struct cie {
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra;
    uint8_t pointer_encoding;
    bool augmented; /* FDEs carry a length of augmentation data */
    bool signal;
    struct cursor program;
};

static bool parse_cie(const struct cfi_section *s, const uint8_t *at, struct cie *cie)
{
    struct cursor c;
    const char *augmentation;
    uint8_t version;
    uint64_t size;

    if (!open_entry(s, at, &c) || fixed(&c, 4) != (s->debug_frame ? DEBUG_FRAME_CIE : 0))
        return false;
    *cie = (struct cie){.pointer_encoding = 0};
    version = (uint8_t)fixed(&c, 1);
    if (version != 1 && version != 3 && version != 4)
        return false;
    augmentation = (const char *)c.at;
    while (!c.bad && fixed(&c, 1) != 0)
        ;
    if (version == 4)
        skip(&c, 2);
    cie->code_align = uleb(&c);
    cie->data_align = sleb(&c);
    cie->ra = version == 1 ? fixed(&c, 1) : uleb(&c);
    if (c.bad)
        return false;
    if (augmentation[0] == 'z') {
        const uint8_t *after;

        size = uleb(&c);
        if (c.bad || size > (uint64_t)(c.end - c.at))
            return false;
        after = c.at + size;
        cie->augmented = true;
        for (const char *a = augmentation + 1; *a; a++) {
            if (*a == 'R') {
                cie->pointer_encoding = (uint8_t)fixed(&c, 1);
            } else if (*a == 'P') {
                uint8_t encoding = (uint8_t)fixed(&c, 1);

                encoded(&c, encoding & (uint8_t)~DW_EH_PE_indirect, 0);
            } else if (*a == 'L') {
                fixed(&c, 1);
            } else if (*a == 'S') {
                cie->signal = true;
            } else if (*a != 'B') {
                break; /* unknown, but its data is inside the length */
            }
        }
        c.bad = false;
        c.at = after;
    } else if (augmentation[0]) {
        return false;
    }
    cie->program = c;
    return true;
}

/* ---- running the instructions ---- */

_Static_assert(sizeof(struct row) <= sizeof((struct cfi_memo *)0)->row, "a row can be kept");

static struct reg *tracked(struct row *row, uint64_t number, uint64_t ra)
{
    if (number == ra)
        return &row->ra;
    if (number == REG_BP)
        return &row->bp;
    if (number == REG_SP)
        return &row->sp;
    return NULL;
}

static void set(struct row *row, uint64_t number, uint64_t ra, enum where where, int64_t offset)
{
    struct reg *r = tracked(row, number, ra);

    if (r)
        *r = (struct reg){where, offset};
}

/*
 * The PLT's CFA, as both binutils and lld emit it:
 *   breg7 8, breg16 0, lit15, and, lit11, ge, lit3, shl, plus
 * i.e. sp + 8 + ((pc & 15) >= 11 ? 8 : 0). lit11 varies with the PLT's layout.
 */
static bool plt_expression(const uint8_t *e, uint64_t size, uintptr_t pc, struct row *row)
{
    if (size != 11 || e[0] != DW_OP_breg0 + REG_SP || e[2] != DW_OP_breg0 + REG_RA || e[3] != 0 ||
        e[4] != DW_OP_lit0 + 15 || e[5] != DW_OP_and || e[6] < DW_OP_lit0 || e[6] > DW_OP_lit31 ||
        e[7] != DW_OP_ge || e[8] != DW_OP_lit0 + 3 || e[9] != DW_OP_shl || e[10] != DW_OP_plus)
        return false;
    row->form = CFA_REGISTER;
    row->reg = REG_SP;
    row->offset = e[1] + ((pc & 15) >= (uint64_t)(e[6] - DW_OP_lit0) ? 8 : 0);
    return e[1] < 0x40; /* a byte of its own: neither negative nor longer */
}

static void cfa_expression(struct cursor *c, uintptr_t pc, struct row *row)
{
    uint64_t size = uleb(c);
    struct cursor e = {c->at, c->at, false};

    skip(c, size);
    if (c->bad)
        return;
    e.end = c->at;
    if (plt_expression(e.at, size, pc, row))
        return;
    row->form = CFA_OTHER;
    /* breg6 N, deref: the CFA was saved below the frame pointer. */
    if (fixed(&e, 1) == DW_OP_breg0 + REG_BP) {
        int64_t offset = sleb(&e);

        if (fixed(&e, 1) == DW_OP_deref && !e.bad && e.at == e.end) {
            row->form = CFA_MEMORY_BP;
            row->offset = offset;
        }
    }
}

/* A register saved at an address that an expression gives: bp + N is followed. */
static void register_expression(struct cursor *c, struct row *row, uint64_t ra)
{
    uint64_t number = uleb(c), size = uleb(c);
    struct cursor e = {c->at, c->at, false};
    int64_t offset;

    skip(c, size);
    if (c->bad)
        return;
    e.end = c->at;
    if (fixed(&e, 1) == DW_OP_breg0 + REG_BP) {
        offset = sleb(&e);
        if (!e.bad && e.at == e.end) {
            set(row, number, ra, AT_BP, offset);
            return;
        }
    }
    set(row, number, ra, ELSEWHERE, 0);
}

static struct reg initial_of(const struct row *initial, uint64_t number, uint64_t ra)
{
    struct row copy = *initial;
    struct reg *r = tracked(&copy, number, ra);

    return r ? *r : (struct reg){SAME, 0};
}

/* Offsets are multiplied by the CIE's data alignment. A hostile one may overflow; the product is
 * defined, and to_rule checks its bounds. */
static int64_t factored(uint64_t n, const struct cie *cie)
{
    return (int64_t)(n * (uint64_t)cie->data_align);
}

/* Instructions of fewer bytes than this run again as fast as a memo is stored and loaded. */
#define LONG_PROGRAM 32u

static void keep(struct cfi_memo *memo, const uint8_t *fde, const uint8_t *at, uintptr_t loc,
                 const struct row *row)
{
    memo->fde = fde;
    memo->at = at;
    memo->loc = loc;
    memcpy(memo->row, row, sizeof *row);
}

/* Continues at the end of the memo's run, if that lies before `pc`. */
static void resume(const struct cfi_memo *memo, const uint8_t *fde, uintptr_t pc, struct cursor *c,
                   uintptr_t *loc, struct row *row)
{
    if (memo->fde != fde || pc < memo->loc)
        return;
    c->at = memo->at;
    *loc = memo->loc;
    memcpy(row, memo->row, sizeof *row);
}

/*
 * Runs `c` until `loc` passes `pc`. False: an instruction is not known. *stop is the first
 * instruction for a later address, and *before the address that it began at. *stop is NULL if the
 * row does not contain the whole state before that instruction, or holds for this pc only.
 */
static bool run(struct cursor c, const struct cie *cie, uintptr_t loc, uintptr_t pc,
                const struct row *initial, struct row *row, const uint8_t **stop, uintptr_t *before)
{
    struct row stack[STATE_DEPTH];
    bool any_pc = true;
    unsigned depth = 0;
    uint64_t r, delta = 0;
    int64_t n;

    *stop = NULL;
    while (c.at < c.end && !c.bad) {
        const uint8_t *this = c.at;
        uint8_t op = *c.at++;
        bool advance = false;

        if ((op & DW_CFA_high_bits) == DW_CFA_advance_loc) {
            delta = op & 0x3f;
            advance = true;
        } else if ((op & DW_CFA_high_bits) == DW_CFA_offset) {
            n = factored(uleb(&c), cie);
            set(row, op & 0x3f, cie->ra, AT_CFA, n);
        } else if ((op & DW_CFA_high_bits) == DW_CFA_restore) {
            struct reg was = initial_of(initial, op & 0x3f, cie->ra);

            set(row, op & 0x3f, cie->ra, was.where, was.offset);
        } else {
            switch (op) {
            case DW_CFA_nop:
                break;
            case DW_CFA_set_loc:
                loc = encoded(&c, cie->pointer_encoding, 0);
                if (loc > pc)
                    return !c.bad;
                break;
            case DW_CFA_advance_loc1:
            case DW_CFA_advance_loc2:
            case DW_CFA_advance_loc4:
                delta = fixed(&c, (size_t)1 << (op - DW_CFA_advance_loc1));
                advance = true;
                break;
            case DW_CFA_offset_extended:
                r = uleb(&c);
                n = factored(uleb(&c), cie);
                set(row, r, cie->ra, AT_CFA, n);
                break;
            case DW_CFA_restore_extended: {
                struct reg was;

                r = uleb(&c);
                was = initial_of(initial, r, cie->ra);
                set(row, r, cie->ra, was.where, was.offset);
                break;
            }
            case DW_CFA_undefined:
                set(row, uleb(&c), cie->ra, UNDEFINED, 0);
                break;
            case DW_CFA_same_value:
                set(row, uleb(&c), cie->ra, SAME, 0);
                break;
            case DW_CFA_register:
                r = uleb(&c);
                uleb(&c);
                set(row, r, cie->ra, ELSEWHERE, 0);
                break;
            case DW_CFA_remember_state:
                if (depth == STATE_DEPTH)
                    return false;
                stack[depth++] = *row;
                break;
            case DW_CFA_restore_state:
                if (depth == 0)
                    return false;
                *row = stack[--depth];
                break;
            case DW_CFA_def_cfa:
                row->reg = uleb(&c);
                row->offset = (int64_t)uleb(&c);
                row->form = CFA_REGISTER;
                break;
            case DW_CFA_def_cfa_register:
                row->reg = uleb(&c);
                row->form = CFA_REGISTER;
                break;
            case DW_CFA_def_cfa_offset:
                row->offset = (int64_t)uleb(&c);
                break;
            case DW_CFA_def_cfa_expression:
                cfa_expression(&c, pc, row);
                any_pc = false;
                break;
            case DW_CFA_expression:
                register_expression(&c, row, cie->ra);
                break;
            case DW_CFA_offset_extended_sf:
                r = uleb(&c);
                n = factored((uint64_t)sleb(&c), cie);
                set(row, r, cie->ra, AT_CFA, n);
                break;
            case DW_CFA_def_cfa_sf:
                row->reg = uleb(&c);
                row->offset = factored((uint64_t)sleb(&c), cie);
                row->form = CFA_REGISTER;
                break;
            case DW_CFA_def_cfa_offset_sf:
                row->offset = factored((uint64_t)sleb(&c), cie);
                break;
            case DW_CFA_val_offset:
            case DW_CFA_val_offset_sf: /* sp's default is one of these */
                r = uleb(&c);
                n = op == DW_CFA_val_offset ? (int64_t)uleb(&c) : sleb(&c);
                if (r != REG_SP || n != 0)
                    set(row, r, cie->ra, ELSEWHERE, 0);
                break;
            case DW_CFA_val_expression:
                r = uleb(&c);
                skip(&c, uleb(&c));
                set(row, r, cie->ra, ELSEWHERE, 0);
                break;
#if ARCH_LINK
            case DW_CFA_AARCH64_negate_ra_state_with_pc:
            case DW_CFA_AARCH64_negate_ra_state: /* see arch_strip */
                break;
#endif
            case DW_CFA_GNU_args_size:
                uleb(&c);
                break;
            case DW_CFA_GNU_negative_offset_extended:
                r = uleb(&c);
                n = factored(-uleb(&c), cie);
                set(row, r, cie->ra, AT_CFA, n);
                break;
            default:
                return false;
            }
        }
        if (advance) {
            *before = loc;
            loc += delta * cie->code_align;
            if (loc > pc) {
                if (any_pc && depth == 0)
                    *stop = this;
                return !c.bad;
            }
        }
    }
    return !c.bad;
}

/* Opens the FDE at `at` with its CIE; *c then follows the range of addresses. */
static bool open_fde(const struct cfi_section *s, const uint8_t *at, struct cursor *c,
                     struct cie *cie, uintptr_t *start, uintptr_t *length)
{
    const uint8_t *id_at;
    uint64_t back;

    if (!open_entry(s, at, c))
        return false;
    id_at = c->at;
    back = fixed(c, 4);
    if (s->debug_frame) {
        if (back == DEBUG_FRAME_CIE || back >= s->hi - s->lo ||
            !parse_cie(s, (const uint8_t *)s->lo + back, cie))
            return false;
    } else if (back == 0 || back > (uintptr_t)id_at - s->lo || !parse_cie(s, id_at - back, cie)) {
        return false;
    }
    *start = encoded(c, cie->pointer_encoding, 0);
    *length = encoded(c, cie->pointer_encoding & DW_EH_PE_format, 0);
    return !c->bad;
}

bool cfi_next_fde(const struct cfi_section *s, const uint8_t **at, const uint8_t **fde,
                  uintptr_t *start, uintptr_t *end)
{
    struct cursor c;
    struct cie cie;
    uintptr_t length;
    bool found;

    *fde = *at;
    if (!open_entry(s, *at, &c)) {
        *at = NULL;
        return false;
    }
    *at = (uintptr_t)c.end < s->hi ? c.end : NULL;
    found = open_fde(s, *fde, &c, &cie, start, &length) &&
            !__builtin_add_overflow(*start, length, end) && length > 0;
    return found;
}

static struct rule rule_of(const struct cfi_section *s, const uint8_t *fde, uintptr_t pc,
                           struct cfi_memo *memo)
{
    const struct rule none = {.kind = RULE_NONE}, complex = {.kind = RULE_COMPLEX};
    struct row initial = {.form = CFA_OTHER}, row;
    uintptr_t start, length, before;
    const uint8_t *begin, *stop;
    struct cursor c;
    struct cie cie;

    if (!open_fde(s, fde, &c, &cie, &start, &length) || pc < start || pc - start >= length)
        return none;
    if (cie.signal)
        return (struct rule){.kind = RULE_SIGNAL};
    if (cie.augmented)
        skip(&c, uleb(&c));
    if (c.bad || cie.ra != REG_RA)
        return complex;
    row = initial;
    if (!run(cie.program, &cie, 0, UINTPTR_MAX, &initial, &row, &stop, &before))
        return complex;
    initial = row;
    begin = c.at;
    resume(memo, fde, pc, &c, &start, &row);
    if (!run(c, &cie, start, pc, &initial, &row, &stop, &before))
        return complex;
    if (stop && stop - begin >= (ptrdiff_t)LONG_PROGRAM)
        keep(memo, fde, stop, before, &row);
    return to_rule(&row);
}

struct rule cfi_rule_of(const struct cfi_section *s, const uint8_t *fde, uintptr_t pc)
{
    struct cfi_memo none = {.fde = NULL};

    return rule_of(s, fde, pc, &none);
}

struct rule cfi_rule_from(const struct cfi_section *s, uintptr_t pc, struct cfi_memo *memo)
{
    const uint8_t *fde = s->hdr ? search_table(s, pc) : NULL;

    return fde ? rule_of(s, fde, pc, memo) : (struct rule){.kind = RULE_NONE};
}

struct rule cfi_rule_at(const struct cfi_section *s, uintptr_t pc)
{
    struct cfi_memo none = {.fde = NULL};

    return cfi_rule_from(s, pc, &none);
}

bool cfi_function_at(const struct cfi_section *s, uintptr_t pc, uintptr_t *start)
{
    const uint8_t *fde = s->hdr ? search_table(s, pc) : NULL;
    uintptr_t length;
    struct cursor c;
    struct cie cie;

    return fde && open_fde(s, fde, &c, &cie, start, &length) && pc >= *start &&
           pc - *start < length;
}
