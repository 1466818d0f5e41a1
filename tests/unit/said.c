#include "tests/unit/said.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/compiler.h"

static char text[4096];
static FILE *file;
static int keep;

void said_begin(void)
{
    keep = dup(STDERR_FILENO);
    file = tmpfile();
    if (!file || keep < 0 || dup2(fileno(file), STDERR_FILENO) < 0)
        abort();
}

const char *said_end(void)
{
    size_t n;

    dup2(keep, STDERR_FILENO);
    close(keep);
    rewind(file);
    n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}
