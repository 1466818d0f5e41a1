/*
 * Problem: a system call is two bytes, 0f 05, which also occur in constants and displacements, and
 * whether the bytes beside it may be replaced depends on where instructions begin.
 *
 * Algorithm: one letter for each opcode of the two common maps says which bytes follow it (ModRM,
 * an immediate); the later maps follow simple rules. The effect of an instruction is known only for
 * the forms that compilers put beside system calls; for all others the worst is assumed.
 *
 * Rejected: libcapstone and libzydis. zydis is not in Debian 11. capstone 4.0.2 (Debian 11 and 12)
 * stops at 1,470 bytes of glibc 2.36. For the instructions alone it takes three times as long as
 * the whole search takes (docs/sites.md). Instruction sizes come from these tables, and a test
 * compares them with objdump's.
 */
#include "patch/find/isa_x86_64.h"

#include <elf.h>

#define LONGEST 15

/* Numbers of this processor's calls, on whichever processor this is compiled. */
enum { RT_SIGRETURN = 15, CLONE = 56, FORK, VFORK, EXIT = 60, CLONE3 = 435 };

enum { RAX, RSP = 4, NOWHERE = -1, ANYWHERE = -2 };

/*
 * Letters for the bytes behind an opcode: '.' nothing; 'M' a ModRM byte; 'B' 'W' 'Z' an immediate
 * of 1, 2, 4 bytes (Z: 2 after 66); 'b' 'z' ModRM and such an immediate; 'V' 4 bytes, or 8 after
 * REX.W; 'O' an address; 'E' 3 bytes; 'J' 'K' a jump of 1 or 4 bytes; 'F' 'G' ModRM, and an
 * immediate if it is a test; 'p' it is a prefix; 'v' 'w' 'e' 'X' VEX, EVEX and XOP; '2' '3' '4'
 * another map; 'x' there is no such instruction.
 */
static const char map1[] = "MMMMBZxxMMMMBZx2" /* 00 */
                           "MMMMBZxxMMMMBZxx" /* 10 */
                           "MMMMBZpxMMMMBZpx" /* 20 */
                           "MMMMBZpxMMMMBZpx" /* 30 */
                           "pppppppppppppppp" /* 40 */
                           "................" /* 50 */
                           "xxeMppppZzBb...." /* 60 */
                           "JJJJJJJJJJJJJJJJ" /* 70 */
                           "bzxbMMMMMMMMMMMX" /* 80 */
                           "..........x....." /* 90 */
                           "OOOO....BZ......" /* a0 */
                           "BBBBBBBBVVVVVVVV" /* b0 */
                           "bbW.wvbzE.W..Bx." /* c0 */
                           "MMMMxxx.MMMMMMMM" /* d0 */
                           "JJJJBBBBKKxJ...." /* e0 */
                           "p.pp..FG......MM" /* f0 */;

static const char map2[] = "MMMMx.....x.xM.b" /* 0f 00 */
                           "MMMMMMMMMMMMMMMM" /* 0f 10 */
                           "MMMMxxxxMMMMMMMM" /* 0f 20 */
                           "......x.3x4xxxxx" /* 0f 30 */
                           "MMMMMMMMMMMMMMMM" /* 0f 40 */
                           "MMMMMMMMMMMMMMMM" /* 0f 50 */
                           "MMMMMMMMMMMMMMMM" /* 0f 60 */
                           "bbbbMMM.MMxxMMMM" /* 0f 70 */
                           "KKKKKKKKKKKKKKKK" /* 0f 80 */
                           "MMMMMMMMMMMMMMMM" /* 0f 90 */
                           "...MbMMM...MbMMM" /* 0f a0 */
                           "MMMMMMMMMMbMMMMM" /* 0f b0 */
                           "MMbMbbbM........" /* 0f c0 */
                           "MMMMMMMMMMMMMMMM" /* 0f d0 */
                           "MMMMMMMMMMMMMMMM" /* 0f e0 */
                           "MMMMMMMMMMMMMMMM" /* 0f f0 */;

