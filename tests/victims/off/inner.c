/* Sleeps in signal handlers that interrupt a sleep, and writes to a pipe in them. */
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int ends[2], hits;

static void inner(int sig)
{
    struct timespec t = {0, 2000000};
    char c;

    (void)sig;
    hits++;
    nanosleep(&t, NULL);
    if (write(ends[1], "x", 1) != 1 || read(ends[0], &c, 1) != 1)
        _exit(1);
}

int main(void)
{
    struct itimerval every = {{0, 20000}, {0, 20000}};
    struct timespec t = {0, 300000000};
    struct sigaction act;

    memset(&act, 0, sizeof act);
    act.sa_handler = inner;
    if (pipe(ends))
        return 1;
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    while (nanosleep(&t, &t))
        ;
    return hits < 3;
}
