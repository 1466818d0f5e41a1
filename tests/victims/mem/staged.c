/*
 * staged: obeys commands, a line each, and prints "ok" after each one, so that a test knows what is
 * live at any moment:
 *
 *   a N   N blocks of 1000 bytes, by stage_a
 *   b N   N blocks of 500 bytes, by stage_b
 *   f N   frees the last N blocks of stage_b
 *   m     maps a MiB, by stage_map
 *   k     forks a child that lives as long as this process, and allocates 7 blocks of 100 bytes
 *   x     executes itself anew
 *   q     ends
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

void *a[100000], *b[100000], *child[7]; /* others might look at them */
static int na, nb;

__attribute__((noinline)) static void stage_a(void)
{
    a[na++] = malloc(1000);
}

__attribute__((noinline)) static void stage_b(void)
{
    b[nb++] = malloc(500);
}

__attribute__((noinline)) static void stage_map(void)
{
    if (mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
        MAP_FAILED)
        abort();
}

__attribute__((noinline)) static void stage_child(void)
{
    int fds[2];
    char c;

    if (pipe(fds) != 0)
        abort();
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int i = 0; i < 7; i++)
            child[i] = malloc(100);
        if (write(fds[1], "", 1) != 1)
            abort();
        for (;;)
            pause();
    }
    if (read(fds[0], &c, 1) != 1)
        abort();
}

int main(int argc, char **argv)
{
    static char out[64], in[64];
    char line[64];
    int n;

    setvbuf(stdout, out, _IOLBF, sizeof out);
    setvbuf(stdin, in, _IONBF, 0);
    if (argc > 1)
        puts("ok");
    while (fgets(line, sizeof line, stdin) && line[0] != 'q') {
        n = atoi(line + 1);
        for (int i = 0; i < n; i++)
            if (line[0] == 'a')
                stage_a();
            else if (line[0] == 'b')
                stage_b();
            else if (line[0] == 'f')
                free(b[--nb]);
        if (line[0] == 'm')
            stage_map();
        if (line[0] == 'k')
            stage_child();
        if (line[0] == 'x')
            execv("/proc/self/exe", (char *[]){argv[0], "again", NULL});
        puts("ok");
    }
    return 0;
}
