/* LD_PRELOAD in environments, and environments without one library of it. */
#include "common/env/preloadlist.h"
#include "tests/tap.h"

/* An environment is of strings that may be written to. */
#define S(text) ((char *)(uintptr_t)(text))

/* The environment without libx.so, a space behind each entry; "same": it is the same. */
static const char *without(char *const *envp)
{
    static struct preloadlist_copy copy;
    static char text[4096];

    preloadlist_without(&copy, envp, "libx.so");
    text[0] = '\0';
    for (char *const *e = copy.envp; e && *e; e++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", *e);
    preloadlist_release(&copy);
    return copy.envp ? text : "same";
}

int main(void)
{
    char *none[] = {S("A=1"), NULL}, *other[] = {S("LD_PRELOAD=/a/liby.so"), NULL};
    char *alone[] = {S("A=1"), S("LD_PRELOAD=/a/libx.so"), S("B=2"), NULL};
    char *among[] = {S("LD_PRELOAD=/a/liby.so:/a/libx.so libz.so"), NULL};
    char *twice[] = {S("LD_PRELOAD=one"), S("LD_PRELOAD=/a/libx.so:two"), NULL};
    char *many[PRELOADLIST_ENTRIES + 10] = {S("LD_PRELOAD=libx.so:liby.so")};
    const char *list = " :a: b", *entry;
    size_t len;

    is_str(without(none), "same", "no list");
    is_str(without(NULL), "same", "no environment");
    is_str(without(other), "same", "a list without the library");
    is_str(without(alone), "A=1 B=2 ", "an empty list goes");
    is_str(without(among), "LD_PRELOAD=/a/liby.so:libz.so ", "others stay");
    is_str(without(twice), "LD_PRELOAD=two ", "of several lists the last counts");
    is_str(among[0], "LD_PRELOAD=/a/liby.so:/a/libx.so libz.so", "the caller's own stays");
    for (int i = 1; i < PRELOADLIST_ENTRIES + 9; i++)
        many[i] = S("A");
    ok(strncmp(without(many), "LD_PRELOAD=liby.so A A ", 23) == 0, "a large environment");
    entry = preloadlist_next(&list, &len);
    ok(entry && *entry == 'a' && len == 1, "the first entry of a list");
    entry = preloadlist_next(&list, &len);
    ok(entry && *entry == 'b' && !preloadlist_next(&list, &len), "and the last");
    ok(preloadlist_is("/a/libx.so", 10, "libx.so") &&
           !preloadlist_is("/a/libx.so.1", 12, "libx.so"),
       "a library is known by its last component");
    ok(preloadlist_is_sanitizer("/usr/lib/libasan.so.8", 21) &&
           !preloadlist_is_sanitizer("libc.so", 7),
       "sanitizers are known");
    is_str(preloadlist_value(twice, "LD_PRELOAD="), "/a/libx.so:two", "the value that counts");
    return done_testing();
}
