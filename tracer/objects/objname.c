#define _GNU_SOURCE
#include "tracer/objects/objname.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/str_starts.h"
#include "common/procpath.h"
#include "common/sysnr.h"
#include "tracer/offcpu/calls.h"
#include "tracer/objects/fdinfo.h"
#include "tracer/objects/sockets.h"

#define LONG_NUMBER 4

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length of the random part of a temporary file's name that begins here, in the form of mkstemp and
 * Python: six or more letters and digits that change between capitals, small ones and digits at
 * least twice. */
static size_t random_part(const char *s, size_t len)
{
    size_t n, changes = 0;
    int kind, last = 0;

    for (n = 0; n < len; n++) {
        kind = is_digit(s[n])               ? 1
               : s[n] >= 'a' && s[n] <= 'z' ? 2
               : s[n] >= 'A' && s[n] <= 'Z' ? 3
                                            : 0;
        if (!kind && s[n] != '_')
            break;
        changes += kind && last && kind != last;
        last = kind ? kind : last;
    }
    return n >= 6 && changes >= 2 ? n : 0;
}

static bool is_temporary(const char *path, size_t len)
{
    return bytes_start_with(path, len, "/tmp/") || bytes_start_with(path, len, "/var/tmp/") ||
           bytes_start_with(path, len, "/dev/shm/");
}

void objname_path(const char *path, size_t len, bool keep, struct strbuf *out)
{
    static const char deleted[] = " (deleted)";
    size_t tail = sizeof deleted - 1;
    bool temporary = !keep && is_temporary(path, len);

    if (len > tail && path[0] == '/' && memcmp(path + len - tail, deleted, tail) == 0)
        len -= tail;
    for (size_t i = 0, n; i < len; i += n) {
        bool begin = i > 0 && (path[i - 1] == '/' || path[i - 1] == '.' || path[i - 1] == '-');

        n = temporary && begin ? random_part(path + i, len - i) : 0;
        if (n > 0) {
            if (bytes_start_with(path + i, n, "tmp"))
                strbuf_addstr(out, "tmp");
            else if (bytes_start_with(path + i, n, "cc"))
                strbuf_addstr(out, "cc");
            strbuf_addch(out, '*');
            continue;
        }
        for (n = 0; i + n < len && is_digit(path[i + n]);)
            n++;
        if (n >= LONG_NUMBER && !keep) {
            strbuf_addch(out, '*');
            continue;
        }
        if (n == 0)
            n = 1;
        for (size_t k = i; k < i + n; k++)
            strbuf_addch(out, (unsigned char)path[k] < ' ' || path[k] == 127 ? '?' : path[k]);
    }
}

static void add_inode(struct strbuf *out, const char *kind, uint64_t ino, bool keep)
{
    if (keep)
        strbuf_addf(out, "%s:[%llu]", kind, (unsigned long long)ino);
    else
        strbuf_addf(out, "%s:[*]", kind);
}

/* Adds " pipe:[*]", " /path", " tcp:...", by the text of the descriptor's link. */
static void read_fd(pid_t pid, pid_t tid, int fd, bool keep, struct strbuf *out)
{
    char text[4096];
    unsigned long long ino;
    ssize_t n = readlink(proc_path_of(tid, "fd", fd).s, text, sizeof text - 1);

    if (n <= 0)
        return;
    text[n] = 0;
    strbuf_addch(out, ' ');
    if (sscanf(text, "socket:[%llu]", &ino) == 1) {
        struct strbuf name = STRBUF_INIT;

        sockets_name(pid, fd, ino, keep, &name);
        objname_path(name.buf, name.len, true, out);
        strbuf_release(&name);
    } else if (sscanf(text, "pipe:[%llu]", &ino) == 1) {
        add_inode(out, "pipe", ino, keep);
    } else if (strncmp(text, "anon_inode:", 11) == 0) {
        const char *name = text + 11;
        size_t len = strlen(name);

        if (name[0] == '[' && len > 2) {
            name++;
            len -= 2;
        }
        objname_path(name, len, keep, out);
    } else {
        objname_path(text, (size_t)n, keep, out);
    }
}

