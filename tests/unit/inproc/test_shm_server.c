/* The memory of a run: it is made and mapped by its name, rings are taken and given back, and all
 * events come in order. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "inproc/reader/shm_server.h"
#include "tests/tap.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#define RINGS 4

/* Reports row()s. */
#define rows_hold(name) ok(tap_rows == 0, name)

static struct shm_server *session;
static const struct shm_head *head; /* as a program maps it */
static size_t size;
static struct shm_view view;

/* Events as they came, a letter each. */
static char reported[100];
static size_t ntold, nevents;
static uint64_t last;
static bool in_order;

static uint32_t stack(void *arg, pid_t tid, const uint64_t *pcs, size_t n)
{
    (void)arg, (void)tid, (void)pcs;
    return (uint32_t)n;
}

static void event(void *arg, enum ring_result what, const struct ring_reader *r)
{
    (void)arg;
    in_order = in_order && r->time >= last;
    last = r->time;
    nevents++;
    if (ntold < sizeof reported - 1)
        reported[ntold++] = (char)((what == RING_ENTERED ? 'a' : 'A') + r->tid % 26);
    reported[ntold] = '\0';
}

static void damaged(void *arg, const struct ring_reader *r)
{
    (void)arg;
    if (ntold < sizeof reported - 1)
        reported[ntold++] = r->tid ? '!' : '?';
    reported[ntold] = '\0';
}

static const struct shm_server_client client = {
    .ring = {.stack = stack}, .event = event, .damaged = damaged};

static const char *tell(uint64_t until)
{
    ntold = 0;
    reported[0] = '\0';
    in_order = true;
    last = 0;
    shm_server_drain(session, until, &client);
    return reported;
}

static const struct ring_control *control_of(const struct ring *r)
{
    return &view.controls[r - view.rings];
}

/* A ring that no thread of this process may have; RINGS: no such ring. */
static uint32_t kept = RINGS;

static bool may_have(uint32_t ring, uint32_t tid, bool begun)
{
    (void)tid, (void)begun;
    return ring != kept;
}

static void put_call(struct ring *r, uint64_t time, uint32_t serial)
{
    uint64_t w[RING_CALL_WORDS] = {ring_word(RING_CALL, RING_CALL_WORDS, SYS_read), time};

    w[8] = (uint64_t)serial << 32;
    ring_put(r, w, RING_CALL_WORDS);
}

static void put_done(struct ring *r, uint64_t time, uint32_t serial)
{
    uint64_t w[RING_DONE_WORDS] = {ring_word(RING_DONE, RING_DONE_WORDS, 0), time, 0, serial};

    ring_put(r, w, RING_DONE_WORDS);
}

