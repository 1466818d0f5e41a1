/* Allocates 1000 blocks of 40 bytes, frees 400, and ends as argv[1] says. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *blocks[1000];

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    for (int i = 0; i < 1000; i++)
        blocks[i] = malloc(40);
    for (int i = 0; i < 400; i++)
        free(blocks[i]);
    if (strcmp(how, "_exit") == 0)
        _exit(7);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(7);
    if (strcmp(how, "exit_group") == 0)
        syscall(SYS_exit_group, 7);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "segv") == 0)
        *(volatile int *)8 = 1;
    return 7;
}
