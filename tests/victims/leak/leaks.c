/*
 * Blocks whose verdicts at the program's end are known. Each is allocated by a function whose name
 * begins with the verdict: definite_, indirect_, inner_, reachable_.
 *
 * usage: leaks [exit | _exit | quick_exit | thread | thrown FILE.so]
 * The argument is its end: main returns (none); the function of that name; main's thread ends
 * before another one that returns; or as that, with a plugin loaded, used and partly unloaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define CASE(name)                                                                                 \
    __attribute__((noinline)) static void *name(size_t size)                                       \
    {                                                                                              \
        void *volatile p = malloc(size);                                                           \
        return p;                                                                                  \
    }

struct node {
    struct node *next, *other;
    long payload[5];
};

/* Clears the stack below the caller, where returned functions may have left pointers. */
__attribute__((noinline)) static void wipe(void)
{
    volatile char below[16384];

    memset((void *)below, 0, sizeof below);
}

/* ---- variables ---- */

static void *global, *overwritten, *array[100];
static char *insides;

CASE(reachable_global)
CASE(reachable_static_local)
CASE(reachable_array)
CASE(definite_overwritten)
CASE(reachable_overwriting)
CASE(definite_local)
CASE(inner_offset)
CASE(reachable_environment)

__attribute__((noinline)) static void variables(void)
{
    static void *local;
    char *text = reachable_environment(40);

    global = reachable_global(101);
    local = reachable_static_local(102);
    array[99] = reachable_array(103);
    overwritten = definite_overwritten(104);
    overwritten = reachable_overwriting(105);
    definite_local(106);
    insides = (char *)inner_offset(107) + 16;
    strcpy(text, "LEAKS_TEST=yes");
    putenv(text);
    (void)local;
}

/* ---- blocks that lead to blocks ---- */

static struct node *list;

CASE(reachable_list)
CASE(definite_head)
CASE(indirect_tail)
CASE(definite_self)
CASE(reachable_by_large)
CASE(reachable_large)
CASE(inner_of_huge)
CASE(inner_by_huge)

__attribute__((noinline)) static void blocks(void)
{
    static void **large;
    static char *into;
    struct node *head, *self;

    for (int i = 0; i < 20; i++) {
        struct node *n = reachable_list(sizeof *n);

        *n = (struct node){.next = list};
        list = n;
    }
    head = definite_head(sizeof *head);
    *head = (struct node){.next = indirect_tail(sizeof *head)};
    *head->next = (struct node){.next = indirect_tail(sizeof *head)};
    *head->next->next = (struct node){.other = head->next};
    self = definite_self(sizeof *self);
    *self = (struct node){.next = self};
    /* Pages that were never written to lie before the pointer, and behind it. */
    large = reachable_large(64 << 20);
    large[5 << 20] = reachable_by_large(203);
    into = inner_of_huge(48 << 20);
    into += 40 << 20;
    ((void **)into)[1] = inner_by_huge(204);
}

/* ---- mappings ---- */

CASE(reachable_mapped)
CASE(definite_unmapped)
CASE(reachable_moved)
CASE(reachable_guarded)
CASE(reachable_by_guarded)

__attribute__((noinline)) static void mappings(void)
{
    static char *stack;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void **m = mmap(NULL, 16 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    m[10] = reachable_mapped(301);
    m[12 * page / sizeof *m] = definite_unmapped(302);
    munmap((char *)m + 12 * page, page);
    m = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    m[1] = reachable_moved(303);
    if (mremap(m, page, 4 * page, MREMAP_MAYMOVE) == MAP_FAILED)
        abort();
    /* A stack of the program's own, with a page that cannot be accessed. */
    stack = reachable_guarded(16 * page);
    mprotect((char *)(((uintptr_t)stack + page - 1) & -page), page, PROT_NONE);
    ((void **)(stack + 8 * page))[0] = reachable_by_guarded(304);
}

CASE(reachable_coroutine)
static ucontext_t outside, inside;

static void coroutine(void)
{
    void *volatile p = reachable_coroutine(305);

    swapcontext(&inside, &outside);
    free(p);
}

__attribute__((noinline)) static void switching(void)
{
    size_t size = 65536;

    getcontext(&inside);
    inside.uc_stack.ss_sp =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    inside.uc_stack.ss_size = size;
    makecontext(&inside, coroutine, 0);
    swapcontext(&outside, &inside);
}

/* ---- threads ---- */

static __thread void *local_of_thread;
static pthread_key_t key;
static pthread_barrier_t ready;

CASE(reachable_thread_stack)
CASE(reachable_thread_local)
CASE(reachable_thread_key)
CASE(definite_ended_stack)
CASE(definite_ended_local)
CASE(definite_ended_key)
CASE(reachable_main_local)
CASE(reachable_alternate_stack)

static void *runs_on(void *unused)
{
    void *volatile p = reachable_thread_stack(401);
    stack_t alternate = {.ss_sp = reachable_alternate_stack(32768), .ss_size = 32768};

    local_of_thread = reachable_thread_local(402);
    pthread_setspecific(key, reachable_thread_key(403));
    sigaltstack(&alternate, NULL);
    alternate.ss_sp = NULL;
    wipe();
    pthread_barrier_wait(&ready);
    for (;;)
        pause();
    free(p);
    return unused;
}

static void *ends(void *unused)
{
    void *volatile p = definite_ended_stack(404);

    local_of_thread = definite_ended_local(405);
    pthread_setspecific(key, definite_ended_key(406));
    (void)p;
    return unused;
}

__attribute__((noinline)) static void threads(void)
{
    pthread_t t;

    pthread_key_create(&key, NULL);
    pthread_barrier_init(&ready, NULL, 2);
    local_of_thread = reachable_main_local(407);
    pthread_create(&t, NULL, ends, NULL);
    pthread_join(t, NULL);
    pthread_create(&t, NULL, runs_on, NULL);
    pthread_barrier_wait(&ready);
}

/* ---- a plugin (loads.c's) ---- */

static void plugins(const char *file)
{
    void *handle = dlopen(file, RTLD_NOW);
    void (*keep)(int), (*keep_local)(void);

    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
    *(void **)&keep = dlsym(handle, "keep");
    *(void **)&keep_local = dlsym(handle, "keep_local");
    if (keep_local)
        keep_local();
    keep(500);
    if (!keep_local)
        dlclose(handle);
}

/* ---- ends ---- */

CASE(reachable_of_main)

static void *returns(void *main_thread)
{
    pthread_join(*(pthread_t *)main_thread, NULL);
    return NULL;
}

static void end_main(void)
{
    static pthread_t self, t;

    self = pthread_self();
    pthread_create(&t, NULL, returns, &self);
    pthread_exit(NULL);
}

int main(int argc, char **argv)
{
    void *volatile of_main = reachable_of_main(601);

    variables();
    blocks();
    mappings();
    switching();
    if (argc < 2 || strcmp(argv[1], "thread") != 0)
        threads();
    for (int i = 2; i < argc; i++)
        plugins(argv[i]);
    wipe();
    puts("done");
    if (argc > 1 && strcmp(argv[1], "exit") == 0)
        exit(0);
    if (argc > 1 && strcmp(argv[1], "_exit") == 0)
        _exit(0);
    if (argc > 1 && strcmp(argv[1], "quick_exit") == 0)
        quick_exit(0);
    if (argc > 1 && strcmp(argv[1], "thread") == 0)
        end_main();
    free(of_main);
    return 0;
}
