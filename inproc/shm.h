/*
 * shm.h: the memory that a traced run shares with the library of waits in its programs.
 *
 * The tracing process makes it (inproc/reader/shm_server.h): two files without a name, one that it
 * alone writes to and one for the programs. Their sizes are sealed, and so is the first against
 * being written to or mapped for that (F_SEAL_FUTURE_WRITE, Linux 5.1; before, programs map it for
 * reading only all the same, but those of the same user could open it again). The first is handed
 * on by the name of a descriptor of the tracer's, in the variable SHM_ENV; it has the name of
 * the second in it. Each process of the run maps both at its start, and all it inherits or makes
 * later (threads, forked children) has them already: from then on nothing is opened, mapped or
 * allocated in the program for it, whatever sandbox that enters.
 *
 *     the tracer's:   struct shm_head
 *                     the modules whose sites are known, and the sites
 *                     the reader's side of the rings               ring.h
 *     the programs':  struct shm_shared
 *                     tables of descriptors, one for each process that takes one   plain_fds.h
 *                     the rings, one for each thread that takes one                ring.h
 *
 * A thread takes a ring at its first call, by its number in `owner`; a ring is the tracer's to give
 * back when the thread has ended. A thread that gets none is recorded as it would be without all
 * this: it makes its calls where the filter stops them.
 *
 * No process trusts memory that programs can write to, neither the tracer nor the library in
 * another process, which may have more rights. Places are copied from the head into memory of the
 * process's own (struct shm_view), and an index is used only behind a bound of that. A ring
 * that says it is free is not taken while the process itself knows of a thread that has it. A
 * program that writes wrong data there can spoil what is reported of the run, and nothing else.
 *
 * The programs' file is not shared among users: a process that gives up the tracer's user ID, and
 * cannot take it back, has it mapped no longer (shm_leave).
 *
 * Numbers are of this machine: the memory is never a file of another's.
 */
#ifndef FLAME_INPROC_SHM_H
#define FLAME_INPROC_SHM_H

#include "inproc/plain_fds.h"
#include "inproc/ring.h"
#include "patch/site.h"

#define SHM_ENV "FLAME_WAITS"
#define SHM_FILE "flame-waits" /* how the names of both begin, of memfd_create */
#define SHM_MAGIC "FLMWAIT"    /* with the NUL: 8 bytes */
#define SHM_VERSION 7

/* Numbers of calls that can be asked for are below this. */
#define SHM_CALLS 512
#define SHM_BUILD_ID_MAX 64
#define SHM_RINGS_MOST 4096u
#define SHM_NAME_MAX 72

struct shm_module {
    uint8_t build_id[SHM_BUILD_ID_MAX];
    uint32_t build_id_len;
    uint32_t n;  /* sites */
    uint64_t at; /* where they begin, from the start of the memory */
};

/* Reason why all calls of a process stop, although it has the library. */
enum shm_refusal {
    SHM_NO_GATE = 1,   /* the loader did not put libflamegate.so where it is linked for */
    SHM_HAS_THREADS,   /* threads were started before the library */
    SHM_PID_NAMESPACE, /* another than the tracer's: threads have other numbers there */
    SHM_NO_XSAVE,      /* of the processor */
    SHM_NO_WIPE,       /* MADV_WIPEONFORK (Linux 4.14) */
    SHM_UNKNOWN_LIBC,  /* its sites are in no list of the session's */
    SHM_NOT_PATCHED,   /* the code of its C library; detail: an enum patch_result */
    SHM_OTHER_USER,    /* it has given up the tracer's user ID; detail: its own */
    SHM_REFUSALS,      /* how many there are, and one */
};

struct shm_refused {
    uint32_t n;      /* processes */
    uint32_t pid;    /* of one of the first */
    uint32_t detail; /* of that one */
    uint32_t reserved;
};

/* Offsets are from the start of the file that the thing is in. */
struct shm_head {
    char magic[8];
    uint32_t version;
    uint32_t head_size; /* of this struct */
    uint32_t ring_size; /* of struct ring */
    uint32_t rings;
    uint64_t size; /* of the tracer's file */
    uint64_t modules_at;
    uint64_t controls_at;           /* of the rings */
    uint64_t pid_namespace;         /* inode of the tracer's: numbers of threads are of it */
    uint64_t calls[SHM_CALLS / 64]; /* which are logged here; all others stop for the tracer */
    uint32_t modules;
    uint32_t beat;      /* goes up each time the rings have been read */
    uint32_t filters;   /* seccomp filters that programs are under (syscall_mark.h) and one; 0: not
                           known */
    uint32_t marks;     /* 1: the tracer's lets marked calls by */
    uint32_t sequences; /* 1: the kernel says whether a thread left its CPU (rseq.h) */
    uint32_t files;     /* tables of descriptors */
    uint32_t files_off; /* 1: no entry is made in them any more */
    uint32_t user;      /* the tracer's effective user ID */
    uint64_t shared_size; /* of the programs' file */
    uint64_t shared_inode;
    uint64_t files_at;
    uint64_t rings_at;
    char shared_name[SHM_NAME_MAX]; /* with a NUL */
};

_Static_assert(sizeof(struct shm_head) == 256, "shared between programs");
_Static_assert(sizeof(struct shm_module) == 80, "shared between programs");

/* At the start of the programs' file. */
struct shm_shared {
    uint32_t used;       /* rings from here on have never been taken */
    uint32_t files_used; /* tables from here on have never been taken */
    /* Reports of programs about themselves: nothing is written to where they might notice. */
    struct shm_refused refused[SHM_REFUSALS];
};

/* Addresses of all that in a process: in its own memory, set once. */
struct shm_view {
    const struct shm_head *head;
    const struct ring_control *controls;
    struct shm_shared *shared;
    struct plain_fds *files;
    struct ring *rings;
    uint64_t shared_size;
    uint32_t nrings, nfiles;
    uint32_t user;
};

/*
 * Whether `head` begins a session that this program understands; `mapped`: the tracer's file, of
 * `size` bytes, which `head` was copied from.
 */
bool shm_is_sound(const struct shm_head *head, const void *mapped, uint64_t size);

/* Fills in a view, of a head that is sound, and of both files. */
void shm_view_init(struct shm_view *v, const struct shm_head *head, const void *mapped,
                   void *shared);

static inline bool shm_wants(const struct shm_head *head, long number)
{
    return (unsigned long)number < SHM_CALLS &&
           head->calls[(unsigned long)number / 64] >> ((unsigned long)number % 64) & 1;
}

/* Reports that the process `pid`, by its own number, cannot be recorded in-process. No libc. */
void shm_refuse(const struct shm_view *v, enum shm_refusal why, uint32_t pid, uint32_t detail);

/* Whether, for all that the process itself knows, the ring of this index can be had by its thread
 * `tid`; `begun`: the thread may have taken it already. */
typedef bool shm_may_have(uint32_t ring, uint32_t tid, bool begun);

/* A ring for the calling thread, whose number is `tid` for its tracer, or NULL: all are taken. No
 * libc; safe in signal handlers. */
struct ring *shm_take_ring(const struct shm_view *v, uint32_t pid, uint32_t tid,
                           shm_may_have *may_have);

/* A table of descriptors for the calling process, `pid`, or NULL: all are taken. As above. */
struct plain_fds *shm_take_files(const struct shm_view *v, uint32_t pid);

/*
 * Puts memory of the process's own where it has the programs' file, and unmaps the unused part of
 * that, so that threads which write there just now do no harm. False: the kernel refuses. By
 * common/kernel.h; no libc.
 */
bool shm_leave(const struct shm_view *v);

#endif
