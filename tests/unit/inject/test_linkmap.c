/* Modules, definitions and import slots, of memory that is made up and of this process. */
#define _GNU_SOURCE
#include "inject/linkmap.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "inject/agent_image.h"
#include "tests/tap.h"
#include "tests/unit/linkmap_image.h"

static struct linkmap_image image;
static const char *const names[] = {"malloc", "free", "calloc"};

struct seen {
    size_t n;
    uintptr_t at[8];
    size_t which[8];
    bool lazy[8];
};

static void see(void *arg, uintptr_t at, size_t which, bool lazy)
{
    struct seen *s = arg;

    if (s->n < ARRAY_LEN(s->at)) {
        s->at[s->n] = at;
        s->which[s->n] = which;
        s->lazy[s->n] = lazy;
    }
    s->n++;
}

static bool find(struct linkmap *l, const struct procmem *m)
{
    return linkmap_find(l, m, IMAGE_AT(phdr), ARRAY_LEN(image.phdr)) == LINKMAP_OK;
}

static void test_list(void)
{
    struct procmem m = linkmap_image_memory(&image);
    struct linkmap l;
    bool changed;

    linkmap_image_make(&image);
    ok(find(&l, &m) && l.debug == IMAGE_AT(debug), "linkmap_find finds the loader's list");
    ok(linkmap_read(&l, &m, &changed) == LINKMAP_OK && changed && l.n == 2,
       "linkmap_read reads a new list");
    ok(l.modules[1].bias == IMAGE_BASE + IMAGE_LIBRARY && l.loader == 0x7000000,
       "the list has the modules and the loader");
    ok(linkmap_read(&l, &m, &changed) == LINKMAP_OK && !changed,
       "linkmap_read finds an unchanged list");
    ok(linkmap_same(&l, &m), "linkmap_same finds an unchanged list");
    image.debug.r_state = RT_ADD;
    ok(linkmap_read(&l, &m, &changed) == LINKMAP_BUSY && l.n == 2,
       "linkmap_read returns LINKMAP_BUSY while the loader works");
    ok(!linkmap_same(&l, &m), "linkmap_same is false while the loader works");
    image.debug.r_state = RT_CONSISTENT;
    image.link[1].l_addr += 4096;
    ok(!linkmap_same(&l, &m), "linkmap_same is false for another module at one place in the list");
    ok(linkmap_read(&l, &m, &changed) == LINKMAP_OK && changed,
       "linkmap_read reads the changed module");
    image.link[0].l_next = NULL;
    ok(!linkmap_same(&l, &m), "linkmap_same is false for a shorter list");
    ok(linkmap_read(&l, &m, &changed) == LINKMAP_OK && changed && l.n == 1,
       "linkmap_read reads the shorter list");
    image.link[0].l_next = (void *)IMAGE_AT(link);
    ok(linkmap_read(&l, &m, &changed) == LINKMAP_BUSY, "linkmap_read gives up on an endless list");
    linkmap_release(&l);

    linkmap_image_make(&image);
    image.program[1].d_un.d_ptr = 0;
    ok(linkmap_find(&l, &m, IMAGE_AT(phdr), 3) == LINKMAP_NOT_DYNAMIC,
       "a program whose loader has not started is not dynamic");
    image.phdr[2].p_type = PT_NOTE;
    ok(linkmap_find(&l, &m, IMAGE_AT(phdr), 3) == LINKMAP_NOT_DYNAMIC,
       "a program without a dynamic section is not dynamic");
    ok(linkmap_find(&l, &m, 0x1000, 3) == LINKMAP_UNREADABLE,
       "unmapped program headers are unreadable");
    ok(linkmap_find(&l, &m, IMAGE_AT(phdr), 1 << 20) == LINKMAP_UNREADABLE,
       "too many program headers are unreadable");
}

