/* Lines of /proc/PID/maps, valid and malformed, and this process's own. */
#include "common/procmaps.h"
#include "tests/tap.h"

static bool parse(const char *line, struct procmap *out)
{
    return procmaps_parse(line, strlen(line), out);
}

static bool count(const struct procmap *map, void *arg)
{
    uintptr_t *last = arg;

    if (map->start < *last)
        *last = UINTPTR_MAX;
    else
        *last = map->end;
    return false;
}

int main(void)
{
    struct procmap m;
    uintptr_t last = 0;
    int local;

    ok(parse("7f0000001000-7f0000003000 r-xp 00001000 08:01 123 /lib/a b.so", &m),
       "a library's line is parsed");
    ok(m.start == 0x7f0000001000 && m.end == 0x7f0000003000 && m.read && !m.write && m.exec &&
           m.offset == 0x1000 && !m.stack,
       "a library's line has range, permissions and offset");
    ok(m.major == 8 && m.minor == 1 && m.inode == 123 && !m.shared && m.name_len == 11 &&
           memcmp(m.name, "/lib/a b.so", 11) == 0,
       "a library's line has device, inode and path");
    ok(parse("1000-2000 rw-s 00002000 fd:1f 4294967296   /dev/shm/x (deleted)", &m) && m.shared &&
           m.major == 0xfd && m.minor == 0x1f && m.inode == 4294967296 && m.name_len == 20,
       "a deleted shared file's line is parsed");
    ok(parse("1000-2000 rw-p 00000000 00:00 0 ", &m) && m.name_len == 0 && m.inode == 0,
       "an anonymous mapping has no name and no inode");
    ok(parse("1000-2000 r-xp 0 08:zz", &m) && m.inode == 0 && m.name_len == 0,
       "a line that ends early is parsed");
    ok(parse("7ffd0000-7ffe0000 rw-p 00000000 00:00 0                          [stack]", &m) &&
           m.stack && m.write,
       "the stack's line is recognised");
    ok(parse("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]", &m),
       "the line of [vsyscall] is parsed");
    ok(!parse("", &m) && !parse("-", &m) && !parse("1000-", &m) && !parse("1000-2000", &m) &&
           !parse("1000-2000 r-x", &m) && !parse("2000-1000 r-xp 0 0 0", &m) &&
           !parse("10000000000000000-2 r-xp 0", &m) && !parse("zz-2000 r-xp 0", &m) &&
           !parse("1000-2000 r-xp x", &m),
       "malformed lines are refused");
    ok(!procmaps_each(0, count, &last) && last != 0 && last != UINTPTR_MAX,
       "procmaps_each visits this process's mappings in order");
    ok(procmaps_find(0, (uintptr_t)&local, &m) && m.stack && m.read && m.write,
       "procmaps_find finds this process's stack");
    ok(procmaps_find(0, (uintptr_t)&main, &m) && m.exec && !m.write,
       "procmaps_find finds this process's code");
    ok(!procmaps_find(0, 8, &m), "procmaps_find finds nothing at address 8");
    ok(!procmaps_find(999999999, 8, &m), "procmaps_find fails for a missing process");
    return done_testing();
}
