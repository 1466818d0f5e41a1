/*
 * machinelook.h: what can be recorded here, found out by recording it.
 */
#ifndef FLAME_DRIVER_DOCTOR_MACHINELOOK_H
#define FLAME_DRIVER_DOCTOR_MACHINELOOK_H

#include <stdbool.h>

/* A line for each of the things that flame does, with traces in `dir`. False: neither memory nor
 * waits of a program can be recorded. */
bool machine_examine(const char *dir);

/* The same for attaching to that process. */
bool machine_examine_process(const char *dir, int pid);

#endif
