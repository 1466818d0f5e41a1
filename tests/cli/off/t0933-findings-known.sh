#!/bin/bash
# Findings on recorded waits whose answers are known: joined threads, children that are
# waited for and whose output is read, work that is waited for, wakers.
. "${0%/*}/../lib.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

cat >known.c <<'END'
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int ends[2];
__attribute__((noinline)) static void naps(void) { usleep(300000); }
static void *thread(void *arg) { naps(); return arg; }
__attribute__((noinline)) static void joins(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
}
__attribute__((noinline)) static void waits_for_child(void)
{
    if (fork() == 0) { naps(); _exit(0); }
    while (wait(NULL) < 0) ;
}
__attribute__((noinline)) static void reads_from_child(void)
{
    char c;
    if (pipe(ends) != 0) _exit(1);
    if (fork() == 0) { naps(); if (write(ends[1], "x", 1) != 1) _exit(1); naps(); _exit(0); }
    if (read(ends[0], &c, 1) != 1) _exit(1);
    while (wait(NULL) < 0) ;
}
__attribute__((noinline)) static void serves(void) { poll(NULL, 0, 300); }
int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "joins") == 0) joins();
    if (argc > 1 && strcmp(argv[1], "child") == 0) waits_for_child();
    if (argc > 1 && strcmp(argv[1], "pipe") == 0) reads_from_child();
    if (argc > 1 && strcmp(argv[1], "serves") == 0) serves();
    return 0;
}
END
ok 'the program with known waits is built' "${CC:-gcc}" -O1 -g -pthread -fno-inline -o known known.c

said() { # HOW
    run "$FLAME" off -q -o "$1.flame" -- ./known "$1"
    [ "$status" = 0 ] || skip_all ptrace "nothing is traced here: $(head -n 1 err)"
    "$FLAME" render -f findings -o "$1.txt" "$1.flame"
}
said joins
file_has joins.txt '^Waited for its threads to end: .*in joins \(known\.c:[0-9]+\) by futex' \
    'a finding has the wait for joined threads'
file_has joins.txt '^Blocked longest is naps \(known\.c:[0-9]+\): .*nanosleep' \
    'a finding has the sleep of the joined thread'
said child
file_has child.txt '^Waited for its children: .*in waits_for_child \(known\.c:[0-9]+\) by wait4 child' \
    'a finding has the wait for children'
said pipe
file_has pipe.txt '^Waited for what its children print: .*in (reads_from_child|main) \(known\.c:[0-9]+\) by read pipe' \
    'a finding has the wait for the output of children'
said serves
file_has serves.txt '^Waited for work or for others: .*in serves \(known\.c:[0-9]+\) by p?poll' \
    'a finding has the wait for work'
file_lacks serves.txt '^Blocked longest .* in [^[]*$' 'the wait for work is not a longest blocked wait'
done_testing
