/*
 * Problem: debug information may be a hundred times larger than the program, and little of it is
 * needed: the unit that covers an address, the functions of that unit, the calls inlined into
 * one of them, and its line table. Each of those is one function here, which walks the DIEs it
 * must and no others, copies numbers out and forgets the DIEs. inlined_frames.c decides when to
 * read.
 *
 * Units are found by the addresses in their own DIE and not by .debug_aranges: clang leaves that
 * section out, files linked from both kinds of objects have it in part, and reading one DIE a
 * unit is cheap.
 */
#define _GNU_SOURCE
#include "fold/symbols/dwarfread.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/alloc.h"
#include "fold/symbols/dwarfdie.h"

/* Blocks and inlined calls in one another; far beyond what compilers make. */
#define DEPTH_MAX 200

struct dwarfread *dwarfread_open(const char *path, const char *alternate)
{
    struct dwarfread *d = xcalloc(1, sizeof *d);
    Dwarf_Error err = NULL;

    d->alt_fd = -1;
    d->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (d->fd >= 0)
        d->dbg = dwarfdie_init(d->fd);
    if (!d->dbg) {
        dwarfread_close(d);
        return NULL;
    }
    if (alternate)
        d->alt_fd = open(alternate, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (d->alt_fd >= 0)
        d->alt = dwarfdie_init(d->alt_fd);
    if (d->alt)
        dwarfdie_good(d->dbg, dwarf_set_tied_dbg(d->dbg, d->alt, &err), &err);
    return d;
}

void dwarfread_close(struct dwarfread *d)
{
    if (!d)
        return;
    if (d->dbg)
        dwarfdie_finish(d->dbg);
    if (d->alt)
        dwarfdie_finish(d->alt);
    if (d->fd >= 0)
        close(d->fd);
    if (d->alt_fd >= 0)
        close(d->alt_fd);
    free(d);
}

/* ---- ranges ---- */

typedef void (*range_taker)(void *opaque, uint64_t low, uint64_t high);

/* Code that the linker threw away lies at address 0, or at -1 or -2. */
static void give(range_taker take, void *opaque, uint64_t low, uint64_t high)
{
    if (low != 0 && low < high && high < UINT64_MAX - 1)
        take(opaque, low, high);
}

static void ranges_of_dwarf5(Dwarf_Debug dbg, Dwarf_Attribute attr, Dwarf_Half form,
                             range_taker take, void *opaque)
{
    Dwarf_Rnglists_Head head = NULL;
    Dwarf_Unsigned where = 0, n = 0, global = 0;
    Dwarf_Error err = NULL;
    bool found;

    if (form == DW_FORM_rnglistx)
        found = dwarfdie_good(dbg, dwarf_formudata(attr, &where, &err), &err);
    else
        found = dwarfdie_good(dbg, dwarf_global_formref(attr, &where, &err), &err);
    if (!found ||
        !dwarfdie_good(
            dbg, dwarf_rnglists_get_rle_head(attr, form, where, &head, &n, &global, &err), &err))
        return;
    for (Dwarf_Unsigned i = 0; i < n; i++) {
        Dwarf_Unsigned raw1, raw2, low = 0, high = 0;
        Dwarf_Bool unavailable = 0;
        unsigned len, code = 0;

        if (!dwarfdie_good(dbg,
                           dwarf_get_rnglists_entry_fields_a(head, i, &len, &code, &raw1, &raw2,
                                                             &unavailable, &low, &high, &err),
                           &err) ||
            code == DW_RLE_end_of_list)
            break;
        if (code != DW_RLE_base_address && code != DW_RLE_base_addressx && !unavailable)
            give(take, opaque, low, high);
    }
    dwarf_dealloc_rnglists_head(head);
}

static void ranges_before_dwarf5(Dwarf_Debug dbg, Dwarf_Die die, Dwarf_Attribute attr,
                                 Dwarf_Half form, uint64_t base, range_taker take, void *opaque)
{
    Dwarf_Ranges *list = NULL;
    Dwarf_Signed n = 0;
    Dwarf_Unsigned bytes = 0, where = 0;
    Dwarf_Off off = 0, real = 0;
    Dwarf_Error err = NULL;
    bool found;

    if (form == DW_FORM_data4 || form == DW_FORM_data8) {
        found = dwarfdie_good(dbg, dwarf_formudata(attr, &where, &err), &err);
        off = where;
    } else {
        found = dwarfdie_good(dbg, dwarf_global_formref(attr, &off, &err), &err);
    }
    if (!found || !dwarfdie_good(
                      dbg, dwarf_get_ranges_b(dbg, off, die, &real, &list, &n, &bytes, &err), &err))
        return;
    for (Dwarf_Signed i = 0; i < n && list[i].dwr_type != DW_RANGES_END; i++) {
        if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
            base = list[i].dwr_addr2;
        else if (list[i].dwr_addr1 < list[i].dwr_addr2 && list[i].dwr_addr1 + base != 0)
            give(take, opaque, list[i].dwr_addr1 + base, list[i].dwr_addr2 + base);
    }
    dwarf_dealloc(dbg, list, DW_DLA_RANGES);
}

/* Gives each address range of a DIE. `base` is its unit's low address. */
static void ranges(Dwarf_Debug dbg, Dwarf_Die die, uint64_t base, range_taker take, void *opaque)
{
    enum Dwarf_Form_Class class = DW_FORM_CLASS_UNKNOWN;
    Dwarf_Half form = 0, version = 0, offset_size = 0;
    Dwarf_Addr low = 0, high = 0;
    Dwarf_Error err = NULL;
    Dwarf_Attribute attr;

    if (dwarfdie_good(dbg, dwarf_lowpc(die, &low, &err), &err) &&
        dwarfdie_good(dbg, dwarf_highpc_b(die, &high, &form, &class, &err), &err)) {
        if (class == DW_FORM_CLASS_CONSTANT && __builtin_add_overflow(low, high, &high))
            return;
        give(take, opaque, low, high);
        return;
    }
    attr = dwarfdie_attribute(dbg, die, DW_AT_ranges);
    if (!attr)
        return;
    if (dwarfdie_good(dbg, dwarf_whatform(attr, &form, &err), &err) &&
        dwarf_get_version_of_die(die, &version, &offset_size) == DW_DLV_OK) {
        if (version >= 5)
            ranges_of_dwarf5(dbg, attr, form, take, opaque);
        else
            ranges_before_dwarf5(dbg, die, attr, form, base, take, opaque);
    }
    dwarf_dealloc(dbg, attr, DW_DLA_ATTR);
}

static uint64_t low_of(Dwarf_Debug dbg, Dwarf_Die unit)
{
    Dwarf_Addr low = 0;
    Dwarf_Error err = NULL;

    return dwarfdie_good(dbg, dwarf_lowpc(unit, &low, &err), &err) ? low : 0;
}

struct map_taker {
    struct rangemap *map;
    uint32_t id;
    uint32_t taken;
};

static void take_in_map(void *opaque, uint64_t low, uint64_t high)
{
    struct map_taker *t = opaque;

    rangemap_add(t->map, low, high, t->id);
    t->taken++;
}

/* Lists the DIE if it covers any address. */
static void add_die(Dwarf_Debug dbg, Dwarf_Die die, uint64_t base, struct dwarf_offsets *to,
                    struct rangemap *map)
{
    struct map_taker t = {.map = map, .id = to->n};
    Dwarf_Error err = NULL;
    Dwarf_Off off;

