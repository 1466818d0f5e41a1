#define _GNU_SOURCE
#include "driver/off/freezewatch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <regex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/options/values.h"
#include "common/trace/trace_reader.h"
#include "driver/monitor/periodic_thread.h"
#include "fold/filter_report.h"
#include "fold/nodestacks.h"

#define PAUSE_MS 100u
#define PAUSE_SHARE 10u /* a look takes no more than one part in so many of the time */
#define FRAME_BYTES 200 /* of a frame's name, for the message */

struct freezewatch {
    struct sleep_watch *memory; /* shared */
    const char *regex, *trace;
    uint64_t seen;
    struct periodic_thread *thread;
};

/* ---- the option ---- */

int freeze_when_take(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct freeze_when *w = at;
    const char *time = strrchr(given->value, '>');
    regex_t compiled;

    (void)row;
    if (!time || time == given->value || !opts_parse_time(time + 1, 1000000000, &w->ns) || !w->ns)
        return opts_wrong_value(given, "REGEX>TIME, such as 'handle_request>200ms'");
    freeze_when_release(w);
    w->regex = xmemdup0(given->value, (size_t)(time - given->value));
    if (regcomp(&compiled, w->regex, REG_EXTENDED | REG_NOSUB) != 0)
        return opts_wrong_value(given, "REGEX>TIME with an extended regular expression (regex(7))");
    regfree(&compiled);
    return 0;
}

void freeze_when_release(struct freeze_when *w)
{
    free(w->regex);
    w->regex = NULL;
}

/* ---- a look ---- */

/* A sleep that matches, as the child reports it. */
struct found {
    uint64_t ns;
    char frame[FRAME_BYTES];
};

/* The first frame of a folded stack that matches, its callers first. */
static const char *find_frame(struct excludes *e, const char *stack, size_t *len)
{
    size_t end = strcspn(stack, "\n");

    while (end && stack[end - 1] != ' ') /* the count */
        end--;
    for (const char *at = stack, *last = stack + (end ? end - 1 : 0); at < last; at += *len + 1) {
        *len = strcspn(at, ";\n");
        if (at + *len > last)
            *len = (size_t)(last - at);
        if (excludes_match(e, at, *len))
            return at;
    }
    return NULL;
}

static bool matches(const struct trace *t, struct symbols *syms, struct excludes *e,
                    const struct watched_sleep *s, struct found *out)
{
    const struct nodestack_options options = {.shape = VIEW_STACK};
    struct aggregate *to = aggregate_new();
    struct symbolizer *frames = symbolizer_new(t, syms, to, PLACE_NONE);
    struct row_value one = {.node = s->node, .value = 1};
    struct row_values items = {.item = &one, .n = 1};
    struct strbuf text = STRBUF_INIT;
    const char *frame = NULL;
    size_t len = 0;

    if (s->node && s->node < t->node_limit && t->nodes[s->node].kind) {
        one.thread = (uint32_t)trace_node_root(t, s->node)->addr;
        nodestacks_add(t, frames, &items, &options);
        aggregate_write(to, aggregate_to_strbuf, &text);
        frame = text.len ? find_frame(e, text.buf, &len) : NULL;
    }
    if (frame) {
        out->ns = s->ns;
        len = len < sizeof out->frame - 1 ? len : sizeof out->frame - 1;
        memcpy(out->frame, frame, len);
        out->frame[len] = '\0';
    }
    strbuf_release(&text);
    symbolizer_free(frames);
    aggregate_free(to);
    return frame != NULL;
}

/* Looks for a sleep that matches, in a child. Its messages are discarded: they come with the
 * finished trace. */
static FLAME_NORETURN void look(const struct freezewatch *w, const struct watched_sleep *list,
                                size_t n, int to)
{
    const struct symbol_options options = {.no_inline = false};
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct excludes *e = excludes_new(&w->regex, 1);
    struct symbols *syms = symbols_new(&options);
    struct found found;
    struct trace *t;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(nothing, STDERR_FILENO);
    if (e && trace_load_quietly(w->trace, &t) == 0)
        for (size_t i = 0; i < n; i++)
            if (matches(t, syms, e, &list[i], &found))
                _exit(write(to, &found, sizeof found) == sizeof found ? 0 : 1);
    _exit(1);
}

static bool look_in_child(const struct freezewatch *w, const struct watched_sleep *list, size_t n,
                          struct found *out)
{
    bool found;
    int pipes[2];
    pid_t child;

    if (pipe2(pipes, O_CLOEXEC) < 0)
        return false;
    child = fork();
    if (child == 0)
        look(w, list, n, pipes[1]);
    close(pipes[1]);
    found = child > 0 && read(pipes[0], out, sizeof *out) == sizeof *out;
    close(pipes[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return found;
}

static unsigned look_again(void *arg)
{
    struct freezewatch *w = arg;
    struct watched_sleep list[SLEEP_WATCH_KEPT];
    uint64_t begin = clock_ns(CLOCK_MONOTONIC), took;
    size_t n = sleep_watch_take(w->memory, &w->seen, list);
    struct found found;

    if (w->memory->freeze || !n)
        return PAUSE_MS;
    if (look_in_child(w, list, n, &found)) {
        found.frame[sizeof found.frame - 1] = '\0';
        __atomic_store_n(&w->memory->freeze, 1, __ATOMIC_RELAXED);
        flame_warn("a sleep of %" PRIu64 " ms under %s: the recording is frozen here",
                   found.ns / 1000000, found.frame);
    }
    took = (clock_ns(CLOCK_MONOTONIC) - begin) / 1000000;
    return PAUSE_MS + (unsigned)took * PAUSE_SHARE;
}

/* ---- the watch ---- */

struct freezewatch *freezewatch_new(const struct freeze_when *when)
{
    struct sleep_watch *memory =
        mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct freezewatch *w;

    if (memory == MAP_FAILED) {
        flame_error(FLAME_FAILED, "out of memory for --freeze-when");
        return NULL;
    }
    memory->least_ns = when->ns;
    w = xcalloc(1, sizeof *w);
    w->memory = memory;
    w->regex = when->regex;
    return w;
}

struct sleep_watch *freezewatch_memory(struct freezewatch *w)
{
    return w->memory;
}

void freezewatch_start(struct freezewatch *w, const char *trace)
{
    w->trace = trace;
    w->thread = periodic_thread_start(look_again, PAUSE_MS, w);
}

uint64_t freezewatch_end(struct freezewatch *w)
{
    uint64_t frozen;

    if (!w)
        return 0;
    periodic_thread_stop(w->thread);
    frozen = w->memory->frozen_ns;
    munmap(w->memory, sizeof *w->memory);
    free(w);
    return frozen;
}