/* An instruction that is being decoded. */
struct parts {
    const uint8_t *p;
    size_t n, at;        /* how many bytes there are, and the place among them */
    bool rex, w, r, b;   /* there is one: 64 bits, high registers */
    bool narrow;         /* 66 */
    bool narrow_address; /* 67 */
    bool odd;            /* a prefix that may change the instruction's meaning: f2, f3, lock */
    unsigned map;        /* 1: one byte, 2: 0f, 3: 0f 38, 4: 0f 3a; others: VEX, EVEX, XOP */
    uint8_t op, modrm;
    bool has_modrm;
    size_t relative; /* offset of a 32-bit displacement from rip; 0: none */
    size_t value;    /* offset of the immediate */
    size_t value_size;
};

enum { MAP_VEX = 16 }; /* added to the map's number */

static bool take(struct parts *d, size_t size)
{
    if (d->n - d->at < size)
        return false;
    d->at += size;
    return true;
}

static bool take_value(struct parts *d, size_t size)
{
    d->value = d->at;
    d->value_size = size;
    return take(d, size);
}

static bool take_modrm(struct parts *d)
{
    unsigned mode, rm, base;

    if (!take(d, 1))
        return false;
    d->modrm = d->p[d->at - 1];
    d->has_modrm = true;
    mode = d->modrm >> 6;
    rm = d->modrm & 7;
    if (mode == 3)
        return true;
    base = rm;
    if (rm == 4) {
        if (!take(d, 1))
            return false;
        base = d->p[d->at - 1] & 7;
    }
    if (mode == 0 && base == 5) {
        d->relative = rm == 5 ? d->at : 0;
        return take(d, 4);
    }
    return mode == 0 || take(d, mode == 1 ? 1 : 4);
}

static bool take_prefixes(struct parts *d)
{
    for (;; d->at++) {
        uint8_t c;

        if (d->at >= d->n)
            return false;
        c = d->p[d->at];
        if (map1[c] != 'p')
            return true;
        d->rex = d->w = d->r = d->b = false; /* REX counts only directly before the opcode */
        if ((c & 0xf0) == 0x40) {
            d->rex = true;
            d->w = c & 8;
            d->r = c & 4;
            d->b = c & 1;
        } else if (c == 0x66) {
            d->narrow = true;
        } else if (c == 0x67) {
            d->narrow_address = true;
        } else if (c == 0xf0 || c == 0xf2 || c == 0xf3) {
            d->odd = true;
        }
    }
}

/* VEX, EVEX and XOP: the opcode is one of a map that the prefix names, and ModRM follows. */
static bool take_vector(struct parts *d, char kind)
{
    size_t prefix = kind == 'e' ? 3 : kind == 'v' ? 1 : 2;
    unsigned map;

    if (!take(d, prefix + 1))
        return false;
    map = kind == 'v' ? 1 : d->p[d->at - prefix - 1] & (kind == 'e' ? 7 : 31);
    d->op = d->p[d->at - 1];
    d->map = MAP_VEX + map;
    if (kind == 'X' ? map < 8 || map > 10 : !map || map > (kind == 'e' ? 6 : 3) || map == 4)
        return false;
    if (kind == 'v' || kind == 'w')
        if (map == 1 && d->op == 0x77) /* vzeroupper */
            return true;
    if (!take_modrm(d))
        return false;
    if (kind == 'X')
        return map == 9 || take_value(d, map == 8 ? 1 : 4);
    if (map == 3 || (map == 1 && map2[d->op] == 'b'))
        return take_value(d, 1);
    return true;
}

static bool take_rest(struct parts *d, char kind)
{
    size_t z = d->narrow && !d->w ? 2 : 4;

    switch (kind) {
    case '.':
        return true;
    case 'M':
        return take_modrm(d);
    case 'B':
    case 'J':
        return take_value(d, 1);
    case 'W':
        return take_value(d, 2);
    case 'E':
        return take_value(d, 3);
    case 'Z':
        return take_value(d, z);
    case 'K':
        return take_value(d, 4);
    case 'b':
        return take_modrm(d) && take_value(d, 1);
    case 'z':
        return take_modrm(d) && take_value(d, z);
    case 'V':
        return take_value(d, d->w ? 8 : z);
    case 'O':
        return take_value(d, d->narrow_address ? 4 : 8);
    case 'F':
        return take_modrm(d) && (d->modrm & 0x30 || take_value(d, 1));
    case 'G':
        return take_modrm(d) && (d->modrm & 0x30 || take_value(d, z));
    default:
        return false;
    }
}

