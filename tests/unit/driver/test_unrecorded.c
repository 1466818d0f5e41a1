/* Entries for unrecorded processes: the recorder's side and the driver's. */
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
        ok(false, "the count of entries can be written to the status file");
    read_notes(&n);
    ok(n.nprograms > 0 && n.unnamed == 0, "an impossible count of entries is ignored");
    is_str(n.overwritten, "used", "an overwritten count of entries is reported");
    unrecorded_release(&n);
    ok(ftruncate(fd, 100) == 0 && reported(9)[0] == '\0',
       "a truncated status file gives no entries");
    read_notes(&n);
    is_str(n.overwritten, "cut short", "a truncated status file is reported");
    unrecorded_release(&n);
    close(fd);
}

/* The disk budget. The file is mapped, so writes of another process are seen. */
static void budget(const char *path)
{
    uint64_t none = 0, limit = 1000;
    struct unrecorded n;
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    ok(run_status_take_disk(UINT64_MAX / 2), "without a budget any amount of disk can be taken");
    if (pwrite(fd, &limit, sizeof limit, offsetof(struct run_status, disk_limit)) < 0)
        ok(false, "the disk budget can be written to the status file");
    file.own->disk_limit = limit;
    ok(run_status_take_disk(600) && run_status_take_disk(400),
       "a budget can be taken to its last byte");
    run_status_file_given_back(&file, 300);
    ok(run_status_take_disk(300), "disk space given back can be taken again");
    ok(!run_status_over(), "a fully taken budget does not end the run");
    ok(!run_status_take_disk(1) && run_status_over(),
       "one byte beyond the budget is refused and ends the run");
    ok(!run_status_take_disk(0), "an ended run refuses 0 bytes, too");
    read_notes(&n);
    ok(n.full_ns > 0 && !n.overwritten, "the time at which the budget ran out is known");
    unrecorded_release(&n);
    if (pwrite(fd, &none, sizeof none, offsetof(struct run_status, disk_full_ns)) < 0)
        ok(false, "the status file is reset");
    close(fd);
}

/* Words that flame writes again during a run. */
static void written_again(void)
{
    char path[sizeof dir + 8];
    struct run_status_file f;
    struct unrecorded n;
    uint32_t wrong = 77;
    int fd;

    snprintf(path, sizeof path, "%s/again", dir);
    ok(run_status_file_make(&f, path, 0) == 0, "another status file is made");
    run_status_file_spares(&f, 2);
    unrecorded_read(&n, &f, 9);
    ok(!n.overwritten, "a word that flame writes again is its own");
    unrecorded_release(&n);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    ok(pwrite(fd, &wrong, sizeof wrong, offsetof(struct run_status, spares_made)) > 0,
       "a program overwrites a word");
    close(fd);
    run_status_file_spares(&f, 3);
    unrecorded_read(&n, &f, 9);
    is_str(n.overwritten, "spares_made",
           "that it was overwritten is known when flame writes it again");
    unrecorded_release(&n);
    run_status_file_close(&f);
    unlink(path);

    ok(run_status_file_make(&f, path, 0) == 0, "a status file is made again");
    unlink(path);
    run_status_file_spares(&f, 2);
    unrecorded_read(&n, &f, 9);
    is_str(n.overwritten, "removed", "a word that cannot be written is not taken for overwritten");
    unrecorded_release(&n);
    run_status_file_close(&f);
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
    is_int(run_status_add(UNRECORDED_MUSL, 0, 1, "/x"), 0,
           "run_status_add without a status file returns 0");
    ok(!run_status_have() && !run_status_over(), "without a status file there is no run");
    ok(run_status_file_make(&file, path, 0) == 0, "run_status_file_make creates the file");
    is_int(run_status_file_make(&again, path, 0), -EEXIST,
           "run_status_file_make refuses an existing file");
    ok(run_status_open(path) == 0 && run_status_have() && !run_status_over(),
       "run_status_open maps the file");
    is_str(reported(9), "", "a new status file reports no program");

    run_status_add(UNRECORDED_MUSL, 0, 10, "/usr/bin/hello");
    run_status_add(UNRECORDED_MUSL, 0, 11, "hello");
    run_status_add(UNRECORDED_FAILED, ENOSPC, 12, "/a/full");
    slot = run_status_add(UNRECORDED_STATIC, 0, 0, "/a/spawned");
    run_status_set_pid(slot, 12);
    run_status_take_back(run_status_add(UNRECORDED_SETUID, 0, 13, "/bin/never"));
    is_str(reported(9),
           "hello (uses musl) 2 times, full (the recorder could not start: No space left on "
           "device), spawned (linked statically)",
           "unrecorded programs are reported, the most frequent first");
    is_str(reported(1), "hello (uses musl) 2 times and 2 more",
           "more programs than the limit are reported as a number");
    read_notes(&n);
    is_int(unrecorded_processes(&n, recorded, 3), 2,
           "processes count as unrecorded only if they were never recorded");
    unrecorded_release(&n);

    for (int i = 0; i < 1100; i++)
        slot = run_status_add(UNRECORDED_STATIC, 0, 14,
                              "a-name-that-is-longer-than-what-a-note-has-room-for-x");
    is_int(slot, 0, "run_status_add returns 0 when the file is full");
    read_notes(&n);
    is_int(n.unnamed, 5 + 1100 - 1023, "entries beyond a full file are counted");
    unrecorded_release(&n);
    ok(!run_status_over(), "a full status file does not end the run");
    budget(path);
    run_status_file_over(&file);
    ok(run_status_over(), "run_status_file_over ends the run");
    damaged(path);
    written_again();
    unlink(path);
    ok(run_status_open(path) == -ENOENT, "run_status_open fails for a missing file");
    rmdir(dir);
    return done_testing();
}
