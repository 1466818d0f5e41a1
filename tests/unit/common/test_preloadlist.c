/* LD_PRELOAD in environments, and environments without one library of it. */
#include "common/env/preloadlist.h"
#include "tests/tap.h"

/* Strings of an environment are writable. */
#define S(text) ((char *)(uintptr_t)(text))

/* The environment without libx.so, a space behind each entry; "same" if it is unchanged. */
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

    is_str(without(none), "same", "an environment without LD_PRELOAD is unchanged");
    is_str(without(NULL), "same", "a NULL environment is unchanged");
    is_str(without(other), "same", "a list without the library is unchanged");
    is_str(without(alone), "A=1 B=2 ", "a list of the library alone is removed");
    is_str(without(among), "LD_PRELOAD=/a/liby.so:libz.so ", "other libraries stay in the list");
    is_str(without(twice), "LD_PRELOAD=two ", "of several LD_PRELOAD variables the last counts");
    is_str(among[0], "LD_PRELOAD=/a/liby.so:/a/libx.so libz.so",
           "the caller's environment is unchanged");
    for (int i = 1; i < PRELOADLIST_ENTRIES + 9; i++)
        many[i] = S("A");
    ok(strncmp(without(many), "LD_PRELOAD=liby.so A A ", 23) == 0,
       "a large environment is copied in full");
    entry = preloadlist_next(&list, &len);
    ok(entry && *entry == 'a' && len == 1, "preloadlist_next returns the first entry");
    entry = preloadlist_next(&list, &len);
    ok(entry && *entry == 'b' && !preloadlist_next(&list, &len),
       "preloadlist_next returns the last entry");
    ok(preloadlist_is("/a/libx.so", 10, "libx.so") &&
           !preloadlist_is("/a/libx.so.1", 12, "libx.so"),
       "preloadlist_is compares the last component of a path");
    ok(preloadlist_is_sanitizer("/usr/lib/libasan.so.8", 21) &&
           !preloadlist_is_sanitizer("libc.so", 7),
       "preloadlist_is_sanitizer recognises sanitizers");
    is_str(preloadlist_value(twice, "LD_PRELOAD="), "/a/libx.so:two",
           "preloadlist_value returns the last variable's value");
    return done_testing();
}
