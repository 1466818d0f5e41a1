/* Which descriptors are known to be of plain files, and when that is forgotten. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inproc/lib/open_fds.h"
#include "inproc/lib/polledfiles.h"
#include "tests/tap.h"

#define PROCESS 4711u
#define TABLES 2

static struct {
    struct shm_head head;
    struct shm_shared shared;
    struct plain_fds files[TABLES];
} memory;

static struct shm_view view;

static struct plain_fds *const table = &memory.files[0];

/* An open as the library of waits makes it. */
static int open_noted(const char *path, int flags)
{
    struct open_fds_opening o = open_fds_begin(PROCESS);
    int fd = open(path, flags | O_CLOEXEC);

    open_fds_end(&o, (unsigned)fd);
    return fd;
}

static unsigned state(int fd)
{
    return table->numbers[fd];
}

static void plain_files(void)
{
    int fd = open_noted("/etc/passwd", O_RDONLY);
    uint16_t *used;

    is_int(table->owner, PROCESS, "the first open takes a table");
    is_int(state(fd), PLAIN_FDS_OPENED, "what it has opened is not known yet");
    used = open_fds_use(PROCESS, (unsigned)fd);
    ok(used && state(fd) == (PLAIN_FDS_OPENED | PLAIN_FDS_PLAIN | 1),
       "a call on it asks, and counts");
    open_fds_left(used, false);
    is_int(state(fd), PLAIN_FDS_OPENED | PLAIN_FDS_PLAIN, "it has not slept");
    ok(open_fds_close(PROCESS, (unsigned)fd), "its close needs nobody");
    is_int(state(fd), 0, "... and nothing is known of the number");
    ok(!open_fds_close(PROCESS, (unsigned)fd), "the next close of it does");
    close(fd);

    fd = open_noted("/etc", O_RDONLY | O_DIRECTORY);
    ok(open_fds_close(PROCESS, (unsigned)fd), "a directory that nobody has asked about");
    close(fd);
}

static void others(void)
{
    int fd = open_noted("/dev/null", O_RDONLY);

    ok(!open_fds_use(PROCESS, (unsigned)fd) && state(fd) == 0,
       "a device is forgotten when it is used");
    close(fd);
    fd = open_noted("/dev/null", O_RDONLY);
    ok(!open_fds_close(PROCESS, (unsigned)fd) && state(fd) == 0, "... or closed");
    open_fds_seen(PROCESS, (unsigned)fd, S_IFREG);
    is_int(state(fd), 0, "what was not opened here stays unknown, whatever it is");
    close(fd);
    fd = open_noted("/dev/null", O_RDONLY);
    open_fds_seen(PROCESS, (unsigned)fd, S_IFIFO);
    is_int(state(fd), PLAIN_FDS_OPENED, "the program sees a pipe");
    open_fds_seen(PROCESS, (unsigned)fd, S_IFREG);
    is_int(state(fd), PLAIN_FDS_OPENED | PLAIN_FDS_PLAIN, "the program sees a file");
    ok(open_fds_close(PROCESS, (unsigned)fd), "... which is not asked again");
    close(fd);
    ok(!open_fds_use(PROCESS, PLAIN_FDS_NUMBERS) && !open_fds_close(PROCESS, (unsigned)-1) &&
           !open_fds_is(PROCESS, PLAIN_FDS_NUMBERS),
       "numbers that no table has");
}

static void sleeps_and_users(void)
{
    int fd = open_noted("/etc/passwd", O_RDONLY);
    uint16_t *one = open_fds_use(PROCESS, (unsigned)fd), *two = open_fds_use(PROCESS, (unsigned)fd);

    open_fds_left(one, true);
    is_int(state(fd), 1, "one that slept: nothing is known any more, but who is in a call");
    open_fds_left(two, false);
    is_int(state(fd), 0, "... until that is over");
    close(fd);
    fd = open_noted("/etc/passwd", O_RDONLY);
    one = open_fds_use(PROCESS, (unsigned)fd);
    ok(!open_fds_close(PROCESS, (unsigned)fd), "a close while another thread is in a call on it");
    open_fds_left(one, false);
    is_int(state(fd), 0, "... and then it is over");
    close(fd);
}

static struct ring ring;

