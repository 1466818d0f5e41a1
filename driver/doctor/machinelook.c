#define _GNU_SOURCE
#include "driver/doctor/machinelook.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/strbuf.h"
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

/* Prints the result of one trial; `works` is the text for success. */
static bool examine(const char *dir, const char *subject, const char *works,
                    const char *const *args, enum verdict otherwise)
{
    struct strbuf said = STRBUF_INIT;
    int status = trial_run(dir, args, &said);

    if (status == 0 && said.len)
        verdict_print(VERDICT_PART, subject, "%s", said.buf);
    else if (status == 0)
        verdict_print(VERDICT_YES, subject, "%s", works);
    else if (said.len)
        verdict_print(otherwise, subject, "%s", said.buf);
    else
        verdict_print(otherwise, subject, "flame %s has ended with status %d", args[0], status);
    strbuf_release(&said);
    return status == 0;
}

static char *in(const char *dir, const char *name)
{
    struct strbuf path = STRBUF_INIT;

    strbuf_addf(&path, "%s/%s", dir, name);
    return strbuf_detach(&path, NULL);
}

#define EXAMINE(subject, works, otherwise, ...)                                                    \
    examine(dir, subject, works, (const char *const[]){__VA_ARGS__, NULL}, otherwise)

static void examine_attaching(const char *dir, int pid, const char *trace, const char *folded)
{
    char number[16];

    snprintf(number, sizeof number, "%d", pid);
    EXAMINE("mem -p", "memory of a running process: flame mem -p PID", VERDICT_NO, "mem", "-q",
            "-p", number, "-d", "0.05", "--no-names", "-o", trace);
    EXAMINE("off -p", "waits of a running process, each of them: flame off -p PID", VERDICT_NO,
            "off", "-q", "-p", number, "-d", "0.05", "-o", folded);
    EXAMINE("off --kernel", "and what the kernel does meanwhile: with --kernel", VERDICT_PART,
            "off", "-q", "--kernel", "-p", number, "-d", "0.1", "-o", folded);
    EXAMINE("off --no-stops", "the same at next to no cost, of 2 ms and longer: with --no-stops",
            VERDICT_NO, "off", "-q", "--no-stops", "-p", number, "-d", "0.1", "-o", folded);
}

static void say_room(void)
{
    const char *tmp = getenv("TMPDIR");
    struct statvfs v;
    unsigned long long megabytes;

    if (!tmp || !*tmp)
        tmp = "/tmp";
    if (statvfs(tmp, &v) < 0) {
        verdict_print(VERDICT_NO, "room", "%s cannot be inspected: set TMPDIR to a directory", tmp);
        return;
    }
    megabytes = (unsigned long long)v.f_bavail * v.f_frsize >> 20;
    verdict_print(megabytes < ROOM_MEGABYTES ? VERDICT_PART : VERDICT_YES, "room",
                  "%llu MiB for traces in %s%s", megabytes, tmp,
                  megabytes < ROOM_MEGABYTES ? "; let TMPDIR name a directory with more" : "");
}

bool machine_examine(const char *dir)
{
    char *trace = in(dir, RUNDIR_DOCTOR ".flame"), *folded = in(dir, RUNDIR_DOCTOR ".folded");
    int victim;
    bool works;

    say_where();
    works = EXAMINE("mem", "memory of a program, leaks, growth: flame mem, flame leak", VERDICT_NO,
                    "mem", "-q", "--no-names", "-o", trace, "--", "/proc/self/exe", "--version");
    works &= EXAMINE("off", "waits of a program, without a stop where it can be: flame off",
                     VERDICT_NO, "off", "-q", "-o", folded, "--", "/proc/self/exe", "--version");
    victim = trial_victim();
    if (victim > 0) {
        examine_attaching(dir, victim, trace, folded);
        trial_end(victim);
    }
    say_room();
    free(trace);
    free(folded);
    return works;
}

bool machine_examine_process(const char *dir, int pid)
{
    char *folded = in(dir, RUNDIR_DOCTOR ".folded"), number[16];
    bool works;

    snprintf(number, sizeof number, "%d", pid);
    works = EXAMINE("off -p", "its waits can be recorded, each of them", VERDICT_NO, "off", "-q",
                    "-p", number, "-d", "0.05", "-o", folded);
    EXAMINE("off --no-stops", "the same at next to no cost, of 2 ms and longer", VERDICT_PART,
            "off", "-q", "--no-stops", "-p", number, "-d", "0.1", "-o", folded);
    free(folded);
    return works;
}
