#include "common/fsize.h"

#include <signal.h>

static struct sigaction found;
static int ignored;

void fsize_ignore_signal(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    ignored = sigaction(SIGXFSZ, &ignore, &found) == 0;
}

void fsize_restore_signal(void)
{
    if (ignored)
        sigaction(SIGXFSZ, &found, 0);
}
