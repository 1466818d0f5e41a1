/* Finds the interpreter in this process. */
#define _GNU_SOURCE
#include "unwind/python/pyframes.h"

#include "common/trace_format.h"
#include "unwind/dynsym.h"
#include "common/env/loaderlist.h"
#include "unwind/modules.h"

static struct python found;
static const struct python *python; /* &found once it is filled in */

/* ---- finding the interpreter ---- */

/* Whether the interpreter is built without a GIL. 3.13 has that in a table for debuggers
 * (_Py_DebugOffsets) with which _PyRuntime begins. */
static bool is_free_threaded(uintptr_t runtime, uint32_t version)
{
    static const char cookie[] = "xdebugpy";
    const struct {
        char cookie[sizeof cookie - 1];
        uint64_t version, free_threaded;
    } *table = (const void *)runtime; /* NOLINT */

    return version >= 0x30d && memcmp(table->cookie, cookie, sizeof table->cookie) == 0 &&
           table->free_threaded;
}

/* Address of one of the interpreter's types, as the interpreter itself finds it. A program that
 * uses the type by name may have copied it into its own data (R_X86_64_COPY), and then all
 * libraries use that copy. */
static uintptr_t find_type(const struct dynsym *interpreter, const char *name)
{
    struct dynsym program;
    uintptr_t at;

    dynsym_open(&program, loaderlist()->r_map);
    at = dynsym_find_version(&program, name, NULL);
    return at ? at : dynsym_find_version(interpreter, name, NULL);
}

/* Why the interpreter's functions have no names, as in struct trace_header; 0: they can have. */
static uint32_t why_unnamed(const struct python *py, const unsigned long *version)
{
    /* An interpreter without that word is older than 3.11. */
    if (!version)
        return TRACE_PYTHON_OLD;
    if (!pylayout_of(PYLAYOUT_ANY))
        return TRACE_PYTHON_PROCESSOR;
    if (is_free_threaded(py->runtime, (uint32_t)(*version >> 16)))
        return TRACE_PYTHON_FREE_THREADED;
    return py->layout ? 0 : (uint32_t)(*version >> 16);
}

static bool look_at(const struct link_map *module, struct python *py, uint32_t *unnamed)
{
    const unsigned long *version;
    struct dynsym d;
    uintptr_t state;

    dynsym_open(&d, module);
    py->runtime = dynsym_find_version(&d, "_PyRuntime", NULL);
    if (!py->runtime)
        return false;
    version = (const unsigned long *)dynsym_find_version(&d, "Py_Version", NULL); /* NOLINT */
    py->layout = version ? pylayout_of((uint32_t)(*version >> 16)) : NULL;
    *unnamed = why_unnamed(py, version);
    if (*unnamed)
        return false;
    py->code_type = find_type(&d, "PyCode_Type");
    py->text_type = find_type(&d, "PyUnicode_Type");
    state = py->layout->runtime_key ? 0 : dynsym_find(&d, "PyGILState_GetThisThreadState");
    memcpy(&py->state, &state, sizeof state);
    return py->code_type && py->text_type && (py->layout->runtime_key || py->state);
}

bool pyframes_look(const struct link_map *module, uint32_t *unnamed)
{
    static int taken;
    struct python py;

    *unnamed = 0;
    for (const struct link_map *m = module ? module : loaderlist()->r_map; m && !pyframes_python();
         m = module ? NULL : m->l_next) {
        if (!look_at(m, &py, unnamed))
            continue;
        if (__atomic_exchange_n(&taken, 1, __ATOMIC_ACQ_REL))
            break;
        found = py;
        __atomic_store_n(&python, &found, __ATOMIC_RELEASE);
    }
    return pyframes_python() != NULL;
}

const struct python *pyframes_python(void)
{
    return __atomic_load_n(&python, __ATOMIC_ACQUIRE);
}