    ranges(dbg, die, base, take_in_map, &t);
    if (t.taken == 0)
        return;
    if (!dwarfdie_good(dbg, dwarf_dieoffset(die, &off, &err), &err))
        off = 0;
    GROW(to->at, to->n, to->alloc);
    to->at[to->n++] = off;
}

/* ---- walking ---- */

struct found_units {
    struct dwarf_offsets *units;
    struct rangemap *map;
};

static void add_unit(Dwarf_Debug dbg, Dwarf_Die die, void *arg)
{
    struct found_units *to = arg;

    add_die(dbg, die, low_of(dbg, die), to->units, to->map);
}

void dwarfread_units(struct dwarfread *d, struct dwarf_offsets *units, struct rangemap *map)
{
    dwarfdie_units(d->dbg, add_unit, &(struct found_units){units, map});
}

/* The place of the walk of functions_below. */
enum where {
    OUTER,  /* functions outside of others */
    NESTED, /* functions inside of others; the walk itself is still outside */
    INSIDE, /* functions inside of others; the walk is inside of a function or a type */
};

static void functions_below(Dwarf_Debug dbg, Dwarf_Die parent, uint64_t base, enum where where,
                            int depth, struct dwarf_offsets *to, struct rangemap *map)
{
    if (depth > DEPTH_MAX)
        return;
    for (Dwarf_Die die = dwarfdie_first(dbg, parent); die; die = dwarfdie_next(dbg, die)) {
        switch (dwarfdie_tag(dbg, die)) {
        case DW_TAG_namespace:
        case DW_TAG_module:
            functions_below(dbg, die, base, where, depth + 1, to, map);
            break;
        case DW_TAG_subprogram:
            if (where != NESTED)
                add_die(dbg, die, base, to, map);
            /* fall through */
        case DW_TAG_lexical_block:
        case DW_TAG_inlined_subroutine:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
            if (where != OUTER)
                functions_below(dbg, die, base, INSIDE, depth + 1, to, map);
            break;
        }
    }
}

void dwarfread_functions(struct dwarfread *d, uint64_t unit, bool nested,
                         struct dwarf_offsets *functions, struct rangemap *map)
{
    Dwarf_Die die = dwarfdie_at(d->dbg, unit);