static bool take_apart(struct parts *d)
{
    char kind;

    if (!take_prefixes(d) || !take(d, 1))
        return false;
    d->map = 1;
    d->op = d->p[d->at - 1];
    kind = map1[d->op];
    if (kind == '2') {
        if (!take(d, 1))
            return false;
        d->map = 2;
        d->op = d->p[d->at - 1];
        kind = map2[d->op];
        if (kind == '3' || kind == '4') {
            if (!take(d, 1))
                return false;
            d->map = kind == '3' ? 3 : 4;
            d->op = d->p[d->at - 1];
            kind = d->map == 3 ? 'M' : 'b';
        }
    }
    if (kind == 'X') {
        if (d->at < d->n && (d->p[d->at] & 0x38) == 0)
            kind = 'M'; /* pop */
        else if (d->at >= d->n || (d->p[d->at] & 31) < 8)
            return false;
    }
    return strchr("vweX", kind) ? take_vector(d, kind) : take_rest(d, kind);
}

static int64_t value_of(const struct parts *d)
{
    int64_t v = 0;

    memcpy(&v, d->p + d->value, d->value_size > 8 ? 8 : d->value_size);
    switch (d->value_size) {
    case 1:
        return (int8_t)v;
    case 2:
        return (int16_t)v;
    case 4:
        return (int32_t)v;
    default:
        return v;
    }
}

static int reg_of(const struct parts *d)
{
    return (d->modrm >> 3 & 7) | d->r << 3;
}

/* General register of ModRM's second operand; NOWHERE: it is memory. */
static int rm_of(const struct parts *d)
{
    return d->modrm >> 6 == 3 ? (d->modrm & 7) | d->b << 3 : NOWHERE;
}

/* Whether registers 4 to 7 are the second bytes of 0 to 3. */
static bool of_second_bytes(const struct parts *d)
{
    if (d->rex)
        return false;
    if (d->map == 2)
        return (d->op & 0xf0) == 0x90;
    return d->op >= 0xb0 && d->op < 0xc0 ? d->op < 0xb8 : !(d->op & 1) && d->op != 0x8e;
}

/* The general register that an instruction of the first map writes, NOWHERE or ANYWHERE. */
static int written1(const struct parts *d)
{
    unsigned which = d->modrm >> 3 & 7;

    if (d->op < 0x40 && (d->op & 7) < 6) {
        if (d->op >= 0x38)
            return NOWHERE; /* cmp */
        return (d->op & 7) > 3 ? RAX : d->op & 2 ? reg_of(d) : rm_of(d);
    }
    if ((d->op & 0xf0) == 0xb0)
        return (d->op & 7) | d->b << 3;
    switch (d->op) {
    case 0x63: /* movslq */
    case 0x69: /* imul */
    case 0x6b:
    case 0x8a: /* mov */
    case 0x8b:
    case 0x8d: /* lea */
        return reg_of(d);
    case 0x80: /* add, or, adc, sbb, and, sub, xor, cmp */
    case 0x81:
    case 0x83:
        return which == 7 ? NOWHERE : rm_of(d);
    case 0x84: /* test */
    case 0x85:
    case 0xa8:
    case 0xa9:
        return NOWHERE;
    case 0x88: /* mov */
    case 0x89:
    case 0xc0: /* shifts */
    case 0xc1:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
        return rm_of(d);
    case 0xc6: /* mov, but xabort and xbegin */
    case 0xc7:
        return which == 0 ? rm_of(d) : ANYWHERE;
    case 0xf6: /* test, not, neg */
    case 0xf7:
        return which < 2 ? NOWHERE : which < 4 ? rm_of(d) : ANYWHERE;
    case 0xfe: /* inc, dec */
    case 0xff:
        return which < 2 ? rm_of(d) : ANYWHERE;
    case 0x90:
        return d->b ? ANYWHERE : NOWHERE;
    default:
        return ANYWHERE;
    }
}

