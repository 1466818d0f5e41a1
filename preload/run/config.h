/*
 * config.h: FLAMEMEM_OPTIONS=key=value:key=value.
 *
 *   out=PATH    the trace; %e the program's name, %p its pid, %n a counter,
 *               %% a percent sign. Default "%e.%p.flame" in the present directory
 *   depth=N     frames kept a stack, 8 to 65536 (default 1024)
 *   quiet=1     say nothing on standard error, whatever happens
 *   follow=0    record this process alone: not its forked children, and programs
 *               it starts run without the shim (default 1)
 *   unfollowed=1  and they are noted (default 0)
 *   inherit=0  forked children do not note what they inherited; a block from before
 *              the fork is then not theirs (default 1)
 *   sample=N    record one block in so many bytes, N up to 2^40 (default 0: all)
 *   notes=PATH  the run's file of notes (common/runnotes.h), which flame mem makes
 *   snapshots=DIR  where the copies go that the program asks for (flamemem_snapshot); without it
 *              beside the trace, or nowhere where there are notes
 *   leak=1      at the process's end, look which live blocks nothing leads to (default 0)
 *   tagged=1    and pointers whose lowest or highest bits are marked lead to blocks (default 0)
 *   misuse=1    note what is freed twice, or by the wrong function (default 0; not with sample)
 *   rss=1       at the process's end, and whenever the program asks for a snapshot, look whose
 *               the resident memory is (default 0; not with sample)
 *   lifetimes=time|bytes  note how large blocks are and how long they live, by time or by the bytes
 *               that are allocated meanwhile
 *
 *   touched=N   note whose memory page faults are in; the machine has processors 0 to N - 1
 *               (default 0: do not; not with sample)
 *
 *   sites=PATH  the list of the C library's own calls that map memory, which flame mem
 *               --libc-mappings makes: they are patched and seen
 *
 *   filtered=1  one of the seccomp filters in force is that of flame's own tracer, which forbids
 *               nothing (default 0)
 *
 *   patch=0     the program's own code is left as it is: an allocator in the program's file is not
 *               seen (default 1)
 *
 *   max-disk=N  a process's trace takes no more bytes of the disk; then stacks that are not in it
 *               yet are lost, and counted as that (default 0: any number)
 *   python=1    stacks have Python's functions between the native frames that run them (default 0)
 *   modules=N   so many loaded modules are known at once (default 4096)
 *   record=0    hooks only, nothing is recorded: what the shim itself costs
 *   referee=1   walk every stack a second time, slowly, and count differences
 *
 * A wrong option is named on standard error and left out; the program runs on.
 */
#ifndef FLAME_PRELOAD_RUN_CONFIG_H
#define FLAME_PRELOAD_RUN_CONFIG_H

#include <stdbool.h>

#include "common/compiler.h"

#define CONFIG_PATH_MAX 4096

struct config {
    const char *out;                       /* the pattern, absolute */
    const char *notes, *snapshots, *sites; /* absolute; "": none */
    uint32_t depth;
    uint32_t modules; /* known at once; 0: as many as there is room for */
    bool quiet;
    bool follow, unfollowed;
    bool inherit;
    bool record;
    bool referee;
    bool leak;
    bool tagged;
    bool misuse;
    uint64_t sample; /* mean bytes between samples; 0: everything */
    bool rss;
    bool patch;
    enum config_clock { CONFIG_NO_CLOCK, CONFIG_TIME, CONFIG_BYTES } lifetimes;
    uint32_t touched;  /* processors; 0: whose memory page faults are in is not noted */
    bool python;       /* stacks have the names of Python's functions */
    uint64_t max_disk; /* bytes that a process's trace may take; 0: any number */
    /* What the paths point to, one behind the other, so that only the first pages are touched: each
     * page costs every process that is recorded. Last for the same reason. */
    size_t used;
    char paths[5 * CONFIG_PATH_MAX];
};

/* `options` may be NULL. Complaints go through preload/run/say.h. */
void config_parse(struct config *c, const char *options);

/* Whether `options`, which may be NULL, say filtered=1. To be asked before anything is known of
 * what this process may do: it makes no system call. */
bool config_is_filtered(const char *options);

/*
 * Fills `path` from the pattern: `exe` for %e (its '/' become '_'), the pid,
 * and `n` for %n. A pattern without %n gets ".N" appended for n > 0. False when
 * it does not fit.
 */
bool config_expand(const struct config *c, const char *exe, uint32_t pid, uint32_t n, char *path,
                   size_t size);

#endif
