/*
 * readers.h: the readers' entry points, for the table of readers only.
 * What probe and run must do is in collapse.h.
 */
#ifndef FLAME_FOLD_COLLAPSE_READERS_H
#define FLAME_FOLD_COLLAPSE_READERS_H

#include "fold/collapse/collapse.h"

#define COLLAPSE_READER(name)                                                                      \
    int collapse_##name##_probe(const char *text, size_t len);                                     \
    void collapse_##name##_run(struct collapse *c)

COLLAPSE_READER(folded);
#define COLLAPSE_CLEARLY_FOLDED 60 /* what its probe says of folded text with callers */
/* Looks how many counts lines have; else collapse_folded_run does. Before the first record. */
void collapse_folded_begin(struct collapse *c);
COLLAPSE_READER(perf);
void collapse_sched_run(struct collapse *c);
COLLAPSE_READER(dtrace);
COLLAPSE_READER(stap);
COLLAPSE_READER(bpftrace);
COLLAPSE_READER(bcc);
COLLAPSE_READER(gdb);
COLLAPSE_READER(eustack);
COLLAPSE_READER(aix);
COLLAPSE_READER(wcp);
COLLAPSE_READER(faulthandler);
COLLAPSE_READER(jstack);
COLLAPSE_READER(javacore);
COLLAPSE_READER(exceptions);
COLLAPSE_READER(ljp);
COLLAPSE_READER(pmc);
COLLAPSE_READER(sample);
COLLAPSE_READER(instruments);
COLLAPSE_READER(instruments_csv);
COLLAPSE_READER(vtune);
COLLAPSE_READER(vsprof);
COLLAPSE_READER(wpa);
COLLAPSE_READER(go);
COLLAPSE_READER(xdebug);
COLLAPSE_READER(chrome);
COLLAPSE_READER(massif);
COLLAPSE_READER(dhat);
COLLAPSE_READER(pprof);
COLLAPSE_READER(v8profile);
COLLAPSE_READER(speedscope);
COLLAPSE_READER(callgrind);
COLLAPSE_READER(heaptext);
COLLAPSE_READER(strace);
COLLAPSE_READER(lsan);
COLLAPSE_READER(memcheck);
COLLAPSE_READER(memcheck_xml);
COLLAPSE_READER(goroutines);
COLLAPSE_READER(ghc);
COLLAPSE_READER(xctrace);
COLLAPSE_READER(bpftrace_json);

#endif
