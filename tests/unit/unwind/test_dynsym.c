/* unwind/dynsym.h and unwind/scopes.h compared with dlsym and dlopen. */
#define _GNU_SOURCE
#include "unwind/dynsym.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include "tests/tap.h"
#include "unwind/modules.h"
#include "unwind/scopes.h"

/* Plain functions, indirect ones (memcpy), one of several versions (memcpy again), none. */
static const char *const names[] = {"malloc",      "free",     "memcpy", "strlen", "qsort",
                                    "pthread_key", "unw_step", "sin",    "main",   "_Znwm",
                                    "dlopen",      "nonesuch", "fopen",  "fclose", "timer_gettime"};

static uintptr_t find(const struct link_map *m, const char *name)
{
    struct dynsym d;

    dynsym_open(&d, m);
    return dynsym_find(&d, name);
}

/* The loader's address of that name in this very module; 0: none. */
static uintptr_t wanted(const struct link_map *m, const char *name)
{
    void *handle = dlopen(m->l_name[0] ? m->l_name : NULL, RTLD_LAZY | RTLD_NOLOAD), *at;
    struct link_map *where = NULL;
    Dl_info info;

    at = handle ? dlsym(handle, name) : NULL;
    if (at && !dladdr1(at, &info, (void **)&where, RTLD_DL_LINKMAP))
        where = NULL;
    if (handle)
        dlclose(handle);
    return where == m ? (uintptr_t)at : 0;
}

static const struct link_map *map_at(uintptr_t pc)
{
    for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next)
        if (pc && m->l_addr == pc)
            return m;
    return NULL;
}

static void test_names(void)
{
    int found = 0;

    for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next)
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
            uintptr_t want = wanted(m, names[i]);

            if (!want || !m->l_name[0])
                continue;
            found++;
            ok(find(m, names[i]) == want, "%s is found in %s as dlsym finds it", names[i],
               m->l_name);
        }
    ok(found >= 8, "enough symbols are compared: %d", found);
    for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next)
        ok(!find(m, "nonesuch"), "nonesuch is not found in %s", m->l_name);
}

/* A name with several versions, some of them not the default; data; private names. */
static void test_versions(void)
{
    static const struct {
        const char *name, *version;
    } asked[] = {{"memcpy", "GLIBC_2.2.5"},         {"memcpy", "GLIBC_2.14"},
                 {"dlclose", "GLIBC_2.2.5"},        {"environ", "GLIBC_2.2.5"},
                 {"_rtld_global", "GLIBC_PRIVATE"}, {"malloc", "GLIBC_2.2.5"},
                 {"malloc", "GLIBC_0.1"},           {"nonesuch", "GLIBC_2.2.5"}};

    for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
        uintptr_t want = (uintptr_t)dlvsym(RTLD_DEFAULT, asked[i].name, asked[i].version), got = 0;

        for (const struct link_map *m = _r_debug.r_map; m && !got; m = m->l_next) {
            struct dynsym d;

            dynsym_open(&d, m);
            got = dynsym_find_version(&d, asked[i].name, asked[i].version);
        }
        ok(got == want, "%s of version %s is found as dlvsym finds it", asked[i].name,
           asked[i].version);
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        ok(dynsym_anywhere(names[i]) == dlsym(RTLD_DEFAULT, names[i]),
           "%s is found anywhere as dlsym finds it", names[i]);
    ok(dynsym_anywhere("environ") == dlsym(RTLD_DEFAULT, "environ"),
       "data is found anywhere as dlsym finds it");
}

/* Its tables are read-only, so they hold addresses in the file. */
static void test_vdso(void)
{
    const struct link_map *vdso = map_at(getauxval(AT_SYSINFO_EHDR));

    if (vdso)
        ok(find(vdso, "__vdso_clock_gettime") - vdso->l_addr < 65536,
           "a function of the vDSO is found");
}

static void test_scopes(void)
{
    const struct link_map *program = _r_debug.r_map;
    const struct scope *const *scopes = scopes_of(program);
    struct link_map *m = dlopen("libnss_hesiod.so.2", RTLD_NOW | RTLD_LOCAL);

    if (!ok(scopes != NULL, "the loader's scopes are found"))
        return;
    ok(scopes[0]->list[0] == program && !scopes[1],
       "the program's first scope begins with the program");
    ok(scopes_of(program->l_next)[0] == scopes[0] ||
           program->l_next->l_addr == getauxval(AT_SYSINFO_EHDR),
       "the program's libraries have its scope");
    if (!ok(m != NULL, "a library is opened locally"))
        return;
    scopes = scopes_of(m);
    ok(scopes[0]->list[0] == program, "a local library searches the program's scope first");
    ok(scopes[1] && scopes[1]->list[0] == m && !scopes[2],
       "a local library searches its own scope second");
    ok(modules_link_map(find(m, "_nss_hesiod_setpwent")) == m,
       "modules_link_map finds a local library by an address in it");
    dlclose(m);
}

int main(void)
{
    test_names();
    test_versions();
    test_vdso();
    test_scopes();
    return done_testing();
}
