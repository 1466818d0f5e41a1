#define _GNU_SOURCE
#include "driver/doctor/machinelook.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/procpath.h"
#include "common/strbuf.h"
#include "driver/doctor/settings.h"
#include "driver/doctor/trial.h"
#include "driver/doctor/verdicts.h"
#include "driver/rundir/rundir.h"

/* A recording that is smaller than that is rare. */
#define ROOM_MEGABYTES 200

static void say_where(void)
{
    struct utsname u = {.release = "?"};

    uname(&u);
    printf("flame " FLAME_VERSION ", Linux %s on %s, glibc %s\n\n", u.release, u.machine,
           gnu_get_libc_version());
}

/* One row: what is tried, the text for success, the verdict otherwise, what the user lacks then,
 * and the command that changes it. */
struct row {
    const char *subject, *works;
    enum verdict otherwise;
    const char *cost, *command;
};

static bool examine(const char *dir, const struct row *r, const char *const *args)
{
    struct strbuf said = STRBUF_INIT;
    int status = trial_run(dir, args, &said);

    if (status == 0 && !said.len)
        verdict_print(VERDICT_YES, r->subject, "%s", r->works);
    else if (said.len)
        verdict_print(status == 0 ? VERDICT_PART : r->otherwise, r->subject, "%s", said.buf);
    else
        verdict_print(r->otherwise, r->subject, "flame %s has ended with status %d", args[0],
                      status);
    if (status != 0 || said.len)
        verdict_cost(r->cost, r->command);
    strbuf_release(&said);
    return status == 0;
}

static char *in(const char *dir, const char *name)
{
    struct strbuf path = STRBUF_INIT;

    strbuf_addf(&path, "%s/%s", dir, name);
    return strbuf_detach(&path, NULL);
}

#define EXAMINE(r, ...) examine(dir, &(r), (const char *const[]){__VA_ARGS__, NULL})

static const char kernel_command[] = "sudo flame off --kernel -p PID, outside of containers";

static void examine_attaching(const char *dir, int pid, const char *trace, const char *folded,
                              const struct settings *set)
{
    const char *ptrace = settings_allow_ptrace(set), *perf = settings_allow_perf(set, 2);
    const struct row mem = {"mem -p", "memory of a running process: flame mem -p PID", VERDICT_NO,
                            "memory only of programs that flame starts: flame mem -- COMMAND",
                            ptrace},
                     off = {"off -p", "waits of a running process, each of them: flame off -p PID",
                            VERDICT_NO, "of a running process at most its longer waits: --no-stops",
                            ptrace},
                     kernel = {"off --kernel", "and what the kernel does meanwhile: with --kernel",
                               VERDICT_PART, "a wait's stack ends at its system call",
                               set->no_ptrace ? ptrace : kernel_command},
                     quiet = {"off --no-stops",
                              "the same at next to no cost, of 2 ms and longer: with --no-stops",
                              VERDICT_NO, "waits of a busy server take stops or are less exact",
                              set->no_read && ptrace ? ptrace : perf};
    char number[16];

    snprintf(number, sizeof number, "%d", pid);
    EXAMINE(mem, "mem", "-q", "-p", number, "-d", "0.05", "--no-names", "-o", trace);
    EXAMINE(off, "off", "-q", "-p", number, "-d", "0.05", "-o", folded);
    EXAMINE(kernel, "off", "-q", "--kernel", "-p", number, "-d", "0.1", "-o", folded);
    EXAMINE(quiet, "off", "-q", "--no-stops", "-p", number, "-d", "0.1", "-o", folded);
}

static void say_room(void)
{
    const char *tmp = getenv("TMPDIR");
    struct statvfs v;
    unsigned long long megabytes;

    if (!tmp || !*tmp)
        tmp = "/tmp";
    if (statvfs(tmp, &v) < 0) {
        verdict_print(VERDICT_NO, "room", "%s cannot be inspected", tmp);
        verdict_cost("no recording can begin", "export TMPDIR=DIRECTORY");
        return;
    }
    megabytes = (unsigned long long)v.f_bavail * v.f_frsize >> 20;
    verdict_print(megabytes < ROOM_MEGABYTES ? VERDICT_PART : VERDICT_YES, "room",
                  "%llu MiB for traces in %s", megabytes, tmp);
    if (megabytes < ROOM_MEGABYTES)
        verdict_cost("a long recording ends when the disk is full",
                     "export TMPDIR=DIRECTORY, of a file system with more room");
}

bool machine_examine(const char *dir)
{
    char *trace = in(dir, RUNDIR_DOCTOR ".flame"), *folded = in(dir, RUNDIR_DOCTOR ".folded");
    struct settings set;
    int victim;
    bool works;

    settings_read(&set);
    const struct row mem = {"mem", "memory of a program, leaks, growth: flame mem, flame leak",
                            VERDICT_NO, "no flame mem, leak and run",
                            getenv("FLAME_MEM_SHIM") ? "unset FLAME_MEM_SHIM" : NULL},
                     off = {"off", "waits of a program, without a stop where it can be: flame off",
                            VERDICT_NO, "no flame off and run", settings_allow_ptrace(&set)},
                     fault = {"page faults", "page faults of a program, by stack: --view fault",
                              VERDICT_PART, "no page faults by stack, or not all",
                              settings_allow_perf(&set, 1)};
    say_where();
    works = EXAMINE(mem, "mem", "-q", "--no-names", "-o", trace, "--", trial_program(),
                    trial_argument());
    works &= EXAMINE(off, "off", "-q", "-o", folded, "--", trial_program(), trial_argument());
    victim = trial_victim();
    if (victim > 0) {
        examine_attaching(dir, victim, trace, folded, &set);
        trial_end(victim);
    }
    EXAMINE(fault, "mem", "--view", "fault", "-q", "--no-names", "-o", folded, "--",
            trial_program(), trial_argument());
    say_room();
    settings_print(&set);
    free(trace);
    free(folded);
    return works;
}

/* `command`, if this user may not trace the process and root may. */
static const char *as_root(int pid, const char *command)
{
    struct stat st;

    return geteuid() != 0 && stat(proc_path(pid, "status").s, &st) == 0 && st.st_uid != geteuid()
               ? command
               : NULL;
}

bool machine_examine_process(const char *dir, int pid)
{
    char *folded = in(dir, RUNDIR_DOCTOR ".folded"), number[16];
    struct settings set;
    const char *ptrace, *perf;
    bool works;

    settings_read(&set);
    ptrace = settings_allow_ptrace(&set);
    if (!ptrace)
        ptrace = as_root(pid, "sudo flame off -p PID");
    perf = settings_allow_perf(&set, 2);
    if (!perf)
        perf = as_root(pid, "sudo flame off --no-stops -p PID");
    const struct row off = {"off -p", "its waits can be recorded, each of them", VERDICT_NO,
                            ptrace ? "no waits of this process, or the longer ones: --no-stops"
                                   : NULL,
                            ptrace},
                     quiet = {"off --no-stops", "the same at next to no cost, of 2 ms and longer",
                              VERDICT_PART, perf ? "its waits take stops or are less exact" : NULL,
                              perf};

    snprintf(number, sizeof number, "%d", pid);
    works = EXAMINE(off, "off", "-q", "-p", number, "-d", "0.05", "-o", folded);
    EXAMINE(quiet, "off", "-q", "--no-stops", "-p", number, "-d", "0.1", "-o", folded);
    free(folded);
    return works;
}
