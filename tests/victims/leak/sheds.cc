/*
 * sheds.cc: loses blocks in functions of its own names, as its arguments say: plain:BYTES (one
 * of malloc's), text:BYTES (one of new[]'s), list:N (a head and N nodes that it leads to),
 * empty:N (N blocks of no bytes).
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct node {
    node *next;
};

/* Where it is stored nobody looks: the bits are turned round. */
static volatile unsigned long hidden;

static void lose(void *p)
{
    hidden = ~(unsigned long)p;
}

__attribute__((noinline)) void shed_plain(size_t n)
{
    lose(malloc(n));
}

__attribute__((noinline)) void shed_text(size_t n)
{
    lose(new char[n]);
}

__attribute__((noinline)) node *make_node(node *next)
{
    node *n = (node *)malloc(sizeof *n);

    n->next = next;
    return n;
}

__attribute__((noinline)) void shed_list(size_t n)
{
    node *head = nullptr;

    while (n-- > 0)
        head = make_node(head);
    /* The head is from elsewhere than its nodes. */
    node *first = (node *)calloc(2, sizeof *first);
    first->next = head;
    lose(first);
}

__attribute__((noinline)) void shed_empty(size_t n)
{
    while (n-- > 0)
        lose(malloc(0));
}

/* Clears the stack below the caller, and registers, where returned functions may have left
 * pointers. */
__attribute__((noinline)) static void wipe()
{
    char room[8192];

    memset(room, 0, sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory", "rbx", "r12", "r13", "r14", "r15");
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *colon = strchr(argv[i], ':');
        size_t n = colon ? strtoul(colon + 1, nullptr, 10) : 0;

        if (!strncmp(argv[i], "plain:", 6))
            shed_plain(n);
        else if (!strncmp(argv[i], "text:", 5))
            shed_text(n);
        else if (!strncmp(argv[i], "list:", 5))
            shed_list(n);
        else if (!strncmp(argv[i], "empty:", 6))
            shed_empty(n);
        else
            return 2;
        wipe();
    }
    puts("done");
    return 0;
}
