/* Reads of the interpreter's memory that may fail. */
#include "unwind/python/pyhost.h"

bool pypages_ask(struct pypages *pages, uintptr_t at, size_t size)
{
    if (at < 4096 || at + size < at)
        return false;
    for (uintptr_t page = at >> 12; page <= (at + size - 1) >> 12; page++) {
        uintptr_t *set = pypages_set(pages, page);
        uint32_t i = 0;

        while (i < PYPAGES_SET - 1 && set[i] != page)
            i++;
        if (set[i] != page && !pyhost_readable(page << 12))
            return false;
        for (; i; i--)
            set[i] = set[i - 1];
        set[0] = page;
    }
    return true;
}

bool pyframes_key(const struct python *py, struct pypages *pages, uint32_t *key)
{
    uintptr_t word;

    /* A Py_tss_t: a flag whether it is in use, and a key, of 4 bytes each. */
    if (!pypages_word(pages, py->runtime + py->layout->runtime_key, &word) || (uint32_t)word != 1)
        return false;
    *key = (uint32_t)(word >> 32);
    return true;
}
