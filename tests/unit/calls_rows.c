#define _GNU_SOURCE
#include "tests/unit/calls_rows.h"

#include <string.h>

#include "common/sysnr.h"

#define CALL(call) .nr = SYS_##call, .name = #call

static const struct call_row rows[] = {
    {CALL(read), "fd buf count", "fd(fd) sleeps wakes eintr takes 0=hangup-if-asked"},
    {CALL(readv), "fd iov iovcnt", "fd(fd) sleeps wakes eintr takes 0=hangup"},
    {CALL(pread64), "fd buf count offset", "fd(fd) sleeps takes", "pread"},
    {CALL(preadv), "fd iov iovcnt offset offset_high", "fd(fd) sleeps takes"},
    {CALL(preadv2), "fd iov iovcnt offset offset_high flags",
     "fd(fd) sleeps wakes eintr takes 0=hangup"},
    {CALL(write), "fd buf count", "fd(fd) sleeps wakes eintr short resumes puts"},
    {CALL(writev), "fd iov iovcnt", "fd(fd) sleeps wakes eintr short puts"},
    {CALL(pwrite64), "fd buf count offset", "fd(fd) sleeps wakes puts", "pwrite"},
    {CALL(pwritev), "fd iov iovcnt offset offset_high", "fd(fd) sleeps wakes puts"},
    {CALL(pwritev2), "fd iov iovcnt offset offset_high flags",
     "fd(fd) sleeps wakes eintr short puts"},
    {CALL(getdents), "fd buf count", "fd(fd) sleeps"},
    {CALL(getdents64), "fd buf count", "fd(fd) sleeps"},
    {CALL(readahead), "fd offset count", "fd(fd) sleeps"},
    {CALL(sendfile), "out_fd in_fd offset_at count", "fd(out_fd) sleeps wakes eintr short puts"},
    {CALL(splice), "fd_in off_in fd_out off_out count flags", "fd(fd_in) sleeps wakes eintr short"},
    {CALL(tee), "fd_in fd_out count flags", "fd(fd_in) sleeps wakes eintr short"},
    {CALL(vmsplice), "fd iov iovcnt flags", "fd(fd) sleeps wakes eintr short puts"},
    {CALL(copy_file_range), "fd_in off_in fd_out off_out count flags",
     "fd(fd_in) sleeps wakes short"},
    {CALL(close), "fd", "fd(fd) wakes closes ends"},
    {CALL(dup2), "oldfd newfd", "fd(newfd) wakes closes ends"},
    {CALL(dup3), "oldfd newfd flags", "fd(newfd) wakes closes ends"},
    {CALL(close_range), "first last flags", "nothing wakes closes-many"},
    {CALL(ioctl), "fd op arg", "fd(fd) sleeps if(op)=0x5409,0x5425,0x5403,0x5404"},
    {CALL(open), "path flags mode", "path(path) sleeps wakes opens"},
    {CALL(openat), "dirfd path flags mode", "path(path) sleeps wakes opens", "open"},
    {CALL(openat2), "dirfd path how_to size", "path(path) sleeps wakes opens", "open"},
    {CALL(creat), "path mode", "path(path) sleeps wakes opens"},
    {CALL(unlink), "path", "path(path) sleeps wakes"},
    {CALL(unlinkat), "dirfd path flags", "path(path) sleeps wakes"},
    {CALL(rename), "oldpath newpath", "path(newpath) sleeps wakes"},
    {CALL(renameat), "olddirfd oldpath newdirfd newpath", "path(newpath) sleeps wakes"},
    {CALL(renameat2), "olddirfd oldpath newdirfd newpath flags", "path(newpath) sleeps wakes"},
    {CALL(mkdir), "path mode", "path(path) sleeps wakes"},
    {CALL(mkdirat), "dirfd path mode", "path(path) sleeps wakes"},
    {CALL(rmdir), "path", "path(path) sleeps wakes"},
    {CALL(truncate), "path length", "path(path) sleeps wakes"},
    {CALL(ftruncate), "fd length", "fd(fd) sleeps wakes"},
    {CALL(fallocate), "fd mode offset length", "fd(fd) sleeps wakes"},
    {CALL(fsync), "fd", "fd(fd) sleeps"},
    {CALL(fdatasync), "fd", "fd(fd) sleeps"},
    {CALL(sync_file_range), "fd offset nbytes flags", "fd(fd) sleeps"},
    {CALL(syncfs), "fd", "fd(fd) sleeps"},
    {CALL(sync), "", "disk sleeps"},
    {CALL(msync), "addr length flags", "disk sleeps"},
    {CALL(fcntl), "fd op arg", "lock(fd) sleeps wakes if(op)=0x6,0x7,0x25,0x26 decides"},
    {CALL(flock), "fd op", "lock(fd) sleeps wakes decides"},
    {CALL(poll), "fds nfds timeout_ms", "pollfds sleeps restarts 0=timeout if(timeout_ms)"},
    {CALL(ppoll), "fds nfds timeout sigmask sigsetsize", "pollfds sleeps 0=timeout", "poll"},
    {CALL(select), "nfds readfds writefds exceptfds timeval", "fdsets sleeps 0=timeout"},
    {CALL(pselect6), "nfds readfds writefds exceptfds timeout sigmask", "fdsets sleeps 0=timeout",
     "select"},
    {CALL(epoll_wait), "epfd events maxevents timeout_ms",
     "epoll(epfd) sleeps eintr 0=timeout ms(timeout_ms) if(timeout_ms)"},
    {CALL(epoll_pwait), "epfd events maxevents timeout_ms sigmask sigsetsize",
     "epoll(epfd) sleeps eintr 0=timeout ms(timeout_ms) if(timeout_ms)", "epoll_wait"},
    {CALL(epoll_pwait2), "epfd events maxevents timeout sigmask sigsetsize",
     "epoll(epfd) sleeps eintr 0=timeout timespec(timeout)", "epoll_wait"},
    {CALL(epoll_ctl), "epfd op fd event", "fd(epfd) wakes epoll"},
    {CALL(connect), "sockfd to tolen", "fd(sockfd) sleeps wakes eintr puts address(to)"},
    {CALL(accept), "sockfd from fromlen", "fd(sockfd) sleeps wakes eintr takes"},
    {CALL(accept4), "sockfd from fromlen flags", "fd(sockfd) sleeps wakes eintr takes", "accept"},
    {CALL(recvfrom), "sockfd buf count msgflags from fromlen",
     "fd(sockfd) sleeps wakes eintr short takes 0=hangup-if-asked how(msgflags) decides", "recv"},
    {CALL(recvmsg), "sockfd msg msgflags",
     "fd(sockfd) sleeps wakes eintr short takes 0=hangup how(msgflags) decides"},
    {CALL(recvmmsg), "sockfd msgvec vlen msgflags timeout",
     "fd(sockfd) sleeps wakes eintr short takes how(msgflags) decides"},
    {CALL(sendto), "sockfd buf count msgflags to tolen",
     "fd(sockfd) sleeps wakes eintr short resumes puts address(to) how(msgflags) decides", "send"},
    {CALL(sendmsg), "sockfd msg msgflags",
     "fd(sockfd) sleeps wakes eintr short puts how(msgflags) decides"},
    {CALL(sendmmsg), "sockfd msgvec vlen msgflags",
     "fd(sockfd) sleeps wakes eintr short puts how(msgflags) decides"},
    {CALL(shutdown), "sockfd how", "fd(sockfd) wakes ends"},
    {CALL(futex), "uaddr futex_op val timeout uaddr2 val3", "futex sleeps wakes restarts decides"},
    {CALL(futex_waitv), "waiters nr_futexes flags timeout clockid", "futex sleeps", "futex"},
    {CALL(futex_wake), "uaddr mask nr flags", "futex wakes", "futex"},
    {CALL(futex_wait), "uaddr val mask flags timeout clockid", "futex sleeps", "futex"},
    {CALL(futex_requeue), "waiters flags nr_wake nr_requeue", "futex wakes", "futex"},
    {CALL(nanosleep), "duration remaining", "time sleeps restarts 0=timeout"},
    {CALL(clock_nanosleep), "clockid flags duration remaining", "time sleeps restarts 0=timeout",
     "nanosleep"},
    {CALL(wait4), "pid wstatus options rusage", "child(pid) sleeps pid unless(options)&0x1"},
    {CALL(waitid), "idtype id infop options rusage", "child(id) sleeps id unless(options)&0x1"},
    {CALL(vfork), "", "child sleeps vforked"},
    {CALL(clone), "clone_flags stack parent_tid child_tid tls",
     "child sleeps cloned if(clone_flags)&0x4000"},
    {CALL(clone3), "clone_args size", "child sleeps cloned-at"},
    {CALL(execve), "path argv envp", "path(path) wakes exec"},
    {CALL(execveat), "dirfd path argv envp flags", "path(path) wakes exec"},
    {CALL(exit_group), "status", "nothing wakes"},
    {CALL(pause), "", "signal sleeps"},
    {CALL(rt_sigsuspend), "sigmask sigsetsize", "signal sleeps", "sigsuspend"},
    {CALL(rt_sigtimedwait), "set info timeout sigsetsize", "signal sleeps eintr timespec(timeout)",
     "sigtimedwait"},
    {CALL(kill), "pid sig", "process wakes signal(sig) if(sig)"},
    {CALL(tkill), "tid sig", "process wakes to-thread signal(sig) if(sig)"},
    {CALL(tgkill), "tgid tid sig", "process wakes signal(sig) if(sig)"},
    {CALL(rt_sigqueueinfo), "tgid sig info", "process wakes signal(sig)"},
    {CALL(rt_tgsigqueueinfo), "tgid tid sig info", "process wakes signal(sig)"},
    {CALL(pidfd_send_signal), "pidfd sig info flags", "process wakes to-pidfd signal(sig)"},
    {CALL(semop), "semid sops nsops", "sem sleeps wakes eintr"},
    {CALL(semtimedop), "semid sops nsops timeout", "sem sleeps wakes eintr timespec(timeout)",
     "semop"},
    {CALL(semctl), "semid semnum op arg", "sem wakes"},
    {CALL(msgsnd), "msqid msgp msgsz msgflg", "msgq sleeps wakes puts"},
    {CALL(msgrcv), "msqid msgp msgsz msgtyp msgflg", "msgq sleeps wakes takes"},
    {CALL(msgctl), "msqid op buf", "msgq wakes"},
    {CALL(mq_timedsend), "mqdes buf count priority timeout", "mqueue(mqdes) sleeps wakes puts",
     "mq_send"},
    {CALL(mq_timedreceive), "mqdes buf count priority timeout", "mqueue(mqdes) sleeps wakes takes",
     "mq_receive"},
    {CALL(io_getevents), "ctx_id min_nr nr events timeout",
     "aio sleeps eintr 0=timeout timespec(timeout)"},
    {CALL(io_pgetevents), "ctx_id min_nr nr events timeout sigmask",
     "aio sleeps 0=timeout timespec(timeout)"},
    {CALL(io_submit), "ctx_id nr iocbs", "aio sleeps wakes"},
    {CALL(io_uring_setup), "entries params", "nothing wakes in-ring"},
    {CALL(io_uring_enter), "ringfd to_submit min_complete ring_flags sigmask sigsetsize",
     "aio sleeps wakes eintr short in-ring decides"},
    {CALL(mmap), "addr length prot flags fd offset", "nothing maps if(prot)&0x4"},
    {CALL(userfaultfd), "flags", "nothing maps"},
    {CALL(mprotect), "addr length prot", "nothing maps if(prot)&0x4"},
    {CALL(pkey_mprotect), "addr length prot pkey", "nothing maps if(prot)&0x4"},
    {CALL(restart_syscall), "", "nothing sleeps"},
};

