/*
 * seccomp_filter.h: result of a seccomp filter for a system call, without making the call.
 *
 * The program's own filter is run as the kernel runs it. So it is known which of the recorder's
 * calls would be let through and which would end the program. No malloc; thread- and signal-safe.
 */
#ifndef FLAME_PRELOAD_RUNTIME_SECCOMP_FILTER_H
#define FLAME_PRELOAD_RUNTIME_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>

#include "common/compiler.h"

/*
 * The filter's return value, SECCOMP_RET_*, for `call`. A filter program that the kernel would not
 * accept, or whose end is not reached, gives SECCOMP_RET_KILL_PROCESS.
 */
uint32_t seccomp_filter_run(const struct sock_filter *code, size_t n,
                            const struct seccomp_data *call);

/* The call as a filter sees it. */
struct seccomp_data seccomp_filter_data(long number, const unsigned long args[6]);

#endif
