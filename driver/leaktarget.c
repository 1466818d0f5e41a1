#include "driver/leaktarget.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/elfdyn.h"
#include "common/error.h"
#include "driver/target.h"

/* gcc's is a library, clang's is inside the program, which exports its entry point. */
static bool has_leak_sanitizer(const char *path)
{
    static const char *const needs[] = {"liblsan.so", "libclang_rt.lsan"};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct elfdyn e;
    bool found = fd >= 0 && elfdyn_open(&e, fd) &&
                 (elfdyn_needs(&e, needs, ARRAY_LEN(needs)) || elfdyn_defines(&e, "__lsan_init"));

    if (fd >= 0)
        close(fd);
    return found;
}

int leak_target_check(const char *command)
{
    char *path = NULL;
    int status = target_find(command, &path);

    if (!status && has_leak_sanitizer(path))
        status = flame_error(FLAME_USAGE,
                             "%s: is built with LeakSanitizer, which keeps its blocks from being "
                             "looked at; run it alone, or a build without it",
                             path);
    free(path);
    return status;
}
