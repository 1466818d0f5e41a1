#include "common/opts.h"

#include <getopt.h>

#include "common/error.h"

int opts_wrong(const char *command, char **argv, int opt)
{
    const char *what = opt == ':' ? "needs a value" : "unknown option";
    const char *last = argv[optind - 1];
    char letter[3] = "-";

    /* getopt names a letter in optopt; of a long option only the word before optind tells. */
    if (strncmp(last, "--", 2) == 0 && last[2]) {
        size_t len = strcspn(last, "=");

        if (last[len] && opt == '?' && optopt)
            what = "takes no value";
        return flame_error(FLAME_USAGE, "%s: %.*s: %s; 'flame %s --help' lists the options",
                           command, (int)(len < 200 ? len : 200), last, what, command);
    }
    letter[1] = (char)optopt;
    return flame_error(FLAME_USAGE, "%s: %s: %s; 'flame %s --help' lists the options", command,
                       letter, what, command);
}
