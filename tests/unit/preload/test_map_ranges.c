/* The program's own mappings, compared with one flag for each page. */
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/processor/page_size.h"
#include "preload/mapping/map_ranges.h"
#include "tests/tap.h"
#include "tests/unit/scratch_store.h"

#define PAGES 200
#define PAGE ((uintptr_t)4096)
#define BASE ((uintptr_t)1 << 40)

static bool model[PAGES];
static size_t wrong;
static uintptr_t last;
static bool seen[PAGES];

static void note(const struct map_ranges_piece *p, void *arg)
{
    uintptr_t lo = p->lo, hi = p->hi;

    (void)arg;
    wrong += lo < last || lo >= hi;
    last = hi;
    for (uintptr_t at = lo; at < hi; at += PAGE)
        seen[(at - BASE) / PAGE] = true;
}

static bool same(void)
{
    wrong = 0;
    last = 0;
    memset(seen, 0, sizeof seen);
    map_ranges_each(note, NULL);
    return wrong == 0 && memcmp(seen, model, sizeof model) == 0;
}

static void note_end(const struct map_ranges_piece *p, void *arg)
{
    *(uintptr_t *)arg = p->hi;
}

static void add(uintptr_t lo, size_t size)
{
    static const struct mapping nobodys;

    map_ranges_add(lo, whole_pages(size), &nobodys);
}

static void take(uintptr_t lo, size_t size)
{
    map_ranges_take(lo, whole_pages(size), NULL);
}

static void test_bytes(void)
{
    uintptr_t hi = 0;

    take(BASE, PAGES * PAGE);
    map_ranges_add(BASE, 100, &(struct mapping){.words = true});
    map_ranges_each(note_end, &hi);
    is_int((intmax_t)(hi - BASE), 100, "a mapping counted by the byte ends at its last byte");
    map_ranges_take(BASE + 60, 40, NULL);
    map_ranges_each(note_end, &hi);
    is_int((intmax_t)(hi - BASE), 60, "a mapping counted by the byte shrinks by the byte");
    take(BASE, PAGE);
}

/* The mappings that shmdt(2) removes: all pieces of a segment, wherever holes were cut, and no
 * others. */
static void test_segment(void)
{
    static const struct mapping nobodys;
    const struct mapping first = {.kind = TRACE_MAPPING_SHARED, .segment = BASE + 10 * PAGE},
                         other = {.kind = TRACE_MAPPING_SHARED, .segment = BASE + 30 * PAGE};
    struct map_ranges_taken taken;

    take(BASE, PAGES * PAGE);
    memset(model, 0, sizeof model);
    map_ranges_add(BASE + 10 * PAGE, 20 * PAGE, &first);
    map_ranges_add(BASE + 30 * PAGE, 5 * PAGE, &other);
    take(BASE + 10 * PAGE, PAGE);
    map_ranges_add(BASE + 15 * PAGE, PAGE, &nobodys);
    ok(map_ranges_at(BASE + 16 * PAGE + 7).segment == first.segment &&
           map_ranges_at(BASE + 15 * PAGE).segment == 0 &&
           map_ranges_at(BASE + 10 * PAGE).kind == TRACE_MAPPING_ANONYMOUS,
       "map_ranges_at finds the mapping of an address");
    map_ranges_take_segment(first.segment, &taken);
    model[15] = true;
    for (int i = 30; i < 35; i++)
        model[i] = true;
    ok(same() && taken.n == 2,
       "shmdt of a segment with holes removes all its pieces and no other mapping");
    map_ranges_put_back(&taken);
    map_ranges_take_segment(BASE + 11 * PAGE, &taken);
    for (int i = 11; i < 30; i++)
        model[i] = true;
    ok(same() && taken.n == 0,
       "map_ranges_put_back restores a segment, which its middle does not name");
    take(BASE, PAGES * PAGE);
    memset(model, 0, sizeof model);
}