/*
 * Cache of the names of descriptors whose objects are known. The name of a pipe or a connection
 * does not change during its life. So the last name is cached, one for each place of a small table.
 * (A file's name may change, so it is read each time.)
 */
#define KEPT_NAMES 256

struct kept_name {
    struct off_object object;
    pid_t pid;
    int fd;
    bool keep;
    uint8_t len;
    char text[100];
};

static bool has_lasting_name(const struct off_object *object)
{
    return object->kind == OFF_ON_PIPE || object->kind == OFF_ON_UNIX ||
           object->kind == OFF_ON_INET || object->kind == OFF_ON_EVENTFD;
}

int objname_cacheable_fd(int nr, const uint64_t args[6], const struct off_object *object)
{
    const struct call *c;

    if (!has_lasting_name(object) || nr == SYS_connect)
        return -1;
    c = call_find(nr);
    return c && c->object == CALL_ON_FD ? (int)args[c->fd_arg] : -1;
}

bool objname_is_whole(int nr, const struct strbuf *text)
{
    return text->len > strlen(call_shown(nr));
}

static void add_fd(pid_t pid, pid_t tid, int fd, const struct off_object *object, bool keep,
                   struct strbuf *out)
{
    static struct kept_name names[KEPT_NAMES];
    struct kept_name *k;
    size_t before = out->len;

    if (!has_lasting_name(object)) {
        read_fd(pid, tid, fd, keep, out);
        return;
    }
    k = &names[(object->a * 31 + object->b * 7 + (unsigned)pid + (unsigned)fd) % KEPT_NAMES];
    if (k->len && k->pid == pid && k->fd == fd && k->keep == keep && off_same(&k->object, object) &&
        k->object.side == object->side) {
        strbuf_add(out, k->text, k->len);
        return;
    }
    read_fd(pid, tid, fd, keep, out);
    if (out->len - before <= sizeof k->text && out->len > before) {
        *k = (struct kept_name){.object = *object, .pid = pid, .fd = fd, .keep = keep};
        k->len = (uint8_t)(out->len - before);
        memcpy(k->text, out->buf + before, k->len);
    }
}

static void add_address(const struct objects_call *call, bool keep, struct strbuf *out)
{
    const uint64_t *args = call->args;
    size_t len =
        args[2] < sizeof(struct sockaddr_storage) ? args[2] : sizeof(struct sockaddr_storage);
    struct strbuf name = STRBUF_INIT;
    struct sockaddr_storage sa;

    if (len && objects_peek(call, args[1], &sa, len) && sockets_address(&sa, len, keep, &name)) {
        strbuf_addch(out, ' ');
        objname_path(name.buf, name.len, true, out);
    } else {
        read_fd(call->pid, call->tid, (int)args[0], keep, out);
    }
    strbuf_release(&name);
}

static void add_file(const struct objects_call *call, bool keep, struct strbuf *out)
{
    struct strbuf path = STRBUF_INIT;
    const struct call *c = call_find(call->nr);

    if (c && objects_peek_string(call, call->args[c->fd_arg], &path)) {
        strbuf_addch(out, ' ');
        objname_path(path.buf, path.len, keep, out);
    }
    strbuf_release(&path);
}

static void add_set(const struct objects_call *call, const struct call *c, size_t n, bool keep,
                    struct strbuf *out)
{
    struct pollfd one;

    if (n == 1 && c->object == CALL_ON_POLLFDS && call->args[1] == 1 &&
        objects_peek(call, call->args[0], &one, sizeof one))
        read_fd(call->pid, call->tid, one.fd, keep, out);
    else
        strbuf_addf(out, " %zu %s", n, n == 1 ? "fd" : "fds");
}

/* Adds the area of a futex. False: it is in a module. */
static bool add_futex(struct objects *o, pid_t tid, uintptr_t address, struct strbuf *out)
{
    static const char *const areas[] = {
        [SPACE_HEAP] = " [heap]",     [SPACE_STACK] = " [stack]", [SPACE_ANON] = " [anon]",
        [SPACE_SHARED] = " [shared]", [SPACE_MODULE] = NULL,      [SPACE_NOWHERE] = NULL,
    };
    struct space_place place;

    objects_futex_place(o, tid, address, &place);
    if (areas[place.area])
        strbuf_addstr(out, areas[place.area]);
    return place.area != SPACE_MODULE;
}

