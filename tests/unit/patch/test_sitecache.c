/*
 * The cache of site lists: what is put there comes back, and whatever is changed in the file is
 * noticed, byte by byte.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "patch/find/sitecache.h"
#include "tests/tap.h"

static char scratch[] = "/tmp/flame-sitecache.XXXXXX";

static const struct patch_site two[] = {
    {.at = 0x1000,
     .call = 0x1005,
     .number = 39,
     .kind = SITE_NUMBER,
     .length = 7,
     .call_size = 2,
     .bytes = {0xb8, 39, 0, 0, 0, 0x0f, 0x05}},
    {.at = 0x1007,
     .call = 0x1007,
     .number = 58,
     .reason = SITE_RETURNS_TWICE,
     .length = 2,
     .call_size = 2,
     .bytes = {0x0f, 0x05}},
};

static struct site_list make_list(void)
{
    struct site_list list = {.n = ARRAY_LEN(two), .build_id = {0xab, 0xcd}, .build_id_len = 2};

    list.sites = xcalloc(list.n, sizeof *list.sites);
    memcpy(list.sites, two, sizeof two);
    return list;
}

/* A name in the scratch directory. */
static const char *in_scratch(const char *name)
{
    static char path[4][200];
    static unsigned which;
    char *p = path[which++ % 4];

    snprintf(p, sizeof path[0], "%s/%s", scratch, name);
    return p;
}

static void check_bytes(void)
{
    struct site_list list = make_list(), back;
    struct strbuf bytes = STRBUF_INIT;
    int believed = 0;

    sitecache_write(&list, &bytes);
    is_int((intmax_t)bytes.len, 96 + 2 * 40, "a file is a head and its sites");
    is_int(sitecache_parse(&back, bytes.buf, bytes.len, list.build_id, 2), 0, "it is read");
    is_int((intmax_t)back.n, 2, "all of them");
    is_mem(back.sites, two, sizeof two, "as they were");
    sites_release(&back);
    for (size_t i = 0; i < bytes.len; i++) {
        bytes.buf[i] ^= 1;
        if (sitecache_parse(&back, bytes.buf, bytes.len, list.build_id, 2) == 0) {
            believed++;
            sites_release(&back);
        }
        bytes.buf[i] ^= 1;
    }
    is_int(believed, 0, "no bit of it may change");
    for (size_t n = 0; n < bytes.len; n++)
        believed += sitecache_parse(&back, bytes.buf, n, list.build_id, 2) == 0;
    strbuf_addch(&bytes, 0);
    believed += sitecache_parse(&back, bytes.buf, bytes.len, list.build_id, 2) == 0;
    is_int(believed, 0, "nor its length");
    is_int(sitecache_parse(&back, bytes.buf, bytes.len - 1, (const uint8_t *)"\xab\xce", 2),
           -EBADMSG, "nor is it another module's");
    strbuf_release(&bytes);
    sites_release(&list);
}

/* A module may make no calls. */
static void check_none(void)
{
    struct site_list list = {.build_id = {1}, .build_id_len = 1}, back;
    struct strbuf bytes = STRBUF_INIT;

    sitecache_write(&list, &bytes);
    is_int(sitecache_parse(&back, bytes.buf, bytes.len, list.build_id, 1), 0,
           "a list of no sites is read");
    is_int((intmax_t)back.n, 0, "as such");
    sites_release(&back);
    strbuf_release(&bytes);
}

/* Lists whose checksum is right, but which are not. */
static void check_sites(void)
{
    struct site_list list = make_list(), back;
    struct strbuf bytes = STRBUF_INIT;

    list.sites[1].at = list.sites[1].call = 0x1006;
    sitecache_write(&list, &bytes);
    is_int(sitecache_parse(&back, bytes.buf, bytes.len, list.build_id, 2), -EBADMSG,
           "windows that overlap are not believed");
    strbuf_clear(&bytes);
    list.sites[1] = two[0];
    sitecache_write(&list, &bytes);
    is_int(sitecache_parse(&back, bytes.buf, bytes.len, list.build_id, 2), -EBADMSG,
           "nor is one site twice");
    strbuf_clear(&bytes);
    list.sites[1] = two[1];
    list.sites[1].reason = SITE_FINE;
    sitecache_write(&list, &bytes);
    is_int(sitecache_parse(&back, bytes.buf, bytes.len, list.build_id, 2), -EBADMSG,
           "nor one that is not sound");
    ok(!back.sites && !back.n, "what is not believed leaves an empty list");
    strbuf_release(&bytes);
    sites_release(&list);
}