/* The general register that an instruction of the map of 0f writes, NOWHERE or ANYWHERE. Opcodes
 * that are not listed write vector registers, or are rare. */
static int written2(const struct parts *d)
{
    switch (d->op) {
    case 0x10 ... 0x17: /* moves of vectors */
    case 0x28:
    case 0x29:
    case 0x51 ... 0x6f: /* arithmetic of vectors */
    case 0x7f:
    case 0xd6:
    case 0xef:
    case 0x18: /* prefetch, nop */
    case 0x1f:
        return NOWHERE;
    case 0x40 ... 0x4f: /* cmov */
    case 0xaf:          /* imul */
    case 0xb6:          /* movzx, movsx */
    case 0xb7:
    case 0xbe:
    case 0xbf:
        return reg_of(d);
    case 0x7e:          /* movd; behind f3 it writes a vector register */
    case 0x90 ... 0x9f: /* setcc */
        return rm_of(d);
    default:
        return ANYWHERE;
    }
}

static void judge_flow(const struct parts *d, struct insn *out)
{
    unsigned which = d->modrm >> 3 & 7;

    out->flow = INSN_ON;
    if (d->map == 2) {
        if (d->op == 0x05)
            out->flow = INSN_KERNEL;
        else if ((d->op & 0xf0) == 0x80)
            out->flow = INSN_BRANCH;
        else if (d->op == 0x0b || d->op == 0xff || d->op == 0xb9)
            out->flow = INSN_END;
    } else if (d->map == 1) {
        if ((d->op & 0xf0) == 0x70 || (d->op & 0xfc) == 0xe0 || (d->op == 0xc7 && d->modrm == 0xf8))
            out->flow = INSN_BRANCH;
        else if (d->op == 0xeb || d->op == 0xe9)
            out->flow = INSN_JUMP;
        else if (d->op == 0xe8)
            out->flow = INSN_CALL;
        else if (d->op == 0xff && (which == 2 || which == 3))
            out->flow = INSN_CALL_COMPUTED;
        else if (d->op == 0xff && (which == 4 || which == 5))
            out->flow = INSN_JUMP_COMPUTED;
        else if (strchr("\xc2\xc3\xca\xcb\xcf\xf4\xcc", d->op) && d->op)
            out->flow = INSN_END;
    }
    if (out->flow == INSN_BRANCH || out->flow == INSN_JUMP || out->flow == INSN_CALL)
        out->target = (int64_t)d->at + value_of(d);
    else if (d->map == 1 && d->op == 0x8d && d->relative) {
        int32_t away;

        memcpy(&away, d->p + d->relative, sizeof away);
        out->refers = true;
        out->target = (int64_t)d->at + away;
    }
}

static void judge_place(const struct parts *d, struct insn *out)
{
    bool by_value = out->flow == INSN_BRANCH || out->flow == INSN_JUMP;

    out->placeless = out->flow == INSN_ON || out->flow == INSN_END ||
                     out->flow == INSN_JUMP_COMPUTED || (by_value && d->value_size == 4);
    if (out->placeless)
        out->distance = (uint8_t)(by_value ? d->value : d->relative);
}