    if (!die)
        return;
    functions_below(d->dbg, die, low_of(d->dbg, die), nested ? NESTED : OUTER, 0, functions, map);
    dwarfdie_drop(d->dbg, die);
}

static void take_inline(void *opaque, uint64_t low, uint64_t high)
{
    struct dwarf_inlines *out = opaque;

    GROW(out->at, out->n, out->alloc);
    out->at[out->n].low = low;
    out->at[out->n++].high = high;
}

static void inlines_below(Dwarf_Debug dbg, Dwarf_Die parent, uint64_t base, uint32_t depth,
                          int nesting, struct dwarf_inlines *out);

/*
 * Adds the function inlined at `die`, and the functions inlined into it. gcc 10 gives no range,
 * or an empty list, to a function that has no code left but functions inlined into it: then it
 * has their ranges.
 */
static void add_inline(Dwarf_Debug dbg, Dwarf_Die die, uint64_t base, uint32_t depth, int nesting,
                       struct dwarf_inlines *out)
{
    struct dwarf_inline model = {.depth = depth};
    uint32_t begin = out->n, end;

    if (!dwarfdie_reference(dbg, die, DW_AT_abstract_origin, &model.origin)) {
        inlines_below(dbg, die, base, depth + 1, nesting + 1, out);
        return;
    }
    ranges(dbg, die, base, take_inline, out);
    end = out->n;
    inlines_below(dbg, die, base, depth + 1, nesting + 1, out);
    if (end == begin) {
        uint32_t below = out->n;

        for (uint32_t i = begin; i < below; i++)
            if (out->at[i].depth == depth + 1)
                take_inline(out, out->at[i].low, out->at[i].high);
        begin = below;
        end = out->n;
    }
    model.call_file = (uint32_t)dwarfdie_number(dbg, die, DW_AT_call_file);
    model.call_line = (uint32_t)dwarfdie_number(dbg, die, DW_AT_call_line);
    for (uint32_t i = begin; i < end; i++) {
        model.low = out->at[i].low;
        model.high = out->at[i].high;
        out->at[i] = model;
    }
}

static void inlines_below(Dwarf_Debug dbg, Dwarf_Die parent, uint64_t base, uint32_t depth,
                          int nesting, struct dwarf_inlines *out)
{
    if (nesting > DEPTH_MAX)
        return;
    for (Dwarf_Die die = dwarfdie_first(dbg, parent); die; die = dwarfdie_next(dbg, die)) {
        switch (dwarfdie_tag(dbg, die)) {
        case DW_TAG_inlined_subroutine:
            add_inline(dbg, die, base, depth, nesting, out);
            break;
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
            inlines_below(dbg, die, base, depth, nesting + 1, out);
            break;
        }
    }
}

void dwarfread_inlines(struct dwarfread *d, uint64_t unit, uint64_t function,
                       struct dwarf_inlines *out)
{
    Dwarf_Die unit_die = dwarfdie_at(d->dbg, unit), die = dwarfdie_at(d->dbg, function);

