/* SIGPIPE that comes from the group is outlived; of a broken pipe of its own a process learns as it
 * did before. Each trial is a process, in a group of its own. */
#define _GNU_SOURCE
#include "common/signals/signal_outlive.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

#define HEARD 42
#define WENT_ON 7

static void on_pipe(int sig)
{
    (void)sig;
    _exit(HEARD);
}

static void write_to_nobody(void)
{
    int fd[2];

    if (pipe(fd) == 0) {
        close(fd[0]);
        if (write(fd[1], "", 1) < 0)
            return;
    }
}

static void have_child_kill_group(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        signal(SIGPIPE, SIG_IGN);
        kill(0, SIGPIPE);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void nothing(void)
{
}

/* The end of a process that does `during` while signals are outlived, and `after` behind that: its
 * status, or 128 and a signal. */
static int ending(void (*handler)(int), void (*during)(void), void (*after)(void))
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        setpgid(0, 0);
        signal(SIGPIPE, handler);
        signal_outlive_begin();
        during();
        signal_outlive_end();
        after();
        _exit(WENT_ON);
    }
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(void)
{
    is_int(ending(on_pipe, have_child_kill_group, nothing), WENT_ON,
           "SIGPIPE sent to the group is outlived");
    is_int(ending(on_pipe, write_to_nobody, nothing), HEARD,
           "SIGPIPE of the process's own write reaches the handler");
    is_int(ending(on_pipe, nothing, write_to_nobody), HEARD,
           "SIGPIPE of a write after the end reaches the handler");
    is_int(ending(on_pipe, nothing, have_child_kill_group), HEARD,
           "SIGPIPE sent after the end reaches the handler");
    is_int(ending(SIG_DFL, have_child_kill_group, nothing), WENT_ON,
           "SIGPIPE sent to the group is outlived without a handler");
    is_int(ending(SIG_DFL, write_to_nobody, nothing), 128 + SIGPIPE,
           "SIGPIPE of the process's own write kills without a handler");
    is_int(ending(SIG_IGN, write_to_nobody, write_to_nobody), WENT_ON, "SIGPIPE stays ignored");
    return done_testing();
}
