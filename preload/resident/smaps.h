/*
 * smaps.h: /proc/self/smaps and smaps_rollup, read without stdio or malloc: what the kernel says
 * is resident and swapped out of each mapping.
 *
 * Format: proc_pid_smaps(5). Lines that are not known are passed over. errno is left alone.
 */
#ifndef FLAME_PRELOAD_RESIDENT_SMAPS_H
#define FLAME_PRELOAD_RESIDENT_SMAPS_H

#include "common/procmaps.h"

#define SMAPS_NAME_MAX 64u

struct smap {
    struct procmap map;        /* its name lies in `name`, cut */
    char name[SMAPS_NAME_MAX]; /* NUL-terminated */
    char base[SMAPS_NAME_MAX]; /* behind its last slash, cut; "" for none */
    uint64_t rss, swap, huge;  /* bytes; of rss, in anonymous huge pages */
};

/* What is parsed so far; all zero at first. */
struct smaps_parser {
    struct smap map;
    bool has;
    void (*visit)(const struct smap *m, void *arg);
    void *arg;
};

/* Takes one line without its newline; the mapping before it is visited when the next begins, the
 * last one by smaps_end. */
void smaps_line(struct smaps_parser *p, const char *line, size_t len);
void smaps_end(struct smaps_parser *p);

/* Visits each mapping in the order of addresses. 0, or -errno where it cannot be read. */
int smaps_each(void (*visit)(const struct smap *m, void *arg), void *arg);

/* About how many pages are resident, by /proc/self/statm, which costs nothing; 0: not known. */
size_t smaps_estimate(void);

/* Touches the memory that these functions use. */
void smaps_warm_up(void);

/* The sums of all; 0, or -errno. */
int smaps_rollup(uint64_t *rss, uint64_t *swap);

#endif
