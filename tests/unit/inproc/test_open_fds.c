/* Which descriptors are known to be plain files, and when that is forgotten. */
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

/* An open as libflamewait.so makes it. */
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
    is_int(state(fd), PLAIN_FDS_OPENED, "an opened descriptor is not known to be a plain file yet");
    used = open_fds_use(PROCESS, (unsigned)fd);
    ok(used && state(fd) == (PLAIN_FDS_OPENED | PLAIN_FDS_PLAIN | 1),
       "the first use of a descriptor checks its file and counts the call");
    open_fds_left(used, false);
    is_int(state(fd), PLAIN_FDS_OPENED | PLAIN_FDS_PLAIN,
           "a call that did not sleep keeps the descriptor's state");
    ok(open_fds_close(PROCESS, (unsigned)fd), "the close of a plain file is not logged");
    is_int(state(fd), 0, "a closed descriptor has no state");
    ok(!open_fds_close(PROCESS, (unsigned)fd), "the close of an unknown descriptor is logged");
    close(fd);

    fd = open_noted("/etc", O_RDONLY | O_DIRECTORY);
    ok(open_fds_close(PROCESS, (unsigned)fd), "the close of an unused directory is not logged");
    close(fd);
}

static void others(void)
{
    int fd = open_noted("/dev/null", O_RDONLY);

    ok(!open_fds_use(PROCESS, (unsigned)fd) && state(fd) == 0,
       "a device is forgotten when it is used");
    close(fd);
    fd = open_noted("/dev/null", O_RDONLY);
    ok(!open_fds_close(PROCESS, (unsigned)fd) && state(fd) == 0,
       "a device is forgotten when it is closed");
    open_fds_seen(PROCESS, (unsigned)fd, S_IFREG);
    is_int(state(fd), 0, "a descriptor opened elsewhere stays unknown");
    close(fd);
    fd = open_noted("/dev/null", O_RDONLY);
    open_fds_seen(PROCESS, (unsigned)fd, S_IFIFO);
    is_int(state(fd), PLAIN_FDS_OPENED, "a descriptor seen as a pipe stays unchecked");
    open_fds_seen(PROCESS, (unsigned)fd, S_IFREG);
    is_int(state(fd), PLAIN_FDS_OPENED | PLAIN_FDS_PLAIN,
           "a descriptor seen as a file is a plain file");
    ok(open_fds_close(PROCESS, (unsigned)fd), "a descriptor seen as a file is not checked again");
    close(fd);
    ok(!open_fds_use(PROCESS, PLAIN_FDS_NUMBERS) && !open_fds_close(PROCESS, (unsigned)-1) &&
           !open_fds_is(PROCESS, PLAIN_FDS_NUMBERS),
       "descriptors out of range have no state");
}

static void sleeps_and_users(void)
{
    int fd = open_noted("/etc/passwd", O_RDONLY);
    uint16_t *one = open_fds_use(PROCESS, (unsigned)fd), *two = open_fds_use(PROCESS, (unsigned)fd);

    open_fds_left(one, true);
    is_int(state(fd), 1, "a call that slept removes the state and keeps the count of calls");
    open_fds_left(two, false);
    is_int(state(fd), 0, "the end of the last call clears the count");
    close(fd);
    fd = open_noted("/etc/passwd", O_RDONLY);
    one = open_fds_use(PROCESS, (unsigned)fd);
    ok(!open_fds_close(PROCESS, (unsigned)fd),
       "a close while another thread is in a call on the descriptor is logged");
    open_fds_left(one, false);
    is_int(state(fd), 0, "the end of a call on a closed descriptor clears the count");
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
    ok(!is_forgotten(fd, SYS_connect, words, 3), "connect does not forget a plain file");
    ok(!is_forgotten(fd, SYS_poll, words, 2) && !is_forgotten(fd, SYS_poll, words, 0),
       "poll of other descriptors does not forget a plain file");
    ok(!is_forgotten(fd, SYS_select, sets, 0),
       "select of no descriptor does not forget a plain file");
    ok(is_forgotten(fd, SYS_poll, words, 3), "poll of a plain file forgets it");
    close(fd);
    is_int(open_noted("/etc/passwd", O_RDONLY), fd, "the next open reuses the descriptor's number");
    ok(is_forgotten(fd, SYS_pselect6, sets, 2), "select of a plain file forgets it");
    ring.words[0] = 0;
    polledfiles_forget(PROCESS, &ring, 0, UINT64_MAX,
                       &(const struct patch_call){.number = SYS_poll});
    ring.words[0] = ring_word(RING_MEMORY, 0xffff, 1);
    polledfiles_forget(PROCESS, &ring, 0, UINT64_MAX,
                       &(const struct patch_call){.number = SYS_poll});
    ok(true, "an overwritten record does not make polledfiles_forget loop forever");
    close(fd);
}

static void closed_elsewhere(void)
{
    struct open_fds_opening o;
    int fd = open_noted("/etc/passwd", O_RDONLY);

    plain_fds_forget(table, (unsigned)fd);
    ok(!open_fds_is(PROCESS, (unsigned)fd),
       "a close that the tracer reports forgets the descriptor");
    o = open_fds_begin(PROCESS);
    table->closes++;
    open_fds_end(&o, (unsigned)fd);
    is_int(state(fd), 0, "a close elsewhere during an open leaves the descriptor unknown");
    o = open_fds_begin(PROCESS);
    open_fds_end(&o, (unsigned)fd);
    is_int(state(fd), PLAIN_FDS_OPENED, "an open without a close elsewhere is stored");
    ok(!open_fds_is(PROCESS + 1, (unsigned)fd) && !open_fds_use(PROCESS + 1, (unsigned)fd) &&
           !open_fds_close(PROCESS + 1, (unsigned)fd),
       "a forked child does not use its parent's table");
    o = open_fds_begin(PROCESS);
    open_fds_end(&o, (unsigned)fd);
    ok(table->off && state(fd) == 0, "a second open of an open descriptor turns its table off");
    close(fd);
    fd = open_noted("/etc/passwd", O_RDONLY);
    is_int(state(fd), 0, "a table that is off stores no descriptor");
    close(fd);
    fd = open_noted("/etc/passwd", O_RDONLY);
    close(fd);
    o = open_fds_begin(PROCESS + 1);
    ok(o.table == &memory.files[1], "a child takes a table of its own");
    o = open_fds_begin(PROCESS + 2);
    ok(!o.table, "a process more than there are tables gets none");
    memory.head.files_off = 1;
    memory.files[1].owner = 0;
    ok(!open_fds_begin(PROCESS + 2).table, "no table is taken if the shared memory has none");
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