const struct call_row *call_rows(size_t *n)
{
    *n = ARRAY_LEN(rows);
    return rows;
}

const struct call_row *call_row_of(int nr)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].nr == nr)
            return &rows[i];
    return NULL;
}

/* The name of parameter `at`: its length, 0 when there is none. */
static size_t parameter(const struct call_row *row, unsigned at, const char **name)
{
    const char *s = row->parameters;

    for (; at && *s; at--) {
        s += strcspn(s, " ");
        s += *s == ' ';
    }
    *name = s;
    return strcspn(s, " ");
}

int call_row_parameter(const struct call_row *row, const char *name)
{
    for (unsigned i = 0; i < 6; i++) {
        const char *s;
        size_t len = parameter(row, i, &s);

        if (len && len == strlen(name) && memcmp(s, name, len) == 0)
            return (int)i;
    }
    return -1;
}

static void word(struct strbuf *out, const char *text)
{
    if (*text)
        strbuf_addf(out, "%s%s", out->len ? " " : "", text);
}

static void place(struct strbuf *out, const struct call_row *row, unsigned at)
{
    const char *s;
    size_t len = parameter(row, at, &s);

    if (len)
        strbuf_addf(out, "(%.*s)", (int)len, s);
    else
        strbuf_addf(out, "(argument %u)", at);
}

