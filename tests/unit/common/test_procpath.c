/* test_procpath.c: names in /proc, made without printf. */
#include "common/procpath.h"

#include "tests/tap.h"

int main(void)
{
    is_str(proc_path(1, "maps").s, "/proc/1/maps", "one digit");
    is_str(proc_path(4194304, "net/tcp6").s, "/proc/4194304/net/tcp6", "the largest pid");
    is_str(proc_path(PROC_SELF, "exe").s, "/proc/self/exe", "the caller");
    is_str(proc_path(PROC_THREAD_SELF, "maps").s, "/proc/thread-self/maps", "its thread");
    is_str(proc_path(0, "exe").s, "/proc/0/exe", "0 is nobody, not the caller");
    is_str(proc_path(INT32_MIN, "exe").s, "/proc/-2147483648/exe", "a number that is no pid");
    is_str(proc_path_of(20, "fd", 103).s, "/proc/20/fd/103", "a descriptor");
    is_str(proc_path_of(20, "task", 0).s, "/proc/20/task/0", "0");
    is_str(proc_path_of(INT32_MIN, "0123456789012345678901234567890123456789+", INT32_MIN).s,
           "/proc/-2147483648/0123456789012345678901234567890123456789/-2147483648",
           "the longest name there is");
    return done_testing();
}