static void test_symbols(void)
{
    struct procmem m = linkmap_image_memory(&image);
    struct seen s = {0};
    struct linkmap l;
    const struct linked *k;
    bool changed;

    linkmap_image_make(&image);
    if (!ok(find(&l, &m) && linkmap_read(&l, &m, &changed) == LINKMAP_OK,
            "the test's list is read"))
        return;
    k = &l.modules[1];
    ok(linked_defines(k, &m, "malloc") == k->bias + 0x1000 * SYM_MALLOC,
       "linked_defines finds a definition");
    ok(linked_defines(k, &m, "other") == k->bias + 0x1000 * SYM_OTHER,
       "linked_defines finds the last symbol of a bucket");
    ok(linked_defines(k, &m, "free") == 0, "linked_defines ignores an indirect function");
    ok(linked_defines(k, &m, "calloc") == 0, "linked_defines ignores an import");
    ok(linked_defines(k, &m, "realloc") == 0, "linked_defines ignores a hidden version");
    ok(linked_defines(k, &m, "mallo") == 0, "linked_defines ignores a prefix of a name");
    ok(linked_slots(k, &m, names, ARRAY_LEN(names), see, &s) && s.n == 3,
       "linked_slots finds three slots");
    ok(s.at[0] == IMAGE_AT(slots[0]) && s.which[0] == 0 && s.lazy[0],
       "linked_slots finds malloc's lazy slot");
    ok(s.at[1] == IMAGE_AT(slots[1]) && s.which[1] == 2 && s.lazy[1],
       "linked_slots finds calloc's lazy slot");
    ok(s.at[2] == IMAGE_AT(slots[3]) && s.which[2] == 2 && !s.lazy[2],
       "linked_slots finds calloc's other slot");
    image.hash_head[0] = 0;
    ok(linked_defines(k, &m, "malloc") == 0, "linked_defines finds nothing in an empty bucket");
    image.hash_head[0] = 1;
    memset(image.chain, 0, sizeof image.chain);
    ok(linked_defines(k, &m, "malloc") == 0, "linked_defines gives up on an endless chain");
    l.modules[1].plt_size = UINT64_MAX;
    ok(!linked_slots(k, &m, names, ARRAY_LEN(names), see, &s),
       "linked_slots refuses a table of impossible size");
    linkmap_release(&l);
}

static void test_this(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    uintptr_t want = libc ? (uintptr_t)dlsym(libc, "setenv") : 0, got = 0;
    struct procmem m;
    struct linkmap l;
    bool changed;

    if (!ok(procmem_open(&m, getpid()) == 0, "this process's memory is opened"))
        return;
    ok(linkmap_find(&l, &m, getauxval(AT_PHDR), getauxval(AT_PHNUM)) == LINKMAP_OK &&
           linkmap_read(&l, &m, &changed) == LINKMAP_OK && linkmap_same(&l, &m),
       "this process's list is read");
    for (size_t i = 0; i < l.n && !got; i++)
        if (l.modules[i].bias != l.loader)
            got = linked_defines(&l.modules[i], &m, "setenv");
    ok(got && got == want, "linked_defines finds what the loader finds");
    linkmap_release(&l);
    procmem_close(&m);
    if (libc)
        dlclose(libc);
}

static void test_blob(void)
{
    struct agent_image b;
    bool inside = true;

    ok(agent_image_open(&b), "agent_image_open accepts the agent");
    for (size_t i = 0; i < AGENT_FUNCTIONS; i++)
        inside = inside && b.hooks[i] < b.text_size;
    ok(inside, "the agent's hooks are in its text");
    ok(b.state >= b.data && b.state + sizeof(struct agent_shared) <= b.span,
       "the agent's state is in its data");
    ok(b.control % 4096 == 0 && b.control + sizeof(struct agent_switch) <= b.span,
       "the agent's switch has a page of its own");
}

int main(void)
{
    test_list();
    test_symbols();
    test_this();
    test_blob();
    return done_testing();
}
