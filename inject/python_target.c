#include "inject/python_target.h"

#include "common/trace_format.h"
#include "unwind/python/pylayout.h"

/* Where the C library stores thread-specific data. It describes that to debuggers: a field by the
 * bits and number of its elements and its offset (nptl_db). */
static bool find_specific(struct agent_python *out, const struct procmem *m,
                          const struct linkmap *l)
{
    uint32_t specific[3], data[3], size;

    for (size_t i = 0; i < l->n; i++) {
        const struct linked *k = &l->modules[i];
        uintptr_t at = linked_defines_data(k, m, "_thread_db_pthread_specific");
        uintptr_t data_at = linked_defines_data(k, m, "_thread_db_pthread_key_data_data");
        uintptr_t size_at = linked_defines_data(k, m, "_thread_db_sizeof_pthread_key_data");

        if (!at || !data_at || !size_at)
            continue;
        if (!procmem_read(m, at, specific, sizeof specific) ||
            !procmem_read(m, data_at, data, sizeof data) ||
            !procmem_read(m, size_at, &size, sizeof size))
            return false;
        /* An array of AGENT_KEYS pointers, and entries of two words. */
        if (specific[0] / 64 * specific[1] != AGENT_KEYS || specific[2] > 4096 || size > 64 ||
            data[2] + 8 > size)
            return false;
        out->specific = specific[2];
        out->entry_size = size;
        out->entry_data = data[2];
        return true;
    }
    return false;
}

/* A type, as the interpreter finds it: the program may have a copy of its own, and is the first
 * module. */
static uintptr_t find_type(const struct procmem *m, const struct linkmap *l, const struct linked *k,
                           const char *name)
{
    uintptr_t at = l->n ? linked_defines_data(&l->modules[0], m, name) : 0;

    return at ? at : linked_defines_data(k, m, name);
}

/* Whether the interpreter is built without a GIL, by the table with which _PyRuntime begins from
 * 3.13 on. */
static bool is_free_threaded(const struct procmem *m, uintptr_t runtime, uint32_t version)
{
    struct {
        char cookie[8];
        uint64_t version, free_threaded;
    } table;

    return version >= 0x30d && procmem_read(m, runtime, &table, sizeof table) &&
           memcmp(table.cookie, "xdebugpy", sizeof table.cookie) == 0 && table.free_threaded;
}

static uint32_t examine(struct agent_python *out, const struct procmem *m, const struct linkmap *l,
                        const struct linked *k)
{
    uintptr_t at = linked_defines_data(k, m, "Py_Version");
    const struct pylayout *layout;
    unsigned long hex;
    uint32_t version;

    if (!at || !procmem_read(m, at, &hex, sizeof hex))
        return TRACE_PYTHON_OLD;
    version = (uint32_t)(hex >> 16);
    if (is_free_threaded(m, out->runtime, version))
        return TRACE_PYTHON_FREE_THREADED;
    layout = pylayout_of(version);
    if (!layout)
        return pylayout_of(PYLAYOUT_ANY) ? version : (uint32_t)TRACE_PYTHON_PROCESSOR;
    out->code_type = find_type(m, l, k, "PyCode_Type");
    out->text_type = find_type(m, l, k, "PyUnicode_Type");
    /* Only a call of the interpreter's yields the thread's state where there is no key. */
    if (!layout->runtime_key || !out->code_type || !out->text_type || !find_specific(out, m, l))
        return version;
    out->version = version;
    return 0;
}

void python_target_find(struct agent_python *out, uint32_t *unnamed, const struct procmem *m,
                        const struct linkmap *l)
{
    *out = (struct agent_python){.version = 0};
    *unnamed = 0;
    for (size_t i = 0; i < l->n; i++) {
        out->runtime = linked_defines_data(&l->modules[i], m, "_PyRuntime");
        if (!out->runtime)
            continue;
        *unnamed = examine(out, m, l, &l->modules[i]);
        return;
    }
}
