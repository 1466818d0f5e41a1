/* test_strbuf.c: the growing byte string and its invariants. */
#include "common/strbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/tap.h"

static void test_growth(void)
{
    struct strbuf sb = STRBUF_INIT;
    bool terminated = true;

    is_str(sb.buf, "", "a new strbuf is an empty string");
    for (int i = 0; i < 5000; i++) {
        strbuf_addch(&sb, (char)('a' + i % 26));
        terminated &= sb.buf[sb.len] == '\0' && sb.alloc > sb.len;
    }
    ok(terminated, "a strbuf ends in a NUL after each added byte");
    is_int(sb.len, 5000, "a strbuf has the length of 5000 added bytes");
    is_int(sb.buf[4999], 'a' + 4999 % 26, "a strbuf has the last added byte");
    strbuf_setlen(&sb, 3);
    is_str(sb.buf, "abc", "strbuf_setlen truncates");
    strbuf_clear(&sb);
    is_str(sb.buf, "", "strbuf_clear empties");
    strbuf_release(&sb);
    is_int(sb.alloc, 0, "strbuf_release frees the room");
}

static void test_adding(void)
{
    struct strbuf sb = STRBUF_INIT;
    size_t len;
    char *s;

    strbuf_add(&sb, "a\0b", 3);
    is_mem(sb.buf, "a\0b", 4, "strbuf_add accepts NUL bytes");
    strbuf_addf(&sb, "%s-%05d", "x", 42);
    is_mem(sb.buf, "a\0bx-00042", 11, "strbuf_addf appends formatted text");
    s = strbuf_detach(&sb, &len);
    is_int(len, 10, "strbuf_detach returns the length");
    is_str(sb.buf, "", "a detached strbuf is empty");
    free(s);
    s = strbuf_detach(&sb, NULL);
    is_str(s, "", "an empty strbuf detaches as an empty string");
    free(s);
}

static void test_read_fd(void)
{
    struct strbuf sb = STRBUF_INIT;
    int fds[2];

    if (!ok(pipe(fds) == 0, "pipe() succeeds"))
        return;
    is_int(write(fds[1], "one\ntwo", 7), 7, "write() to the pipe succeeds");
    close(fds[1]);
    is_int(strbuf_read_fd(&sb, fds[0]), 0, "strbuf_read_fd reads to the end");
    is_str(sb.buf, "one\ntwo", "strbuf_read_fd reads all text");
    close(fds[0]);
    ok(strbuf_read_fd(&sb, fds[0]) < 0, "strbuf_read_fd of a closed descriptor fails");
    strbuf_release(&sb);
}

static void test_read_file(void)
{
    struct strbuf sb = STRBUF_INIT;
    char path[] = "/tmp/strbuf.XXXXXX";
    int fd = mkstemp(path);

    if (!ok(fd >= 0 && write(fd, "0123456789", 10) == 10, "a file of 10 bytes is written"))
        return;
    close(fd);
    is_int(strbuf_read_file(&sb, path, 10), 0,
           "strbuf_read_file accepts a file of exactly the limit");
    is_str(sb.buf, "0123456789", "strbuf_read_file reads all text");
    is_int(strbuf_read_file(&sb, path, 19), -EFBIG,
           "strbuf_read_file counts the text already there towards the limit");
    strbuf_clear(&sb);
    is_int(strbuf_read_file(&sb, "/tmp", 10), -EISDIR,
           "strbuf_read_file of a directory returns -EISDIR");
    unlink(path);
    is_int(strbuf_read_file(&sb, path, 10), -ENOENT,
           "strbuf_read_file of a missing file returns -ENOENT");
    is_int((int)sb.len, 0, "strbuf_read_file of a missing file leaves the text as it was");
    strbuf_release(&sb);
}

int main(void)
{
    test_growth();
    test_adding();
    test_read_fd();
    test_read_file();
    return done_testing();
}
