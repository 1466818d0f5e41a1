/* Notes of processes that are not recorded: the recorder's side and the driver's. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "driver/rundir/unrecorded.h"
#include "preload/runtime/run_status_client.h"
#include "tests/tap.h"

static char dir[] = "/tmp/notrecorded.XXXXXX";

static struct run_status_file file;

static void read_notes(struct unrecorded *n)
{
    unrecorded_read(n, &file, 1000000);
}

static const char *reported(size_t most)
{
    static struct strbuf sb = STRBUF_INIT;
    struct unrecorded n;

    strbuf_clear(&sb);
    read_notes(&n);
    unrecorded_add(&sb, &n, most);
    unrecorded_release(&n);
    strbuf_addstr(&sb, "");
    return sb.buf;
}

static void damaged(const char *path)
{
    struct unrecorded n;
    uint32_t big = UINT32_MAX;
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (pwrite(fd, &big, sizeof big, offsetof(struct run_status, used)) < 0)
        ok(false, "can be damaged");
    read_notes(&n);
    ok(n.nprograms > 0 && n.unnamed == 0, "a count that lies is no number");
    is_str(n.overwritten, "used", "and is told");
    unrecorded_release(&n);
    ok(ftruncate(fd, 100) == 0 && reported(9)[0] == '\0', "a file that was cut says nothing");
    read_notes(&n);
    is_str(n.overwritten, "cut short", "but that it was");
    unrecorded_release(&n);
    close(fd);
}

/* The budget of disk. The file is mapped, so what another process writes to it is seen. */
static void budget(const char *path)
{
    uint64_t none = 0, limit = 1000;
    struct unrecorded n;
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    ok(run_status_take_disk(UINT64_MAX / 2), "without a budget there is no limit");
    if (pwrite(fd, &limit, sizeof limit, offsetof(struct run_status, disk_limit)) < 0)
        ok(false, "a budget is set");
    file.own->disk_limit = limit;
    ok(run_status_take_disk(600) && run_status_take_disk(400),
       "a budget can be taken to its last byte");
    run_status_file_given_back(&file, 300);
    ok(run_status_take_disk(300), "what is given back can be taken again");
    ok(!run_status_over(), "all that is no end");
    ok(!run_status_take_disk(1) && run_status_over(), "one byte more is one too many");
    ok(!run_status_take_disk(0), "and the end is one");
    read_notes(&n);
    ok(n.full_ns > 0 && !n.overwritten, "whose time is known");
    unrecorded_release(&n);
    if (pwrite(fd, &none, sizeof none, offsetof(struct run_status, disk_full_ns)) < 0)
        ok(false, "the test is tidy");
    close(fd);
}

int main(void)
{
    uint32_t recorded[] = {30, 10, 30}, slot;
    struct unrecorded n;
    char path[sizeof dir + 8];
    struct run_status_file again;

    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof path, "%s/notes", dir);
    is_int(run_status_add(UNRECORDED_MUSL, 0, 1, "/x"), 0, "without a file there are no notes");
    ok(!run_status_have() && !run_status_over(), "and no run");
    ok(run_status_file_make(&file, path, 0) == 0, "the file is made");
    is_int(run_status_file_make(&again, path, 0), -EEXIST, "once");
    ok(run_status_open(path) == 0 && run_status_have() && !run_status_over(), "and found");
    is_str(reported(9), "", "nothing yet");

    run_status_add(UNRECORDED_MUSL, 0, 10, "/usr/bin/hello");
    run_status_add(UNRECORDED_MUSL, 0, 11, "hello");
    run_status_add(UNRECORDED_FAILED, ENOSPC, 12, "/a/full");
    slot = run_status_add(UNRECORDED_STATIC, 0, 0, "/a/spawned");
    run_status_set_pid(slot, 12);
    run_status_take_back(run_status_add(UNRECORDED_SETUID, 0, 13, "/bin/never"));
    is_str(reported(9),
           "hello (uses musl) 2 times, full (the recorder could not start: No space left on "
           "device), spawned (linked statically)",
           "programs, the most frequent first");
    is_str(reported(1), "hello (uses musl) 2 times and 2 more", "as many as there is room for");
    read_notes(&n);
    is_int(unrecorded_processes(&n, recorded, 3), 2,
           "two processes were never recorded, one was before it executed another program");
    unrecorded_release(&n);

    for (int i = 0; i < 1100; i++)
        slot = run_status_add(UNRECORDED_STATIC, 0, 14,
                              "a-name-that-is-longer-than-what-a-note-has-room-for-x");
    is_int(slot, 0, "the last did not find room");
    read_notes(&n);
    is_int(n.unnamed, 5 + 1100 - 1023, "and is counted");
    unrecorded_release(&n);
    ok(!run_status_over(), "the run goes on");
    budget(path);
    run_status_file_over(&file);
    ok(run_status_over(), "the run is over");
    damaged(path);
    unlink(path);
    ok(run_status_open(path) == -ENOENT, "no file any more");
    rmdir(dir);
    return done_testing();
}
