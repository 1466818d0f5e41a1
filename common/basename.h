/*
 * basename.h: the last component of a path, as a pointer into it: the text behind the last '/', the
 * whole path without a '/', and "" behind a '/' at the end. Allocates nothing; the recorder uses
 * it, too. (basename(3) of libgen.h writes to its argument.)
 */
#ifndef FLAME_COMMON_BASENAME_H
#define FLAME_COMMON_BASENAME_H

#include "common/compiler.h"

static inline const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

#endif