static void check_files(void)
{
    struct site_list list = make_list(), back;
    struct stat st;
    int fd;

    setenv("XDG_CACHE_HOME", in_scratch("cache"), 1);
    is_int(sitecache_load(&back, list.build_id, 2), -ENOENT, "at first there is none");
    is_int(sitecache_store(&list), 0, "a list is kept");
    is_int(stat(in_scratch("cache/flame/abcd.sites"), &st), 0, "under its build-id");
    is_int(st.st_size, 176, "whole");
    is_int(sitecache_load(&back, list.build_id, 2), 0, "and read");
    is_mem(back.sites, two, sizeof two, "as it was");
    sites_release(&back);

    fd = open(in_scratch("cache/flame/abcd.sites"), O_WRONLY);
    ok(fd >= 0 && pwrite(fd, "x", 1, 120) == 1, "a byte of it is changed");
    close(fd);
    is_int(sitecache_load(&back, list.build_id, 2), -EBADMSG, "which is noticed");
    is_int(sitecache_store(&list), 0, "the next one who finds it keeps it again");
    is_int(sitecache_load(&back, list.build_id, 2), 0, "whole");
    sites_release(&back);

    is_int(rename(in_scratch("cache/flame/abcd.sites"), in_scratch("elsewhere")), 0, "moved away");
    is_int(symlink(in_scratch("elsewhere"), in_scratch("cache/flame/abcd.sites")), 0,
           "with a link");
    is_int(sitecache_load(&back, list.build_id, 2), -ELOOP, "links are not followed");
    unlink(in_scratch("cache/flame/abcd.sites"));

    is_int(chmod(in_scratch("cache/flame"), 0777), 0, "a directory that all can write to");
    setenv("TMPDIR", in_scratch(""), 1);
    is_int(sitecache_store(&list), 0, "is not used");
    is_int(access(in_scratch("cache/flame/abcd.sites"), F_OK), -1, "nothing is written there");
    is_int(sitecache_load(&back, list.build_id, 2), 0, "but in that for temporary files");
    sites_release(&back);
    list.build_id_len = 0;
    is_int(sitecache_store(&list), -EINVAL, "without a build-id nothing is kept");
    sites_release(&list);
}

/* The file of the C library. */
static int note_libc(struct dl_phdr_info *info, size_t size, void *path)
{
    (void)size;
    if (strstr(info->dlpi_name, "/libc.so.6") || strstr(info->dlpi_name, "/libc-2"))
        *(const char **)path = info->dlpi_name;
    return 0;
}

static void check_whole(void)
{
    const char *libc = "/nonexistent";
    struct site_list first, second;
    bool cached = true;

    dl_iterate_phdr(note_libc, &libc);
    setenv("XDG_CACHE_HOME", in_scratch("whole"), 1);
    is_int(sitecache_find_in(&first, libc, &cached), 0, "the C library is looked at");
    ok(!cached && first.n > 0, "its sites are found");
    is_int(sitecache_find_in(&second, libc, &cached), 0, "once more");
    ok(cached && first.build_id_len > 0, "they come from the cache");
    ok(first.n == second.n && memcmp(first.sites, second.sites, first.n * sizeof *first.sites) == 0,
       "they are the same");
    sites_release(&first);
    sites_release(&second);
    is_int(sitecache_find_in(&first, "/nonexistent", &cached), -ENOENT, "no file has no list");
}

int main(void)
{
    char command[300];

    umask(022);
    if (!mkdtemp(scratch))
        return 1;
    check_bytes();
    check_none();
    check_sites();
    check_files();
    check_whole();
    snprintf(command, sizeof command, "rm -rf '%s'", scratch);
    is_int(system(command), 0, "the scratch directory is removed");
    return done_testing();
}
