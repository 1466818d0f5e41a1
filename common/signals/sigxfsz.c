#include "common/signals/sigxfsz.h"

#include <signal.h>

static struct sigaction found;
static int ignored;

void sigxfsz_ignore(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    ignored = sigaction(SIGXFSZ, &ignore, &found) == 0;
}

void sigxfsz_restore(void)
{
    if (ignored)
        sigaction(SIGXFSZ, &found, 0);
}
