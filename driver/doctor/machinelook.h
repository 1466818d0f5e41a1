/*
 * machinelook.h: test recordings that find out what can be recorded on this machine.
 */
#ifndef FLAME_DRIVER_DOCTOR_MACHINELOOK_H
#define FLAME_DRIVER_DOCTOR_MACHINELOOK_H

#include <stdbool.h>

/* Prints a line for each feature of flame, with test traces in `dir`. False: neither memory nor
 * waits of a program can be recorded. */
bool machine_examine(const char *dir);

/* Prints a line on attaching to process `pid`, with a test trace in `dir`. False: it cannot be
 * recorded. */
bool machine_examine_process(const char *dir, int pid);

#endif
