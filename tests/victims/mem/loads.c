/*
 * Loads argv[1], calls the function named argv[2] in it, unloads it, and then does so with argv[3]
 * and argv[4]; the loader puts both at the same address. Prints "same" when it did. Then loads and
 * unloads the second one 200 times more.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned long call(const char *file, const char *name)
{
    void *lib = dlopen(file, RTLD_NOW), *p;
    void *(*fn)(void);
    unsigned long base;

    if (!lib || !(*(void **)&fn = dlsym(lib, name)))
        exit(1);
    p = fn();
    free(p);
    base = ((struct link_map *)lib)->l_addr;
    dlclose(lib);
    return base;
}

int main(int argc, char **argv)
{
    unsigned long base[2];

    if (argc != 5)
        return 2;
    for (int i = 0; i < argc / 2; i++) /* from one place: only what is loaded differs */
        base[i] = call(argv[1 + 2 * i], argv[2 + 2 * i]);
    if (write(1, base[0] == base[1] ? "same\n" : "apart\n", base[0] == base[1] ? 5 : 6) < 0)
        return 3;
    for (int i = 0; i < 200; i++)
        call(argv[3], argv[4]);
    return 0;
}
