/*
 * session.h: the memory that a traced run shares with the library of waits in its programs.
 *
 * The tracing process makes it (inside/read/sessions.h), seals its size and hands it on by the name
 * of a descriptor of its own, in the variable SESSION_ENV. Each process of the run maps it at its
 * start, and all it inherits or makes later (threads, forked children) is in it already: from
 * then on nothing is opened, mapped or allocated in the program for it, whatever sandbox that
 * enters.
 *
 *     struct session_head
 *     the modules whose sites are known, and the sites     written before any process maps it
 *     tables of descriptors, one for each process that takes one   files.h
 *     the rings, one for each thread that takes one        ring.h
 *
 * A thread takes a ring at its first call, by its number in `owner`; a ring is the tracer's to give
 * back when the thread has ended. A thread that gets none is seen as it would be without all this:
 * it makes its calls where the filter stops them.
 *
 * The programs' side trusts what is in it as far as it trusts its own memory, which any process of
 * the run could change as well. The reader's side trusts nothing.
 *
 * Numbers are of this machine: the memory is never a file of another's.
 */
#ifndef FLAME_INSIDE_SESSION_H
#define FLAME_INSIDE_SESSION_H

#include "inside/files.h"
#include "inside/ring.h"
#include "patch/site.h"

#define SESSION_ENV "FLAME_WAITS"
#define SESSION_FILE "flame-waits" /* the memory's name, of memfd_create */
#define SESSION_MAGIC "FLMWAIT"    /* with the NUL: 8 bytes */
#define SESSION_VERSION 6

/* Numbers of calls that can be asked for are below this. */
#define SESSION_CALLS 512
#define SESSION_BUILD_ID_MAX 64
#define SESSION_RINGS_MOST 4096u

struct session_module {
    uint8_t build_id[SESSION_BUILD_ID_MAX];
    uint32_t build_id_len;
    uint32_t n;  /* sites */
    uint64_t at; /* where they begin, from the start of the memory */
};

/* Why all calls of a process stop, although it has the library. */
enum session_refusal {
    SESSION_NO_GATE = 1,   /* the loader did not put libflamegate.so where it is linked for */
    SESSION_HAS_THREADS,   /* somebody began some before us */
    SESSION_PID_NAMESPACE, /* another than the tracer's: threads have other numbers there */
    SESSION_NO_XSAVE,      /* of the processor */
    SESSION_NO_WIPE,       /* MADV_WIPEONFORK (Linux 4.14) */
    SESSION_UNKNOWN_LIBC,  /* its sites are in no list of the session's */
    SESSION_NOT_PATCHED,   /* the code of its C library; detail: an enum patch_result */
    SESSION_REFUSALS,      /* how many there are, and one */
};

struct session_refused {
    uint32_t n;      /* processes */
    uint32_t pid;    /* of one of the first */
    uint32_t detail; /* of that one */
    uint32_t reserved;
};

struct session_head {
    char magic[8];
    uint32_t version;
    uint32_t head_size; /* of this struct */
    uint32_t ring_size; /* of struct ring */
    uint32_t rings;
    uint64_t size;
    uint64_t rings_at;
    uint64_t modules_at;
    uint32_t modules;
    uint32_t beat;                      /* goes up each time the rings have been read */
    uint64_t pid_namespace;             /* inode of the tracer's: numbers of threads are of it */
    uint64_t calls[SESSION_CALLS / 64]; /* which are noted here; all others stop for the tracer */
    uint32_t used;                      /* rings from here on have never been taken */
    uint32_t filters;   /* seccomp filters that programs are under (mark.h) and one; 0: not known */
    uint32_t marks;     /* 1: the tracer's lets marked calls by */
    uint32_t sequences; /* 1: the kernel says whether a thread left its CPU (sequence.h) */
    uint64_t files_at;
    uint32_t files;      /* tables of descriptors */
    uint32_t files_used; /* those from here on have never been taken */
    uint32_t files_off;  /* 1: nothing is kept in them any more */
    uint32_t reserved;
    /* What programs say of themselves: nothing of it is written to where they might notice. */
    struct session_refused refused[SESSION_REFUSALS];
};

_Static_assert(sizeof(struct session_head) == 296, "shared between programs");
_Static_assert(sizeof(struct session_module) == 80, "shared between programs");

/* Whether `head` begins a session of `size` bytes that this program understands. */
bool session_is_sound(const struct session_head *head, uint64_t size);

static inline bool session_wants(const struct session_head *head, long number)
{
    return (unsigned long)number < SESSION_CALLS &&
           head->calls[(unsigned long)number / 64] >> ((unsigned long)number % 64) & 1;
}

static inline struct ring *session_ring(struct session_head *head, uint32_t i)
{
    return (struct ring *)((char *)head + head->rings_at) + i;
}

/* Says that the process `pid`, by its own number, is not to be seen from inside. No libc. */
void session_refuse(struct session_head *head, enum session_refusal why, uint32_t pid,
                    uint32_t detail);

/*
 * A ring for the calling thread, which is the `tid`th of its tracer's numbers, or NULL: all are
 * taken. No libc; safe in signal handlers.
 */
struct ring *session_take_ring(struct session_head *head, uint32_t pid, uint32_t tid);

static inline struct files *session_files(struct session_head *head, uint32_t i)
{
    return (struct files *)((char *)head + head->files_at) + i;
}

/* A table of descriptors for the calling process, `pid`, or NULL: all are taken. As above. */
struct files *session_take_files(struct session_head *head, uint32_t pid);

#endif
