/* Directories of debug files: in which order they are searched, and how the system's is left out.
 */
#include <stdlib.h>

#include "common/strbuf.h"
#include "fold/symbols/debugfile.h"

#include "tests/tap.h"

static const char *const extra[] = {"first", "second"};

static void searched(const char *env, size_t nextra, const char *want, const char *name)
{
    struct strbuf got = STRBUF_INIT;
    struct debug_dirs d;

    if (env)
        setenv("FLAME_DEBUG_DIRS", env, 1);
    else
        unsetenv("FLAME_DEBUG_DIRS");
    debug_dirs_init(&d, extra, nextra);
    for (size_t i = 0; i < d.n; i++)
        strbuf_addf(&got, "%s%s", i ? " " : "", d.dir[i]);
    is_str(got.len ? got.buf : "", want, "%s", name);
    debug_dirs_release(&d);
    strbuf_release(&got);
}

int main(void)
{
    searched(NULL, 0, "/usr/lib/debug", "without FLAME_DEBUG_DIRS: the system's directory");
    searched("", 0, "/usr/lib/debug", "an empty FLAME_DEBUG_DIRS counts as absent");
    searched("a::b:", 0, "a b /usr/lib/debug",
             "directories of FLAME_DEBUG_DIRS come before the system's");
    searched("a", 2, "first second a /usr/lib/debug",
             "the caller's directories come before FLAME_DEBUG_DIRS");
    searched("none", 0, "", "FLAME_DEBUG_DIRS=none: no directory at all");
    searched("none", 2, "first second", "FLAME_DEBUG_DIRS=none: the caller's directories remain");
    searched("a:none:b", 0, "a", "none ends the list in FLAME_DEBUG_DIRS");
    searched("nonesuch:b", 0, "nonesuch b /usr/lib/debug",
             "a directory whose name begins with none is searched");
    return done_testing();
}
