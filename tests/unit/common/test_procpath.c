/* test_procpath.c: names in /proc, made without printf. */
#include "common/procpath.h"

#include "tests/tap.h"

int main(void)
{
    is_str(proc_path(1, "maps").s, "/proc/1/maps", "proc_path of a pid of one digit");
    is_str(proc_path(4194304, "net/tcp6").s, "/proc/4194304/net/tcp6",
           "proc_path of the largest pid");
    is_str(proc_path(PROC_SELF, "exe").s, "/proc/self/exe", "proc_path of PROC_SELF");
    is_str(proc_path(PROC_THREAD_SELF, "maps").s, "/proc/thread-self/maps",
           "proc_path of PROC_THREAD_SELF");
    is_str(proc_path(0, "exe").s, "/proc/0/exe", "proc_path of pid 0 is not the caller");
    is_str(proc_path(INT32_MIN, "exe").s, "/proc/-2147483648/exe",
           "proc_path of a negative number");
    is_str(proc_path_of(20, "fd", 103).s, "/proc/20/fd/103", "proc_path_of a descriptor");
    is_str(proc_path_of(20, "task", 0).s, "/proc/20/task/0", "proc_path_of the number 0");
    is_str(proc_path_of(INT32_MIN, "0123456789012345678901234567890123456789+", INT32_MIN).s,
           "/proc/-2147483648/0123456789012345678901234567890123456789/-2147483648",
           "proc_path_of truncates the longest name");
    return done_testing();
}
