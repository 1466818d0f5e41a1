/*
 * Test functions with beginnings of all kinds: patched and called through the hook, with the result
 * that they had before; and functions that must not be patched. Each round is a child process.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/compiler.h"
#include "patch/entry/entry.h"
#include "tests/tap.h"

#if defined(__x86_64__)

static long hooked;

/* A function with the code `body`, and a label NAME_end; aligned to 16 bytes. */
#define FUNCTION(name, body)                                                                       \
    __asm__(".pushsection .text\n.p2align 4\n.globl " name "\n.type " name ",@function\n" name     \
            ":\n" body "\n.globl " name "_end\n" name "_end:\n.size " name ", .-" name             \
            "\n.p2align 4,0x90\n.popsection\n");

extern const long entry_word __attribute__((visibility("hidden")));
const long entry_word = 1000;

FUNCTION("plain", "push %rbp\nmov %rsp,%rbp\nlea 1(%rdi),%rax\npop %rbp\nret")
FUNCTION("marked", "endbr64\npush %rbx\nmov %rdi,%rbx\nlea 2(%rbx),%rax\npop %rbx\nret")
FUNCTION("reads", "mov entry_word(%rip),%rax\nadd %rdi,%rax\nret")
FUNCTION("refers", "lea entry_word(%rip),%rdx\nmov (%rdx),%rax\nlea 4(%rax,%rdi),%rax\nret")
FUNCTION("thunk", ".byte 0xe9\n.long plain-.-4")
FUNCTION("near_thunk", "jmp plain")
FUNCTION("branches", "test %rdi,%rdi\n.byte 0x0f,0x84\n.long 1f-.-4\nlea 6(%rdi),%rax\nret\n"
                     "1: mov $-6,%rax\nret")
FUNCTION("short_one", "mov %edi,%eax\nret") /* filling follows */
FUNCTION("tight", "xor %eax,%eax\nret\n.size tight, .-tight\ntight_next:\nmov %edi,%eax\nret")
FUNCTION("near_jump", "test %rdi,%rdi\nje 1f\nlea 9(%rdi),%rax\nret\n1: xor %eax,%eax\nret")
FUNCTION("counts", "mov %rdi,%rcx\njrcxz 1f\nlea 9(%rdi),%rax\nret\n1: xor %eax,%eax\nret")
FUNCTION("calls", "call plain\nadd $1,%rax\nret")
FUNCTION("loops", "xor %eax,%eax\n1: inc %rax\ncmp %rdi,%rax\njb 1b\nret")
FUNCTION("starts_over", "dec %rdi\ntest %rdi,%rdi\njg starts_over\nmov %rdi,%rax\nret")
FUNCTION("odd_data", "mov %rdi,%rax\nnop\nnop\nnop\nret\n.byte 0x06,0x06,0x06")

typedef long function(long);
#define DECLARED(name)                                                                             \
    extern function name;                                                                          \
    extern const char name##_end[];
DECLARED(plain)
DECLARED(marked)
DECLARED(reads)
DECLARED(refers)
DECLARED(thunk)
DECLARED(near_thunk)
DECLARED(branches)
DECLARED(short_one)
DECLARED(tight)
DECLARED(near_jump)
DECLARED(counts)
DECLARED(calls)
DECLARED(loops)
DECLARED(starts_over)
DECLARED(odd_data)

static struct patch_entry one;

static long hook(long n)
{
    hooked++;
    return ((function *)one.original)(n);
}

static void set_hooked(void *arg)
{
    *(bool *)arg = one.original != NULL;
}

/* Bits of the child's exit status. */
enum { PATCHED = 1, RIGHT = 2, SEEN = 4, TOLD = 8 };

static int in_child(function *f, const char *end, long n, long want)
{
    bool reported = false;
    int said = 0;

    one = (struct patch_entry){.function = (uintptr_t)f,
                               .size = (size_t)((uintptr_t)end - (uintptr_t)f),
                               .hook = (void *)hook};
    if (entries_apply(&one, 1, set_hooked, &reported) == PATCH_DONE)
        said |= PATCHED;
    if (f(n) == want)
        said |= RIGHT;
    if (hooked)
        said |= SEEN;
    if (reported)
        said |= TOLD;
    return said;
}

static void is_done(function *f, const char *end, long n, bool patched, const char *name)
{
    long want = f(n);
    pid_t pid = fork();
    int status = -1;

    if (pid == 0)
        _exit(in_child(f, end, n, want));
    waitpid(pid, &status, 0);
    ok(WIFEXITED(status) &&
           WEXITSTATUS(status) == (patched ? PATCHED | RIGHT | SEEN | TOLD : RIGHT),
       "%s is %s", name, patched ? "patched, and does what it did" : "left alone");
}

#define IS(name, n, patched) is_done(name, name##_end, n, patched, #name)

/* Two functions, of which one cannot be patched, and is needed or not. */
static int of_two(bool needed)
{
    struct patch_entry both[] = {{.function = (uintptr_t)plain,
                                  .size = (size_t)(plain_end - (const char *)plain),
                                  .hook = (void *)hook},
                                 {.function = (uintptr_t)calls,
                                  .size = (size_t)(calls_end - (const char *)calls),
                                  .hook = (void *)hook,
                                  .needed = needed}};
    enum patch_result r = entries_apply(both, 2, NULL, NULL);

    if (needed)
        return r == PATCH_NOTHING && !both[0].original && !both[1].original && plain(1) == 2 &&
               !hooked;
    one = both[0];
    return r == PATCH_DONE && both[0].original && !both[1].original && plain(1) == 2 && hooked == 1;
}

static bool is_true_in_child(int (*f)(bool), bool arg)
{
    pid_t pid = fork();
    int status = -1;

    if (pid == 0)
        _exit(f(arg));
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

int main(void)
{
    struct patch_entry nowhere = {.function = 0x1000, .size = 64, .hook = (void *)hook};

    IS(plain, 5, true);
    IS(marked, 5, true);
    IS(reads, 5, true);
    IS(refers, 5, true);
    IS(thunk, 5, true);
    IS(near_thunk, 5, true);
    IS(near_jump, 5, true);
    IS(near_jump, 0, true);
    IS(counts, 0, false);
    IS(branches, 5, true);
    IS(branches, 0, true);
    IS(short_one, 5, true);
    IS(starts_over, 5, true);
    IS(tight, 5, false);
    IS(calls, 5, false);
    IS(loops, 5, false);
    IS(odd_data, 5, false);
    ok(is_true_in_child(of_two, false),
       "a function that cannot be patched does not prevent another's patch");
    ok(is_true_in_child(of_two, true),
       "a needed function that cannot be patched prevents the others' patch");
    ok(entries_apply(&nowhere, 1, NULL, NULL) == PATCH_UNMAPPED && !nowhere.original,
       "a function in unmapped memory is not patched");
    ok(entries_apply(NULL, 0, NULL, NULL) == PATCH_NOTHING, "an empty list patches nothing");
    return done_testing();
}

#else

int main(void)
{
    ok(true, "this machine has no patched functions");
    return done_testing();
}

#endif