    if (unit_die && die)
        inlines_below(d->dbg, die, low_of(d->dbg, unit_die), 0, 0, out);
    dwarfdie_drop(d->dbg, die);
    dwarfdie_drop(d->dbg, unit_die);
}

const char *dwarfread_name(struct dwarfread *d, uint64_t offset)
{
    const char *name = NULL;

    /* An instance leads to its abstract origin, a definition to its declaration. */
    for (int hops = 0; hops < 8 && !name; hops++) {
        Dwarf_Debug dbg = offset & IN_ALTERNATE ? d->alt : d->dbg;
        Dwarf_Die die = dbg ? dwarfdie_at(dbg, offset & ~IN_ALTERNATE) : NULL;
        uint64_t from = offset & IN_ALTERNATE;
        bool more;

        if (!die)
            return NULL;
        name = dwarfdie_string(dbg, die, DW_AT_linkage_name);
        if (!name)
            name = dwarfdie_string(dbg, die, DW_AT_MIPS_linkage_name);
        more = !name && (dwarfdie_reference(dbg, die, DW_AT_abstract_origin, &offset) ||
                         dwarfdie_reference(dbg, die, DW_AT_specification, &offset));
        /* A plain name is good enough where the chain ends. */
        if (!name && !more)
            name = dwarfdie_string(dbg, die, DW_AT_name);
        dwarfdie_drop(dbg, die);
        if (!more)
            break;
        offset |= from;
    }
    return name;
}

/* ---- lines ---- */

static int by_addr(const void *pa, const void *pb)
{
    const struct dwarf_line_row *a = pa, *b = pb;

    if (a->addr != b->addr)
        return a->addr < b->addr ? -1 : 1;
    /* Where a sequence ends another may begin: the beginning comes last and counts. */
    return (a->line != 0) - (b->line != 0);
}

/* `version`: the line table's. Binutils before 2.35.2 wrote one of DWARF 3 for a unit of
 * DWARF 5. */
static void read_files(Dwarf_Debug dbg, Dwarf_Die unit, Dwarf_Unsigned version,
                       struct dwarf_lines *out)
{
    Dwarf_Signed n = 0;
    Dwarf_Error err = NULL;
    char **names = NULL;
    uint32_t first;

    if (!dwarfdie_good(dbg, dwarf_srcfiles(unit, &names, &n, &err), &err))
        return;
    /* Files are counted from 1 before DWARF 5. */
    first = version >= 5 ? 0 : 1;
    out->nfiles = (uint32_t)n + first;
    out->files = xcalloc(out->nfiles, sizeof *out->files);
    for (Dwarf_Signed i = 0; i < n; i++) {
        out->files[(uint32_t)i + first] = xstrdup(names[i]);
        dwarf_dealloc(dbg, names[i], DW_DLA_STRING);
    }
    dwarf_dealloc(dbg, names, DW_DLA_LIST);
}

static void add_row(Dwarf_Debug dbg, Dwarf_Line line, struct dwarf_lines *out)
{
    Dwarf_Unsigned number_of_line = 0, file = 0;
    Dwarf_Bool end = 0;
    Dwarf_Addr addr = 0;
    Dwarf_Error err = NULL;

    if (!dwarfdie_good(dbg, dwarf_lineaddr(line, &addr, &err), &err) ||
        !dwarfdie_good(dbg, dwarf_lineendsequence(line, &end, &err), &err))
        return;
    if (!end && (!dwarfdie_good(dbg, dwarf_lineno(line, &number_of_line, &err), &err) ||
                 !dwarfdie_good(dbg, dwarf_line_srcfileno(line, &file, &err), &err)))
        return;
    GROW(out->row, out->n, out->alloc);
    out->row[out->n++] = (struct dwarf_line_row){
        .addr = addr, .file = (uint32_t)file, .line = end ? 0 : (uint32_t)number_of_line};
}

void dwarfread_lines(struct dwarfread *d, uint64_t unit, struct dwarf_lines *out)
{
    Dwarf_Die die = dwarfdie_at(d->dbg, unit);
    Dwarf_Line_Context context = NULL;
    Dwarf_Unsigned version = 0;
    Dwarf_Small tables = 0;
    Dwarf_Error err = NULL;
    Dwarf_Line *lines = NULL;
    Dwarf_Signed n = 0;

    if (!die)
        return;
    if (dwarfdie_good(d->dbg, dwarf_srclines_b(die, &version, &tables, &context, &err), &err)) {
        if (dwarfdie_good(d->dbg, dwarf_srclines_from_linecontext(context, &lines, &n, &err), &err))
            for (Dwarf_Signed i = 0; i < n; i++)
                add_row(d->dbg, lines[i], out);
        dwarf_srclines_dealloc_b(context);
        read_files(d->dbg, die, version, out);
    }
    dwarfdie_drop(d->dbg, die);
    if (out->n)
        qsort(out->row, out->n, sizeof *out->row, by_addr);
}
