/*
 * A program with a stray pointer: it writes bytes into what the recorder shares with it.
 *
 *     scrawls WHAT OFFSET BYTE COUNT [COMMAND...]
 *
 * WHAT is a part of the file's name (".flame", "/notes"). Then it leaks 1000 bytes and executes
 * COMMAND, or ends with 0; with 9 when nothing of that name is mapped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *find(const char *what)
{
    FILE *f = fopen("/proc/self/maps", "r");
    unsigned long at = 0;
    char line[4096];

    while (f && !at && fgets(line, sizeof line, f))
        if (strstr(line, what))
            at = strtoul(line, NULL, 16);
    if (f)
        fclose(f);
    return (char *)at;
}

__attribute__((noinline)) static void leak_here(void)
{
    void *volatile p = malloc(1000);

    p = NULL;
    (void)p;
}

int main(int argc, char **argv)
{
    char *at = argc > 4 ? find(argv[1]) : NULL;

    if (!at)
        return 9;
    memset(at + strtoul(argv[2], NULL, 0), atoi(argv[3]), strtoul(argv[4], NULL, 0));
    leak_here();
    if (argc > 5)
        execv(argv[5], argv + 5);
    return 0;
}