static bool begun, done;

static void *adds(void *unused)
{
    (void)unused;
    __atomic_store_n(&begun, true, __ATOMIC_SEQ_CST);
    add(BASE, PAGE);
    __atomic_store_n(&done, true, __ATOMIC_SEQ_CST);
    return NULL;
}

static void test_hold(void)
{
    pthread_t t;

    ok(map_ranges_hold(), "map_ranges_hold succeeds");
    pthread_create(&t, NULL, adds, NULL);
    while (!__atomic_load_n(&begun, __ATOMIC_SEQ_CST))
        sched_yield();
    for (int i = 0; i < 1000; i++)
        sched_yield();
    ok(!__atomic_load_n(&done, __ATOMIC_SEQ_CST),
       "map_ranges_add waits while another thread holds the ranges");
    map_ranges_let_go();
    pthread_join(t, NULL);
    ok(done, "map_ranges_add continues when the ranges are released");
}

/* A signal handler jumps out of a change: no thread waits for ever, and the loss is known. */
static void test_deserted(void)
{
    pthread_t t;

    ok(scratch_store_open(), "a scratch trace is opened");
    ok(map_ranges_hold(), "a thread holds the ranges and does not release them");
    begun = done = false;
    pthread_create(&t, NULL, adds, NULL);
    pthread_join(t, NULL);
    ok(done && map_ranges_incomplete(),
       "other threads give up waiting and mark the ranges incomplete");
    is_int(store.writer.header->lost_mappings, 1,
           "a change that was given up is counted in the header");
    ok(!map_ranges_hold(), "map_ranges_hold fails while the ranges are deserted");
    map_ranges_let_go();
    ok(map_ranges_hold(), "a late release makes the ranges usable again");
    map_ranges_let_go();
    scratch_store_close();
}

static void test_fork(void)
{
    int status;
    pid_t child;

    ok(map_ranges_hold(), "map_ranges_hold succeeds before a fork");
    child = fork();
    if (child == 0) {
        map_ranges_after_fork();
        add(BASE, PAGE); /* the lock is not held in this process */
        _exit(map_ranges_incomplete() ? 7 : 8);
    }
    map_ranges_let_go();
    is_int(waitpid(child, &status, 0), child, "the child of a fork during a change ends");
    is_int(WEXITSTATUS(status), 7, "the child of a fork during a change has incomplete ranges");
    ok(!map_ranges_incomplete(), "the parent of a fork during a change has complete ranges");
}

/* Every other page, so that no two are one mapping. */
static void test_too_many(void)
{
    take(BASE, PAGES * PAGE);
    for (uintptr_t i = 0; i < MAPPED_MAX; i++)
        add(BASE + 2 * i * PAGE, PAGE);
    ok(!map_ranges_incomplete(), "MAPPED_MAX mappings are stored");
    add(BASE + 2 * MAPPED_MAX * PAGE, PAGE);
    ok(map_ranges_incomplete(), "one mapping more than MAPPED_MAX makes the ranges incomplete");
    take(BASE, 2 * MAPPED_MAX * PAGE);
    ok(map_ranges_incomplete(), "the ranges stay incomplete after mappings are removed");
}

/* ---- what rows count ---- */

#define ROWS 6
static uint32_t owner[PAGES]; /* number of the call that mapped it */
static uint32_t calls;
static uint32_t row_of_call[30000];
static uint32_t rows[ROWS];

static void map_counted(uint32_t at, uint32_t n, uint32_t row)
{
    map_ranges_add(BASE + at * PAGE, n * PAGE, &(struct mapping){.row = rows[row]});
    calls++;
    row_of_call[calls] = row;
    for (uint32_t p = at; p < at + n; p++)
        owner[p] = calls;
}

