#include "common/procpath.h"

static size_t add_text(struct proc_path *p, size_t at, const char *text)
{
    for (; *text && at < sizeof p->s - 1; text++)
        p->s[at++] = *text;
    p->s[at] = '\0';
    return at;
}

static size_t add_number(struct proc_path *p, size_t at, int number)
{
    unsigned left = number < 0 ? 0u - (unsigned)number : (unsigned)number;
    char digits[12];
    size_t first = sizeof digits - 1;

    digits[first] = '\0';
    do
        digits[--first] = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0)
        digits[--first] = '-';
    return add_text(p, at, digits + first);
}

static size_t begin(struct proc_path *p, pid_t pid, const char *what)
{
    size_t at = add_text(p, 0, "/proc/");

    if (pid == PROC_SELF || pid == PROC_THREAD_SELF)
        at = add_text(p, at, pid == PROC_SELF ? "self" : "thread-self");
    else
        at = add_number(p, at, pid);
    at = add_text(p, at, "/");
    for (size_t n = 0; n < 40 && what[n]; n++)
        p->s[at++] = what[n];
    p->s[at] = '\0';
    return at;
}

struct proc_path proc_path(pid_t pid, const char *what)
{
    struct proc_path p;

    begin(&p, pid, what);
    return p;
}

struct proc_path proc_path_of(pid_t pid, const char *what, int n)
{
    struct proc_path p;
    size_t at = begin(&p, pid, what);

    add_number(&p, add_text(&p, at, "/"), n);
    return p;
}
