/*
 * proc_stat.h: fields of the text of /proc/PID/stat, by their numbers in proc_pid_stat(5).
 *
 * The second field, the name, may hold any character, ')' and blanks among them. So fields are
 * counted from the last ')' of the text. Pure, safe in signal handlers.
 */
#ifndef FLAME_COMMON_PROC_STAT_H
#define FLAME_COMMON_PROC_STAT_H

#include <stddef.h>
#include <string.h>

enum {
    PROC_STAT_STATE = 3,      /* a letter */
    PROC_STAT_FLAGS = 9,      /* PF_*, unsigned */
    PROC_STAT_MINFLT = 10,    /* unsigned long */
    PROC_STAT_MAJFLT = 12,    /* unsigned long */
    PROC_STAT_STARTTIME = 22, /* clock ticks after the machine started */
    PROC_STAT_PROCESSOR = 39, /* CPU that it ran on last */
    PROC_STAT_ENV_START = 50, /* address of the environment's strings */
};

/* First character of that field, 3 or later; NULL: the text ends before it. */
static inline const char *proc_stat_field(const char *text, unsigned number)
{
    const char *at = strrchr(text, ')');

    for (unsigned field = 2; field < number && at; field++)
        at = strchr(at + 1, ' ');
    return at && at[1] ? at + 1 : NULL;
}

#endif
