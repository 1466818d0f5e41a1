#include "common/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/termtext.h"

static void say(const char *fmt, va_list ap)
{
    char text[2048 - sizeof "flame: "], line[3072] = "flame: ";
    size_t end = strlen(line);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;

    end += termtext_copy(line + end, sizeof line - end - 1, text, len);
    line[end++] = '\n';
    fflush(stdout);
    /* A closed or full standard error: the line cannot be reported anywhere. */
    if (write(STDERR_FILENO, line, end) < 0)
        return;
}

int flame_error(int status, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
    return status;
}

int flame_cannot_read(const char *path, int err)
{
    bool named = path && strcmp(path, "-") != 0;
    const char *advice = err == -ENOENT || err == -ENOTDIR ? "; check the name"
                         : err == -EISDIR                  ? "; name a file in it"
                                                           : "";

    return flame_error(FLAME_USAGE, "%s: cannot read: %s%s", named ? path : "standard input",
                       strerror(-err), named ? advice : "");
}

/* Whether the error is about the path, not about the work on the file. */
static bool is_wrong_place(int err)
{
    static const int wrong[] = {ENOENT, ENOTDIR, EACCES, EPERM, EROFS, ELOOP, ENAMETOOLONG};

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        if (err == -wrong[i])
            return true;
    return false;
}

int flame_cannot_write(const char *path, int err)
{
    bool named = path && strcmp(path, "-") != 0, is_wrong = is_wrong_place(err);
    const char *advice;

    if (err == FLAME_OTHERS_PIPE)
        return flame_error(FLAME_USAGE,
                           "%s: cannot write: it is a pipe that another user has made, in a "
                           "directory where all may; name another file",
                           path);
    advice = is_wrong         ? "; choose a directory that is there and writable"
             : err == -EISDIR ? "; name a file in it"
                              : "";

    return flame_error(is_wrong || err == -EISDIR ? FLAME_USAGE : FLAME_FAILED,
                       "%s: cannot write: %s%s", named ? path : "standard output", strerror(-err),
                       named ? advice : "");
}

void flame_warn(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
}

static const char *const domains[] = {"events", "stacks", "symbols", "replay"};

/* Bits by domain, from a list of names; *wrong is the first unknown name, or NULL. */
static unsigned read_domains(const char *list, const char **wrong)
{
    unsigned bits = 0;
    size_t len;

    *wrong = NULL;
    for (const char *s = list; *s; s += len + (s[len] == ',')) {
        unsigned i = 0;

        len = strcspn(s, ",");
        while (i < ARRAY_LEN(domains) &&
               !(strlen(domains[i]) == len && strncmp(domains[i], s, len) == 0))
            i++;
        if (i < ARRAY_LEN(domains))
            bits |= 1u << i;
        else if (len && !*wrong)
            *wrong = s;
    }
    return bits;
}

int flame_debug_check(void)
{
    const char *list = getenv("FLAME_DEBUG"), *wrong = NULL;
    char known[64] = "";
    size_t at = 0;

    if (list)
        read_domains(list, &wrong);
    if (!wrong)
        return FLAME_OK;
    for (unsigned i = 0; i < ARRAY_LEN(domains); i++)
        at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", domains[i]);
    return flame_error(FLAME_USAGE, "FLAME_DEBUG knows %s, but not '%.*s'", known,
                       (int)strcspn(wrong, ","), wrong);
}

bool flame_debugs(enum flame_domain domain)
{
    static bool known;
    static unsigned bits;

    if (unlikely(!known)) {
        const char *list = getenv("FLAME_DEBUG"), *wrong;

        bits = list ? read_domains(list, &wrong) : 0;
        known = true;
    }
    return bits & 1u << domain;
}

void flame_debug(enum flame_domain domain, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    flame_warn("%s: %s", domains[domain], text);
}

void flame_debug_line(enum flame_domain domain, const char *line, size_t len)
{
    char head[32];
    int n = snprintf(head, sizeof head, "flame: %s: ", domains[domain]);
    struct iovec parts[] = {{head, (size_t)n}, {(char *)(uintptr_t)line, len}, {(char[]){'\n'}, 1}};

    fflush(stdout);
    /* A closed or full standard error: the line cannot be reported anywhere. */
    if (writev(STDERR_FILENO, parts, ARRAY_LEN(parts)) < 0)
        return;
}
