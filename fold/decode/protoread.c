/* Protocol buffers, field by field; see protoread.h. */
#include "fold/decode/protoread.h"

static bool wrong(struct proto *p, const char *why)
{
    p->why = why;
    return false;
}

bool proto_number(struct proto *p, uint64_t *value)
{
    const char *s = p->s;
    uint64_t v = 0;

    if (p->why || s == p->end)
        return false;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        unsigned char byte;

        if (s == p->end)
            return wrong(p, "a number is cut short");
        byte = (unsigned char)*s++;
        /* The tenth byte holds one bit: 9 * 7 + 1 = 64. */
        if (shift == 63 && byte > 1)
            break;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            p->s = s;
            *value = v;
            return true;
        }
    }
    return wrong(p, "a number has more than 64 bits");
}

static bool fixed(struct proto *p, struct proto_field *f, size_t size)
{
    if ((size_t)(p->end - p->s) < size)
        return wrong(p, "a number is cut short");
    f->whole = true;
    f->value = 0;
    for (size_t i = 0; i < size; i++)
        f->value |= (uint64_t)(unsigned char)p->s[i] << 8 * i;
    p->s += size;
    return true;
}

static bool sized(struct proto *p, struct proto_field *f)
{
    uint64_t len;

    if (!proto_number(p, &len))
        return p->why ? false : wrong(p, "a field has no length");
    if (len > (uint64_t)(p->end - p->s))
        return wrong(p,
                     "a field is longer than the message that holds it; the file may be truncated");
    f->whole = false;
    f->bytes = (struct span){p->s, (size_t)len};
    p->s += len;
    return true;
}

bool proto_field(struct proto *p, struct proto_field *f)
{
    uint64_t tag;

    f->at = p->s;
    if (!proto_number(p, &tag))
        return false;
    if (tag >> 3 == 0 || tag >> 3 >= 1u << 29)
        return wrong(p, "a field has a number that none may have");
    f->number = (uint32_t)(tag >> 3);
    switch (tag & 7) {
    case 0:
        f->whole = true;
        if (proto_number(p, &f->value))
            return true;
        return p->why ? false : wrong(p, "a number is cut short");
    case 1:
        return fixed(p, f, 8);
    case 2:
        return sized(p, f);
    case 5:
        return fixed(p, f, 4);
    default:
        p->s = f->at;
        return wrong(p, "a field is of a kind that protocol buffers do not have");
    }
}
