/*
 * shm.h: the memory that a traced run shares with the library of waits in its programs.
 *
 * The tracing process makes it (inproc/reader/shm_server.h): two files without a name, one that
 * only the tracer writes and one for the programs. Their sizes are sealed. The first is also sealed
 * against writes and writable mappings (F_SEAL_FUTURE_WRITE, Linux 5.1; on older kernels programs
 * map it for reading only all the same, but those of the same user could open it again). The
 * variable SHM_ENV passes on the first file, as the name of a descriptor of the tracer's; that file
 * has the name of the second in it. Each process of the run maps both at its start, and the threads
 * and forked children that it makes later have them already. From then on no file is opened, no
 * memory mapped or allocated in the program for it, in any sandbox that the program enters.
 *
 *     the tracer's:   struct shm_head
 *                     the modules whose sites are known, and the sites
 *                     the reader's side of the rings               ring.h
 *     the programs':  struct shm_shared
 *                     tables of descriptors, one for each process that takes one   plain_fds.h
 *                     the rings, one for each thread that takes one                ring.h
 *
 * A thread takes a ring at its first call, by writing its number to `owner`; the tracer releases
 * the ring when the thread has ended. A thread that gets no ring is recorded as without this
 * memory: its calls stop at the filter.
 *
 * No process trusts memory that programs can write to, neither the tracer nor the library in
 * another process, which may have more rights. Addresses are copied from the head into the
 * process's own memory (struct shm_view), and an index is used only after a check against a bound
 * in it. A ring that is marked free is not taken while the process itself knows of a thread that
 * has it. A program that writes wrong data there can spoil the report of the run, and nothing else.
 *
 * The programs' file is not shared among users: a process that gives up the tracer's user ID, and
 * cannot take it back, unmaps it (shm_leave).
 *
 * Numbers are in this machine's form: the memory never comes from another machine.
 */
#ifndef FLAME_INPROC_SHM_H
#define FLAME_INPROC_SHM_H

#include "inproc/plain_fds.h"
#include "inproc/ring.h"
#include "patch/site.h"

#define SHM_ENV "FLAME_WAITS"
#define SHM_FILE "flame-waits" /* prefix of both names, of memfd_create */
#define SHM_MAGIC "FLMWAIT"    /* with the NUL: 8 bytes */
#define SHM_VERSION 8

/* Bound on the numbers of calls that can be selected. */
#define SHM_CALLS 512
#define SHM_BUILD_ID_MAX 64
#define SHM_RINGS_MOST 4096u
#define SHM_NAME_MAX 72

struct shm_module {
    uint8_t build_id[SHM_BUILD_ID_MAX];
    uint32_t build_id_len;
    uint32_t n;  /* sites */
    uint64_t at; /* offset of the sites from the start of the memory */
};

/* Reason why all calls of a process stop, although it has the library. */
enum shm_refusal {
    SHM_NO_GATE = 1,   /* the loader did not map libflamegate.so at its link address */
    SHM_HAS_THREADS,   /* threads were started before the library */
    SHM_PID_NAMESPACE, /* not the tracer's: threads have other numbers there */
    SHM_NO_XSAVE,      /* the processor has none */
    SHM_NO_WIPE,       /* MADV_WIPEONFORK (Linux 4.14) */
    SHM_UNKNOWN_LIBC,  /* no list of the session has its sites */
    SHM_NOT_PATCHED,   /* the code of its C library; detail: an enum patch_result */
    SHM_OTHER_USER,    /* it has given up the tracer's user ID; detail: its own */
    SHM_REFUSALS,      /* number of reasons plus one */
};

struct shm_refused {
    uint32_t n;      /* processes */
    uint32_t pid;    /* of one of the first */
    uint32_t detail; /* of that one */
    uint32_t reserved;
};

/* Offsets are from the start of the file that contains the object. */
struct shm_head {
    char magic[8];
    uint32_t version;
    uint32_t head_size; /* size of this struct */
    uint32_t ring_size; /* of struct ring */
    uint32_t rings;
    uint64_t size; /* of the tracer's file */
    uint64_t modules_at;
    uint64_t controls_at;           /* of the rings */
    uint64_t pid_namespace;         /* inode of the tracer's, which thread numbers belong to */
    uint64_t calls[SHM_CALLS / 64]; /* calls that are logged here; all others stop for the tracer */
    uint32_t modules;
    uint32_t beat;      /* goes up each time the rings have been read */
    uint32_t filters;   /* seccomp filters that programs are under (syscall_mark.h), plus one; 0:
                           unknown */
    uint32_t marks;     /* 1: the tracer's filter allows marked calls */
    uint32_t sequences; /* 1: the kernel shows whether a thread left its CPU (rseq.h) */
    uint32_t files;     /* tables of descriptors */
    uint32_t files_off; /* 1: no entry is made in them any more */
    uint32_t user;      /* the tracer's effective user ID */
    uint32_t python;    /* 1: stacks have functions of Python */
    uint32_t reserved;
    uint64_t shared_size; /* of the programs' file */
    uint64_t shared_inode;
    uint64_t files_at;
    uint64_t rings_at;
    char shared_name[SHM_NAME_MAX]; /* with a NUL */
};

_Static_assert(sizeof(struct shm_head) == 264, "shared between programs");
_Static_assert(sizeof(struct shm_module) == 80, "shared between programs");

/* The beginning of the programs' file. */
struct shm_shared {
    uint32_t used;       /* rings from here on have never been taken */
    uint32_t files_used; /* tables from here on have never been taken */
    /* Reports of programs about themselves: no output goes to a file that the program might notice.
     */
    struct shm_refused refused[SHM_REFUSALS];
};

/* Addresses of these objects in a process: in its own memory, set once. */
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
 * `size` bytes, from which `head` was copied.
 */
bool shm_is_sound(const struct shm_head *head, const void *mapped, uint64_t size);

/* Fills in a view from a sound head and both files. */
void shm_view_init(struct shm_view *v, const struct shm_head *head, const void *mapped,
                   void *shared);

static inline bool shm_wants(const struct shm_head *head, long number)
{
    return (unsigned long)number < SHM_CALLS &&
           head->calls[(unsigned long)number / 64] >> ((unsigned long)number % 64) & 1;
}

/* Reports that the process `pid`, by its own number, cannot be recorded in-process. No libc. */
void shm_refuse(const struct shm_view *v, enum shm_refusal why, uint32_t pid, uint32_t detail);

/* Whether, as far as the process itself knows, its thread `tid` may take the ring of this index;
 * `begun`: the thread may have taken it already. */
typedef bool shm_may_have(uint32_t ring, uint32_t tid, bool begun);

/* Takes a ring for the calling thread, whose number is `tid` for its tracer. NULL: all are taken.
 * No libc; safe in signal handlers. */
struct ring *shm_take_ring(const struct shm_view *v, uint32_t pid, uint32_t tid,
                           shm_may_have *may_have);

/* Takes a table of descriptors for the calling process, `pid`. NULL: all are taken. No libc; safe
 * in signal handlers. */
struct plain_fds *shm_take_files(const struct shm_view *v, uint32_t pid);

/*
 * Maps memory of the process's own in place of the programs' file, and unmaps the unused part of
 * it, so that threads which write there at the same time do no harm. False: the kernel refuses. By
 * common/kernel.h; no libc.
 */
bool shm_leave(const struct shm_view *v);

#endif
