/*
 * testclock SECONDS COMMAND...: runs a test under timeout(1), which ends it after so many
 * seconds, and ends as it does. If the environment has TEST_TIMES, a line is added to that file:
 * seconds of CPU of the test and of all processes that it began, seconds by the clock, and the
 * command. A Chromium leaves most of its processes to init, and they take more than those that
 * somebody waits for: here init is this program.
 *
 * prove --timer does not know it: beside other tests it counts in what these took meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Processes that outlive a test have this many times 5 ms to end. */
#define GRACE 40

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu(void)
{
    struct rusage r;

    getrusage(RUSAGE_CHILDREN, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

/* One write, as other tests' clocks add lines to the file as well. */
static void note(const char *path, double seconds, const char *command)
{
    char line[4096];
    int n = snprintf(line, sizeof(line), "%.2f %.2f %s\n", cpu(), seconds, command);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

    if (fd < 0 || n < 0 || (size_t)n >= sizeof(line) || write(fd, line, (size_t)n) != n)
        fprintf(stderr, "testclock: %s: cannot be written: %s\n", path, strerror(errno));
}

static int await(pid_t child)
{
    int status = 0, pause = 0;
    pid_t pid;

    do
        pid = waitpid(-1, &status, 0);
    while (pid != child && (pid > 0 || errno == EINTR));
    for (pid = 1; pause < GRACE && pid >= 0; pause += pid == 0)
        if ((pid = waitpid(-1, NULL, WNOHANG)) == 0)
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    char *times = getenv("TEST_TIMES");
    const char **command = calloc((size_t)argc + 4, sizeof(*command));
    double began = now();
    pid_t child = 0;
    int status;

    if (argc < 3 || !command) {
        fprintf(stderr, "usage: testclock SECONDS COMMAND...\n");
        return 2;
    }
    command[0] = "timeout";
    command[1] = "-k";
    command[2] = "5";
    memcpy(command + 3, argv + 1, (size_t)(argc - 1) * sizeof(*command));
    if (times) {
        /* A test of scripts/run-tests.sh has times of its own. */
        times = strdup(times);
        unsetenv("TEST_TIMES");
        unsetenv("SLOWEST");
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        child = fork();
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, times ? SIGTERM : 0);
        execvp(command[0], (char **)command);
        perror("testclock: timeout");
        return 127;
    }
    if (child < 0 || !times) {
        perror("testclock");
        return 2;
    }
    status = await(child);
    note(times, now() - began, argv[2]);
    free(times);
    free(command);
    return status;
}
