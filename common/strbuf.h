/*
 * strbuf.h: a byte string that grows.
 *
 * Invariants: buf is never NULL and buf[len] is always NUL, also right after
 * STRBUF_INIT. The bytes may hold NULs; len counts them. Memory is common/alloc.h's, so
 * running out of it ends the command; never used inside a traced program.
 *
 *   lifecycle  STRBUF_INIT, strbuf_release (frees, back to empty), strbuf_clear
 *              (empty, memory kept)
 *   ownership  the strbuf owns buf until strbuf_detach hands it to the caller,
 *              who frees it with free()
 */
#ifndef FLAME_COMMON_STRBUF_H
#define FLAME_COMMON_STRBUF_H

#include "common/alloc.h"

struct strbuf {
    char *buf;
    size_t len;
    size_t alloc; /* 0: buf is the shared empty string, not ours */
};

extern char strbuf_empty[];
#define STRBUF_INIT                                                                                \
    {                                                                                              \
        strbuf_empty, 0, 0                                                                         \
    }

void strbuf_release(struct strbuf *sb);
void strbuf_clear(struct strbuf *sb);
void strbuf_grow(struct strbuf *sb, size_t extra);
void strbuf_add(struct strbuf *sb, const void *data, size_t len);
void strbuf_addstr(struct strbuf *sb, const char *s);
void strbuf_addch(struct strbuf *sb, char c);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...) FLAME_PRINTF(2, 3);
/* Cuts the string to `len` bytes; len must not be greater than sb->len. */
void strbuf_setlen(struct strbuf *sb, size_t len);
char *strbuf_detach(struct strbuf *sb, size_t *len);

/* Reads all of `fd` to its end. 0, or -errno with sb holding what was read. */
int strbuf_read_fd(struct strbuf *sb, int fd);
/* Like strbuf_read_fd, for a file; -EFBIG when sb then holds more than `max` bytes. */
int strbuf_read_file(struct strbuf *sb, const char *path, size_t max);

#endif
