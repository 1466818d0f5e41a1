/* /proc/self/smaps: lines of all sorts, and this process's own. */
#include "common/processor/page_size.h"
#include "common/procpath.h"
#include "preload/resident/smaps.h"
#include "tests/tap.h"

static struct smap seen[4];
static size_t n;

static void note(const struct smap *m, void *arg)
{
    (void)arg;
    if (n < ARRAY_LEN(seen))
        seen[n] = *m;
    n++;
}

static void parse(const char *text)
{
    struct smaps_parser p = {.visit = note};

    n = 0;
    for (const char *s = text; *s; s++) {
        const char *end = strchr(s, '\n');

        smaps_line(&p, s, (size_t)(end - s));
        s = end;
    }
    smaps_end(&p);
}

static uint64_t sums[2];

static void add(const struct smap *m, void *arg)
{
    (void)arg;
    sums[0] += m->rss;
    sums[1] += m->map.end - m->map.start;
}

int main(void)
{
    uint64_t rss, swap;

    parse("1000-3000 rw-p 00000000 00:00 0 \n"
          "Size:                  8 kB\n"
          "Rss:                   4 kB\n"
          "AnonHugePages:         2048 kB\n"
          "SwapPss:               9 kB\n"
          "Swap:                  12 kB\n"
          "VmFlags: rd wr mr mw me ac \n"
          "5000-6000 r-xp 00001000 fe:00 77                 /usr/lib/a dir/libx.so (deleted)\n"
          "Rss: 0 kB\n");
    is_int((intmax_t)n, 2, "two mappings are parsed");
    is_int((intmax_t)seen[0].rss, 4096, "the resident size is parsed");
    is_int((intmax_t)seen[0].swap, 12288, "the swapped size is parsed, not the proportional one");
    is_int((intmax_t)seen[0].huge, 2048 * 1024, "the size in huge pages is parsed");
    is_str(seen[0].name, "", "an anonymous mapping has an empty name");
    is_int((intmax_t)seen[1].rss, 0,
           "a mapping without a resident size does not have that of the one before");
    is_str(seen[1].base, "libx.so (deleted)", "the base name is the part behind the last slash");
    is_int((intmax_t)seen[1].map.inode, 77, "the inode is parsed");

    parse("Rss: 5 kB\nno line\n\n9-8 rw-p 0 00:00 0\n"
          "1000-2000 rw-p 00000000 00:00 0 [heap]\nRss:\nRss: x kB\nRss: -3 kB\n"
          "Rss: 99999999999999999999999 kB\n");
    is_int((intmax_t)n, 1, "lines that are no mapping are skipped");
    is_int((intmax_t)seen[0].rss, 0, "malformed sizes are ignored");
    is_str(seen[0].name, "[heap]", "a mapping after skipped lines has its name");

    parse("1000-2000 rw-p 00000000 00:00 1 "
          "/0123456789012345678901234567890123456789/0123456789012345678901234567890123456789/x\n");
    is_int((intmax_t)strlen(seen[0].name), SMAPS_NAME_MAX - 1, "a long name is truncated");
    is_str(seen[0].base, "x", "a truncated name keeps its base name");

    is_int(smaps_each(PROC_THREAD_SELF, add, NULL), 0, "smaps_each reads this process's mappings");
    ok(sums[0] > 100000 && sums[0] < sums[1], "this process has resident memory");
    is_int(smaps_rollup(PROC_THREAD_SELF, &rss, &swap), 0,
           "smaps_rollup reads this process's sums");
    ok(rss > sums[0] / 2 && rss < sums[0] * 2,
       "the resident sum of smaps_rollup is near that of smaps_each");
    ok(smaps_estimate() * page_size() > sums[0] / 2 && smaps_estimate() * page_size() < sums[0] * 2,
       "smaps_estimate is near the sum of smaps_each");
    return done_testing();
}
