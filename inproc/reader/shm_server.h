/*
 * shm_server.h: the tracer's side of a session (inproc/shm.h): makes it, and emits the records that
 * the threads of the run have written, in the order of their times.
 *
 * The reader of a session also gets events of threads from another source (ptrace), and merges the
 * two into one order: shm_server_drain emits all records up to a moment, and then the events of
 * that moment follow. A record that a thread was about to write then, with an earlier time, comes
 * with the next call. So the order of each thread's records is always preserved, and the order
 * among threads with that exception.
 *
 * Not thread-safe. Allocates.
 */
#ifndef FLAME_INPROC_READER_SHM_SERVER_H
#define FLAME_INPROC_READER_SHM_SERVER_H

#include "inproc/reader/ring_reader.h"
#include "inproc/shm.h"
#include "patch/find/find.h"

struct shm_server;

struct shm_server_client {
    struct ring_client ring;
    /* A call of the thread r->tid began or ended, or the program set a region or a mark:
     * RING_ENTERED, RING_LEFT or RING_MARKER. The arg is ring.arg. */
    void (*event)(void *arg, enum ring_result what, const struct ring_reader *r);
    /* The ring of r->tid (0: the thread is unknown) is given up: r->damage is the reason. The
     * thread's calls stop for the tracer from now on. */
    void (*damaged)(void *arg, const struct ring_reader *r);
};

struct shm_server_options {
    uint32_t rings;
    const struct site_list *modules; /* with build-ids; borrowed for the call */
    size_t nmodules;
    uint64_t calls[SHM_CALLS / 64];
    uint32_t filters, marks, sequences, python; /* as in struct shm_head */
};

/* 0 or -errno. The memory has a fixed size from the beginning, and only used pages take memory. */
int shm_server_new(struct shm_server **out, const struct shm_server_options *o);
void shm_server_free(struct shm_server *s);

/* The value of SHM_ENV for the programs of the run. Lives as long as the session. */
const char *shm_server_name(const struct shm_server *s);

/* Emits all records that have a time of at most `until`. */
void shm_server_drain(struct shm_server *s, uint64_t until, const struct shm_server_client *client);

/* Largest number of words, of RING_WORDS, that a ring had at any shm_server_drain since the last
 * call. */
uint32_t shm_server_fill(struct shm_server *s);

/*
 * Releases the ring of a thread that has ended, and whose records have all been emitted. Records
 * that shm_server_drain has not emitted are dropped, so call that first, with `until` UINT64_MAX.
 */
void shm_server_thread_gone(struct shm_server *s, pid_t tid);

/* Makes the thread's calls stop for the tracer from its next one on, for example because two
 * threads would write into its ring. Must be called while the thread is stopped in a call of
 * another kind. */
void shm_server_close_ring(struct shm_server *s, pid_t tid);

/* The thread is stopped because of a signal that the program does not ignore, or by job control. */
void shm_server_handled(struct shm_server *s, pid_t tid, uint64_t time);
/* Sets whether a child of vfork writes into the thread's ring. Must be called while both are
 * stopped. */
void shm_server_lend(struct shm_server *s, pid_t tid, bool lent);

/*
 * Changes of descriptors of the process (inproc/plain_fds.h), which is stopped in a call or has
 * ended. shm_server_file_used: a call on this one stops. shm_server_file_closes: a call stops that
 * closes it, or changes its meaning; -1: any. shm_server_files_hidden: they may change unseen from
 * now on; pid 0: those of all processes. shm_server_files_gone: the process has ended, or runs
 * another program.
 */
void shm_server_file_used(struct shm_server *s, pid_t pid, int fd);
void shm_server_file_closes(struct shm_server *s, pid_t pid, int fd);
void shm_server_files_hidden(struct shm_server *s, pid_t pid);
void shm_server_files_gone(struct shm_server *s, pid_t pid);

/* Ends the session: from now on only these calls are selected. All rings are closed, because they
 * are not read any more, and threads must not wait for that. */
void shm_server_end(struct shm_server *s, const uint64_t calls[SHM_CALLS / 64]);

/* Number of processes that have reported this refusal until now, and the id of one. */
struct shm_refused shm_server_refused(const struct shm_server *s, enum shm_refusal why);

/* Whether the thread has a ring. */
bool shm_server_has(const struct shm_server *s, pid_t tid);

#endif
