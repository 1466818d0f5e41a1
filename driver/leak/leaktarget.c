#include "driver/leak/leaktarget.h"

#include <stdlib.h>

#include "common/error.h"
#include "common/preloadable.h"
#include "driver/run/target.h"

int leak_target_check(const char *command)
{
    struct preloadable_answer answer = {.verdict = PRELOADABLE_YES};
    char *path = NULL;
    int status = target_find(command, &path);

    if (!status)
        preloadable_judge(path, &preloadable_here, &answer);
    if (!status && answer.verdict == PRELOADABLE_LEAK_SANITIZER)
        status = flame_error(FLAME_USAGE,
                             "%s: is built with LeakSanitizer, which keeps its blocks from being "
                             "looked at; run it alone, or a build without it",
                             path);
    free(path);
    return status;
}
