/*
 * smaps.h: reader of /proc/PID/smaps and smaps_rollup without stdio or malloc: resident and
 * swapped bytes of each mapping.
 *
 * `pid` is a process, or PROC_THREAD_SELF (common/procpath.h).
 *
 * Format: proc_pid_smaps(5). Unknown lines are skipped. errno is not changed.
 */
#ifndef FLAME_PRELOAD_RESIDENT_SMAPS_H
#define FLAME_PRELOAD_RESIDENT_SMAPS_H

#include "common/procmaps.h"

#define SMAPS_NAME_MAX 64u

struct smap {
    struct procmap map;        /* its name is in `name`, truncated */
    char name[SMAPS_NAME_MAX]; /* NUL-terminated */
    char base[SMAPS_NAME_MAX]; /* the part after the last slash, truncated; "" for none */
    uint64_t rss, swap, huge;  /* bytes; of rss, in anonymous huge pages */
};

/* State of the parser; all zero at first. */
struct smaps_parser {
    struct smap map;
    bool has;
    void (*visit)(const struct smap *m, void *arg);
    void *arg;
};

/* Passes one line without its newline. A mapping is visited when the next one begins, the last
 * one by smaps_end. */
void smaps_line(struct smaps_parser *p, const char *line, size_t len);
void smaps_end(struct smaps_parser *p);

/* Visits each mapping in the order of addresses. 0, or -errno if the file cannot be read. */
int smaps_each(int pid, void (*visit)(const struct smap *m, void *arg), void *arg);

/* Approximate number of the caller's resident pages, by /proc/self/statm, which is cheap to read;
 * 0: not known. */
size_t smaps_estimate(void);

/* Touches the memory that these functions use. */
void smaps_warm_up(void);

/* Sums over all mappings; 0, or -errno. */
int smaps_rollup(int pid, uint64_t *rss, uint64_t *swap);

#endif
