/* Processes that were not checked for leaks (driver/leak/leakunchecked.h). */
#include "driver/leak/leakunchecked.h"
#include "tests/tap.h"

#define COMMAND 7

static struct run_totals_process looked = {.pid = COMMAND, .comm = "sh", .leak_checked = true},
                                 not_looked = {.pid = COMMAND, .comm = "sh"},
                                 killed = {.pid = 9, .comm = "killed"};

static void is_found(const char *name, struct run_totals_process *list, size_t n,
                     const struct unrecorded *others, bool look, bool command, bool rest,
                     const char *who)
{
    struct run_totals k = {.process = list, .nprocesses = n};
    struct leak_unchecked u;
    struct leak_coverage looks;

    leak_coverage_make(&looks, &k, false);
    leak_unchecked_find(&u, others, &looks, look, COMMAND);
    ok(u.command == command && u.others == rest, "%s: the command is %s, others are %s", name,
       u.command ? "not" : "checked", u.others ? "not" : "checked");
    is_str(u.who.buf, who, "%s: the unchecked processes are named", name);
    leak_unchecked_release(&u);
    leak_coverage_release(&looks);
}

/* One program that was not recorded. */
static void with_note(const char *name, uint32_t pid, enum unrecorded_why why, bool look,
                      bool command, bool rest, const char *who)
{
    struct run_totals_process list[] = {look ? looked : not_looked};
    struct unrecorded others = {0};

    unrecorded_add_process(&others, "x", pid, why);
    unrecorded_sort(&others);
    is_found(name, list, 1, &others, look, command, rest, who);
    unrecorded_release(&others);
}

int main(void)
{
    static const struct unrecorded none;
    struct unrecorded unnamed = {.unnamed = 2};
    struct run_totals_process both[] = {looked, killed};

    is_found("all processes scanned", &looked, 1, &none, true, false, false, "");
    is_found("the command not scanned", &not_looked, 1, &none, true, true, false,
             "sh 7 (" LEAK_NOT_LOOKED ")");
    is_found("no trace", NULL, 0, &none, true, true, false, "the recorder did not start in it");
    is_found("no trace, --live", NULL, 0, &none, false, true, false,
             "the recorder did not start in it");
    is_found("not scanned, --live", &not_looked, 1, &none, false, false, false, "");
    is_found("an unscanned child", both, 2, &none, true, false, true,
             "killed 9 (" LEAK_NOT_LOOKED ")");
    is_found("an unscanned child, --live", both, 2, &none, false, false, false, "");
    is_found("entries lost in a full status file", &looked, 1, &unnamed, true, false, true,
             "2 more");

    with_note("static", 12, UNRECORDED_STATIC, true, false, true, "x (linked statically)");
    with_note("static, --live", 12, UNRECORDED_STATIC, false, false, true, "x (linked statically)");
    with_note("static, without a pid", 0, UNRECORDED_STATIC, true, false, true,
              "x (linked statically)");
    with_note("static, then the command executed another program", COMMAND, UNRECORDED_STATIC, true,
              false, false, "");
    with_note("static command, --live", COMMAND, UNRECORDED_STATIC, false, true, false,
              "x (linked statically)");
    with_note("not followed, as requested", 12, UNRECORDED_NOT_FOLLOWED, true, false, false, "");
    with_note("ended as it began", 12, UNRECORDED_NOT_BEGUN, true, false, false, "");
    with_note("damaged", 12, UNRECORDED_DAMAGED, true, false, false, "");
    return done_testing();
}
