/*
 * Misuses of the allocator by a C program, one for each word on the command line:
 *
 *   twice     frees a block twice                 reused    and after malloc gave it out again
 *   inside    frees a pointer into a block        large     frees a pointer into one of 3 MiB
 *   local     frees a variable of a function      global    frees a variable of the file
 *   wild      frees an address without memory     regrow    reallocs a freed block
 *   array     reallocarrays a freed block         astray    reallocs a variable
 *   moved     frees what realloc has moved        threads   frees it in two threads
 *   handler   frees it again in a signal handler  child     a forked child frees it again
 *   often     five forked children free a variable        old       frees a block again, much later
 *   strdup    frees what strdup gave twice        sized     free_sized with another size
 *   clean     nothing wrong, in many ways
 *   plugin    frees what ./misplug.so allocated, and the other way round
 *   deep      like plugin, but the plugin finds the C library first: its calls are not seen
 *
 * The C library ends a program for most of these, at the second free or a later one.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static void *volatile held; /* volatile, so that the compiler does not see the misuse */
static char global_room[64];

APART static void *make_block(size_t size)
{
    void *p = malloc(size);

    held = p;
    return held;
}

APART static void drop_block(void *p)
{
    held = p;
    free(held);
}

APART static void drop_again(void *p)
{
    held = p;
    free(held);
}

APART static void grow_block(void *p, size_t size)
{
    held = p;
    held = realloc(held, size);
}

APART static void grow_array(void *p, size_t size)
{
    held = p;
    held = reallocarray(held, 4, size / 4);
}

static void *drop_in_thread(void *p)
{
    pthread_setname_np(pthread_self(), "dropper");
    drop_again(p);
    return NULL;
}

static void on_signal(int sig)
{
    (void)sig;
    drop_again(held);
}

static void twice(void)
{
    char *p = make_block(40);

    drop_block(p);
    drop_again(p);
}

/* The misuse of the second block is reported at its owner's own free. */
static void reused(void)
{
    char *p = make_block(40), *q;

    drop_block(p);
    q = make_block(40);
    drop_block(p);
    drop_again(q);
}

static void inside(void)
{
    drop_again((char *)make_block(40) + 16);
}

static void large(void)
{
    drop_again((char *)make_block((size_t)3 << 20) + 100000);
}

static void local(void)
{
    char room[64];

    /* The word before the pointer is not a size that the C library could accept. */
    memset(room, 255, sizeof room);
    drop_again(room + 16);
}

static void global(void)
{
    drop_again(global_room + 16);
}

static void wild(void)
{
    drop_again((void *)(uintptr_t)0x10000);
}

static void regrow(void)
{
    char *p = make_block(40);

    drop_block(p);
    grow_block(p, 4000);
}

static void array(void)
{
    char *p = make_block(40);

    drop_block(p);
    grow_array(p, 4000);
}

static void astray(void)
{
    grow_block(global_room + 16, 4000);
}

static void moved(void)
{
    char *p = make_block(40), *wall = make_block(40);

    grow_block(p, 400000);
    drop_again(p);
    free(wall);
}

static void threads(void)
{
    char *p = make_block(40);
    pthread_t t;

    drop_block(p);
    pthread_create(&t, NULL, drop_in_thread, p);
    pthread_join(t, NULL);
}

static void handler(void)
{
    char *p = make_block(40);

    signal(SIGUSR1, on_signal);
    drop_block(p);
    held = p;
    raise(SIGUSR1);
}

static void child(void)
{
    char *p = make_block(40);
    pid_t pid;

    drop_block(p);
    pid = fork();
    if (pid == 0) {
        drop_again(p);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void often(void)
{
    for (int i = 0; i < 5; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            drop_again(global_room + 16);
            _exit(0);
        }
        waitpid(pid, NULL, 0);
    }
}

static void old(void)
{
    char *p = make_block(2000000);

    drop_block(p);
    for (int i = 0; i < 300000; i++) {
        held = malloc(24);
        free(held);
    }
    drop_again(p);
}

static void copied(void)
{
    held = strdup("twice");
    drop_block(held);
    drop_again(held);
}

static void sized(void)
{
    void (*function)(void *, size_t);

    *(void **)&function = dlsym(RTLD_DEFAULT, "free_sized");
    if (function)
        function(make_block(40), 48);
}

/* ---- nothing wrong ---- */

static int any(const struct dirent *d)
{
    (void)d;
    return 1;
}

static void *allocate_a_lot(void *arg)
{
    for (int i = 0; i < 2000; i++) {
        char *p = malloc((size_t)(i % 700) + 1);

        p = realloc(p, (size_t)(i % 3000) + 1);
        free(p);
    }
    return arg;
}

static void use_libc(void)
{
    char *line = NULL, *text, *s;
    struct dirent **list;
    size_t size = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    int n;

    while (f && getline(&line, &size, f) > 0)
        ;
    free(line);
    if (f)
        fclose(f);
    f = open_memstream(&text, &size);
    fprintf(f, "%d words", 3);
    fclose(f);
    free(text);
    if (asprintf(&s, "%s %d", "text", 4) > 0)
        free(s);
    free(strndup("something", 4));
    free(realpath("/proc/self/../self", NULL));
    free(getcwd(NULL, 0));
    n = scandir("/", &list, any, alphasort);
    for (int i = 0; i < n; i++)
        free(list[i]);
    free(list);
    setlocale(LC_ALL, "C.UTF-8");
    f = popen("true", "r");
    pclose(f);
    setenv("MISUSES", "none", 1);
    unsetenv("MISUSES");
}

static void clean(void)
{
    pthread_t t[4];
    void *p;

    free(NULL);
    free(realloc(NULL, 10));
    free(calloc(3, 5));
    free(malloc(0));
    free(aligned_alloc(64, 128));
    free(memalign(256, 10));
    free(valloc(10));
    if (posix_memalign(&p, 4096, 100) == 0)
        free(p);
    p = malloc(10);
    held = realloc(p, 0);
    free(reallocarray(NULL, 10, 10));
    use_libc();
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, allocate_a_lot, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    p = malloc(100);
    if (fork() == 0) {
        free(p);
        use_libc();
        exit(0);
    }
    wait(NULL);
    free(p);
}

static void open_plugin(int flags)
{
    void *h = dlopen("./misplug.so", RTLD_NOW | flags), *p;
    void *(*get)(void);
    void (*put)(void *);

    if (!h)
        exit(3);
    *(void **)&get = dlsym(h, "get_block");
    *(void **)&put = dlsym(h, "put_block");
    free(get());
    p = make_block(40);
    put(p);
    free(get());
    p = get();
    dlclose(h);
    free(p);
}

static void plugin(void)
{
    open_plugin(0);
}

static void deep(void)
{
    open_plugin(RTLD_DEEPBIND);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *word;
        void (*act)(void);
    } acts[] = {
        {"twice", twice},     {"reused", reused}, {"inside", inside}, {"large", large},
        {"local", local},     {"global", global}, {"wild", wild},     {"regrow", regrow},
        {"array", array},     {"astray", astray}, {"moved", moved},   {"threads", threads},
        {"handler", handler}, {"child", child},   {"often", often},   {"old", old},
        {"strdup", copied},   {"sized", sized},   {"clean", clean},   {"plugin", plugin},
        {"deep", deep},
    };

    for (int i = 1; i < argc; i++)
        for (size_t a = 0; a < sizeof acts / sizeof *acts; a++)
            if (strcmp(argv[i], acts[a].word) == 0)
                acts[a].act();
    return 0;
}
