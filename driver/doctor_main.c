/*
 * flame doctor: reports what can be recorded on this machine, or of one program or process, and
 * what prevents it.
 *
 * Nothing is guessed from settings: flame runs itself and attaches to a process of its own.
 */
#include <stddef.h>
#include <stdio.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "driver/doctor/machinelook.h"
#include "driver/doctor/programlook.h"
#include "driver/rundir/rundir.h"

struct request {
    unsigned pid;
};

#define AT(member) offsetof(struct request, member)

static const struct opts_row rows[] = {
    {"attach", 'p', "PID", "inspect this process, in place of the machine", .take = opts_take_uint,
     .at = AT(pid), .least = 1, .most = INT32_MAX},
    {0},
};

const struct opts_command doctor_command = {
    .name = "doctor",
    .summary = "report what can be recorded here, and what prevents it",
    .usage = "[OPTION...] [PROGRAM]\n[OPTION...] -p PID",
    .about = "Tries what flame does, each in a moment, and says of each whether it works on\n"
             "this machine, and if not, why and what to do. With PROGRAM: what a recording\n"
             "of that would show, which is not run. With -p: whether the process can be\n"
             "attached to; it is attached to for a tenth of a second.",
    .tables = {{rows, 0}},
};

static int examine(const struct request *q, const char *program)
{
    struct rundir dir = {0};
    int status;
    bool works;

    if (program)
        return program_examine(program);
    status = rundir_open(&dir, "doctor", "doctor", 0);
    if (status)
        return status;
    if (q->pid) {
        works = machine_examine_process(dir.path, (int)q->pid);
    } else {
        works = machine_examine(dir.path);
        program_examine_libc();
    }
    rundir_close(&dir);
    return works ? FLAME_OK : FLAME_FAILED;
}

int doctor_main(int argc, char **argv)
{
    struct request q = {0};
    int first, status = opts_parse(&doctor_command, &q, argc, argv, &first);

    if (status >= 0)
        return status;
    if (argc - first > 1 || (argc - first == 1 && q.pid))
        return flame_error(FLAME_USAGE, "doctor: takes one program or -p PID; got %d words",
                           argc - first);
    return examine(&q, argc > first ? argv[first] : NULL);
}
