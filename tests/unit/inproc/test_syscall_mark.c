/* Marks lie where the kernel ignores them, and are recognised only with their call and place. */
#define _GNU_SOURCE
#include <sys/wait.h>
#include <unistd.h>

#include "common/sysnr.h"
#include "inproc/syscall_mark.h"
#include "tests/tap.h"

enum { PLACE = 0x72e };
#define PC (0x7f0000123000ul + PLACE)

static bool is_on(const struct patch_call *c, uintptr_t pc, long number)
{
    return syscall_mark_is_on(PLACE, pc, number, c->args[0], c->args[5]);
}

static void test_marks(void)
{
    static const long numbers[] = {SYS_read,   SYS_futex,       SYS_sendto,     SYS_recvfrom,
                                   SYS_accept, SYS_pselect6,    SYS_epoll_wait, SYS_epoll_pwait,
                                   SYS_poll,   SYS_epoll_pwait2};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct patch_call call = {.number = numbers[i], .args = {3, 1, 2, 3, 4, 5}}, plain = call;

        row(!is_on(&call, PC, call.number), "%ld: not marked", numbers[i]);
        syscall_mark_put(&call);
        row(is_on(&call, PC, call.number), "%ld: marked", numbers[i]);
        row(!is_on(&call, PC - 2, call.number) && is_on(&call, PC + SYSCALL_MARK_PAGE, call.number),
            "%ld: elsewhere", numbers[i]);
        row(!is_on(&call, PC, call.number + 1), "%ld: another call's", numbers[i]);
        row(!syscall_mark_is_on(0, PC - PLACE, call.number, call.args[0], call.args[5]),
            "%ld: no place", numbers[i]);
        row(is_on(&call, PC, SYS_restart_syscall) == (syscall_mark_argument(call.number) == 5),
            "%ld: gone on with", numbers[i]);
        for (int a = 0; a < 6; a++)
            row((uint32_t)call.args[a] == plain.args[a], "%ld: argument %d", numbers[i], a);
    }
    ok(tap_rows == 0,
       "a mark is recognised by its call and its place, and leaves arguments as they are");
}

static void test_filters(void)
{
    char line[64] = "";
    FILE *f = fopen("/proc/self/status", "r");
    int n = -1;

    while (f && fgets(line, sizeof line, f))
        sscanf(line, "Seccomp_filters:\t%d", &n);
    if (f)
        fclose(f);
    is_int(syscall_mark_filters(), n,
           "syscall_mark_filters counts as many filters as /proc/self/status");
}

int main(void)
{
    test_marks();
    test_filters();
    return done_testing();
}
