/*
 * keeper.c: uses memory exactly as its arguments say, and in no other way.
 *
 *   keep:BYTES[:COUNT]   allocate in keep_block() and never free
 *   hold:BYTES[:COUNT]   allocate in hold_block() and never free
 *   drop:BYTES[:COUNT]   allocate in drop_block() and free at once
 *   exit:STATUS          leave now, with this status
 *   signal:NUMBER        raise the signal, and continue if it comes back
 *   fork                 the child continues with the words after it; the parent
 *                        waits for it and leaves with its status
 *   exec:WORD...         execute this program anew with the words after it
 *   wait                 print "ready", then read standard input to its end
 *   catch:NUMBER         on that signal print "caught", and leave with status 7
 *
 * Output goes through write(2): the C library would allocate a buffer.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept;

static void say(const char *s)
{
    if (write(STDOUT_FILENO, s, strlen(s)) < 0)
        _exit(99);
}

__attribute__((noinline)) static void keep_block(size_t size)
{
    kept = malloc(size);
}

__attribute__((noinline)) static void hold_block(size_t size)
{
    kept = calloc(size, 1);
}

__attribute__((noinline)) static void drop_block(size_t size)
{
    kept = malloc(size);
    free(kept);
}

static void caught(int sig)
{
    (void)sig;
    say("caught\n");
    _exit(7);
}

static void each(const char *numbers, void (*block)(size_t))
{
    char *end;
    size_t size = strtoul(numbers, &end, 10);
    long count = *end == ':' ? atol(end + 1) : 1;

    while (count-- > 0)
        block(size);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *colon = strchr(argv[i], ':');
        const char *value = colon ? colon + 1 : "";
        char byte;

        if (strncmp(argv[i], "keep:", 5) == 0) {
            each(value, keep_block);
        } else if (strncmp(argv[i], "hold:", 5) == 0) {
            each(value, hold_block);
        } else if (strncmp(argv[i], "drop:", 5) == 0) {
            each(value, drop_block);
        } else if (strncmp(argv[i], "exit:", 5) == 0) {
            return atoi(value);
        } else if (strncmp(argv[i], "signal:", 7) == 0) {
            raise(atoi(value));
        } else if (strncmp(argv[i], "catch:", 6) == 0) {
            signal(atoi(value), caught);
        } else if (strcmp(argv[i], "fork") == 0) {
            pid_t pid = fork();
            int status;

            if (pid > 0) {
                waitpid(pid, &status, 0);
                return WEXITSTATUS(status);
            }
        } else if (strncmp(argv[i], "exec", 4) == 0) {
            argv[i] = argv[0];
            execv("/proc/self/exe", argv + i);
            return 98;
        } else if (strcmp(argv[i], "wait") == 0) {
            say("ready\n");
            while (read(STDIN_FILENO, &byte, 1) > 0)
                ;
        } else {
            return 97;
        }
    }
    return 0;
}
