/*
 * calls_x86_64.h: rows of the table in calls.c, which explains them: older calls of x86-64 that
 * newer processors have only in their newer forms (openat, ppoll, epoll_pwait, clone).
 */
#ifndef FLAME_TRACER_OFFCPU_CALLS_X86_64_H
#define FLAME_TRACER_OFFCPU_CALLS_X86_64_H

#define CALLS_OF_PROCESSOR                                                                         \
    {SYS_getdents, "getdents", CALL_ON_FD, 0, S, .flow = CALL_EITHER},                             \
        {SYS_dup2, "dup2", CALL_ON_FD, 1, W | CALL_CLOSES, .flow = CALL_ENDS},                     \
        {SYS_open, "open", CALL_ON_PATH, 0, S | W | CALL_OPENS, .flow = CALL_EITHER},              \
        {SYS_creat, "creat", CALL_ON_PATH, 0, S | W | CALL_OPENS, .flow = CALL_EITHER},            \
        {SYS_unlink, "unlink", CALL_ON_PATH, 0, S | W, .flow = CALL_EITHER},                       \
        {SYS_rename, "rename", CALL_ON_PATH, 1, S | W, .flow = CALL_EITHER},                       \
        {SYS_mkdir, "mkdir", CALL_ON_PATH, 0, S | W, .flow = CALL_EITHER},                         \
        {SYS_rmdir, "rmdir", CALL_ON_PATH, 0, S | W, .flow = CALL_EITHER},                         \
        {SYS_poll,                                                                                 \
         "poll",                                                                                   \
         CALL_ON_POLLFDS,                                                                          \
         0,                                                                                        \
         S | RESTARTS,                                                                             \
         .zero = CALL_ZERO_TIMEOUT,                                                                \
         .when = {.is = CALL_IF_NOT_ZERO, .arg = 2}},                                              \
        {SYS_select, "select", CALL_ON_FDSETS, 0, S, .zero = CALL_ZERO_TIMEOUT},                   \
        {SYS_epoll_wait,                                                                           \
         "epoll_wait",                                                                             \
         CALL_ON_EPOLL,                                                                            \
         0,                                                                                        \
         S | EINTR_TOO,                                                                            \
         .zero = CALL_ZERO_TIMEOUT,                                                                \
         .timeout = CALL_TIMEOUT_MS,                                                               \
         .timeout_arg = 3,                                                                         \
         .when = {.is = CALL_IF_NOT_ZERO, .arg = 3}},                                              \
        {SYS_vfork, "vfork", CALL_ON_CHILD, 0, S, .child = CALL_CHILD_VFORKED},                    \
        {SYS_pause, "pause", CALL_ON_SIGNAL, 0, S, .flow = CALL_EITHER},

#endif