static void judge_effects(const struct parts *d, struct insn *out)
{
    int to = ANYWHERE, rm = rm_of(d);
    bool set = d->map == 1 && !d->narrow && !d->odd;

    if (!d->odd)
        to = d->map == 1 ? written1(d) : d->map == 2 ? written2(d) : ANYWHERE;
    if (to >= 4 && to < 8 && of_second_bytes(d))
        to = ANYWHERE;
    out->number_is = to == RAX || to == ANYWHERE ? INSN_NUMBER_UNSURE : INSN_NUMBER_KEPT;
    /* Pushes and pops, which move the stack pointer, are among those that write ANYWHERE. */
    out->movable = out->flow == INSN_ON && to != ANYWHERE && to != RSP;
    out->relative = out->movable ? (uint8_t)d->relative : 0;
    judge_place(d, out);
    if (d->map == 1 && d->op >= 0x50 && d->op < 0x60) {
        int reg = (d->op & 7) | d->b << 3;

        out->number_is = d->op >= 0x58 && reg == RAX ? INSN_NUMBER_UNSURE : INSN_NUMBER_KEPT;
    }
    if (set && d->op == 0xb8 && !d->b && value_of(d) >= 0 && value_of(d) <= INT32_MAX) {
        out->number_is = INSN_NUMBER_SET;
        out->number = (int32_t)value_of(d);
        out->sets_number_only = !d->w && d->at == 5;
    } else if (set && d->op == 0xc7 && d->modrm == 0xc0 && !d->b && value_of(d) >= 0) {
        out->number_is = INSN_NUMBER_SET;
        out->number = (int32_t)value_of(d);
    } else if (set && (d->op | 2) == 0x33 && rm == RAX && reg_of(d) == RAX) {
        out->number_is = INSN_NUMBER_SET;
        out->number = 0;
    }
}

static unsigned decode(const uint8_t *p, size_t n, struct insn *out)
{
    struct parts d = {.p = p, .n = n < LONGEST ? n : LONGEST};

    memset(out, 0, sizeof *out);
    if (!take_apart(&d))
        return 0;
    out->size = (uint8_t)d.at;
    judge_flow(&d, out);
    judge_effects(&d, out);
    return out->size;
}

static enum site_reason judge(int32_t number)
{
    switch (number) {
    case CLONE:
    case FORK:
    case VFORK:
    case CLONE3:
        return SITE_RETURNS_TWICE;
    case RT_SIGRETURN:
        return SITE_SIGRETURN;
    case EXIT:
        return SITE_NO_STACK;
    default:
        return SITE_FINE;
    }
}

/*
 * mov %rdi,%r11; mov %rsi,%rax; mov %rdx,%rdi; mov %rcx,%rsi; mov %r8,%rdx; mov %r9,%r10; mov
 * 8(%rsp),%r8; mov 16(%rsp),%r9; mov %r11,8(%rsp): both C libraries move a function's arguments to
 * the kernel's registers in this way. Their signal handlers test whether a thread is in that code.
 */
static const uint8_t cancel_moves[] = {0x49, 0x89, 0xfb, 0x48, 0x89, 0xf0, 0x48, 0x89, 0xd7,
                                       0x48, 0x89, 0xce, 0x4c, 0x89, 0xc2, 0x4d, 0x89, 0xca,
                                       0x4c, 0x8b, 0x44, 0x24, 0x08, 0x4c, 0x8b, 0x4c, 0x24,
                                       0x10, 0x4c, 0x89, 0x5c, 0x24, 0x08};

static bool is_cancel_call(const uint8_t *p, size_t n)
{
    size_t size = sizeof cancel_moves;

    return n >= size && memcmp(p + n - size, cancel_moves, size) == 0;
}

/* glibc's __syscall_cancel_arch begins with `mov (%rdi),%eax; testb $8,(%rdi); jne`, a test of its
 * thread's flags. Stripped files do not have its symbol. */
static bool is_cancel_arch(const uint8_t *p, size_t n)
{
    static const uint8_t head[] = {0x8b, 0x07, 0xf6, 0x07, 0x08, 0x0f, 0x85};
    static const uint8_t mark[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */

    if (n > sizeof mark && memcmp(p, mark, sizeof mark) == 0) {
        p += sizeof mark;
        n -= sizeof mark;
    }
    return n > sizeof head + 4 + sizeof cancel_moves && memcmp(p, head, sizeof head) == 0 &&
           is_cancel_call(p, sizeof head + 4 + sizeof cancel_moves);
}

const struct isa isa_x86_64 = {
    .machine = EM_X86_64,
    .branch = 5,
    .call_size = 2,
    .decode = decode,
    .judge = judge,
    .thread_exit = EXIT,
    .is_cancel_arch = is_cancel_arch,
    .is_cancel_call = is_cancel_call,
};
