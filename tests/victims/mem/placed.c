/*
 * Known allocations by module, thread and process: libone 1,000 bytes in the main thread and 50,000
 * in a child, libtwo 200 in the main thread and 3,000 in another, libthree 700, and each library
 * that is named on the command line 80.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void *take_one(size_t size);
void *take_two(size_t size);
void *take_three(size_t size);

static void *work(void *size)
{
    return take_two(*(size_t *)size);
}

int main(int argc, char **argv)
{
    size_t more = 3000;
    pthread_t thread;
    pid_t child;

    take_one(1000);
    take_two(200);
    take_three(700);
    for (int i = 1; i < argc; i++) {
        void *lib = dlopen(argv[i], RTLD_NOW);
        void *(*take)(size_t) = lib ? (void *(*)(size_t))dlsym(lib, "take_more") : NULL;

        if (!take) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        take(80);
    }
    if (pthread_create(&thread, NULL, work, &more) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    child = fork();
    if (child == 0) {
        take_one(50000);
        return 0;
    }
    return child < 0 || waitpid(child, NULL, 0) < 0;
}
