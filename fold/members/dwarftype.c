/*
 * Offsets of types in the alternate file (dwz) have IN_ALTERNATE set. References within that file
 * do not have it, so it is passed on from the DIE that refers.
 *
 * The DIE of a variable is found by a byte that it contains. On each level of the tree the last DIE
 * that begins before this byte is the one to enter, so only its siblings are read.
 */
#include "fold/members/dwarftype.h"

#include "common/alloc.h"
#include "fold/symbols/dwarfdie.h"

/* DIEs in one another; far beyond what compilers make. */
#define DEPTH_MAX 200
#define HOPS_MAX 8
#define POINTER_SIZE 8

static Dwarf_Debug file_of(const struct dwarfread *d, uint64_t offset)
{
    return offset & IN_ALTERNATE ? d->alt : d->dbg;
}

/* A DIE of either file; *dbg is the file's. */
static Dwarf_Die open_die(const struct dwarfread *d, uint64_t offset, Dwarf_Debug *dbg)
{
    *dbg = file_of(d, offset);
    return *dbg ? dwarfdie_at(*dbg, offset & ~IN_ALTERNATE) : NULL;
}

static bool offset_of(Dwarf_Debug dbg, Dwarf_Die die, uint64_t *offset)
{
    Dwarf_Error err = NULL;
    Dwarf_Off off = 0;
    bool found = dwarfdie_good(dbg, dwarf_dieoffset(die, &off, &err), &err);

    *offset = off;
    return found;
}

/* ---- units ---- */

static void add_unit(Dwarf_Debug dbg, Dwarf_Die die, void *arg)
{
    struct dwarf_units *out = arg;
    Dwarf_Attribute base = dwarfdie_attribute(dbg, die, DW_AT_addr_base);
    struct dwarf_unit unit = {.begin = 0};
    Dwarf_Off begin = 0, len = 0, addr_base = 0;
    Dwarf_Error err = NULL;

    if (base) {
        if (dwarfdie_good(dbg, dwarf_global_formref(base, &addr_base, &err), &err))
            unit.addr_base = addr_base;
        dwarf_dealloc(dbg, base, DW_DLA_ATTR);
    }
    if (!dwarfdie_good(dbg, dwarf_die_CU_offset_range(die, &begin, &len, &err), &err) ||
        __builtin_add_overflow(begin, len, &unit.end) || !offset_of(dbg, die, &unit.die))
        return;
    unit.begin = begin;
    if (out->n && out->at[out->n - 1].end > unit.begin)
        return;
    GROW(out->at, out->n, out->alloc);
    out->at[out->n++] = unit;
}

void dwarftype_units(struct dwarfread *d, struct dwarf_units *out)
{
    dwarfdie_units(d->dbg, add_unit, out);
}

/* ---- variables ---- */

/* The next DIE on the level, if it lies behind this one; `die` stays open. */
static Dwarf_Die sibling(Dwarf_Debug dbg, Dwarf_Die die, uint64_t offset, uint64_t *its_offset)
{
    Dwarf_Error err = NULL;
    Dwarf_Die next = NULL;

    if (!dwarfdie_good(dbg, dwarf_siblingof_b(dbg, die, 1, &next, &err), &err))
        return NULL;
    if (offset_of(dbg, next, its_offset) && *its_offset > offset)
        return next;
    dwarfdie_drop(dbg, next);
    return NULL;
}

/* The last DIE on the level below `parent` that begins at `place` or before. */
static Dwarf_Die last_before(Dwarf_Debug dbg, Dwarf_Die parent, uint64_t place)
{
    Dwarf_Die die = NULL, next = dwarfdie_first(dbg, parent);
    uint64_t offset = 0, next_offset = 0;

    if (next && !offset_of(dbg, next, &next_offset))
        next_offset = UINT64_MAX;
    while (next && next_offset <= place) {
        dwarfdie_drop(dbg, die);
        die = next;
        offset = next_offset;
        next = sibling(dbg, die, offset, &next_offset);
    }
    dwarfdie_drop(dbg, next);
    return die;
}

static Dwarf_Die die_around(Dwarf_Debug dbg, uint64_t unit, uint64_t place)
{
    Dwarf_Die die = dwarfdie_at(dbg, unit);

    for (int depth = 0; die && depth < DEPTH_MAX; depth++) {
        Dwarf_Die below = last_before(dbg, die, place);

        if (!below)
            return die;
        dwarfdie_drop(dbg, die);
        die = below;
    }
    dwarfdie_drop(dbg, die);
    return NULL;
}

/* An unsigned LEB128 number that fills the bytes; false: it does not. */
static bool leb(const uint8_t *p, size_t len, uint64_t *value)
{
    *value = 0;
    if (len == 0 || len > 9)
        return false;
    for (size_t i = 0; i < len; i++) {
        if ((p[i] & 0x80) != 0 && i + 1 == len)
            return false;
        if ((p[i] & 0x80) == 0 && i + 1 < len)
            return false;
        *value |= (uint64_t)(p[i] & 0x7f) << (7 * i);
    }
    return true;
}