/* An allocator's mapping: of no row at first, cut, and then settled. */
static void map_late(uint32_t at, uint32_t n, uint32_t cut, uint32_t row)
{
    uint64_t call = map_ranges_add(BASE + at * PAGE, n * PAGE, &(struct mapping){.row = 0});

    calls++;
    row_of_call[calls] = row;
    for (uint32_t p = at; p < at + n; p++)
        owner[p] = p < at + cut ? 0 : calls;
    take(BASE + at * PAGE, cut * PAGE);
    map_ranges_settle(BASE + at * PAGE, BASE + (at + n) * PAGE, call, rows[row]);
}

/* Whether each row has as many bytes as pages of its calls are mapped, and as many calls as have
 * any. */
static bool rows_are_right(void)
{
    uint64_t bytes[ROWS] = {0}, live[ROWS] = {0};
    bool right = true;
    static bool has[30000];

    memset(has, 0, sizeof has);
    for (uint32_t p = 0; p < PAGES; p++) {
        if (!owner[p])
            continue;
        bytes[row_of_call[owner[p]]] += PAGE;
        live[row_of_call[owner[p]]] += !has[owner[p]];
        has[owner[p]] = true;
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        const struct trace_row *r = store_row(rows[i]);

        right &=
            r->alloc_bytes - r->free_bytes == bytes[i] && r->alloc_calls - r->free_calls == live[i];
    }
    return right;
}

static void test_rows(void)
{
    uint32_t state = 11, good = 0, rounds = 20000;
    struct id_chunk chunk;

    ok(scratch_store_open() && store_rows(ROWS, &chunk), "rows of a scratch trace are made");
    for (uint32_t i = 0; i < ROWS; i++)
        rows[i] = chunk.next++;
    take(BASE, PAGES * PAGE);
    for (uint32_t i = 0; i < rounds; i++) {
        struct map_ranges_taken taken;
        uint32_t at, n;

        state = state * 1664525 + 1013904223;
        at = (state >> 8) % PAGES;
        n = 1 + (state >> 20) % 9;
        if (at + n > PAGES)
            n = PAGES - at;
        if (state >> 30 == 3 && state >> 27 & 1) {
            map_late(at, n, (state >> 3) % (n + 1), (state >> 5) % ROWS);
        } else if (state >> 30 > 1) {
            map_counted(at, n, (state >> 5) % ROWS);
        } else {
            map_ranges_take(BASE + at * PAGE, n * PAGE, &taken);
            if (state >> 30 == 0 && taken.n <= MAPPED_TAKEN_MAX)
                map_ranges_put_back(&taken);
            else
                memset(owner + at, 0, n * sizeof *owner);
        }
        good += rows_are_right();
    }
    is_int(good, rounds,
           "rows count mappings through add, cut, take and put back, in 20000 rounds");
    map_ranges_after_fork();
    take(BASE, PAGES * PAGE);
    ok(rows_are_right(), "a forked child does not subtract its parent's mappings");
    scratch_store_close();
}

int main(void)
{
    uint32_t state = 7, rounds = 20000, good = 0;

    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t at, n;

        state = state * 1664525 + 1013904223;
        at = (state >> 8) % PAGES;
        n = 1 + (state >> 20) % 17;
        if (at + n > PAGES)
            n = PAGES - at;
        for (uint32_t p = at; p < at + n; p++)
            model[p] = state >> 31;
        /* A length need not be whole pages. */
        (state >> 31 ? add : take)(BASE + at * PAGE, n * PAGE - (state >> 7 & 1) * 100);
        good += same();
    }
    is_int(good, rounds, "the ranges equal a flag for each page after each of 20000 calls");
    ok(!map_ranges_incomplete(), "the ranges are complete after 20000 calls");
    map_ranges_after_fork();
    ok(!map_ranges_incomplete(), "a fork between changes leaves the ranges complete");
    test_bytes();
    test_segment();
    test_hold();
    test_fork();
    test_rows();
    test_too_many();
    test_deserted();
    return done_testing();
}
