#define _GNU_SOURCE
#include "driver/doctor/trial.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"

#define ARGS_MOST 16

static void become(const char *dir, const char *const *args, int errors)
{
    const char *argv[ARGS_MOST + 2] = {"flame"};
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (size_t i = 0; i < ARGS_MOST && args[i]; i++)
        argv[i + 1] = args[i];
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setenv("TMPDIR", dir, 1);
    execv("/proc/self/exe", (char **)argv);
    _exit(FLAME_FAILED);
}

static void keep_first_line(struct strbuf *said)
{
    static const char prefix[] = "flame: ";
    size_t n;
    char *line = strbuf_detach(said, &n), *from = line;

    if (strncmp(from, prefix, sizeof prefix - 1) == 0)
        from += sizeof prefix - 1;
    from[strcspn(from, "\n")] = '\0';
    strbuf_addstr(said, from);
    free(line);
}

int trial_run(const char *dir, const char *const *args, struct strbuf *said)
{
    int ends[2], status = 0;
    pid_t child;

    strbuf_clear(said);
    fflush(stdout);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return FLAME_FAILED;
    child = fork();
    if (child == 0)
        become(dir, args, ends[1]);
    close(ends[1]);
    strbuf_read_fd(said, ends[0]);
    close(ends[0]);
    strbuf_addch(said, '\0');
    keep_first_line(said);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return FLAME_FAILED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int trial_victim(void)
{
    pid_t parent = getpid(), child;

    fflush(stdout);
    child = fork();
    if (child)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent)
        usleep(20000);
    _exit(0);
}

void trial_end(int pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
