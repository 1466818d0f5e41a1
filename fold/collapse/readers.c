/*
 * The table of readers, and the choice of a reader for a file.
 *
 * Every reader examines the file's beginning and returns how sure it is. The surest one gets the
 * file, the first of them when several are. Formats that identify themselves (a header, a
 * keyword) are surer than those that only have a shape.
 */
#include "fold/collapse/readers.h"

#include "common/error.h"

#define READER(kind, text, function)                                                               \
    {                                                                                              \
        kind, text, collapse_##function##_probe, collapse_##function##_run                         \
    }

/* A reader under the name of another program; never guessed. */
#define ALIAS(kind, text, function)                                                                \
    {                                                                                              \
        kind, text, NULL, collapse_##function##_run                                                \
    }

const struct collapse_kind collapse_kinds[] = {
    READER("perf", "perf script", perf),
    /* Only by name: such a file can also be counted by events, as any other of perf's. */
    ALIAS("perf-sched", "perf script of scheduler events: time off the CPU", sched),
    READER("folded", "folded stacks", folded),
    READER("dtrace", "DTrace's aggregated stacks", dtrace),
    READER("stap", "SystemTap", stap),
    ALIAS("ktap", "ktap", stap),
    READER("bpftrace", "bpftrace", bpftrace),
    READER("bcc", "bcc's profile, offcputime and the like", bcc),
    READER("gdb", "gdb's 'thread apply all bt'", gdb),
    READER("eu-stack", "eu-stack of elfutils", eustack),
    READER("aix", "AIX procstack", aix),
    READER("wcp", "wallClockProfiler", wcp),
    READER("faulthandler", "Python's faulthandler", faulthandler),
    READER("jstack", "jstack's thread dumps", jstack),
    READER("javacore", "IBM javacore files", javacore),
    READER("java-exceptions", "Java exceptions in logs", exceptions),
    READER("ljp", "Lightweight Java Profiler", ljp),
    READER("pmc", "FreeBSD's pmcstat -G", pmc),
    READER("sample", "macOS sample", sample),
    READER("instruments", "Xcode Instruments, deep copy", instruments),
    READER("instruments-csv", "Xcode Instruments, CSV", instruments_csv),
    READER("vtune", "Intel VTune, CSV of top-down hotspots or memory", vtune),
    READER("vsprof", "Visual Studio, CSV of the call tree", vsprof),
    READER("wpa", "Windows Performance Analyzer (xperf), CSV", wpa),
    READER("go", "go tool pprof -raw", go),
    READER("xdebug", "Xdebug, traces in format 1", xdebug),
    READER("chrome", "Chrome trace events, JSON", chrome),
    READER("massif", "valgrind's massif", massif),
    READER("dhat", "valgrind's DHAT", dhat),
    READER("pprof", "pprof's profiles, protocol buffers", pprof),
    READER("v8", "V8's .cpuprofile and .heapprofile, of node and Chrome", v8profile),
    READER("speedscope", "speedscope's JSON, of py-spy, dotnet-trace and others", speedscope),
    READER("callgrind", "valgrind's callgrind", callgrind),
    READER("heap-text", "heap profiles of gperftools, jemalloc and Go (debug=1), in text",
           heaptext),
    READER("strace", "strace -k", strace),
    READER("lsan", "LeakSanitizer's reports, also AddressSanitizer's", lsan),
    READER("memcheck", "valgrind's memcheck, its leaks", memcheck),
    READER("memcheck-xml", "valgrind's memcheck with --xml=yes", memcheck_xml),
    READER("goroutines", "Go's panics and dumps of goroutines (debug=2)", goroutines),
    READER("ghc", "GHC's profiles of cost centres, .prof", ghc),
    READER("xctrace", "Xcode Instruments, xctrace's export in XML", xctrace),
    READER("bpftrace-json", "bpftrace -f json", bpftrace_json),
    /* Programs that write folded text themselves. */
    ALIAS("async-profiler", "async-profiler -o collapsed", folded),
    ALIAS("heaptrack", "heaptrack_print -F", folded),
    {NULL, NULL, NULL, NULL},
};

const struct collapse_kind *collapse_kind_find(const char *name)
{
    for (const struct collapse_kind *k = collapse_kinds; k->name; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

const struct collapse_kind *collapse_kind_guess(const char *text, size_t len)
{
    const struct collapse_kind *best = NULL;
    int sure = 0;

    for (const struct collapse_kind *k = collapse_kinds; k->name; k++) {
        int s = k->probe ? k->probe(text, len) : 0;

        if (s > sure) {
            best = k;
            sure = s;
        }
    }
    return best;
}

int collapse_refuse(struct textinput *in)
{
    const struct collapse_kind *kind;
    const char *text;
    size_t len = textinput_peek(in, &text, COLLAPSE_LOOK);

    if (in->error || collapse_folded_probe(text, len) >= COLLAPSE_CLEARLY_FOLDED)
        return FLAME_OK;
    kind = collapse_kind_guess(text, len);
    if (!kind || kind->run == collapse_folded_run)
        return FLAME_OK;
    return flame_error(
        FLAME_USAGE, "%s: looks like %s, not folded stacks; 'flame collapse %s' makes these of it",
        in->name, kind->what, in->name);
}
