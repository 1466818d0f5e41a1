/*
 * handson.c: executes its arguments with the environment it has. Linked statically it hands on what
 * it would not be asked about.
 */
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
    if (argc > 1)
        execve(argv[1], argv + 1, environ);
    return 9;
}