static void say_when(const struct call *c, const struct call_row *row, struct strbuf *out)
{
    static const char *const words[] = {"always", "if", "unless", "if", "if"};

    word(out, words[c->when.is]);
    if (c->when.is == CALL_ALWAYS && !c->when.arg)
        return;
    place(out, row, c->when.arg);
    if (c->when.is == CALL_IF_BITS || c->when.is == CALL_UNLESS_BITS || c->when.bits)
        strbuf_addf(out, "&%#x", c->when.bits);
    for (const uint32_t *v = c->when.values; v && *v; v++)
        strbuf_addf(out, "%s%#x", v == c->when.values ? "=" : ",", *v);
}

void call_row_say(const struct call *c, const struct call_row *row, struct strbuf *out)
{
    static const char *const objects[] = {
        "nothing", "fd",    "lock",   "mqueue", "pollfds", "fdsets", "epoll",   "futex", "path",
        "disk",    "child", "signal", "time",   "sem",     "msgq",   "process", "aio"};
    static const char *const flags[] = {"sleeps",   "wakes",   "maps",   "epoll",       "eintr",
                                        "short",    "resumes", "closes", "closes-many", "in-ring",
                                        "restarts", "exec",    "opens"};
    static const char *const flows[] = {"", "takes", "puts", "ends"};
    static const char *const zeros[] = {"", "0=timeout", "0=hangup", "0=hangup-if-asked"};
    static const char *const children[] = {"", "pid", "id", "vforked", "cloned", "cloned-at"};
    static const char *const receivers[] = {"", "to-thread", "to-pidfd"};
    static const char *const timeouts[] = {"", "ms", "timespec"};

    word(out, objects[c->object]);
    if (c->fd_arg || c->object == CALL_ON_FD || c->object == CALL_ON_LOCK ||
        c->object == CALL_ON_MQUEUE || c->object == CALL_ON_EPOLL || c->object == CALL_ON_PATH ||
        (c->object == CALL_ON_CHILD && c->child == CALL_CHILD_PID))
        place(out, row, c->fd_arg);
    for (unsigned i = 0; i < 16; i++)
        if (c->flags >> i & 1)
            word(out, i < ARRAY_LEN(flags) ? flags[i] : "more");
    word(out, flows[c->flow]);
    word(out, zeros[c->zero]);
    word(out, children[c->child]);
    word(out, receivers[c->to]);
    word(out, timeouts[c->timeout]);
    if (c->timeout || c->timeout_arg)
        place(out, row, c->timeout_arg);
    if (c->address_arg) {
        word(out, "address");
        place(out, row, c->address_arg);
    }
    if (c->how_arg) {
        word(out, "how");
        place(out, row, c->how_arg);
    }
    if (c->signal_arg) {
        word(out, "signal");
        place(out, row, c->signal_arg);
    }
    if (c->when.is != CALL_ALWAYS || c->when.arg)
        say_when(c, row, out);
    if (c->decide)
        word(out, "decides");
}
