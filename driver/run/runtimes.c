#include "driver/run/runtimes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/basename.h"
#include "common/clock.h"
#include "common/error.h"
#include "driver/run/jvm_names.h"
#include "fold/symbols/perfmap.h"

#define NODE_OPTIONS_OF_NAMES "--perf-basic-prof --interpreted-frames-native-stack"

static const struct runtime {
    const char *begins; /* the file's name; a version may follow */
    const char *what;   /* its functions */
    const char *advice; /* for flame doctor */
    const char *start;  /* what it is started with for names; NULL: nothing gives names */
    const char *tools;  /* what else knows the functions; NULL: nothing to name */
    const char *heap;   /* what says who keeps its objects; NULL: nothing to name */
    bool writes_map;    /* with --jit-names it writes /tmp/perf-PID.map */
    bool is_asked;      /* --jit-names works with -p, too */
    bool has_names;     /* functions have names without that */
} runtimes[] = {
    {.begins = "python",
     .what = "functions of Python",
     .advice = "Python's functions have names in stacks (3.11 to 3.15); with newer versions "
               "--jit-names has the interpreter write them",
     .heap = "objgraph and guppy know",
     .has_names = true},
    {.begins = "pypy",
     .what = "functions of PyPy",
     .advice = "PyPy's functions have no names; frames are the interpreter's",
     .tools = "vmprof samples them",
     .heap = "gc.get_referrers knows"},
    {.begins = "node",
     .what = "functions of JavaScript",
     .advice = "JavaScript's functions have names with --jit-names",
     .start = NODE_OPTIONS_OF_NAMES,
     .heap = "a heap snapshot (--heapsnapshot-signal) in Chromium's tools knows",
     .writes_map = true},
    {.begins = "nodejs",
     .what = "functions of JavaScript",
     .advice = "JavaScript's functions have names with --jit-names",
     .start = NODE_OPTIONS_OF_NAMES,
     .heap = "a heap snapshot (--heapsnapshot-signal) in Chromium's tools knows",
     .writes_map = true},
    {.begins = "java",
     .what = "methods of Java",
     .advice = "Java's methods have names with --jit-names (17 and newer)",
     .heap = "a heap dump (jcmd PID GC.heap_dump FILE) in Eclipse MAT knows",
     .writes_map = true,
     .is_asked = true},
    {.begins = "dotnet",
     .what = "methods of .NET",
     .advice = ".NET's methods have names with --jit-names",
     .start = "DOTNET_PerfMapEnabled=1 in its environment",
     .heap = "dotnet-gcdump knows",
     .writes_map = true},
    {.begins = "ruby",
     .what = "methods of Ruby",
     .advice = "Ruby's methods have no names; frames are the interpreter's",
     .tools = "rbspy samples them, and Ruby's objspace knows the lines that allocate",
     .heap = "ObjectSpace.dump_all and heapy know"},
    {.begins = "php",
     .what = "functions of PHP",
     .advice = "PHP's functions have no names; frames are the interpreter's",
     .tools = "excimer and phpspy sample them"},
    {.begins = "perl",
     .what = "functions of Perl",
     .advice = "Perl's functions have no names; frames are the interpreter's",
     .tools = "Devel::NYTProf times them"},
    {.begins = "lua",
     .what = "functions of Lua",
     .advice = "Lua's functions have no names; frames are the interpreter's"},
    {.begins = "luajit",
     .what = "functions of Lua",
     .advice = "Lua's functions have no names; frames are the interpreter's",
     .tools = "LuaJIT's own profiler (-jp) samples them"},
    {.begins = "beam.smp",
     .what = "functions of Erlang",
     .advice = "Erlang's functions have names if the emulator is started with +JPperf map",
     .start = "+JPperf map (ERL_FLAGS has it for all emulators of a command)"},
};

/* Variables by which runtimes write their maps, and what is added to their values. */
static const struct {
    const char *name, *value;
} variables[] = {
    {"NODE_OPTIONS", NODE_OPTIONS_OF_NAMES},
    /* Releases before 17 ignore what they do not know. */
    {"JAVA_TOOL_OPTIONS", "-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer "
                          "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit"},
    {"DOTNET_PerfMapEnabled", "1"},
    {"PYTHONPERFSUPPORT", "1"},
};

static const struct runtime *runtime_of(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(runtimes); i++) {
        const char *name = base_name(path);
        size_t len = strlen(runtimes[i].begins);

        /* python3.11 and php-fpm8.2 are runtimes; node_exporter and lualatex are not. */
        if (strncmp(name, runtimes[i].begins, len) == 0 && name[len] != '_' &&
            !isalpha((unsigned char)name[len]))
            return &runtimes[i];
    }
    return NULL;
}

