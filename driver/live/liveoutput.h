/*
 * liveoutput.h: the output of a program while its picture has the terminal.
 *
 * Output that would go to the terminal goes to a file instead. When the picture has ended, the
 * terminal gets that output, and from then on all further output until the program's end. The
 * program cannot read from the terminal, as keys are for the picture. Streams that are no terminal
 * do not change.
 */
#ifndef FLAME_DRIVER_LIVE_LIVEOUTPUT_H
#define FLAME_DRIVER_LIVE_LIVEOUTPUT_H

#include <sys/types.h>

struct liveoutput {
    int to, from; /* both ends of the file */
};

/* Makes the file, in `dir`. 0, or FLAME_FAILED after a line. */
int liveoutput_open(struct liveoutput *o, const char *dir);

/* In the process that is to become the program's recorder: its standard streams. */
void liveoutput_take(const struct liveoutput *o);

/*
 * After the picture: shows the output and waits for the end of `child`, which leads a process group
 * of its own, program included. SIGINT and SIGQUIT go to that whole group. `signal` (0: none) and
 * other signals that end programs go to `child`, which forwards them. `name`: the program's, to
 * report that it still runs. Returns waitpid's status.
 */
int liveoutput_follow(struct liveoutput *o, pid_t child, int signal, const char *name);

/* Shows the rest of the output. */
void liveoutput_close(struct liveoutput *o);

#endif
