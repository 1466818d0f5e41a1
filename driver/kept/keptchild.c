/*
 * The child answers the questions in their order through a pipe, each by four bytes of length and
 * the text. Shared memory has the path of the module whose debug information it reads.
 */
#define _GNU_SOURCE
#include "driver/kept/keptchild.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "fold/symbols/debuginfod.h"

#define SECONDS 30 /* of CPU time */
#define ANSWER_MAX (1u << 20)

struct run {
    struct keptnames *k;
    const struct keptchild *c;
    struct symbol_options options; /* of the child */
};

static bool write_all(int fd, const char *s, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, s, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        s += n;
        len -= (size_t)n;
    }
    return true;
}

static bool read_all(int fd, char *s, size_t len)
{
    while (len > 0) {
        ssize_t n = read(fd, s, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        s += n;
        len -= (size_t)n;
    }
    return true;
}

/* Signals end the child, without flame's handlers and without a core file. */
static void set_limits(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS,  SIGABRT, SIGFPE,
                                SIGILL,  SIGXCPU, SIGTERM, SIGPIPE};
    struct rlimit none = {0, 0}, cpu = {SECONDS, SECONDS};

    for (size_t i = 0; i < ARRAY_LEN(fatal); i++)
        signal(fatal[i], SIG_DFL);
    signal(SIGINT, SIG_IGN); /* Ctrl-C ends a recording, and its names are still wanted */
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &cpu);
}

/* libc's messages about a broken heap are of no use to a user; a sanitizer's must be seen. */
static void hide_messages(void)
{
#ifndef __SANITIZE_ADDRESS__
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (null >= 0)
        dup2(null, STDERR_FILENO);
#endif
}

static FLAME_NORETURN void child(struct run *run, size_t first, int out)
{
    struct strbuf sb = STRBUF_INIT;
    bool is_open = true;

    set_limits();
    hide_messages();
    run->k->symbols = symbols_new(&run->options);
    for (size_t i = first; i < run->c->n && is_open; i++) {
        uint32_t len = 0;

        strbuf_clear(&sb);
        strbuf_add(&sb, &len, sizeof len);
        run->c->answer(run->c->opaque, run->k, i, &sb);
        len = (uint32_t)(sb.len - sizeof len);
        memcpy(sb.buf, &len, sizeof len);
        is_open = write_all(out, sb.buf, sb.len);
    }
    _exit(0);
}

/* Passes on the answers from number `i` on; returns the number of the first that is missing. */
static size_t receive(const struct keptchild *c, size_t i, int fd)
{
    uint32_t len;

    for (; i < c->n && read_all(fd, (char *)&len, sizeof len) && len <= ANSWER_MAX; i++) {
        char *text = xcalloc(1, (size_t)len + 1);
        bool whole = read_all(fd, text, len);

        if (whole)
            c->take(c->opaque, i, text, len);
        free(text);
        if (!whole)
            break;
    }
    return i;
}

/* One child, for the answers from number `first` on; returns the number of the first that is
 * missing. */
static size_t attempt(struct run *run, size_t first)
{
    size_t end = first;
    int pipes[2];
    pid_t pid;

    if (pipe2(pipes, O_CLOEXEC) != 0)
        return first;
    pid = fork();
    if (pid == 0) {
        close(pipes[0]);
        child(run, first, pipes[1]);
    }
    close(pipes[1]);
    if (pid > 0)
        end = receive(run->c, first, pipes[0]);
    close(pipes[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return end;
}

static void distrust(struct keptnames *k, char *reading)
{
    reading[SYMBOLS_PATH_MAX - 1] = '\0';
    flame_warn(
        "%s: libdwarf cannot read its debug information; members of its variables have no names",
        reading);
    k->distrusted[k->ndistrusted++] = xstrdup(reading);
}

size_t keptchild_run(struct keptnames *k, const struct keptchild *c)
{
    char *reading =
        mmap(NULL, SYMBOLS_PATH_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct run run = {.k = k, .c = c};
    size_t at = 0;

    if (reading == MAP_FAILED)
        return 0;
    debuginfod_share();
    run.options.reading = reading;
    run.options.distrusted = (const char *const *)k->distrusted;
    for (;;) {
        reading[0] = '\0';
        run.options.ndistrusted = k->ndistrusted;
        at = attempt(&run, at);
        if (at == c->n || !reading[0] || k->ndistrusted == KEPTNAMES_DISTRUSTED_MAX)
            break;
        distrust(k, reading);
    }
    munmap(reading, SYMBOLS_PATH_MAX);
    return at;
}
