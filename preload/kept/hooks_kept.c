/*
 * For who keeps memory: at the end of the process, what leads to its blocks goes to a file beside
 * the trace, and whenever the program keeps a copy of its trace, to one beside that.
 */
#define _GNU_SOURCE
#include <link.h>

#include "preload/kept/heap_graph_file.h"
#include "preload/kept/heap_graph.h"
#include "preload/leak/heap_scan.h"
#include "preload/lifecycle.h"
#include "preload/runtime/config.h"
#include "preload/store/store.h"
#include "preload/sidetables/pausedblocks.h"
#include "preload/threads.h"
#include "unwind/modules.h"

static bool wanted, done;
#define PATH_SIZE (TRACE_WRITER_PATH_MAX + 16u)
static FLAME_BULK char path[PATH_SIZE], whole[PATH_SIZE];

/* Modules that no stack has met yet: their variables need names, too. The loader's lock is held, so
 * that none is unloaded meanwhile. */
static int note_module(struct dl_phdr_info *info, size_t size FLAME_UNUSED, void *arg FLAME_UNUSED)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            modules_note(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, NULL);
            break;
        }
    return 0;
}

static bool make_path(char *to, const char *trace, const char *ending)
{
    size_t len = strlen(trace), n = strlen(ending);

    if (len + n >= PATH_SIZE)
        return false;
    memcpy(to, trace, len);
    memcpy(to + len, ending, n + 1);
    return true;
}

/* To be called between heap_scan_begin and heap_scan_leave, which protect the paths. */
static bool prepare(const char *trace)
{
    dl_iterate_phdr(note_module, NULL);
    return make_path(path, trace, HEAP_GRAPH_ENDING HEAP_GRAPH_PART) &&
           make_path(whole, trace, HEAP_GRAPH_ENDING);
}

static void look_kept(const void *frame)
{
    struct heap_graph_paths paths = {path, whole};

    if (!wanted || !heap_scan_begin(&done))
        return;
    if (prepare(store.writer.path))
        heap_scan_roots(frame, heap_graph_write, &paths);
    heap_scan_leave();
}

static void copied(void)
{
}

static void look_kept_now(const void *frame, const char *trace)
{
    struct heap_graph_paths paths = {path, whole};

    if (!wanted || !heap_scan_begin(NULL))
        return;
    if (prepare(trace))
        heap_scan_roots_beside(frame, heap_graph_write, copied, &paths);
    heap_scan_leave();
}

static void started(const struct config *config FLAME_UNUSED)
{
    wanted = true;
    lifecycle_end_wanted = true;
    roots_at_start();
    pausedblocks_remember();
}

static void after_fork(void)
{
    if (done)
        done = false;
}

const struct lifecycle_listener lifecycle_kept = {.started = started, .forked = after_fork};
void (*const lifecycle_look_kept)(const void *frame) = look_kept;
void (*const lifecycle_look_kept_now)(const void *frame, const char *trace) = look_kept_now;