/* The expression is one address. */
static bool is_address(Dwarf_Debug dbg, Dwarf_Die die, const uint8_t *p, size_t len,
                       uint64_t address)
{
    Dwarf_Error err = NULL;
    Dwarf_Addr has = 0;
    uint64_t value;

    if (len == 1 + sizeof value && p[0] == DW_OP_addr) {
        memcpy(&value, p + 1, sizeof value);
        return value == address;
    }
    return len > 1 && p[0] == DW_OP_addrx && leb(p + 1, len - 1, &value) &&
           dwarfdie_good(dbg, dwarf_debug_addr_index_to_addr(die, value, &has, &err), &err) &&
           has == address;
}

static bool is_at(Dwarf_Debug dbg, Dwarf_Die die, uint64_t address)
{
    Dwarf_Attribute attr = dwarfdie_attribute(dbg, die, DW_AT_location);
    Dwarf_Unsigned len = 0;
    Dwarf_Ptr bytes = NULL;
    Dwarf_Block *block = NULL;
    Dwarf_Error err = NULL;
    bool same = false;

    if (!attr)
        return false;
    if (dwarfdie_good(dbg, dwarf_formexprloc(attr, &len, &bytes, &err), &err)) {
        same = is_address(dbg, die, bytes, len, address);
    } else if (dwarfdie_good(dbg, dwarf_formblock(attr, &block, &err), &err)) {
        same = is_address(dbg, die, block->bl_data, block->bl_len, address);
        dwarf_dealloc(dbg, block, DW_DLA_BLOCK);
    }
    dwarf_dealloc(dbg, attr, DW_DLA_ATTR);
    return same;
}

/* Follows DW_AT_type, with the flag of the file that `from` is in. */
static bool type_of(Dwarf_Debug dbg, Dwarf_Die die, uint64_t from, uint64_t *type)
{
    if (!dwarfdie_reference(dbg, die, DW_AT_type, type))
        return false;
    *type |= from & IN_ALTERNATE;
    return true;
}

/* The type of a variable, or of the declaration that it refers to. */
static bool type_of_declared(const struct dwarfread *d, uint64_t variable, uint64_t *type)
{
    for (int hops = 0; hops < HOPS_MAX; hops++) {
        Dwarf_Debug dbg;
        Dwarf_Die die = open_die(d, variable, &dbg);
        uint64_t from = variable & IN_ALTERNATE;
        bool found, more;

        if (!die)
            return false;
        found = type_of(dbg, die, from, type);
        more = !found && (dwarfdie_reference(dbg, die, DW_AT_specification, &variable) ||
                          dwarfdie_reference(dbg, die, DW_AT_abstract_origin, &variable));
        dwarfdie_drop(dbg, die);
        if (!more)
            return found;
        variable |= from;
    }
    return false;
}

bool dwarftype_of_variable(struct dwarfread *d, uint64_t unit, uint64_t place, uint64_t address,
                           uint64_t *type)
{
    Dwarf_Die die = die_around(d->dbg, unit, place);
    uint64_t offset;
    bool found;

    if (!die)
        return false;
    found = dwarfdie_tag(d->dbg, die) == DW_TAG_variable && is_at(d->dbg, die, address) &&
            offset_of(d->dbg, die, &offset) && type_of_declared(d, offset, type);
    dwarfdie_drop(d->dbg, die);
    return found;
}

/* ---- types ---- */

static enum dwarf_kind kind_of(Dwarf_Half tag)
{
    switch (tag) {
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
    case DW_TAG_immutable_type:
    case DW_TAG_packed_type:
    case DW_TAG_template_alias:
        return DWARF_ALIAS;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_ptr_to_member_type:
    case DW_TAG_base_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_unspecified_type:
        return DWARF_LEAF;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        return DWARF_STRUCT;
    case DW_TAG_array_type:
        return DWARF_ARRAY;
    default:
        return DWARF_UNKNOWN;
    }
}

static bool is_pointer(Dwarf_Half tag)
{
    return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
           tag == DW_TAG_rvalue_reference_type;
}

static bool has(Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Half which)
{
    Dwarf_Bool found = 0;
    Dwarf_Error err = NULL;

    return dwarfdie_good(dbg, dwarf_hasattr(die, which, &found, &err), &err) && found;
}

struct dwarf_type dwarftype_read(struct dwarfread *d, uint64_t type)
{
    struct dwarf_type out = {.kind = DWARF_UNKNOWN};
    Dwarf_Debug dbg;
    Dwarf_Die die = open_die(d, type, &dbg);
    Dwarf_Half tag;

