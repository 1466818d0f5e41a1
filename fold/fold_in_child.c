/*
 * Debug information is outside input, and libdwarf does not survive all of it: the version in
 * Debian 12 frees a list twice when .debug_rnglists makes no sense, before the caller can check
 * anything. Names are worth more than inlined frames, so DWARF is read in a child. The child
 * writes into shared memory whose debug information it is about to read. If the child dies, that
 * module is not read again, and another child starts from the beginning. All reading is over
 * before the first byte of text is emitted, so no output is ever half-made.
 *
 * The child's standard error goes to a file in memory first: libc's messages about a broken heap
 * are of no use to a user, and after a second attempt every warning would appear twice.
 *
 * Rejected: a child for libdwarf alone, asked for one address at a time. That is two context
 * switches an address; this is one fork a fold.
 */
#define _GNU_SOURCE
#include "fold/fold_in_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/lazyload/lazyload.h"
#include "fold/symbols/debuginfod.h"

/* Number of modules that may kill the child; the next child reads no debug information. */
#define ATTEMPTS_MAX 16

/* Exit status of a child that lacks a library (lazyload.h), which is no fault of the file it read.
 */
#define LACKS_LIBRARY 3

struct shared {
    int done; /* the child has finished */
    int status;
    char reading[SYMBOLS_PATH_MAX];
};

static void write_all(int fd, const char *s, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, s, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(FLAME_FAILED); /* the parent is gone or has stopped reading */
        s += n;
        len -= (size_t)n;
    }
}

/* The child's sink. It collects lines, so that each write carries several. */
struct sender {
    struct strbuf sb;
    int fd;
};

static void send_text(void *opaque, const char *text, size_t len)
{
    struct sender *s = opaque;

    strbuf_add(&s->sb, text, len);
    if (s->sb.len < 65536)
        return;
    write_all(s->fd, s->sb.buf, s->sb.len);
    strbuf_clear(&s->sb);
}

static FLAME_NORETURN void child(const struct fold_options *opt, struct trace *const *traces,
                                 size_t ntraces, guarded_work work, int out, int messages,
                                 struct shared *shared)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    struct sender s = {STRBUF_INIT, out};
    struct rlimit none = {0, 0};

    for (size_t i = 0; i < ARRAY_LEN(fatal); i++)
        signal(fatal[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
    late_missing_status = LACKS_LIBRARY;
    if (messages >= 0)
        dup2(messages, STDERR_FILENO);
    shared->status = work(opt, traces, ntraces, send_text, &s);
    write_all(out, s.sb.buf, s.sb.len);
    shared->done = 1;
    _exit(0);
}

/* Copies bytes from `fd` to the sink until its end; returns their number. */
static size_t receive(int fd, aggregate_sink sink, void *opaque)
{
    char *buf = xmalloc(65536);
    size_t total = 0;

    for (;;) {
        ssize_t n = read(fd, buf, 65536);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        sink(opaque, buf, (size_t)n);
        total += (size_t)n;
    }
    free(buf);
    return total;
}

/* Prints the child's messages, unless it died: then the next child will print them. */
static void pass_messages(int messages, bool done)
{
    struct strbuf sb = STRBUF_INIT;

    if (messages < 0)
        return;
#ifdef __SANITIZE_ADDRESS__
    done = true; /* a sanitizer's report must be seen */
#endif
    if (done && lseek(messages, 0, SEEK_SET) == 0 && strbuf_read_fd(&sb, messages) == 0 &&
        write(STDERR_FILENO, sb.buf, sb.len) < 0)
        strbuf_clear(&sb); /* a closed standard error cannot show the messages */
    strbuf_release(&sb);
    close(messages);
}

/* One attempt. True when the child has finished or has emitted text. */
static bool attempt(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                    aggregate_sink sink, void *opaque, guarded_work work, struct shared *shared)
{
    int pipes[2], messages = memfd_create("flame-messages", MFD_CLOEXEC);
    struct fold_options plain = *opt;
    size_t got;
    int status = 0;
    pid_t pid = -1;

    shared->done = 0;
    shared->reading[0] = '\0';
    fflush(stdout);
    if (pipe2(pipes, O_CLOEXEC) == 0) {
        pid = fork();
        if (pid == 0) {
            close(pipes[0]); /* or the child would wait for ever if this process ends early */
            child(opt, traces, ntraces, work, pipes[1], messages, shared);
        }
        close(pipes[1]);
        if (pid < 0)
            close(pipes[0]);
    }
    if (pid < 0) {
        if (messages >= 0)
            close(messages);
        plain.symbols.no_inline = true;
        plain.symbols.lines = false;
        plain.symbols.reading = NULL;
        shared->status = work(&plain, traces, ntraces, sink, opaque);
        return true;
    }
    got = receive(pipes[0], sink, opaque);
    close(pipes[0]);
    /* waitpid fails where SIGCHLD is ignored; shared memory has the child's result in any case. */
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!shared->done && WIFEXITED(status) && WEXITSTATUS(status) == LACKS_LIBRARY) {
        shared->done = 1;
        shared->status = FLAME_FAILED;
    }
    pass_messages(messages, shared->done);
    if (!shared->done && got > 0)
        shared->status =
            flame_error(FLAME_FAILED, "folding died half-way; try 'flame fold --no-inline'");
    return shared->done || got > 0;
}

int fold_in_child(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                  aggregate_sink sink, void *opaque, guarded_work work)
{
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct fold_options o = *opt;
    char *distrusted[ATTEMPTS_MAX];
    size_t n = 0;
    int status;

    if (shared == MAP_FAILED)
        return flame_error(FLAME_FAILED, "no memory to fold in; use a machine with more");
    debuginfod_share();
    o.symbols.distrusted = (const char *const *)distrusted;
    o.symbols.reading = shared->reading;
    while (!attempt(&o, traces, ntraces, sink, opaque, work, shared)) {
        if (!shared->reading[0] || n == ATTEMPTS_MAX) {
            shared->status = flame_error(
                FLAME_FAILED, "folding died of a file's symbols; try 'flame fold --no-inline'");
            break;
        }
        shared->reading[SYMBOLS_PATH_MAX - 1] = '\0';
        flame_warn("%s: libdwarf cannot read its debug information; its inlined frames and lines "
                   "are left out",
                   shared->reading);
        distrusted[n++] = xstrdup(shared->reading);
        o.symbols.ndistrusted = n;
    }
    status = shared->status;
    while (n > 0)
        free(distrusted[--n]);
    munmap(shared, sizeof *shared);
    return status;
}
