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
    searched(NULL, 0, "/usr/lib/debug", "without the variable: the system's directory");
    searched("", 0, "/usr/lib/debug", "an empty variable is none");
    searched("a::b:", 0, "a b /usr/lib/debug", "the variable's directories come first");
    searched("a", 2, "first second a /usr/lib/debug", "the caller's come before these");
    searched("none", 0, "", "none: no directory at all");
    searched("none", 2, "first second", "none: the caller's are searched");
    searched("a:none:b", 0, "a", "none ends the list");
    searched("nonesuch:b", 0, "nonesuch b /usr/lib/debug", "a longer name is a directory");
    return done_testing();
}
