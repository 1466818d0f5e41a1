#include "fold/symbols/anon_code.h"

#include <string.h>

#include "common/basename.h"
#include "common/compiler.h"

static const struct {
    const char *module; /* its file's name, or what that begins with if it ends in '*' */
    const char *name;
} runtimes[] = {
    {"libjvm.so", "[java]"},
    {"libcoreclr.so", "[dotnet]"},
    {"node", "[javascript]"},
    {"libnode.so*", "[javascript]"},
};

static bool is_called(const char *path, const char *wanted)
{
    const char *base = base_name(path);
    size_t len = strlen(wanted);

    if (wanted[len - 1] == '*')
        return strncmp(base, wanted, len - 1) == 0;
    return strcmp(base, wanted) == 0;
}

const char *anon_code_name(const struct trace *t, uint32_t epoch)
{
    for (size_t i = 0; i < t->nmodules; i++) {
        const struct trace_module_view *m = &t->modules[i];

        if (epoch < m->m.first_epoch || epoch >= m->m.end_epoch)
            continue;
        for (size_t k = 0; k < ARRAY_LEN(runtimes); k++)
            if (is_called(m->path, runtimes[k].module))
                return runtimes[k].name;
    }
    return NULL;
}

bool anon_code_is_all(const char *name, size_t len)
{
    static const char all[] = "Interpreter";

    return len == sizeof all - 1 && memcmp(name, all, len) == 0;
}

bool anon_code_is_name(const char *name, size_t len)
{
    for (size_t k = 0; k < ARRAY_LEN(runtimes); k++)
        if (strlen(runtimes[k].name) == len && memcmp(name, runtimes[k].name, len) == 0)
            return true;
    return false;
}
