#define _GNU_SOURCE
#include "driver/doctor/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
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

/* A program without a loader has no base address of one. */
static bool is_static(void)
{
    return !getauxval(AT_BASE);
}

const char *trial_program(void)
{
    return is_static() ? "/bin/sh" : "/proc/self/exe";
}

const char *trial_argument(void)
{
    return is_static() ? "-s" : "--version"; /* its standard input is empty */
}

/* The end of the pipe that a victim's shell reads from; -1: there is none. */
static int victims_input = -1;

/* Becomes a shell that waits for input. */
static void become_shell(int input)
{
    dup2(input, STDIN_FILENO);
    execl("/bin/sh", "sh", "-c", "read nothing", (char *)NULL);
    _exit(FLAME_FAILED);
}

/* Starts a shell that waits for input, and returns when it has been executed. */
static pid_t shell_victim(void)
{
    int input[2], executed[2];
    pid_t child;
    char none;

    if (pipe2(input, O_CLOEXEC) < 0)
        return -1;
    if (pipe2(executed, O_CLOEXEC) < 0) {
        close(input[0]);
        close(input[1]);
        return -1;
    }
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        become_shell(input[0]);
    }
    close(input[0]);
    close(executed[1]);
    while (read(executed[0], &none, 1) < 0 && errno == EINTR)
        ;
    close(executed[0]);
    victims_input = input[1];
    return child;
}

int trial_victim(void)
{
    pid_t parent = getpid(), child;

    fflush(stdout);
    if (is_static())
        return shell_victim();
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
    if (victims_input >= 0)
        close(victims_input);
    victims_input = -1;
}