/* Cuts out the middle of a long text, because the end identifies it better than the start. Cuts
 * between characters. */
static void shorten(struct strbuf *out)
{
    size_t head = OBJNAME_MAX / 8, from;

    if (out->len <= OBJNAME_MAX)
        return;
    from = out->len - (OBJNAME_MAX - head - 3);
    while (head > 0 && ((unsigned char)out->buf[head] & 0xc0) == 0x80)
        head--;
    while (from < out->len && ((unsigned char)out->buf[from] & 0xc0) == 0x80)
        from++;
    memcpy(out->buf + head, "...", 3);
    memmove(out->buf + head + 3, out->buf + from, out->len - from);
    strbuf_setlen(out, head + 3 + out->len - from);
}

bool objname_call(struct objects *o, const struct objects_call *call,
                  const struct off_object *object, size_t set_size, bool keep, struct strbuf *out)
{
    const struct call *c = call_find(call->nr);
    const uint64_t *args = call->args;
    pid_t pid = call->pid, tid = call->tid;
    int nr = call->nr;
    bool named = true;

    strbuf_clear(out);
    strbuf_addstr(out, call_shown(nr));
    switch (c ? (enum call_object)c->object : CALL_ON_NOTHING) {
    case CALL_ON_FD:
    case CALL_ON_LOCK:
    case CALL_ON_MQUEUE:
        if (nr == SYS_connect) /* only the other end of its socket can be named */
            add_address(call, keep, out);
        else
            add_fd(pid, tid, (int)args[c->fd_arg], object, keep, out);
        break;
    case CALL_ON_POLLFDS:
    case CALL_ON_FDSETS:
    case CALL_ON_EPOLL:
        add_set(call, c, set_size, keep, out);
        break;
    case CALL_ON_FUTEX:
        named = add_futex(o, tid, objects_futex_address(tid, nr, args), out);
        break;
    case CALL_ON_PATH:
        add_file(call, keep, out);
        break;
    case CALL_ON_CHILD:
        strbuf_addstr(out, " child");
        break;
    case CALL_ON_SEM:
        strbuf_addch(out, ' ');
        add_inode(out, "sem", object->a, keep);
        break;
    case CALL_ON_MSGQ:
        strbuf_addch(out, ' ');
        add_inode(out, "msgq", object->a, keep);
        break;
    default:
        break;
    }
    shorten(out);
    return named;
}

enum trace_off_kind objname_kind(int nr, const struct off_object *object)
{
    const struct call *c = call_find(nr);

    switch (object->kind) {
    case OFF_ON_FUTEX:
        return TRACE_OFF_LOCK;
    case OFF_ON_FILE:
    case OFF_ON_AIO:
        return TRACE_OFF_FILE;
    case OFF_ON_INET:
        return TRACE_OFF_NETWORK;
    case OFF_ON_PIPE:
    case OFF_ON_UNIX:
    case OFF_ON_EVENTFD:
    case OFF_ON_MQUEUE:
    case OFF_ON_MSGQ:
        return TRACE_OFF_LOCAL;
    case OFF_ON_SET:
        return TRACE_OFF_POLL;
    case OFF_ON_TIMERFD:
    case OFF_ON_SLEEP:
        return TRACE_OFF_TIMER;
    case OFF_ON_CHILD:
        return TRACE_OFF_CHILD;
    case OFF_ON_SIGNAL:
    case OFF_ON_SIGNALFD:
        return TRACE_OFF_SIGNAL;
    case OFF_ON_TTY:
        return TRACE_OFF_TERMINAL;
    case OFF_ON_SEM:
    case OFF_ON_LOCK:
        return TRACE_OFF_IPC;
    default: /* the descriptor is closed by now, or of an unknown kind */
        return c && (c->object == CALL_ON_POLLFDS || c->object == CALL_ON_FDSETS ||
                     c->object == CALL_ON_EPOLL)
                   ? TRACE_OFF_POLL
                   : TRACE_OFF_OTHER;
    }
}
