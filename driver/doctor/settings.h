/*
 * settings.h: settings of the machine that decide what flame may do, and the commands that change
 * them.
 *
 * A trial (trial.h) shows whether something works; the settings show why it does not. A command is
 * named only for a setting that has been read, never as a guess.
 */
#ifndef FLAME_DRIVER_DOCTOR_SETTINGS_H
#define FLAME_DRIVER_DOCTOR_SETTINGS_H

#include <stdbool.h>

#define SETTINGS_NO_PERF (-100)
/* A server that asks those of most distributions. */
#define SETTINGS_DEBUG_SERVER "https://debuginfod.elfutils.org"

struct settings {
    int ptrace_scope; /* Yama's; -1: this kernel has no Yama */
    int paranoid;    /* kernel.perf_event_paranoid; SETTINGS_NO_PERF: there is no perf_event_open */
    bool may_ptrace; /* CAP_SYS_PTRACE is effective */
    bool may_perf;   /* CAP_PERFMON or CAP_SYS_ADMIN is effective in the first user namespace */
    int filters;     /* seccomp mode of this process; 0: no filter */
    bool no_ptrace, no_read,
        no_perf; /* a filter refuses ptrace, process_vm_readv, perf_event_open */
};

void settings_read(struct settings *s);

/* Prints a line for each setting, with its cost and the command that changes it where it limits
 * flame. */
void settings_print(const struct settings *s);

/* The command that lets flame trace a process of this user; NULL: no setting forbids it. */
const char *settings_allow_ptrace(const struct settings *s);
/* The command that lets flame have the kernel's events at kernel.perf_event_paranoid `most`: 2 for
 * its own processes, 1 for the kernel's work as well; NULL: no setting forbids it. */
const char *settings_allow_perf(const struct settings *s, int most);

#endif
