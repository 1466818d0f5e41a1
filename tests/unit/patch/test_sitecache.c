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
    is_int((intmax_t)bytes.len, 96 + 2 * 40, "a cache file is a head and its sites");
    is_int(sitecache_parse(&back, bytes.buf, bytes.len, list.build_id, 2), 0,
           "a cache file is parsed");
    is_int((intmax_t)back.n, 2, "a parsed cache file has all sites");
    is_mem(back.sites, two, sizeof two, "a parsed cache file has equal sites");
    sites_release(&back);
    for (size_t i = 0; i < bytes.len; i++) {
        bytes.buf[i] ^= 1;
        if (sitecache_parse(&back, bytes.buf, bytes.len, list.build_id, 2) == 0) {
            believed++;
            sites_release(&back);
        }
        bytes.buf[i] ^= 1;
    }
    is_int(believed, 0, "a cache file with a changed bit is refused");
    for (size_t n = 0; n < bytes.len; n++)
        believed += sitecache_parse(&back, bytes.buf, n, list.build_id, 2) == 0;
    strbuf_addch(&bytes, 0);
    believed += sitecache_parse(&back, bytes.buf, bytes.len, list.build_id, 2) == 0;
    is_int(believed, 0, "a cache file of another length is refused");
    is_int(sitecache_parse(&back, bytes.buf, bytes.len - 1, (const uint8_t *)"\xab\xce", 2),
           -EBADMSG, "a cache file of another build id is refused");
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
           "a cache file without sites is parsed");
    is_int((intmax_t)back.n, 0, "a cache file without sites has none");
    sites_release(&back);
    strbuf_release(&bytes);
}

/* Lists with a valid checksum and invalid contents. */
static void check_sites(void)
{
    struct site_list list = make_list(), back;
    struct strbuf bytes = STRBUF_INIT;

    list.sites[1].at = list.sites[1].call = 0x1006;
    sitecache_write(&list, &bytes);
    is_int(sitecache_parse(&back, bytes.buf, bytes.len, list.build_id, 2), -EBADMSG,
           "a cache file with overlapping windows is refused");
    strbuf_clear(&bytes);
    list.sites[1] = two[0];
    sitecache_write(&list, &bytes);
    is_int(sitecache_parse(&back, bytes.buf, bytes.len, list.build_id, 2), -EBADMSG,
           "a cache file with one site twice is refused");
    strbuf_clear(&bytes);
    list.sites[1] = two[1];
    list.sites[1].reason = SITE_FINE;
    sitecache_write(&list, &bytes);
    is_int(sitecache_parse(&back, bytes.buf, bytes.len, list.build_id, 2), -EBADMSG,
           "a cache file with an unsound site is refused");
    ok(!back.sites && !back.n, "a refused cache file leaves an empty list");
    strbuf_release(&bytes);
    sites_release(&list);
}

static void check_files(void)
{
    struct site_list list = make_list(), back;
    struct stat st;
    int fd;

    setenv("XDG_CACHE_HOME", in_scratch("cache"), 1);
    is_int(sitecache_load(&back, list.build_id, 2), -ENOENT, "an absent cache file gives -ENOENT");
    is_int(sitecache_store(&list), 0, "sitecache_store stores a list");
    is_int(stat(in_scratch("cache/flame/abcd.sites"), &st), 0,
           "a stored list is named by its build id");
    is_int(st.st_size, 176, "a stored list is complete");
    is_int(sitecache_load(&back, list.build_id, 2), 0, "sitecache_load reads a stored list");
    is_mem(back.sites, two, sizeof two, "a loaded list has equal sites");
    sites_release(&back);

    fd = open(in_scratch("cache/flame/abcd.sites"), O_WRONLY);
    ok(fd >= 0 && pwrite(fd, "x", 1, 120) == 1, "a byte of the cache file is changed");
    close(fd);
    is_int(sitecache_load(&back, list.build_id, 2), -EBADMSG, "a changed cache file is refused");
    is_int(sitecache_store(&list), 0, "sitecache_store replaces a changed cache file");
    is_int(sitecache_load(&back, list.build_id, 2), 0, "the replaced cache file is read");
    sites_release(&back);

    is_int(rename(in_scratch("cache/flame/abcd.sites"), in_scratch("elsewhere")), 0,
           "the cache file is moved away");
    is_int(symlink(in_scratch("elsewhere"), in_scratch("cache/flame/abcd.sites")), 0,
           "a link takes the cache file's place");
    is_int(sitecache_load(&back, list.build_id, 2), -ELOOP,
           "sitecache_load does not follow a link");
    unlink(in_scratch("cache/flame/abcd.sites"));

    is_int(chmod(in_scratch("cache/flame"), 0777), 0,
           "the cache directory is made writable for all");
    setenv("TMPDIR", in_scratch(""), 1);
    is_int(sitecache_store(&list), 0, "sitecache_store avoids a directory writable for all");
    is_int(access(in_scratch("cache/flame/abcd.sites"), F_OK), -1,
           "sitecache_store writes nothing to a directory writable for all");
    is_int(sitecache_load(&back, list.build_id, 2), 0,
           "sitecache_load finds the list in the temporary directory instead");
    sites_release(&back);
    list.build_id_len = 0;
    is_int(sitecache_store(&list), -EINVAL, "a list without a build id is not stored");
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
    is_int(sitecache_find_in(&first, libc, &cached), 0, "sitecache_find_in reads the C library");
    ok(!cached && first.n > 0, "sitecache_find_in finds sites that are not cached");
    is_int(sitecache_find_in(&second, libc, &cached), 0,
           "sitecache_find_in reads the C library a second time");
    ok(cached && first.build_id_len > 0, "sitecache_find_in finds the cached sites");
    ok(first.n == second.n && memcmp(first.sites, second.sites, first.n * sizeof *first.sites) == 0,
       "cached sites equal the ones found first");
    sites_release(&first);
    sites_release(&second);
    is_int(sitecache_find_in(&first, "/nonexistent", &cached), -ENOENT,
           "sitecache_find_in of a missing file gives -ENOENT");
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
