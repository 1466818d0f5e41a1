/* Names of a JIT's code, from text and from /tmp. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "fold/symbols/perfmap.h"
#include "tests/tap.h"

static bool is(const struct perfmap *map, uint64_t addr, const char *want)
{
    size_t len = 0;
    const char *name = perfmap_find(map, addr, &len);

    return want ? name && len == strlen(want) && memcmp(name, want, len) == 0 : !name;
}

static void from_text(void)
{
    static const char text[] = "1000 10 first\n"
                               "0x2000 20 with blanks in it\r\n"
                               "nonsense\n"
                               "3000 0 empty\n"
                               "ffffffffffffffff ff overflow\n"
                               "4000 100 outer\n"
                               "4010 10 inner\n"
                               "1000 8 moved\n"
                               "5000 10\n"
                               "6000 10 \n"
                               "12345678901234567 1 long\n"
                               "7000 10 last";
    struct perfmap *map = perfmap_parse(text, sizeof text - 1);

    ok(is(map, 0x1000, "moved") && is(map, 0x1007, "moved"),
       "of two lines for an address the later one counts");
    ok(is(map, 0x1008, "first"), "an earlier line counts where the later one does not reach");
    ok(is(map, 0x201f, "with blanks in it") && is(map, 0x2020, NULL),
       "the end of a range is exclusive");
    ok(is(map, 0x4015, "inner") && is(map, 0x4020, "outer") && is(map, 0x40ff, "outer"),
       "the inner of two nested ranges counts");
    ok(is(map, 0x3000, NULL) && is(map, 0x5000, NULL) && is(map, 0x6000, NULL) &&
           is(map, UINT64_MAX, NULL) && is(map, 0, NULL),
       "malformed lines are ignored");
    ok(is(map, 0x7001, "last"), "a last line without a newline is read");
    perfmap_free(map);
    map = perfmap_parse("", 0);
    ok(is(map, 0x1000, NULL), "an empty map finds nothing");
    perfmap_free(map);
}

/* A pid that no process has: above the kernel's limit of 2^22. */
#define NOBODY 4194999u

static void from_file(void)
{
    char path[64], other[64];
    struct perfmap *map;
    uint64_t now;
    int fd;

    snprintf(path, sizeof path, "/tmp/perf-%u.map", NOBODY);
    snprintf(other, sizeof other, "/tmp/perf-%u.map", NOBODY + 1);
    unlink(path);
    unlink(other);
    ok(!perfmap_open(NOBODY, 0), "perfmap_open fails without a file");
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    ok(fd >= 0 && write(fd, "1000 10 f\n", 10) == 10, "a map file of this user is written");
    close(fd);
    map = perfmap_open(NOBODY, 0);
    ok(map && is(map, 0x1001, "f"), "perfmap_open reads a map file of this user");
    perfmap_free(map);
    now = clock_ns(CLOCK_REALTIME);
    map = perfmap_open(NOBODY, now);
    ok(map, "perfmap_open takes a map that was written just now");
    perfmap_free(map);
    ok(!perfmap_open(NOBODY, now + 3000000000u),
       "perfmap_open refuses a map from before the process began");
    ok(symlink(path, other) == 0 && !perfmap_open(NOBODY + 1, 0),
       "perfmap_open refuses a symbolic link");
    if (geteuid() == 0) {
        ok(chown(path, 65534, 65534) == 0 && !perfmap_open(NOBODY, 0),
           "perfmap_open refuses a map file of another user");
    }
    unlink(other);
    ok(mkfifo(other, 0600) == 0 && !perfmap_open(NOBODY + 1, 0),
       "perfmap_open refuses a pipe without waiting");
    unlink(path);
    unlink(other);
}

int main(void)
{
    from_text();
    from_file();
    return done_testing();
}
