/*
 * replay.c: runs a fuzz target over files instead of a fuzzer's inventions.
 *
 * With arguments, over those files; without, over tests/corpus/NAME/ where the
 * program is called fuzz_NAME (fuzz_picture has fuzz_folded's), and over what
 * every parser of outside bytes must survive: nothing at all. Every input is also
 * tried cut short at a few places, as a crash or a full disk would leave it. The
 * target's buffer has exactly the input's size, so that the address sanitizer
 * sees a read past its end.
 *
 * Prints TAP; run it from the root of the sources. A crash leaves no plan.
 */
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "tests/tap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Targets that try a part of what they could with each input try all of it here. */
extern const bool replays_all;
const bool replays_all = true;

static void feed(const char *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    if (!copy)
        exit(EXIT_FAILURE);
    if (size)
        memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void replay_file(const char *path)
{
    struct strbuf sb = STRBUF_INIT;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (!ok(fd >= 0 && strbuf_read_fd(&sb, fd) == 0, "%s is read", path))
        diag("cannot read it; run from the root of the sources");
    if (fd >= 0)
        close(fd);
    feed(sb.buf, sb.len);
    for (size_t eighth = 1; eighth < 8; eighth++)
        feed(sb.buf, sb.len * eighth / 8);
    if (sb.len)
        feed(sb.buf, sb.len - 1);
    ok(true, "%s is survived", path);
    strbuf_release(&sb);
}

static int is_visible(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static void replay_corpus(const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *name = slash ? slash + 1 : program;
    struct strbuf dir = STRBUF_INIT;
    struct dirent **list;
    int n;

    if (strncmp(name, "fuzz_", 5) == 0)
        name += 5;
    /* Both read folded text; `make fuzz` knows it, too. */
    if (strcmp(name, "picture") == 0)
        name = "folded";
    strbuf_addf(&dir, "tests/corpus/%s", name);
    n = scandir(dir.buf, &list, is_visible, alphasort);
    ok(n > 0, "%s holds inputs", dir.buf);
    for (int i = 0; i < n; i++) {
        struct strbuf path = STRBUF_INIT;

        strbuf_addf(&path, "%s/%s", dir.buf, list[i]->d_name);
        replay_file(path.buf);
        strbuf_release(&path);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    strbuf_release(&dir);
}

int main(int argc, char **argv)
{
    feed("", 0);
    ok(true, "the empty input is survived");
    for (int i = 1; i < argc; i++)
        replay_file(argv[i]);
    if (argc == 1)
        replay_corpus(argv[0]);
    return done_testing();
}
