/*
 * Requests for debug files from servers.
 *
 * A server that does not answer delays a fold by DEBUGINFOD_TIMEOUT, by default 90 seconds,
 * once: then there are no more requests. That a server does not have a file is an answer.
 */
#include "fold/symbols/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/error.h"

struct debuginfod_client;

/* As the header of elfutils declares them. */
static struct {
    struct debuginfod_client *(*begin)(void);
    int (*find_debuginfo)(struct debuginfod_client *client, const unsigned char *id, int len,
                          char **path);
    void (*end)(struct debuginfod_client *client);
} lib;

static enum { UNTRIED, READY, GIVEN_UP } state;

static bool not_shared;
static volatile bool *no_answer = &not_shared; /* of any process that shares it */

void debuginfod_share(void)
{
    void *shared;

    if (no_answer != &not_shared || !getenv("DEBUGINFOD_URLS"))
        return;
    shared =
        mmap(NULL, sizeof *no_answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared != MAP_FAILED)
        no_answer = shared;
}

static void *function(void *handle, const char *name)
{
    return handle ? dlsym(handle, name) : NULL;
}

static void load(void)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    void *handle;

    state = GIVEN_UP;
    if (!urls || !urls[strspn(urls, " ")])
        return;
    handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    *(void **)(void *)&lib.begin = function(handle, "debuginfod_begin");
    *(void **)(void *)&lib.find_debuginfo = function(handle, "debuginfod_find_debuginfo");
    *(void **)(void *)&lib.end = function(handle, "debuginfod_end");
    if (lib.begin && lib.find_debuginfo && lib.end)
        state = READY;
    else
        flame_warn("DEBUGINFOD_URLS is set, but libdebuginfod.so.1 is not there to ask them for "
                   "debug symbols; Debian has it in libdebuginfod1 or libdebuginfod1t64");
}

char *debuginfod_fetch(const uint8_t *id, size_t len, const char *what)
{
    struct debuginfod_client *client;
    char *path = NULL;
    int fd;

    if (state == UNTRIED)
        load();
    if (state != READY || *no_answer || len < 2 || len > 64)
        return NULL;
    client = lib.begin();
    if (!client)
        return NULL;
    fd = lib.find_debuginfo(client, id, (int)len, &path);
    lib.end(client);
    if (fd >= 0) {
        close(fd);
        return path;
    }
    free(path);
    if (fd == -ENOENT || fd == -ENOSYS)
        return NULL;
    *no_answer = true;
    flame_warn(
        "%s: DEBUGINFOD_URLS could not be asked for its debug symbols: %s; no more are asked "
        "for",
        what, strerror(-fd));
    return NULL;
}
