/*
 * makecontext on stacks in malloc'ed memory, one from on top of another, so that the
 * frame pointers the second begins with lead into the first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define SIZE (64 << 10)

static char *stacks[2];
static ucontext_t back[2];
static volatile int sink;

static void enter(int which, void (*fn)(void))
{
    ucontext_t c;

    getcontext(&c);
    c.uc_stack.ss_sp = stacks[which];
    c.uc_stack.ss_size = SIZE;
    c.uc_link = &back[which];
    makecontext(&c, fn, 0);
    swapcontext(&back[which], &c);
    sink++;
}

static void inner(void)
{
    free(malloc(33));
    sink++;
}

static void outer(void)
{
    enter(0, inner);
    sink++;
}

int main(void)
{
    stacks[0] = malloc(SIZE);
    stacks[1] = malloc(SIZE);
    for (int i = 0; i < 5; i++)
        enter(1, outer);
    puts("done");
    return 0;
}
