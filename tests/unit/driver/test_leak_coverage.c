/* Which processes were scanned for leaks (driver/leak/leak_coverage.h). */
#include "driver/leak/leak_coverage.h"
#include "tests/tap.h"

static void names_the_last_program(void)
{
    /* In the order in which their traces were complete, not in that of their beginnings. */
    struct run_totals_process list[] = {
        {.pid = 7, .comm = "true", .start_ns = 30, .leak_checked = true},
        {.pid = 7, .comm = "env", .start_ns = 20},
        {.pid = 7, .comm = "sh", .start_ns = 10},
        {.pid = 9, .comm = "killed", .start_ns = 5},
        {.pid = 8, .comm = "later", .start_ns = 40, .leak_checked = true},
    };
    struct run_totals k = {.process = list, .nprocesses = 5};
    struct leak_coverage s;

    leak_coverage_make(&s, &k, false);
    is_int((intmax_t)s.nseen, 2, "a process that executed several programs counts once");
    is_str(s.seen[0]->comm, "later", "the process that began last comes first");
    is_str(s.seen[1]->comm, "true", "a process has the name of its last program");
    is_int((intmax_t)s.nunseen, 1, "a process without a scan is counted");
    is_str(s.unseen[0]->comm, "killed", "a process without a scan is named");
    leak_coverage_release(&s);
}

static void not_known_when(void)
{
    struct run_totals_process list[] = {
        {.pid = 7, .comm = "first"},
        {.pid = 7, .comm = "second", .leak_checked = true},
    };
    struct run_totals k = {.process = list, .nprocesses = 2};
    struct leak_coverage s;

    leak_coverage_make(&s, &k, false);
    is_str(s.seen[0]->comm, "second",
           "without times the last ingested program of a process is its last");
    leak_coverage_release(&s);
}

int main(void)
{
    names_the_last_program();
    not_known_when();
    return done_testing();
}
