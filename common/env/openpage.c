#define _GNU_SOURCE
#include "common/env/openpage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/str_starts.h"
#include "common/env/preloadlist.h"
#include "common/error.h"
#include "common/sysnr.h"

#define OPTIONS "FLAMEMEM_OPTIONS="

void openpage_add_address(struct strbuf *sb, const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "-._~/+,@:=";

    strbuf_addstr(sb, "file://");
    for (const char *s = path; *s; s++)
        if (strchr(plain, *s))
            strbuf_addch(sb, *s);
        else
            strbuf_addf(sb, "%%%02X", (unsigned)(unsigned char)*s);
}

size_t openpage_add_words(struct strbuf *sb, const char *command, size_t len, const char *address)
{
    const char *end = command + len;
    bool placed = false;
    size_t n = 0;

    for (const char *s = command; s < end;) {
        if (*s == ' ' || *s == '\t') {
            s++;
            continue;
        }
        for (; s < end && *s != ' ' && *s != '\t'; s++) {
            bool known = *s == '%' && s + 1 < end && strchr("s%c", s[1]) && s[1];

            if (!known) {
                strbuf_addch(sb, *s);
                continue;
            }
            s++;
            if (*s == 's')
                strbuf_addstr(sb, address);
            else
                strbuf_addch(sb, *s == 'c' ? ':' : '%');
            placed |= *s == 's';
        }
        strbuf_addch(sb, '\0');
        n++;
    }
    if (n && !placed) {
        strbuf_addstr(sb, address);
        strbuf_addch(sb, '\0');
        n++;
    }
    return n;
}

static const char *setting(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Path of the program, as execvp finds it; the caller frees it. NULL: not found. */
static char *find_program(const char *name)
{
    const char *list = getenv("PATH");
    struct strbuf path = STRBUF_INIT;

    if (strchr(name, '/'))
        return is_program(name) ? xstrdup(name) : NULL;
    for (const char *s = list ? list : "/usr/local/bin:/usr/bin:/bin", *end;; s = end + 1) {
        end = strchrnul(s, ':');
        strbuf_clear(&path);
        strbuf_add(&path, s, (size_t)(end - s));
        strbuf_addf(&path, "%s%s", path.len ? "/" : "./", name);
        if (is_program(path.buf))
            return strbuf_detach(&path, NULL);
        if (!*end)
            break;
    }
    strbuf_release(&path);
    return NULL;
}

struct opener {
    char *program; /* NULL: none */
    struct strbuf words;
    size_t nwords;
};

static bool take_command(struct opener *o, const char *command, size_t len, const char *address)
{
    strbuf_clear(&o->words);
    o->nwords = openpage_add_words(&o->words, command, len, address);
    o->program = o->nwords ? find_program(o->words.buf) : NULL;
    return o->program != NULL;
}

/* NULL, or why no opener was found. */
static const char *find_opener(struct opener *o, const char *address)
{
    static const char *const usual[] = {"xdg-open", "sensible-browser"};
    const char *own = setting("BROWSER");

    for (const char *s = own, *end; s; s = *end ? end + 1 : NULL) {
        end = strchrnul(s, ':');
        if (take_command(o, s, (size_t)(end - s), address))
            return NULL;
    }
    if (own)
        return "what BROWSER names is not there";
    if (setting("SSH_CONNECTION") || setting("SSH_TTY"))
        return "this is another machine than the desktop's (SSH_CONNECTION)";
    if (!setting("DISPLAY") && !setting("WAYLAND_DISPLAY"))
        return "there is no desktop (DISPLAY, WAYLAND_DISPLAY)";
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        if (take_command(o, usual[i], strlen(usual[i]), address))
            return NULL;
    return "neither xdg-open nor sensible-browser is there, and BROWSER is not set";
}

static void close_others(void)
{
    long most = sysconf(_SC_OPEN_MAX);

    if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0)
        return;
    for (int fd = 3; fd < (most > 0 && most < 65536 ? (int)most : 65536); fd++)
        close(fd);
}

/* Runs in the process that becomes the browser. */
static _Noreturn void become(const char *program, char **argv, char *const *envp)
{
    int null = open("/dev/null", O_RDWR);
    sigset_t none;

    for (int fd = 0; fd < 3 && null >= 0; fd++)
        dup2(null, fd);
    close_others();
    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (null >= 0)
        execve(program, argv, envp);
    _exit(127);
}

/* Starts the browser from a process that ends at once: so no parent has to wait for the browser,
 * and it has no controlling terminal. */
static bool start(const char *program, char **argv, char *const *envp)
{
    pid_t pid = fork();

    if (pid == 0) {
        setsid();
        if (fork() == 0)
            become(program, argv, envp);
        _exit(0);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return pid > 0;
}

/* Starts the browser in an environment without the variables that have programs recorded. */
static bool start_unrecorded(const struct opener *o, char **argv)
{
    struct preloadlist_copy memory, waits;
    size_t n = 0, kept = 0;
    char *const *from, **envp;
    bool started;

    preloadlist_without(&memory, environ, "libflamemem.so");
    from = memory.envp ? memory.envp : environ;
    preloadlist_without(&waits, from, "libflamewait.so");
    from = waits.envp ? waits.envp : from;
    while (from && from[n])
        n++;
    envp = xcalloc(n + 1, sizeof *envp);
    for (size_t i = 0; i < n; i++)
        if (!starts_with(from[i], OPTIONS))
            envp[kept++] = from[i];
    started = start(o->program, argv, envp);
    free(envp);
    preloadlist_release(&waits);
    preloadlist_release(&memory);
    return started;
}

void openpage(const char *path)
{
    struct opener o = {NULL, STRBUF_INIT, 0};
    struct strbuf address = STRBUF_INIT;
    char *whole = realpath(path, NULL), **argv;
    const char *why;

    openpage_add_address(&address, whole ? whole : path);
    why = find_opener(&o, address.buf);
    if (!why) {
        const char *word = o.words.buf;

        argv = xcalloc(o.nwords + 1, sizeof *argv);
        for (size_t i = 0; i < o.nwords; i++, word += strlen(word) + 1)
            argv[i] = (char *)(uintptr_t)word;
        if (!start_unrecorded(&o, argv))
            why = strerror(errno);
        free(argv);
    }
    if (why)
        flame_warn("--open: open %s yourself: %s", address.buf, why);
    free(o.program);
    free(whole);
    strbuf_release(&o.words);
    strbuf_release(&address);
}
