/*
 * next_libc.h: next definitions, in link order, of the interposed functions that end a process or
 * map memory.
 *
 * Until the loader has relocated the program, the table has bare system calls instead. It has none
 * for __libc_start_main, which is not called that early. Any thread.
 */
#ifndef FLAME_PRELOAD_NEXT_LIBC_H
#define FLAME_PRELOAD_NEXT_LIBC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef int main_function(int argc, char **argv, char **envp);

struct next_libc {
    void (*exit)(int status);
    void (*_exit)(int status);
    void (*_Exit)(int status);
    void (*quick_exit)(int status);
    int (*__libc_start_main)(main_function *program, int argc, char **argv, void (*init)(void),
                             void (*fini)(void), void (*loader_fini)(void), void *stack_end);
    void *(*mmap)(void *at, size_t size, int prot, int flags, int fd, off_t offset);
    void *(*mremap)(void *at, size_t old, size_t size, int flags, void *to);
    int (*munmap)(void *at, size_t size);
    void *(*sbrk)(intptr_t more);
    int (*brk)(void *to);
    void *(*shmat)(int id, const void *at, int flags);
    int (*shmdt)(const void *at);
};

const struct next_libc *next_libc_calls(void);

#endif
