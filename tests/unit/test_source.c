/*
 * The event source with real programs. With arguments it traces for people (and for the
 * shell tests) and prints the events: test_source [-p PID] [-n] [-F] [-d MS] [-z HZ]
 * [-o FILE] [COMMAND...].
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"
#include "tests/unit/eventlog.h"

static int print_events(int argc, char **argv)
{
    struct source_options o = {0};
    struct eventlog log;
    FILE *to = stderr;
    pid_t pids[16];
    int c;

    o.pids = pids;
    while ((c = getopt(argc, argv, "+p:nFd:z:o:")) != -1) {
        switch (c) {
        case 'p':
            pids[o.npids++ % 16] = atoi(optarg);
            break;
        case 'n':
            o.no_filter = true;
            break;
        case 'F':
            o.no_follow = true;
            break;
        case 'd':
            o.duration_ns = strtoull(optarg, NULL, 10) * 1000000u;
            break;
        case 'z':
            o.hz = (unsigned)atoi(optarg);
            break;
        case 'o':
            to = fopen(optarg, "we");
            if (!to)
                return 1;
            break;
        default:
            return 2;
        }
    }
    o.argv = argv[optind] ? argv + optind : NULL;
    eventlog_run(&log, &o);
    for (size_t i = 0; i < log.n; i++)
        eventlog_print(to, &log.events[i]);
    fprintf(to, "# %ju stops, %ju us\n", (uintmax_t)log.stops, (uintmax_t)log.cost_ns / 1000);
    if (log.failed)
        return log.failed;
    return WIFSIGNALED(log.wait_status) ? 128 + WTERMSIG(log.wait_status)
                                        : WEXITSTATUS(log.wait_status);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return print_events(argc, argv);
    return done_testing();
}
