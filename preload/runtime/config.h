/*
 * config.h: FLAMEMEM_OPTIONS=key=value:key=value.
 *
 *   out=PATH    the trace; %e the program's name, %p its pid, %n a counter,
 *               %% a percent sign. Default "%e.%p.flame" in the current directory
 *   depth=N     frames kept a stack, 8 to 65536 (default 1024)
 *   quiet=1     print nothing on standard error, whatever happens
 *   follow=0    record this process alone: not its forked children, and programs
 *               it starts run without the recorder (default 1)
 *   unfollowed=1  with follow=0: note those programs in the status file (default 0)
 *   inherit=0  forked children do not record inherited blocks: a block from before the
 *              fork does not count as theirs (default 1)
 *   sample=N    record one block in so many bytes, N up to 2^40 (default 0: all)
 *   notes=PATH  the run's status file (common/run_status.h), which flame mem makes
 *   snapshots=DIR  directory for the snapshots that the program asks for (flamemem_snapshot);
 *              without it beside the trace, or none if there is a status file
 *   leak=1      at the process's end, find the live blocks that are not reachable (default 0)
 *   tagged=1    and pointers with tags in their lowest or highest bits lead to blocks (default 0)
 *   kept=1      at the process's end, store what leads to which block, in a file beside the trace
 *               (default 0; not with sample)
 *   misuse=1    record blocks that are freed twice, or by the wrong function (default 0; not with
 *               sample)
 *   rss=1       at the process's end, and whenever the program asks for a snapshot, attribute the
 *               resident memory (default 0; not with sample)
 *   lifetimes=time|bytes  record sizes and lifetimes of blocks, by time or by the bytes that are
 *               allocated meanwhile
 *
 *   touched=N   record page faults by the owner of the memory, for the processors 0 to N - 1
 *               (default 0: do not; not with sample)
 *
 *   sites=PATH  the list of the C library's own calls that map memory, which flame mem
 *               --libc-mappings makes: they are patched and recorded
 *
 *   filtered=1  one of the seccomp filters in force is that of flame's own tracer, which forbids
 *               nothing (default 0)
 *
 *   patch=0     the program's own code is not patched: an allocator in the program's file is not
 *               recorded (default 1)
 *
 *   max-disk=N  a process's trace takes at most N bytes of the disk; then stacks that are not in it
 *               yet are lost, and counted as lost (default 0: any number)
 *   python=0    stacks have no functions of Python (default 1)
 *   modules=N   number of loaded modules that are known at once (default 4096)
 *   record=0    hooks only, nothing is recorded: measures what the recorder itself costs
 *   referee=1   walk every stack a second time, slowly, and count differences
 *
 * A wrong option is named on standard error and ignored; the program runs on.
 */
#ifndef FLAME_PRELOAD_RUNTIME_CONFIG_H
#define FLAME_PRELOAD_RUNTIME_CONFIG_H

#include <stdbool.h>

#include "common/compiler.h"

#define CONFIG_PATH_MAX 4096

struct config {
    const char *out;                       /* the pattern, absolute */
    const char *notes, *snapshots, *sites; /* absolute; "": none */
    uint32_t depth;
    uint32_t modules; /* limit of modules known at once; 0: as many as there is room for */
    bool quiet;
    bool follow, unfollowed;
    bool inherit;
    bool record;
    bool referee;
    bool leak;
    bool tagged;
    bool kept;
    bool misuse;
    uint64_t sample; /* mean bytes between samples; 0: every block is recorded */
    bool rss;
    bool patch;
    enum config_clock { CONFIG_NO_CLOCK, CONFIG_TIME, CONFIG_BYTES } lifetimes;
    uint32_t touched;  /* processors; 0: page faults are not recorded */
    bool python;       /* stacks have the names of Python's functions */
    uint64_t max_disk; /* bytes that a process's trace may take; 0: any number */
    /* Text of the paths, one after the other, so that only the first pages are touched: each
     * page costs every process that is recorded. Last for the same reason. */
    size_t used;
    char paths[5 * CONFIG_PATH_MAX];
};

/* Parses `options`, which may be NULL. Errors are reported through preload/runtime/log.h. */
void config_parse(struct config *c, const char *options);

/* Whether `options`, which may be NULL, have filtered=1. It makes no system call, because it is
 * called before the allowed ones are known. */
bool config_is_filtered(const char *options);

/*
 * Fills `path` from the pattern: `exe` for %e (its '/' become '_'), the pid, and `n` for %n. A
 * pattern without %n gets ".N" appended for n > 0. False if the path does not fit.
 */
bool config_expand(const struct config *c, const char *exe, uint32_t pid, uint32_t n, char *path,
                   size_t size);

#endif
