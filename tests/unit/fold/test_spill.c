/* Stacks that are sorted on disk: the result has the bytes of one set of them all, in any pieces
 * and levels. */
#include "fold/spill/spill.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/error.h"
#include "tests/rnd.h"
#include "tests/tap.h"

#define LINES 600

/* Names that sort around ';' and the blank, and begin each other. */
static const char *const names[] = {"a", "a ", "a!", "a (b)", "a.b", "aa", "", "b", "b~", "a\t"};

static void add(struct stackset *st, const uint32_t which[6], size_t n,
                const struct stackset_count *first, const struct stackset_count *second)
{
    uint32_t ids[6];

    for (size_t k = 0; k < n; k++)
        ids[k] = stackset_name(st, names[which[k]], strlen(names[which[k]]));
    stackset_add(st, ids, n, first, second);
}

static struct stackset_count count(void)
{
    return (struct stackset_count){rnd() % 50 ? rnd() % 1000 : UINT64_MAX - rnd() % 3,
                                   rnd() % 3 ? 0 : (uint64_t)rnd() * rnd() % STACKSET_PART};
}

/* Adds equal stacks to one set, and to another that goes to disk about every `piece` stacks. */
static void fill(struct stackset *whole, struct spill *s, struct stackset **st, uint32_t piece,
                 bool two)
{
    for (int i = 0; i < LINES; i++) {
        struct stackset_count first = count(), second = count();
        /* Two columns from some line on. */
        bool has_second = two && i > LINES / 2 && rnd() % 2, has_first = !has_second || rnd() % 2;
        uint32_t which[6];
        size_t n = rnd() % 6;

        for (size_t k = 0; k < n; k++)
            which[k] = rnd() % 10;
        add(whole, which, n, has_first ? &first : NULL, has_second ? &second : NULL);
        add(*st, which, n, has_first ? &first : NULL, has_second ? &second : NULL);
        if (rnd() % piece == 0 && spill_take(s, st, rnd() % 2) != FLAME_OK)
            return;
    }
}

static char *slurp(const char *path)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_read_file(&sb, path, SIZE_MAX);
    return strbuf_detach(&sb, NULL);
}

static void as_one_set(const char *path, uint32_t piece, bool two, enum stackset_sorting sort)
{
    const struct stackset_heading heading = {.meta = "# flame: unit=bytes"};
    bool same = true;
    char *a, *b;

    for (int round = 0; round < 20 && same; round++) {
        struct stackset *whole = stackset_new(), *st = stackset_new();
        struct spill s = {.limit = 1};

        fill(whole, &s, &st, piece, two);
        stackset_write_file(whole, &heading, sort, path);
        a = slurp(path);
        if (spill_settle(&s, &st) != FLAME_OK ||
            (s.nruns ? spill_write_file(&s, &heading, sort, path)
                     : stackset_write_file(st, &heading, sort, path)) != FLAME_OK)
            same = false;
        b = slurp(path);
        same &= strcmp(a, b) == 0;
        if (!same || round == 19)
            is_str(b, a, "spilled stacks, pieces of %u stacks, %d columns, order %d, round %d",
                   piece, 1 + two, (int)sort, round);
        free(a);
        free(b);
        spill_release(&s);
        stackset_free(st);
        stackset_free(whole);
    }
}

static void levels(void)
{
    struct stackset *st = stackset_new();
    struct spill s = {.limit = 1};
    static const struct stackset_count one = {1, 0};
    uint32_t most = 0;

    for (uint32_t i = 0; i < SPILL_RUNS * SPILL_RUNS + 40; i++) {
        const uint32_t which[6] = {i % 10};

        add(st, which, 1, &one, NULL);
        spill_take(&s, &st, false);
        most = s.nruns > most ? (uint32_t)s.nruns : most;
    }
    ok(most < 3 * SPILL_RUNS, "a thousand runs need at most %u files", most);
    ok(spill_settle(&s, &st) == FLAME_OK && s.nruns <= SPILL_RUNS,
       "spill_settle leaves %zu files to merge", s.nruns);
    spill_release(&s);
    stackset_free(st);
}

static void when_due(void)
{
    struct stackset *st = stackset_new();
    struct spill s = {.limit = 1 << 20};
    static const struct stackset_count one = {1, 0};
    char name[32];
    size_t names_take, stacks_take;
    uint32_t id = 0;

    for (int i = 0; i < 20000; i++)
        id = stackset_name(st, name, (size_t)snprintf(name, sizeof name, "name %d", i));
    stackset_add(st, &id, 1, &one, NULL);
    stackset_bytes(st, &names_take, &stacks_take);
    ok(names_take > 1 << 20, "test setup: the names alone exceed the limit");
    ok(spill_is_due(&s, st, false), "a spill is due for names that it frees");
    ok(!spill_is_due(&s, st, true), "a spill is not due for names that stay");
    s.limit = 0;
    ok(!spill_is_due(&s, st, false), "a spill without a limit is never due");
    stackset_free(st);
}

static void nowhere(void)
{
    struct stackset *st = stackset_new();
    struct spill s = {.limit = 1};
    static const struct stackset_count one = {1, 0};
    const uint32_t which[6] = {0};

    setenv("TMPDIR", "/dev/null/none", 1);
    add(st, which, 1, &one, NULL);
    ok(spill_take(&s, &st, false) == FLAME_USAGE && s.status == FLAME_USAGE,
       "spill_take fails with FLAME_USAGE without a temporary directory");
    ok(!spill_is_due(&s, st, false), "a failed spill is not due again");
    ok(spill_settle(&s, &st) == FLAME_USAGE, "spill_settle returns the error of a failed spill");
    spill_release(&s);
    stackset_free(st);
}

int main(void)
{
    char path[] = "/tmp/flame-spill.XXXXXX";
    int fd = mkstemp(path);

    /* Each round warns of counts that are full. */
    if (freopen("/dev/null", "w", stderr) == NULL)
        return 1;

    if (fd < 0)
        return 1;
    close(fd);
    for (int two = 0; two < 2; two++)
        for (uint32_t piece = 2; piece <= 200; piece *= 10) {
            as_one_set(path, piece, two, BY_LINE);
            as_one_set(path, piece, two, BY_STACK);
        }
    unlink(path);
    levels();
    when_due();
    nowhere();
    return done_testing();
}