const char *runtimes_advice(const char *path)
{
    const struct runtime *r = runtime_of(path);

    return r ? r->advice : NULL;
}

void runtimes_ask_for_names(void)
{
    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        const char *old = getenv(variables[i].name);
        struct strbuf value = STRBUF_INIT;

        /* A switch that the user has set stays; options are added to the user's. */
        if (old && *old && variables[i].value[0] == '1')
            continue;
        strbuf_addf(&value, "%s%s%s", old ? old : "", old && *old ? " " : "", variables[i].value);
        setenv(variables[i].name, value.buf, 1);
        strbuf_release(&value);
    }
}

/* Whether the process has left a map. One from before the command began is of another process that
 * had the same pid. */
static bool has_map(const struct recording *r, uint32_t pid)
{
    uint64_t ago = clock_ns(CLOCK_MONOTONIC) - r->run.start_ns;

    return perfmap_is_there(pid, r->attached.is ? 0 : clock_ns(CLOCK_REALTIME) - ago);
}

void runtimes_ask_running(struct recording *r, const pid_t *pids, size_t n)
{
    r->attached.asked = true;
    for (size_t i = 0; i < n; i++) {
        struct strbuf library = STRBUF_INIT, why = STRBUF_INIT;

        if (jvm_names_library(pids[i], &library) && !jvm_names_write(pids[i], library.buf, &why)) {
            flame_warn("--jit-names: methods of Java have no names in process %d: %s", (int)pids[i],
                       why.buf);
            r->attached.refused = true;
        }
        strbuf_release(&library);
        strbuf_release(&why);
    }
}

static void print_unnamed(const struct runtime *rt, const char *comm, const struct recording *r)
{
    struct strbuf line = STRBUF_INIT;

    strbuf_addf(&line, "%s have no names in %s", rt->what, comm);
    if (rt->is_asked && r->attached.asked)
        strbuf_addstr(&line, ": it had ended before it could be asked for them");
    else if (rt->writes_map && (rt->is_asked || !r->attached.is))
        strbuf_addstr(&line, ": --jit-names has it write them");
    else if (rt->start)
        strbuf_addf(&line, ": start it with %s", rt->start);
    else
        strbuf_addf(&line, ", whose own frames are here instead%s%s (docs/languages.md)",
                    rt->tools ? "; " : "", rt->tools ? rt->tools : "");
    if (!rt->is_asked || !r->attached.refused) /* a line has said it */
        flame_warn("%s", line.buf);
    strbuf_release(&line);
}

void runtimes_print_heaps(const struct recording *r)
{
    const struct run_totals *k = &r->taken;
    bool said[ARRAY_LEN(runtimes)] = {false};

    for (size_t i = 0; i < k->nprocesses; i++) {
        const struct runtime *rt = runtime_of(k->process[i].exe);

        if (!rt || !rt->heap || said[rt - runtimes] ||
            (!r->attached.is && k->process[i].pid != r->run.pid))
            continue;
        said[rt - runtimes] = true;
        flame_warn("objects of %s all lead to one another by its own lists; %s who keeps them",
                   k->process[i].comm, rt->heap);
    }
}

void runtimes_print_unnamed(const struct recording *r)
{
    const struct run_totals *k = &r->taken;
    bool said[ARRAY_LEN(runtimes)] = {false};

    for (size_t i = 0; i < k->nprocesses; i++) {
        const struct run_totals_process *p = &k->process[i];
        const struct runtime *rt = runtime_of(p->exe);

        if (!rt || rt->has_names || said[rt - runtimes] || has_map(r, p->pid) ||
            (!rt->writes_map && !rt->start && !r->attached.is && p->pid != r->run.pid))
            continue;
        said[rt - runtimes] = true;
        print_unnamed(rt, p->comm, r);
    }
}

void runtimes_print_unnamed_waits(const struct recording *r)
{
    const struct recording_waits *w = &r->waits;
    const struct run_totals *k = &w->taken;
    const struct runtime *rt = k->nprocesses ? runtime_of(k->process[0].exe) : NULL;

    if (!rt || rt->has_names)
        return;
    for (size_t i = 0; i < w->ntraces; i++)
        for (uint32_t id = 0; id < w->traces[i]->thread_limit; id++) {
            const struct trace_off_thread *th = trace_off_thread_at(w->traces[i], id);

            if (th && has_map(r, th->pid))
                return;
        }
    print_unnamed(rt, k->process[0].comm, r);
}
