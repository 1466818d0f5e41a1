/*
 * Problem: no index leads from an address to the DIE of its variable. .debug_aranges has functions
 * only, .debug_names is written by few compilers, and to read all DIEs of a large file takes
 * a minute.
 *
 * Algorithm: the location of a variable is the expression DW_OP_addr ADDRESS, in the file the bytes
 * 9 (its length), 3 and the address. All of .debug_info is searched once for these, at the speed of
 * memory, and those with the address of a known variable are noted. clang's DWARF 5 has DW_OP_addrx
 * NUMBER, which refers to an address of the unit's part of .debug_addr: all parts are searched, and
 * then the unit for the expression with that number.
 *
 * Rejected: reading the DIEs on the first level of all units. libdwarf takes 0.2 us for each, and
 * local variables of functions, and those in namespaces, are not among them.
 */
#define _GNU_SOURCE
#include "fold/members/varplaces.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

#define OP_ADDR 0x03  /* DW_OP_addr */
#define OP_ADDRX 0xa1 /* DW_OP_addrx */
#define ADDRESS 8u    /* bytes of an address */
#define TRIES 64      /* places of one address, and DIEs that are read for it */
#define PLACES_MAX (1u << 22)

static uint64_t load(const uint8_t *p)
{
    uint64_t value;

    memcpy(&value, p, sizeof value);
    return value;
}

static void add(struct varplaces *p, uint64_t address, uint64_t at, bool is_listed)
{
    if (p->n == PLACES_MAX)
        return;
    GROW(p->place, p->n, p->alloc);
    p->place[p->n++] = (struct varplace){address, at, is_listed};
}

static void search_info(struct varplaces *p, varplaces_is_variable *is_variable, void *opaque)
{
    static const uint8_t head[] = {1 + ADDRESS, OP_ADDR};
    const uint8_t *at = p->info, *end = p->info + p->len;

    while (at && (size_t)(end - at) >= sizeof head + ADDRESS) {
        at = memmem(at, (size_t)(end - at), head, sizeof head);
        if (!at || (size_t)(end - at) < sizeof head + ADDRESS)
            return;
        if (is_variable(opaque, load(at + sizeof head)))
            add(p, load(at + sizeof head), (uint64_t)(at - p->info), false);
        at++;
    }
}

static int by_number(const void *pa, const void *pb)
{
    const uint64_t *a = pa, *b = pb;

    return *a < *b ? -1 : *a > *b;
}

/* Where parts of .debug_addr begin, in order, and the section's end. */
static uint64_t *list_parts(const struct dwarf_units *units, uint64_t len, size_t *n)
{
    uint64_t *part = xreallocarray(NULL, units->n + 1, sizeof *part);
    size_t out = 0;

    *n = 0;
    for (size_t i = 0; i < units->n; i++)
        if (units->at[i].addr_base && units->at[i].addr_base < len)
            part[(*n)++] = units->at[i].addr_base;
    qsort(part, *n, sizeof *part, by_number);
    for (size_t i = 0; i < *n; i++)
        if (!out || part[out - 1] != part[i])
            part[out++] = part[i];
    *n = out;
    part[out] = len;
    return part;
}

static void search_list(struct varplaces *p, const uint8_t *bytes, size_t len,
                        varplaces_is_variable *is_variable, void *opaque)
{
    size_t n;
    uint64_t *part = list_parts(p->units, len, &n);

    for (size_t i = 0; i < n; i++)
        for (uint64_t at = part[i]; at < part[i + 1] && part[i + 1] - at >= ADDRESS; at += ADDRESS)
            if (is_variable(opaque, load(bytes + at)))
                add(p, load(bytes + at), at, true);
    free(part);
}

static int by_address(const void *pa, const void *pb)
{
    const struct varplace *a = pa, *b = pb;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->is_listed != b->is_listed)
        return a->is_listed - b->is_listed;
    return a->at < b->at ? -1 : a->at > b->at;
}

void varplaces_init(struct varplaces *p, const struct dwarf_units *units, const uint8_t *info,
                    size_t len)
{
    *p = (struct varplaces){.units = units, .info = info, .len = len};
}

void varplaces_find(struct varplaces *p, const uint8_t *list, size_t list_len,
                    varplaces_is_variable *is_variable, void *opaque)
{
    search_info(p, is_variable, opaque);
    if (list)
        search_list(p, list, list_len, is_variable, opaque);
    if (p->n)
        qsort(p->place, p->n, sizeof *p->place, by_address);
}

void varplaces_release(struct varplaces *p)
{
    free(p->place);
}

/* ---- lookup ---- */

struct lookup {
    varplaces_take *take;
    void *opaque;
    int left; /* number of places that may still be tried */
};

static bool attempt(struct lookup *l, uint64_t unit, uint64_t place)
{
    return l->left-- <= 0 || l->take(l->opaque, unit, place);
}

static const struct dwarf_unit *unit_at(const struct dwarf_units *units, uint64_t place)
{
    size_t lo = 0, hi = units->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (units->at[mid].end <= place)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < units->n && units->at[lo].begin <= place ? &units->at[lo] : NULL;
}

/* Length, DW_OP_addrx and its number; returns how many bytes. */
static size_t write_expression(uint8_t to[12], uint64_t number)
{
    size_t n = 1;

    to[n++] = OP_ADDRX;
    do {
        to[n] = number & 0x7f;
        number >>= 7;
        to[n++] |= number ? 0x80 : 0;
    } while (number);
    to[0] = (uint8_t)(n - 1);
    return n;
}

/* Places in a unit that has number `number` of its addresses as a location. */
static bool try_unit(struct lookup *l, const struct varplaces *p, const struct dwarf_unit *unit,
                     uint64_t number)
{
    uint8_t want[12];
    size_t len = write_expression(want, number);
    const uint8_t *at, *end;

    if (unit->end > p->len || unit->begin > unit->end)
        return false;
    at = p->info + unit->begin;
    end = p->info + unit->end;
    while ((at = memmem(at, (size_t)(end - at), want, len)) != NULL) {
        if (attempt(l, unit->die, (uint64_t)(at - p->info)))
            return true;
        at++;
    }
    return false;
}

/* Units whose part of .debug_addr has the place: of those that begin before it, the nearest. */
static bool try_listed(struct lookup *l, const struct varplaces *p, uint64_t at)
{
    uint64_t base = 0;

    for (size_t i = 0; i < p->units->n; i++)
        if (p->units->at[i].addr_base <= at && p->units->at[i].addr_base > base)
            base = p->units->at[i].addr_base;
    for (size_t i = 0; base && i < p->units->n; i++)
        if (p->units->at[i].addr_base == base &&
            try_unit(l, p, &p->units->at[i], (at - base) / ADDRESS))
            return true;
    return false;
}

static bool try_place(struct lookup *l, const struct varplaces *p, const struct varplace *place)
{
    const struct dwarf_unit *unit;

    if (place->is_listed)
        return try_listed(l, p, place->at);
    unit = unit_at(p->units, place->at);
    return unit && attempt(l, unit->die, place->at);
}

void varplaces_each(const struct varplaces *p, uint64_t address, varplaces_take *take, void *opaque)
{
    struct lookup l = {take, opaque, TRIES};
    size_t lo = 0, hi = p->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (p->place[mid].address < address)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (int n = 0; n < TRIES && lo < p->n && p->place[lo].address == address; n++, lo++)
        if (try_place(&l, p, &p->place[lo]))
            return;
}
