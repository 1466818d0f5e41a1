/* Lists of sites for a run: they have the wanted calls, and damaged lists are refused. */
#include "common/sysnr.h"
#include "patch/find/libcsites.h"
#include "patch/sitelist.h"
#include "tests/tap.h"

static const int32_t maps[] = {SYS_mmap, SYS_munmap, SYS_mremap, SYS_brk};

static const struct sitelist_head *in(const struct strbuf *text)
{
    return sitelist_in(text->buf, text->len);
}

static void test_damage(struct strbuf *text)
{
    struct sitelist_head *head = (struct sitelist_head *)text->buf;
    uint32_t state = 5, taken = 0, unsound = 0;

    ok(!sitelist_in(text->buf, text->len - 1), "a truncated list is refused");
    ok(!sitelist_in(text->buf, sizeof *head - 1), "a list without its whole head is refused");
    ok(!sitelist_in(text->buf, text->len - sizeof(struct patch_site)),
       "a list with a site less is refused");
    head->version++;
    ok(!in(text), "a list of another version is refused");
    head->version--;
    head->build_id_len = SITELIST_BUILD_ID_MAX + 1;
    ok(!in(text), "a list with a build id that is too long is refused");
    head->build_id_len = 0;
    ok(!in(text), "a list without a build id is refused");
    head->build_id_len = 20;
    for (int i = 0; i < 20000; i++) {
        const struct sitelist_head *h;
        uint8_t was;
        size_t at;

        state = state * 1664525 + 1013904223;
        at = (state >> 8) % text->len;
        was = (uint8_t)text->buf[at];
        text->buf[at] = (char)(state >> 16);
        h = in(text);
        taken += h != NULL;
        for (uint32_t s = 0; h && s < h->count; s++)
            unsound += !site_is_sound(&sitelist_sites(h)[s]);
        text->buf[at] = (char)was;
    }
    ok(taken > 0 && taken < 20000, "of 20,000 lists with a changed byte, %u are still accepted",
       taken);
    is_int(unsound, 0, "accepted lists have sound sites only");
}

int main(void)
{
    static const int32_t nobodys[] = {SYS_mmap, 511};
    struct strbuf text = STRBUF_INIT;
    struct site_list sites = {.sites = NULL};
    const struct sitelist_head *head;
    uint32_t found = 0;

    is_int(libcsites_find(&sites), 0, "the C library's sites are found");
    ok(!sitelist_make(&text, &sites, nobodys, ARRAY_LEN(nobodys)) && !text.len,
       "a call without a site gives no list");
    ok(sitelist_make(&text, &sites, maps, ARRAY_LEN(maps)), "four calls with sites give a list");
    head = in(&text);
    ok(head != NULL, "a made list is accepted");
    for (uint32_t i = 0; head && i < head->count; i++)
        for (size_t n = 0; n < ARRAY_LEN(maps); n++)
            found += sitelist_sites(head)[i].number == maps[n];
    ok(head && head->count >= 4 && found == head->count, "a list has the wanted calls only");
    test_damage(&text);
    sites.build_id_len = 0;
    strbuf_clear(&text);
    ok(!sitelist_make(&text, &sites, maps, ARRAY_LEN(maps)),
       "sites without a build id give no list");
    sites_release(&sites);
    strbuf_release(&text);
    return done_testing();
}
