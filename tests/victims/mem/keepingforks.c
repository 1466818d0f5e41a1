/*
 * A cache of 1,000 blocks of 1,000 bytes, then three children with 100, 200 and 300 blocks of 100
 * bytes of their own, each with its table of pointers; all of them exit. Argument: "killed" has the
 * last child end by SIGKILL.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void **parents_cache, **childs_cache;

__attribute__((noinline)) static void fill(void ***to, size_t n, size_t size)
{
    *to = calloc(n, sizeof **to);
    for (size_t i = 0; *to && i < n; i++)
        (*to)[i] = malloc(size);
}

int main(int argc, char **argv)
{
    fill(&parents_cache, 1000, 1000);
    for (size_t i = 1; i <= 3; i++)
        if (fork() == 0) {
            fill(&childs_cache, 100 * i, 100);
            if (i == 3 && argc > 1 && strcmp(argv[1], "killed") == 0)
                raise(SIGKILL);
            exit(0);
        }
    while (wait(NULL) > 0)
        ;
    return 0;
}
