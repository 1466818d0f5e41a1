/*
 * Any bytes as .debug_info and .debug_addr: byte 0 is the number of units, each has four bytes for
 * its begin, length and base in .debug_addr; the rest is half .debug_info, half .debug_addr.
 */
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "fold/members/varplaces.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct test {
    const struct varplaces *p;
    int taken;
};

static bool is_variable(void *opaque, uint64_t address)
{
    (void)opaque;
    return address < 0x10000;
}

static bool take(void *opaque, uint64_t unit, uint64_t place)
{
    struct test *t = opaque;

    (void)unit;
    /* At least a length and an operation are there. */
    if (place >= t->p->len || t->p->len - place < 2 || ++t->taken > 64)
        abort();
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dwarf_units units = {.n = 0};
    struct varplaces p;
    struct test t = {&p, 0};
    uint8_t *info, *list;
    size_t n, half;
    uint64_t end = 0;

    if (size < 1 || size - 1 < (size_t)4 * data[0])
        return 0;
    n = data[0];
    units.at = xcalloc(n + 1, sizeof *units.at);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *from = data + 1 + 4 * i;

        units.at[i].begin = end + from[0];
        units.at[i].end = end = units.at[i].begin + from[1];
        units.at[i].die = i;
        units.at[i].addr_base = from[2] | from[3] << 8;
    }
    units.n = n;
    data += 1 + 4 * n;
    size -= 1 + 4 * n;
    half = size / 2;
    /* Exactly that long, so that a read past them is caught. */
    info = xmalloc(half + !half);
    list = xmalloc(size - half + (size == half));
    memcpy(info, data, half);
    memcpy(list, data + half, size - half);
    varplaces_init(&p, &units, info, half);
    varplaces_find(&p, list, size - half, is_variable, NULL);
    for (size_t i = 0; i < p.n && i < 100; i++) {
        t.taken = 0;
        varplaces_each(&p, p.place[i].address, take, &t);
    }
    varplaces_release(&p);
    free(info);
    free(list);
    free(units.at);
    return 0;
}
