/*
 * Knows nothing of C++: opens each library it is given, out of sight of the others, and calls
 * its run(). After "-", the last one is closed.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    void *lib = NULL;
    int (*run)(void), failed = 0;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-") == 0) {
            dlclose(lib);
            continue;
        }
        lib = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!lib || !(*(void **)&run = dlsym(lib, "run"))) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        failed |= run();
    }
    return failed;
}
