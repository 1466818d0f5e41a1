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

    is_str(sb.buf, "", "empty from the start");
    for (int i = 0; i < 5000; i++) {
        strbuf_addch(&sb, (char)('a' + i % 26));
        terminated &= sb.buf[sb.len] == '\0' && sb.alloc > sb.len;
    }
    ok(terminated, "the NUL is there after every byte");
    is_int(sb.len, 5000, "length");
    is_int(sb.buf[4999], 'a' + 4999 % 26, "last byte");
    strbuf_setlen(&sb, 3);
    is_str(sb.buf, "abc", "cut");
    strbuf_clear(&sb);
    is_str(sb.buf, "", "cleared");
    strbuf_release(&sb);
    is_int(sb.alloc, 0, "released");
}

static void test_adding(void)
{
    struct strbuf sb = STRBUF_INIT;
    size_t len;
    char *s;

    strbuf_add(&sb, "a\0b", 3);
    is_mem(sb.buf, "a\0b", 4, "NULs are bytes like any other");
    strbuf_addf(&sb, "%s-%05d", "x", 42);
    is_mem(sb.buf, "a\0bx-00042", 11, "formatted text follows");
    s = strbuf_detach(&sb, &len);
    is_int(len, 10, "detached length");
    is_str(sb.buf, "", "empty after the hand-over");
    free(s);
    s = strbuf_detach(&sb, NULL);
    is_str(s, "", "an empty one detaches as an empty string");
    free(s);
}

static void test_read_fd(void)
{
    struct strbuf sb = STRBUF_INIT;
    int fds[2];

    if (!ok(pipe(fds) == 0, "pipe"))
        return;
    is_int(write(fds[1], "one\ntwo", 7), 7, "written");
    close(fds[1]);
    is_int(strbuf_read_fd(&sb, fds[0]), 0, "read to the end");
    is_str(sb.buf, "one\ntwo", "all of it");
    close(fds[0]);
    ok(strbuf_read_fd(&sb, fds[0]) < 0, "a closed descriptor is an error");
    strbuf_release(&sb);
}

static void test_read_file(void)
{
    struct strbuf sb = STRBUF_INIT;
    char path[] = "/tmp/strbuf.XXXXXX";
    int fd = mkstemp(path);

    if (!ok(fd >= 0 && write(fd, "0123456789", 10) == 10, "a file of 10 bytes"))
        return;
    close(fd);
    is_int(strbuf_read_file(&sb, path, 10), 0, "10 bytes are not more than 10");
    is_str(sb.buf, "0123456789", "all of it");
    is_int(strbuf_read_file(&sb, path, 19), -EFBIG, "with what was there, 20 are more than 19");
    strbuf_clear(&sb);
    is_int(strbuf_read_file(&sb, "/tmp", 10), -EISDIR, "a directory has no text");
    unlink(path);
    is_int(strbuf_read_file(&sb, path, 10), -ENOENT, "a file that is not there");
    is_int((int)sb.len, 0, "leaves the text as it was");
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
