#include "tracer/objects/fdinfo.h"

struct text {
    const char *at, *end;
};

static void blanks(struct text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t'))
        t->at++;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 16;
}

/* Reads a number: at least one digit, and no more digits than fit. */
static bool number(struct text *t, unsigned base, uint64_t *out)
{
    const char *start = t->at;

    *out = 0;
    for (; t->at < t->end && digit(*t->at) < (int)base; t->at++) {
        unsigned d = (unsigned)digit(*t->at);

        if (*out > (UINT64_MAX - d) / base)
            return false;
        *out = *out * base + d;
    }
    return t->at > start;
}

static bool word(struct text *t, const char *w)
{
    size_t n = strlen(w);

    blanks(t);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, w, n) != 0)
        return false;
    t->at += n;
    return true;
}

static bool column(struct text *t) /* skips one column */
{
    const char *start;

    blanks(t);
    start = t->at;
    while (t->at < t->end && *t->at != ' ' && *t->at != '\t' && *t->at != '\n')
        t->at++;
    return t->at > start;
}

enum anon_kind anon_kind(const char *link, size_t len)
{
    static const char *const names[] = {
        [ANON_EVENTFD] = "[eventfd]", [ANON_TIMERFD] = "[timerfd]", [ANON_SIGNALFD] = "[signalfd]",
        [ANON_INOTIFY] = "inotify",   [ANON_EPOLL] = "[eventpoll]", [ANON_IO_URING] = "[io_uring]",
        [ANON_PIDFD] = "[pidfd]",
    };
    struct text t = {link, link + len};

    if (!word(&t, "anon_inode:"))
        return ANON_NOT;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i] && strlen(names[i]) == (size_t)(t.end - t.at) &&
            memcmp(names[i], t.at, strlen(names[i])) == 0)
            return (enum anon_kind)i;
    return ANON_OTHER;
}

/* The line at *at, without its newline. */
static bool line_at(const char *text, size_t len, size_t *at, struct text *line)
{
    const char *end;

    if (*at >= len)
        return false;
    end = memchr(text + *at, '\n', len - *at);
    line->at = text + *at;
    line->end = end ? end : text + len;
    *at = (size_t)(line->end - text) + 1;
    return true;
}

bool fdinfo_number(const char *text, size_t len, const char *key, uint64_t *out)
{
    struct text t;

    for (size_t at = 0; line_at(text, len, &at, &t);) {
        if (!word(&t, key) || !word(&t, ":"))
            continue;
        blanks(&t);
        return number(&t, 10, out);
    }
    return false;
}

bool fdinfo_epoll(const char *text, size_t len, size_t *at, struct epoll_member *out)
{
    struct text t;

    while (line_at(text, len, at, &t)) {
        uint64_t fd, events;

        if (!word(&t, "tfd:"))
            continue;
        blanks(&t);
        if (!number(&t, 10, &fd) || fd > INT32_MAX || !word(&t, "events:"))
            continue;
        blanks(&t);
        if (!number(&t, 16, &events))
            continue;
        *out = (struct epoll_member){(unsigned)fd, (uint32_t)events, 0};
        while (t.at < t.end && !word(&t, "ino:"))
            if (!column(&t))
                break;
        if (t.at < t.end && t.at[-1] == ':')
            number(&t, 16, &out->ino);
        return true;
    }
    return false;
}

/* "0100007F:1F90": words of 32 bits, each in the order of the machine. */
static bool address(struct text *t, uint8_t bytes[16], uint16_t *port, bool *v6)
{
    size_t n = 0;
    uint64_t p;

    memset(bytes, 0, 16);
    blanks(t);
    while (n < 16 && t->end - t->at >= 8 && digit(*t->at) < 16) {
        struct text w = {t->at, t->at + 8};
        uint64_t v;
        uint32_t v32;

        if (!number(&w, 16, &v) || w.at != w.end)
            return false;
        v32 = (uint32_t)v;
        memcpy(bytes + n, &v32, sizeof v32);
        n += 4;
        t->at += 8;
    }
    if ((n != 4 && n != 16) || t->at >= t->end || *t->at++ != ':' || !number(t, 16, &p) ||
        p > UINT16_MAX)
        return false;
    *v6 = n == 16;
    *port = (uint16_t)p;
    return true;
}

/* "  0: LOCAL REMOTE ST TX:RX TR:WHEN RETRANS UID TIMEOUT INODE ..." */
bool net_line_parse(const char *line, size_t len, struct net_line *out)
{
    struct text t = {line, line + len};
    uint64_t slot, state;
    bool v6;

    blanks(&t);
    if (!number(&t, 10, &slot) || !word(&t, ":") ||
        !address(&t, out->local, &out->local_port, &out->v6) ||
        !address(&t, out->remote, &out->remote_port, &v6) || v6 != out->v6)
        return false;
    blanks(&t);
    if (!number(&t, 16, &state) || state > UINT8_MAX)
        return false;
    out->state = (unsigned)state;
    for (int i = 0; i < 5; i++)
        if (!column(&t))
            return false;
    blanks(&t);
    return number(&t, 10, &out->ino);
}

/* "0000000000000000: REFS PROTOCOL FLAGS TYPE ST INODE [PATH]" */
bool unix_line_parse(const char *line, size_t len, struct unix_line *out)
{
    struct text t = {line, line + len};
    uint64_t slot, flags;

    blanks(&t);
    if (!number(&t, 16, &slot) || !word(&t, ":") || !column(&t) || !column(&t))
        return false;
    blanks(&t);
    if (!number(&t, 16, &flags) || !column(&t) || !column(&t))
        return false;
    blanks(&t);
    if (!number(&t, 10, &out->ino))
        return false;
    out->listens = flags & 0x10000;
    if (t.at < t.end && *t.at == ' ')
        t.at++;
    out->path = t.at;
    out->path_len = (size_t)(t.end - t.at);
    return true;
}
