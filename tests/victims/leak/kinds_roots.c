/* Cases (kinds.h) of places of the first pointer: variables, mappings, memory of the loader and of
 * the C library, the kernel. */
#define _GNU_SOURCE
#include "tests/victims/leak/kinds.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static void **map_words(size_t size, int flags, int fd)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

    if (p == MAP_FAILED)
        abort();
    return p;
}

static void **map_pages(size_t pages)
{
    return map_words(pages * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

/* ---- variables ---- */

static void *in_bss, *in_data = &in_data;
static void *in_array[1000];

CASE(bss, BLOCK(reachable_bss))
{
    in_bss = reachable_bss(201);
}

CASE(data, BLOCK(reachable_data))
{
    in_data = reachable_data(202);
}

CASE(static_local, BLOCK(reachable_static_local))
{
    static void *local;

    local = reachable_static_local(203);
    (void)local;
}

CASE(array_end, BLOCK(reachable_array_end))
{
    in_array[999] = reachable_array_end(204);
}

/* Data that is read-only once the program runs: it was writable for a moment. */
__attribute__((section(".data.rel.ro"))) static void *volatile in_relro = &in_data;

CASE(relro, BLOCK(reachable_relro))
{
    char *page = (char *)((uintptr_t)&in_relro & -PAGE);

    if (mprotect(page, PAGE, PROT_READ | PROT_WRITE) != 0)
        abort();
    in_relro = reachable_relro(205);
    mprotect(page, PAGE, PROT_READ);
}

static __thread void *in_thread_data = &in_bss, *in_thread_bss;

CASE(thread_local, BLOCK(reachable_tdata) BLOCK(reachable_tbss))
{
    in_thread_data = reachable_tdata(206);
    in_thread_bss = reachable_tbss(207);
}

static pthread_key_t make_key(void)
{
    pthread_key_t key;

    if (pthread_key_create(&key, NULL) != 0)
        abort();
    return key;
}

CASE(specific, BLOCK(reachable_specific))
{
    pthread_setspecific(make_key(), reachable_specific(208));
}

/* Keys beyond the first 32 have memory of their own. */
CASE(specific_many, BLOCK(reachable_specific_many))
{
    for (int i = 0; i < 100; i++)
        pthread_setspecific(make_key(), reachable_specific_many(209));
}

/* ---- the program's arguments and environment ---- */

NOINLINE static char *reachable_putenv(void)
{
    return strdup("KINDS_PUT=1");
}

NOINLINE static void reachable_setenv(void)
{
    setenv("KINDS_SET", "a value that is kept", 1);
}

CASE(environment, NAMED(reachable_putenv) NAMED(reachable_setenv))
{
    putenv(reachable_putenv());
    reachable_setenv();
}

CASE(argument, BLOCK(reachable_argument))
{
    char *title = reachable_argument(20);

    strcpy(title, "another name");
    program_arguments[0] = title;
}

/* ---- mappings ---- */

CASE(mapped, BLOCK(reachable_mapped))
{
    map_pages(16)[5000] = reachable_mapped(210);
}

CASE(unmapped, BLOCK(definite_unmapped) BLOCK(reachable_beside_unmapped))
{
    void **m = map_pages(16);

    m[10] = reachable_beside_unmapped(211);
    m[12 * PAGE / sizeof *m] = definite_unmapped(212);
    munmap((char *)m + 12 * PAGE, PAGE);
}

CASE(given_back, BLOCK(definite_given_back))
{
    void **m = map_pages(16);

    m[512] = definite_given_back(213);
    madvise(m, 16 * PAGE, MADV_DONTNEED);
}

CASE(moved, BLOCK(reachable_moved))
{
    void **m = map_pages(1);

    m[1] = reachable_moved(214);
    if (mremap(m, PAGE, 64 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED)
        abort();
}

CASE(sealed, BLOCK(reachable_sealed))
{
    void **m = map_pages(4);

    m[700] = reachable_sealed(215);
    mprotect(m, 4 * PAGE, PROT_READ);
}

/* No one can read this mapping, so its pointer cannot be found. */
CASE(closed_off, BLOCK(definite_closed_off))
{
    void **m = map_pages(4);

    m[700] = definite_closed_off(216);
    mprotect(m, 4 * PAGE, PROT_NONE);
}

CASE(reserved_first, BLOCK(reachable_reserved))
{
    char *m = mmap(NULL, 1 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    mprotect(m + (64 << 20), 16 * PAGE, PROT_READ | PROT_WRITE);
    *(void **)(m + (64 << 20) + PAGE) = reachable_reserved(217);
}

CASE(huge_pages, BLOCK(reachable_huge_pages))
{
    void **m = map_pages(2048);

    madvise(m, 2048 * PAGE, MADV_HUGEPAGE);
    m[700000] = reachable_huge_pages(218);
}

CASE(shared_anonymous, BLOCK(reachable_shared_anonymous))
{
    map_words(PAGE, MAP_SHARED | MAP_ANONYMOUS, -1)[3] = reachable_shared_anonymous(219);
}

CASE(shared_memory, BLOCK(reachable_shared_memory))
{
    int fd = (int)syscall(SYS_memfd_create, "kinds", 0);

    if (ftruncate(fd, 3 * PAGE) != 0)
        abort();
    map_words(4 * PAGE, MAP_SHARED, fd)[3] = reachable_shared_memory(220);
    close(fd);
}

CASE(system_v, BLOCK(reachable_system_v))
{
    int id = shmget(IPC_PRIVATE, 4 * PAGE, IPC_CREAT | 0600);
    void **m = shmat(id, NULL, 0);

    shmctl(id, IPC_RMID, NULL);
    m[100] = reachable_system_v(221);
}

CASE(private_file, BLOCK(reachable_private_file))
{
    int fd = open("/proc/self/exe", O_RDONLY);

    map_words(PAGE, MAP_PRIVATE, fd)[100] = reachable_private_file(222);
    close(fd);
}

/* Behind the file's end there are no pages, though the mapping continues. */
CASE(short_file, BLOCK(reachable_short_file))
{
    int fd = (int)syscall(SYS_memfd_create, "kinds", 0);

    if (ftruncate(fd, 10) != 0)
        abort();
    map_words(8 * PAGE, MAP_PRIVATE, fd)[100] = reachable_short_file(223);
    close(fd);
}

CASE(program_break, BLOCK(reachable_break))
{
    void **m = sbrk(2 * PAGE);

    m[5] = reachable_break(224);
}

CASE(program_break_set, BLOCK(reachable_break_set))
{
    char *end = sbrk(0);
    void **m = (void **)(((uintptr_t)end + 63) & -(uintptr_t)64);

    if (brk(end + 2 * PAGE) != 0)
        abort();
    m[5] = reachable_break_set(251);
}

/* ---- modules that are loaded later ---- */

/* The plugin's functions, by name. */
static void *load(const char *symbol, int *(**keep)(void *))
{
    const char *file = getenv("KINDS_PLUGIN");
    void *handle = file ? dlopen(file, RTLD_NOW) : NULL;

    if (!handle) {
        fprintf(stderr, "KINDS_PLUGIN: %s\n", file ? dlerror() : "not set");
        exit(3);
    }
    *(void **)keep = dlsym(handle, symbol);
    return handle;
}

static void keep_in_plugin(const char *symbol, void *block)
{
    int *(*keep)(void *);

    load(symbol, &keep);
    keep(block);
}

CASE(plugin_bss, BLOCK(reachable_plugin_bss))
{
    keep_in_plugin("keep_in_bss", reachable_plugin_bss(225));
}

CASE(plugin_data, BLOCK(reachable_plugin_data))
{
    keep_in_plugin("keep_in_data", reachable_plugin_data(226));
}

CASE(plugin_thread_local, BLOCK(reachable_plugin_local))
{
    keep_in_plugin("keep_in_local", reachable_plugin_local(227));
}

CASE_ALONE(plugin_gone, BLOCK(definite_plugin_gone))
{
    int *(*keep)(void *);
    void *handle = load("keep_in_bss", &keep);

    keep(definite_plugin_gone(228));
    dlclose(handle);
}

NOINLINE static void *reachable_loaders(void)
{
    int *(*keep)(void *);

    return load("keep_in_bss", &keep);
}

/* Blocks that the loader itself allocates for a plugin. */
CASE_ALONE(plugin_handle, NAMED(reachable_loaders))
{
    reachable_loaders();
}

/* ---- kept by the C library ---- */

static void ignore(int status, void *arg)
{
    (void)status;
    (void)arg;
}

CASE(on_exit, BLOCK(reachable_on_exit))
{
    on_exit(ignore, reachable_on_exit(229));
}

/* More handlers than the C library has room for without memory of its own. */
CASE(on_exit_many, BLOCK(reachable_on_exit_many))
{
    for (int i = 0; i < 100; i++)
        on_exit(ignore, reachable_on_exit_many(230));
}

NOINLINE static FILE *reachable_file(void)
{
    return fopen("/dev/null", "w");
}

CASE(stdio_buffer, NAMED(reachable_file) BLOCK(reachable_stdio_buffer))
{
    FILE *f = reachable_file();

    setvbuf(f, reachable_stdio_buffer(BUFSIZ), _IOFBF, BUFSIZ);
    fputs("text", f);
}

static ssize_t read_nothing(void *cookie, char *buf, size_t size)
{
    (void)cookie;
    (void)buf;
    (void)size;
    return 0;
}

NOINLINE static void reachable_cookie_file(void *cookie)
{
    fopencookie(cookie, "r", (cookie_io_functions_t){.read = read_nothing});
}

CASE(stdio_cookie, NAMED(reachable_cookie_file) BLOCK(reachable_cookie))
{
    reachable_cookie_file(reachable_cookie(231));
}

NOINLINE static void definite_directory(void)
{
    opendir("/");
}

CASE(directory_lost, NAMED(definite_directory))
{
    definite_directory();
}

NOINLINE static void *reachable_regex(void)
{
    static regex_t regex;

    regcomp(&regex, "^a+(b|c)*$", REG_EXTENDED);
    return NULL;
}

CASE(regex, NAMED(reachable_regex))
{
    reachable_regex();
}

NOINLINE static char *reachable_line(FILE *f)
{
    static char *line;
    static size_t room;

    return getline(&line, &room, f) > 0 ? line : NULL;
}

CASE(line_buffer, NAMED(reachable_line))
{
    FILE *f = fopen("/proc/self/stat", "r");

    reachable_line(f);
    fclose(f);
}

CASE(timer_by_signal, BLOCK(definite_timer_value))
{
    struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGURG};
    timer_t timer;

    e.sigev_value.sival_ptr = definite_timer_value(232);
    timer_create(CLOCK_MONOTONIC, &e, &timer);
    memset(&e, 0, sizeof e);
}

/* ---- kept by the kernel alone: documented as leaks ---- */

CASE(epoll_data, BLOCK(definite_epoll_data))
{
    int ends[2], ep = epoll_create1(0);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = definite_epoll_data(233)};

    if (pipe(ends) != 0)
        abort();
    epoll_ctl(ep, EPOLL_CTL_ADD, ends[0], &e);
    memset(&e, 0, sizeof e);
}

CASE(in_a_pipe, BLOCK(definite_in_a_pipe))
{
    int ends[2];
    void *p = definite_in_a_pipe(234);

    if (pipe(ends) != 0 || write(ends[1], &p, sizeof p) != sizeof p)
        abort();
    p = NULL;
}

CASE(in_a_queued_signal, BLOCK(definite_queued))
{
    sigset_t set;
    union sigval value = {.sival_ptr = definite_queued(235)};

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 3);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sigqueue(getpid(), SIGRTMIN + 3, value);
    value.sival_ptr = NULL;
}

/* ---- stacks that are no thread's ---- */

static ucontext_t outside, on_map, on_block;

NOINLINE static void switch_back(ucontext_t *inside)
{
    wipe();
    swapcontext(inside, &outside);
}

ALLOCATES(reachable_on_map)
static void coroutine_on_map(void)
{
    void *volatile p = reachable_on_map(236);

    switch_back(&on_map);
    free(p);
}

static void enter(ucontext_t *inside, void *stack, size_t size, void (*function)(void))
{
    getcontext(inside);
    inside->uc_stack.ss_sp = stack;
    inside->uc_stack.ss_size = size;
    makecontext(inside, function, 0);
    swapcontext(&outside, inside);
}

CASE(coroutine, NAMED(reachable_on_map))
{
    enter(&on_map, map_pages(16), 16 * PAGE, coroutine_on_map);
}

ALLOCATES(reachable_on_block)
static void coroutine_on_block(void)
{
    void *volatile p = reachable_on_block(237);

    switch_back(&on_block);
    free(p);
}

CASE(coroutine_on_block, NAMED(reachable_on_block) BLOCK(reachable_coroutine_stack))
{
    enter(&on_block, reachable_coroutine_stack(65536), 65536, coroutine_on_block);
}

CASE(alternate_stack, BLOCK(reachable_alternate))
{
    stack_t alternate = {.ss_sp = reachable_alternate(65536), .ss_size = 65536};

    sigaltstack(&alternate, NULL);
    alternate.ss_sp = NULL;
}

ALLOCATES(reachable_in_handler)
static void handle(int number)
{
    void *volatile p = reachable_in_handler(238);

    (void)number;
    stay();
    free(p);
}

static void *takes_signal(void *stack)
{
    stack_t alternate = {.ss_sp = stack, .ss_size = 16 * PAGE};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

    sigaltstack(&alternate, NULL);
    sigaction(SIGUSR2, &action, NULL);
    pthread_kill(pthread_self(), SIGUSR2);
    return NULL;
}

CASE(in_a_signal_handler, NAMED(reachable_in_handler))
{
    begin_thread_with(takes_signal, map_pages(16), NULL);
}

CASE(jump_buffer, BLOCK(reachable_jump_buffer))
{
    static jmp_buf *buffer;

    buffer = reachable_jump_buffer(sizeof *buffer);
    if (setjmp(*buffer))
        abort();
}

CASE(below_the_stack, BLOCK(definite_below))
{
    void *volatile below[64];

    below[0] = definite_below(239);
    (void)below;
}
