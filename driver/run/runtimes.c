#include "driver/run/runtimes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/basename.h"
#include "common/error.h"

static const struct runtime {
    const char *begins; /* the file's name; a version may follow */
    const char *what;   /* its functions */
    const char *advice; /* for flame doctor */
    bool writes_map;    /* with --jit-names it writes /tmp/perf-PID.map */
    bool has_names;     /* functions have names without that */
} runtimes[] = {
    {.begins = "python",
     .what = "functions of Python",
     .advice = "Python's functions have names in stacks (3.11 to 3.15); with newer versions "
               "--jit-names has the interpreter write them",
     .has_names = true},
    {.begins = "node",
     .what = "functions of JavaScript",
     .advice = "JavaScript's functions have names with --jit-names",
     .writes_map = true},
    {.begins = "nodejs",
     .what = "functions of JavaScript",
     .advice = "JavaScript's functions have names with --jit-names",
     .writes_map = true},
    {.begins = "java",
     .what = "methods of Java",
     .advice = "Java's methods have names with --jit-names (17 and newer)",
     .writes_map = true},
    {.begins = "dotnet",
     .what = "methods of .NET",
     .advice = ".NET's methods have names with --jit-names",
     .writes_map = true},
    {.begins = "ruby",
     .what = "methods of Ruby",
     .advice = "Ruby's methods have no names; frames are the interpreter's"},
    {.begins = "php",
     .what = "functions of PHP",
     .advice = "PHP's functions have no names; frames are the interpreter's"},
    {.begins = "perl",
     .what = "functions of Perl",
     .advice = "Perl's functions have no names; frames are the interpreter's"},
    {.begins = "lua",
     .what = "functions of Lua",
     .advice = "Lua's functions have no names; frames are the interpreter's"},
    {.begins = "luajit",
     .what = "functions of Lua",
     .advice = "Lua's functions have no names; frames are the interpreter's"},
    {.begins = "beam.smp",
     .what = "functions of Erlang",
     .advice = "Erlang's functions have names if the emulator is started with +JPperf map"},
};

/* Variables by which runtimes write their maps, and what is added to their values. */
static const struct {
    const char *name, *value;
} variables[] = {
    {"NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack"},
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

static bool has_map(uint32_t pid)
{
    char path[32];

    snprintf(path, sizeof path, "/tmp/perf-%u.map", pid);
    return access(path, F_OK) == 0;
}

static void print_unnamed(const struct runtime *r, const char *comm)
{
    if (r->writes_map)
        flame_warn("%s have no names in %s: --jit-names has it write them", r->what, comm);
    else
        flame_warn("%s have no names in %s, whose own frames are here instead", r->what, comm);
}

void runtimes_print_unnamed(const struct run_totals *k, uint32_t command)
{
    bool said[ARRAY_LEN(runtimes)] = {false};

    for (size_t i = 0; i < k->nprocesses; i++) {
        const struct run_totals_process *p = &k->process[i];
        const struct runtime *r = runtime_of(p->exe);

        if (!r || r->has_names || said[r - runtimes] || has_map(p->pid) ||
            (!r->writes_map && p->pid != command))
            continue;
        said[r - runtimes] = true;
        print_unnamed(r, p->comm);
    }
}

void runtimes_print_unnamed_waits(const struct recording_waits *w)
{
    const struct run_totals *k = &w->taken;
    const struct runtime *r = k->nprocesses ? runtime_of(k->process[0].exe) : NULL;

    if (!r || r->has_names)
        return;
    for (size_t i = 0; i < w->ntraces; i++)
        for (uint32_t id = 0; id < w->traces[i]->thread_limit; id++) {
            const struct trace_off_thread *th = trace_off_thread_at(w->traces[i], id);

            if (th && has_map(th->pid))
                return;
        }
    print_unnamed(r, k->process[0].comm);
}