    if (!die)
        return out;
    tag = dwarfdie_tag(dbg, die);
    out.kind = kind_of(tag);
    out.size = dwarfdie_number(dbg, die, DW_AT_byte_size);
    /* clang leaves out the size of a pointer. */
    if (!out.size && is_pointer(tag))
        out.size = POINTER_SIZE;
    if (out.kind == DWARF_ALIAS || out.kind == DWARF_ARRAY)
        out.has_target = type_of(dbg, die, type, &out.target);
    if (out.kind == DWARF_STRUCT && has(dbg, die, DW_AT_declaration))
        out.kind = DWARF_UNKNOWN;
    dwarfdie_drop(dbg, die);
    return out;
}

/* DW_OP_plus_uconst, as DWARF 2 has the place of a member. */
static bool is_plus(Dwarf_Debug dbg, Dwarf_Attribute attr, uint64_t *at)
{
    Dwarf_Block *block = NULL;
    Dwarf_Error err = NULL;
    const uint8_t *p;
    bool found;

    if (!dwarfdie_good(dbg, dwarf_formblock(attr, &block, &err), &err))
        return false;
    p = block->bl_data;
    found = block->bl_len > 1 && p[0] == DW_OP_plus_uconst && leb(p + 1, block->bl_len - 1, at);
    dwarf_dealloc(dbg, block, DW_DLA_BLOCK);
    return found;
}

/* The offset of a member; 0 where the attribute is left out, as in unions. False: it is no number,
 * as for virtual bases. */
static bool place_of(Dwarf_Debug dbg, Dwarf_Die die, uint64_t *at)
{
    Dwarf_Attribute attr;
    bool found;

    *at = 0;
    if (dwarfdie_has_number(dbg, die, DW_AT_data_member_location, at))
        return true;
    attr = dwarfdie_attribute(dbg, die, DW_AT_data_member_location);
    if (!attr)
        return !has(dbg, die, DW_AT_declaration) && !has(dbg, die, DW_AT_external);
    found = is_plus(dbg, attr, at);
    dwarf_dealloc(dbg, attr, DW_DLA_ATTR);
    return found;
}

static bool is_bits(Dwarf_Debug dbg, Dwarf_Die die)
{
    return has(dbg, die, DW_AT_bit_size) || has(dbg, die, DW_AT_data_bit_offset);
}

static bool read_field(Dwarf_Debug dbg, Dwarf_Die die, uint64_t from, struct dwarf_field *f)
{
    Dwarf_Half tag = dwarfdie_tag(dbg, die);

    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || is_bits(dbg, die) ||
        !type_of(dbg, die, from, &f->type) || !place_of(dbg, die, &f->at))
        return false;
    f->name = tag == DW_TAG_member ? dwarfdie_string(dbg, die, DW_AT_name) : NULL;
    if (f->name && !f->name[0])
        f->name = NULL;
    return true;
}

size_t dwarftype_fields(struct dwarfread *d, uint64_t type, size_t max, struct dwarf_fields *out)
{
    Dwarf_Debug dbg;
    Dwarf_Die parent = open_die(d, type, &dbg), die;
    struct dwarf_field f;
    size_t n = 0;

    if (!parent)
        return 0;
    for (die = dwarfdie_first(dbg, parent); die && n < max; die = dwarfdie_next(dbg, die)) {
        n++;
        if (!read_field(dbg, die, type, &f))
            continue;
        GROW(out->at, out->n, out->alloc);
        out->at[out->n++] = f;
    }
    dwarfdie_drop(dbg, die);
    dwarfdie_drop(dbg, parent);
    return n;
}

/* Elements of a dimension; 0: not known. */
static uint64_t count_of(Dwarf_Debug dbg, Dwarf_Die die)
{
    uint64_t lower = dwarfdie_number(dbg, die, DW_AT_lower_bound), n;

    if (dwarfdie_has_number(dbg, die, DW_AT_count, &n))
        return n;
    if (!dwarfdie_has_number(dbg, die, DW_AT_upper_bound, &n) || n < lower || n == UINT64_MAX)
        return 0;
    return n - lower + 1;
}

size_t dwarftype_dimensions(struct dwarfread *d, uint64_t type,
                            uint64_t count[DWARF_DIMENSIONS_MAX])
{
    Dwarf_Debug dbg;
    Dwarf_Die parent = open_die(d, type, &dbg), die;
    size_t n = 0;

    if (!parent)
        return 0;
    for (die = dwarfdie_first(dbg, parent); die; die = dwarfdie_next(dbg, die)) {
        if (dwarfdie_tag(dbg, die) != DW_TAG_subrange_type)
            continue;
        if (n == DWARF_DIMENSIONS_MAX) {
            n = 0;
            break;
        }
        count[n++] = count_of(dbg, die);
    }
    dwarfdie_drop(dbg, die);
    dwarfdie_drop(dbg, parent);
    return n;
}