/* Whether a file is forgotten when `words` are what a call points to, across the ring's end. */
static bool is_forgotten(int fd, long call, const uint64_t *words, unsigned n)
{
    const struct patch_call c = {.number = call};
    uint64_t from = RING_WORDS - 4;

    open_fds_seen(PROCESS, (unsigned)fd, S_IFREG);
    ring.words[from] = ring_word(RING_MEMORY, RING_PIECE_WORDS + n, 1);
    for (unsigned i = 0; i < n; i++)
        ring.words[(from + RING_PIECE_WORDS + i) % RING_WORDS] = words[i];
    polledfiles_forget(PROCESS, &ring, from, from + RING_PIECE_WORDS + n, &c);
    return state(fd) == 0;
}

static void polled_files(void)
{
    int fd = open_noted("/etc/passwd", O_RDONLY);
    struct pollfd fds[3] = {{-1, 0, 0}, {PLAIN_FDS_NUMBERS, POLLIN, 0}, {fd, 0, 0}};
    uint64_t words[3], sets[2] = {0, 0};

    memcpy(words, fds, sizeof words);
    sets[fd / 64] = 1ull << fd % 64;
    ok(!is_forgotten(fd, SYS_connect, words, 3), "an address polls nothing");
    ok(!is_forgotten(fd, SYS_poll, words, 2) && !is_forgotten(fd, SYS_poll, words, 0),
       "a poll of others");
    ok(!is_forgotten(fd, SYS_select, sets, 0), "a select of nothing");
    ok(is_forgotten(fd, SYS_poll, words, 3), "a poll of it");
    close(fd);
    is_int(open_noted("/etc/passwd", O_RDONLY), fd, "(the next has its number)");
    ok(is_forgotten(fd, SYS_pselect6, sets, 2), "a select of it");
    ring.words[0] = 0;
    polledfiles_forget(PROCESS, &ring, 0, UINT64_MAX,
                       &(const struct patch_call){.number = SYS_poll});
    ring.words[0] = ring_word(RING_MEMORY, 0xffff, 1);
    polledfiles_forget(PROCESS, &ring, 0, UINT64_MAX,
                       &(const struct patch_call){.number = SYS_poll});
    ok(true, "what somebody else has written over it is not followed without end");
    close(fd);
}

static void closed_elsewhere(void)
{
    struct open_fds_opening o;
    int fd = open_noted("/etc/passwd", O_RDONLY);

    plain_fds_forget(table, (unsigned)fd);
    ok(!open_fds_is(PROCESS, (unsigned)fd), "the tracer has seen a close");
    o = open_fds_begin(PROCESS);
    table->closes++;
    open_fds_end(&o, (unsigned)fd);
    is_int(state(fd), 0, "one while the open was made: it may be of this number");
    o = open_fds_begin(PROCESS);
    open_fds_end(&o, (unsigned)fd);
    is_int(state(fd), PLAIN_FDS_OPENED, "without one it is kept");
    ok(!open_fds_is(PROCESS + 1, (unsigned)fd) && !open_fds_use(PROCESS + 1, (unsigned)fd) &&
           !open_fds_close(PROCESS + 1, (unsigned)fd),
       "a forked child knows nothing");
    o = open_fds_begin(PROCESS);
    open_fds_end(&o, (unsigned)fd);
    ok(table->off && state(fd) == 0, "opened twice: somebody closes unseen, nothing is believed");
    close(fd);
    fd = open_noted("/etc/passwd", O_RDONLY);
    is_int(state(fd), 0, "... from now on");
    close(fd);
    fd = open_noted("/etc/passwd", O_RDONLY);
    close(fd);
    o = open_fds_begin(PROCESS + 1);
    ok(o.table == &memory.files[1], "a child has a table of its own");
    o = open_fds_begin(PROCESS + 2);
    ok(!o.table, "there are no more");
    memory.head.files_off = 1;
    memory.files[1].owner = 0;
    ok(!open_fds_begin(PROCESS + 2).table, "none is taken where nothing is kept in them");
}

int main(void)
{
    view.head = &memory.head;
    view.shared = &memory.shared;
    view.files = memory.files;
    view.nfiles = TABLES;
    open_fds_init(&view);
    plain_files();
    others();
    sleeps_and_users();
    polled_files();
    closed_elsewhere();
    return done_testing();
}
