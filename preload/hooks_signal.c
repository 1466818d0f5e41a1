/*
 * The interposed functions that would show a program the handler of preload/sigbus.h.
 */
#define _GNU_SOURCE
#include <signal.h>

#include "preload/sigbus.h"
#include "preload/next_malloc.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    return likely(sig != SIGBUS) ? real.sigaction(sig, act, old) : sigbus_sigaction(act, old);
}

EXPORT sighandler_t signal(int sig, sighandler_t handler)
{
    return likely(sig != SIGBUS) ? real.signal(sig, handler) : sigbus_signal(handler);
}