/* Maps the memory as a program of the run does. */
static bool map_by_name(void)
{
    int fd = open(shm_server_name(session), O_RDONLY | O_CLOEXEC), shared;
    void *at;

    size = (size_t)lseek(fd, 0, SEEK_END);
    at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return false;
    head = at;
    shared = open(head->shared_name, O_RDWR | O_CLOEXEC);
    at = mmap(NULL, head->shared_size, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
    ok(ftruncate(shared, 4096) < 0 && ftruncate(shared, (off_t)head->shared_size * 2) < 0,
       "a program cannot resize the shared memory");
    close(shared);
    if (at == MAP_FAILED)
        return false;
    shm_view_init(&view, head, head, at);
    return true;
}

/* A program can change neither the memory's size nor its bytes, not even by opening it again. With
 * an older kernel a process with the same rights can change the bytes that way. */
static void test_seals(void)
{
    int fd = open(shm_server_name(session), O_RDWR | O_CLOEXEC);
    void *own = (void *)(uintptr_t)head;

    ok(ftruncate(fd, 4096) < 0 && ftruncate(fd, (off_t)size * 2) < 0,
       "a program cannot resize the tracer's memory");
    ok(mprotect(own, size, PROT_READ | PROT_WRITE) < 0,
       "a program cannot make the tracer's memory writable");
    if (fcntl(fd, F_GET_SEALS) & F_SEAL_FUTURE_WRITE)
        ok(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED &&
               pwrite(fd, "x", 1, 0) < 0,
           "a program cannot write to the tracer's memory by opening it again");
    else
        skip("F_SEAL_FUTURE_WRITE came with Linux 5.1");
    close(fd);
}

static void test_head(void)
{
    struct patch_site sites[2] = {{.at = 5, .call = 10}, {.at = 50, .call = 55}};
    struct site_list lists[2] = {{.sites = sites, .n = 2, .build_id = "abc", .build_id_len = 3},
                                 {.n = 0, .build_id = "xy", .build_id_len = 2}};
    struct shm_server_options o = {.rings = RINGS, .modules = lists, .nmodules = 2};
    const struct shm_module *m;
    struct shm_head bad;

    o.calls[SYS_futex / 64] |= 1ull << SYS_futex % 64;
    if (!ok(shm_server_new(&session, &o) == 0,
            "shm_server_new creates a session, which maps by its name") ||
        !map_by_name())
        return;
    ok(shm_is_sound(head, head, size), "the head of a new session is sound");
    ok(shm_wants(head, SYS_futex) && !shm_wants(head, SYS_futex + 1) &&
           !shm_wants(head, SHM_CALLS + 1) && !shm_wants(head, -1),
       "the head has the wanted calls");
    m = (const struct shm_module *)((char *)head + head->modules_at);
    ok(head->modules == 2 && m[0].build_id_len == 3 && memcmp(m[0].build_id, "abc", 3) == 0 &&
           m[0].n == 2 && memcmp((const char *)head + m[0].at, sites, sizeof sites) == 0,
       "the head has the sites of the first module");
    ok(m[1].n == 0 && m[1].build_id_len == 2, "the head has the sites of the second module");
    ok(!shm_is_sound(head, head, size - 1), "a head with another size is unsound");
#define BAD(field, value)                                                                          \
    bad = *head;                                                                                   \
    bad.field = value;                                                                             \
    row(!shm_is_sound(&bad, head, size), #field)
    bad = *head;
    bad.modules = 0;
    ok(shm_is_sound(&bad, head, size), "a head without modules is sound");
    BAD(magic[0], 'G');
    BAD(version, 99);
    BAD(head_size, 8);
    BAD(ring_size, 64);
    BAD(rings, RINGS + 1);
    BAD(rings_at, head->shared_size);
    BAD(rings_at, head->rings_at + 8);
    BAD(rings, SHM_RINGS_MOST + 1);
    BAD(files, PLAIN_FDS_TABLES + 1);
    BAD(files_at, head->shared_size);
    BAD(files_at, 1);
    BAD(shared_size, 64);
    BAD(shared_name[SHM_NAME_MAX - 1], 'x');
    BAD(controls_at, size);
    BAD(controls_at, head->controls_at + 8);
    BAD(modules_at, size + 8);
    BAD(modules_at, 3);
    BAD(modules, UINT32_MAX);
    rows_hold("a head with a field out of range is unsound");
}

static void test_rings(void)
{
    struct ring *r[RINGS];

    for (unsigned i = 0; i < RINGS; i++)
        r[i] = shm_take_ring(&view, 10, 26 + i, may_have); /* a, b, c, d */
    ok(r[0] && r[1] && r[2] && r[3] && r[0] != r[1], "each thread gets a ring of its own");
    ok(!shm_take_ring(&view, 10, 40, may_have), "a thread more than there are rings gets none");
    put_call(r[0], 100, 1);
    put_call(r[1], 101, 1);
    put_done(r[0], 105, 1);
    put_call(r[2], 104, 1);
    put_done(r[1], 103, 1);
    put_call(r[0], 106, 2);
    is_str(tell(104), "abBc", "records up to a time are emitted in the order of their times");
    put_call(r[3], 104, 1);
    is_str(tell(UINT64_MAX), "dAa", "the remaining records are emitted later");
    is_int(shm_server_fill(session), 2 * RING_CALL_WORDS + RING_DONE_WORDS + RING_BEGIN_WORDS,
           "shm_server_fill returns the highest fill of a ring");
    is_int(shm_server_fill(session), 0, "shm_server_fill returns the fill since the last call");
    ok(in_order, "records are emitted in the order of their times, over all rings");
    ok(shm_server_has(session, 26) && !shm_server_has(session, 40),
       "shm_server_has finds threads with a ring only");
    shm_server_thread_gone(session, 27);
    ok(!shm_server_has(session, 27), "an ended thread has no ring");
    is_int(control_of(r[1])->turn, 1, "the ring of an ended thread is given back");
    kept = 1;
    ok(!shm_take_ring(&view, 10, 30, may_have), "a ring that the process still uses is not taken");
    kept = RINGS;
    ok(shm_take_ring(&view, 10, 30, may_have) == r[1], "a free ring is taken by another thread");
    put_call(r[1], 90, 1);
    is_str(tell(UINT64_MAX), "e", "a reused ring begins with new records");
    r[2]->head += RING_WORDS * 2;
    is_str(tell(UINT64_MAX), "!", "damage of a ring is reported");
    is_int(shm_server_fill(session), RING_WORDS,
           "shm_server_fill of a damaged ring is at most RING_WORDS");
    is_str(tell(UINT64_MAX), "", "damage of a ring is reported once");
    ok(!shm_server_has(session, 28), "the owner of a damaged ring has no ring any more");
    shm_server_thread_gone(session, 28);
    r[2]->owner = 28;
    ok(!shm_take_ring(&view, 10, 31, may_have), "a damaged ring is not given to another thread");
    view.shared->used = UINT32_MAX;
    is_str(tell(UINT64_MAX), "", "an impossible count of used rings is ignored");
    view.shared->used = 0;
    put_call(r[3], 300, 2);
    is_str(tell(UINT64_MAX), "d", "a count of used rings that went back is ignored");
    is_int(view.shared->used, RINGS, "a count of used rings that went back is restored");
}

/*
 * Forked children at once. The order among them is not checked: a process that loses the CPU
 * between reading the time and writing it down comes later.
 */
static void test_many(void)
{
    enum { CALLS = 20000 };
    struct shm_server_options o = {.rings = RINGS};
    pid_t pids[RINGS];
    int status = 0;

    shm_server_free(session);
    if (!ok(shm_server_new(&session, &o) == 0, "a second session is created and mapped") ||
        !map_by_name())
        return;
    for (unsigned i = 0; i < RINGS; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            struct ring *r = shm_take_ring(&view, 1, 26 + i, may_have);

            for (uint32_t k = 1; r && k <= CALLS; k++) {
                while (!ring_has_room(r, control_of(r), 64))
                    usleep(50);
                put_call(r, clock_ns(CLOCK_MONOTONIC), k);
                put_done(r, clock_ns(CLOCK_MONOTONIC), k);
            }
            _exit(r ? 0 : 1);
        }
    }
    nevents = 0;
    for (unsigned i = 0; i < RINGS; i++)
        while (waitpid(pids[i], &status, WNOHANG) == 0) {
            tell(clock_ns(CLOCK_MONOTONIC) - 1000000);
            usleep(200);
        }
    is_str(strpbrk(tell(UINT64_MAX), "!?"), NULL,
           "records of processes that write at the same time are sound");
    is_int(nevents, RINGS * CALLS * 2,
           "records of processes that write at the same time are all emitted");
    shm_server_free(session);
}

static void test_closing(void)
{
    const uint64_t calls[SHM_CALLS / 64] = {1ull << SYS_execve};
    struct shm_server_options o = {.rings = RINGS, .calls = {3, 5}};
    struct ring *r;

    if (!ok(shm_server_new(&session, &o) == 0, "a third session is created and mapped") ||
        !map_by_name())
        return;
    r = shm_take_ring(&view, 10, 27, may_have);
    put_call(r, 100, 1);
    tell(200);
    shm_server_close_ring(session, 27);
    is_int(control_of(r)->closed, 1, "shm_server_close_ring closes the ring");
    put_done(r, 300, 1);
    is_str(tell(UINT64_MAX), "B", "the end of an open call in a closed ring is emitted");
    shm_server_thread_gone(session, 27);
    is_int(r->owner, 27, "a closed ring is not given to another thread");
    ok(!shm_server_has(session, 27), "the thread of a closed ring has no ring any more");
    r = shm_take_ring(&view, 10, 27, may_have);
    put_call(r, 400, 1);
    is_str(tell(UINT64_MAX), "b",
           "a thread with the id of a closed ring's owner gets another ring");
    r->waits = 1;
    shm_server_end(session, calls);
    ok(control_of(r)->closed && !r->waits, "shm_server_end closes all rings and ends waits");
    ok(shm_wants(head, SYS_execve) && !shm_wants(head, 0) && !shm_wants(head, 64),
       "shm_server_end sets the wanted calls");
    shm_server_free(session);
}

int main(void)
{
    test_head();
    if (view.head) {
        test_seals();
        test_rings();
    }
    test_many();
    test_closing();
    return done_testing();
}
