/*
 * trace_format.h: the bytes of a trace file, shared by every recorder and the reader.
 * man/flame-trace.5 says the same in prose.
 *
 * A trace is a header of 1 KiB and then segments, one behind the other. A segment starts with a
 * trace_segment that says what it holds and how long it is, a multiple of TRACE_UNIT. The first
 * ones of a kind are short, so that a process with a few stacks leaves a few KiB; later ones have
 * TRACE_SEGMENT_SIZE:
 *
 *   offset 0    1 KiB        4 KiB     6 KiB     10 KiB
 *   +----------+------------+---------+---------+--------------+--
 *   | header   | metadata   | threads | rows    | nodes        | ...  (all repeat)
 *   +----------+------------+---------+---------+--------------+--
 *
 *   nodes   a tree of return addresses: a stack is a node, its callers are its
 *           parents. Append-only, written once, `kind` last: a node whose kind is
 *           zero is not there yet.
 *   rows    counters, one row for a (stack, recording thread) pair. Each row has
 *           one writer. A row whose node is zero is not there yet.
 *   threads one record for each recorded thread.
 *
 * Ids count slots: id = index of the segment among those of its type << log2(records that
 * TRACE_SEGMENT_SIZE holds) | slot. The segment's own header takes the first slots, so id 0 is
 * never a record and means "none"; a short segment has fewer slots and leaves the ids of the others
 * unused.
 *
 * A process that fork made has a trace of its own. Inherited blocks are in it as numbers only:
 * which rows of which other trace had how much live at the fork.
 *
 * All integers have the byte order of the machine that recorded; byte_order records it. The file is
 * written through a shared mapping while the program runs, so it is readable at any instant, also
 * after SIGKILL. A crash can lose only the event that is being counted at that instant.
 */
#ifndef FLAME_COMMON_TRACE_FORMAT_H
#define FLAME_COMMON_TRACE_FORMAT_H

#include "common/compiler.h"

#define TRACE_MAGIC "FLAMETRC"
#define TRACE_VERSION 2u
#define TRACE_BYTE_ORDER 0x01020304u
#define TRACE_UNIT 1024u
#define TRACE_SEGMENT_SIZE 65536u /* of nodes, rows and threads; metadata may be longer */
#define TRACE_SHORT_SEGMENTS 8u   /* only the first so many of a type may be shorter */

enum trace_recorder {
    TRACE_RECORDER_MEM = 1,
    TRACE_RECORDER_OFF = 2,
};

/* Bits of trace_header.features; a reader refuses bits it does not know. */
enum trace_feature {
    TRACE_FEATURE_PEAK = 1u << 0,    /* rows carry peak_* columns, see trace_row */
    TRACE_FEATURE_SAMPLED = 1u << 1, /* counters are estimates; sample_bytes is the period */
    TRACE_FEATURE_FORKED = 1u << 2,  /* of a forked process: see TRACE_META_INHERITED */
    TRACE_FEATURE_LEAKS = 1u << 3,   /* the process scanned for leaks, see trace_row_flag */
    TRACE_FEATURE_REGIONS = 1u << 4, /* regions left blocks behind, see TRACE_NODE_REGION */
    /* In no file: the reader has searched the trace for growth (mark_growth.h). */
    TRACE_FEATURE_GROWTH = 1u << 5,
    TRACE_FEATURE_MISUSE = 1u << 6,     /* frees were judged, see TRACE_META_MISUSE */
    TRACE_FEATURE_MAPPINGS = 1u << 7,   /* the process mapped memory, see TRACE_ROW_MAPPED */
    TRACE_FEATURE_TAGS = 1u << 8,       /* the program tagged allocations, see TRACE_NODE_TAG */
    TRACE_FEATURE_RESIDENT = 1u << 9,   /* resident memory was measured, see TRACE_ROW_RESIDENT */
    TRACE_FEATURE_FAULTS = 1u << 10,    /* of page faults alone, see TRACE_ROW_FAULT */
    TRACE_FEATURE_LIFETIMES = 1u << 11, /* histograms of sizes and lifetimes: TRACE_ROW_CLASS */
    TRACE_FEATURE_AGES = 1u << 12,      /* histograms of the ages of live blocks: TRACE_ROW_CLASS */
    TRACE_FEATURE_STATIC_ALLOCATOR =
        1u << 13, /* calls of an allocator in the program's own file are recorded */
    TRACE_FEATURE_TOUCHED = 1u << 14,  /* page faults, by the memory they were in, see
                                        * TRACE_ROW_TOUCHED */
    TRACE_FEATURE_ATTACHED = 1u << 15, /* of a process that ran already: what it allocated before
                                        * that, and what it maps, is not recorded */
    TRACE_FEATURE_LATENCY = 1u << 16,  /* histograms of sleeps, see TRACE_OFF_CLASS */
    TRACE_FEATURE_KEPT = 1u << 17,     /* it was found who keeps blocks, see TRACE_ROW_KEPT */
};
#define TRACE_FEATURES_KNOWN (65503u | TRACE_FEATURE_LATENCY | TRACE_FEATURE_KEPT)

enum trace_unit {
    TRACE_UNIT_NONE = 0,
    TRACE_UNIT_BYTES = 1,
    TRACE_UNIT_CALLS = 2,
    TRACE_UNIT_NANOSECONDS = 3,
};

/* One value column of the rows: its place in trace_row and its unit. */
struct trace_column {
    char name[20];   /* "alloc_bytes"; NUL-padded, at most 19 bytes */
    uint32_t unit;   /* enum trace_unit */
    uint16_t offset; /* in the row, a multiple of width, at least 8 */
    uint16_t width;  /* 4 or 8 bytes, unsigned */
    uint32_t reserved;
};

#define TRACE_MAX_COLUMNS 12

struct trace_header {
    char magic[8];
    uint32_t version;
    uint32_t header_size; /* sizeof(struct trace_header); segments start here */
    uint32_t byte_order;
    uint32_t features;
    uint32_t unit;     /* TRACE_UNIT */
    uint32_t units;    /* allocated so far; the file is at least this long */
    uint32_t recorder; /* enum trace_recorder */
    uint32_t pid;
    uint32_t ppid;
    uint32_t columns_used;
    uint64_t start_realtime_ns;   /* CLOCK_REALTIME when recording began */
    uint64_t start_monotonic_ns;  /* CLOCK_MONOTONIC at the same moment */
    uint64_t end_monotonic_ns;    /* last time the recorder read the clock; 0: never */
    uint64_t sample_bytes;        /* mean bytes between samples; 0: everything is counted */
    uint64_t peak_bytes;          /* largest sum of live bytes the recorder saw */
    uint32_t peak_epoch;          /* see trace_row */
    uint32_t depth;               /* greatest number of frames of a stack */
    uint64_t lost_calls;          /* calls that could not be counted at all */
    uint64_t lost_bytes;          /* bytes of lost_calls */
    uint64_t lost_frees;          /* frees of recorded blocks that could not be counted */
    uint64_t fallback_stacks;     /* stacks that needed the slow unwinder */
    uint64_t referee_differences; /* stacks on which two unwinders disagreed (a test mode) */
    uint64_t stops;               /* TRACE_RECORDER_OFF: times the tracer stopped a thread */
    uint64_t cost_ns; /* TRACE_RECORDER_OFF: time that threads were stopped by the tracer, in sum */
    uint64_t hz;      /* on-CPU samples a second; 0: none were taken */
    uint64_t sandbox_calls; /* calls in a sandbox that keeps the recorder from counting them */
    uint64_t sandbox_bytes; /* bytes of sandbox_calls */
    uint64_t startup_ns; /* time that the recorder's start took in this process; not in any thread's
                            cost */
    struct trace_column columns[TRACE_MAX_COLUMNS];
    uint64_t pid_namespace;   /* namespace in which pid counts, as stat numbers it; 0: not known */
    uint64_t inherited_bytes; /* about the bytes live at the fork, where they were not counted: see
                                 TRACE_FEATURE_FORKED; not in peak_bytes */
    char title[128]; /* TRACE_RECORDER_MEM: title that the process has set, cut; NUL-padded */
    uint64_t unjudged_frees; /* TRACE_FEATURE_MISUSE: frees of blocks that the recorder did not
                              * know, where that proves nothing */
    uint64_t lost_mappings;  /* calls that mapped memory and could not be counted */
    uint64_t paused_calls;   /* calls that the program excluded (flamemem_pause) */
    uint64_t paused_bytes;   /* bytes of paused_calls */
    uint64_t
        kept_snapshots; /* copies of the trace that the program asked for (flamemem_snapshot) */
    uint64_t unkept_snapshots; /* copies that the program asked for and that were not made */
    /* TRACE_FEATURE_FORKED: the trace of the process that forked it, or of the nearest ancestor
     * that left one: its pid and start_monotonic_ns; 0: not known */
    uint64_t fork_start_ns;
    uint32_t fork_pid;
    uint32_t unlooked;  /* enum trace_unlooked */
    uint64_t own_bytes; /* TRACE_RECORDER_MEM: about the greatest part of the process's private
                           memory that was the recorder's */
    uint32_t
        unnamed_python; /* version of an interpreter whose functions have no names in stacks, major
                           << 8 | minor, or enum trace_unnamed_python; 0: there is none */
    uint32_t traces; /* 2 or more: the file has so many traces, of which this is the first, and ends
                        with a trace_list; written when all of them are complete */
    uint8_t padding[232];
};

/*
 * Several traces in one file lie one behind the other, each at a multiple of TRACE_UNIT, with the
 * offsets that it has in a file of its own. Behind the last one, at a multiple of TRACE_UNIT, is
 * the list of their places, which ends with the file and is padded to a multiple of TRACE_UNIT.
 * Readers that do not know the list read the first trace, which ends at its header's units.
 */
#define TRACE_LIST_MAGIC "FLAMELST"
#define TRACE_LIST_MAX (1u << 20) /* traces of one file */

struct trace_list {
    char magic[8];
    uint32_t traces; /* as in the first header; so many trace_place follow */
    uint32_t reserved;
};

struct trace_place {
    uint64_t at;   /* in the file; 0 of the first one. They ascend, and no two overlap. */
    uint64_t size; /* bytes, of which the trace may use fewer */
};

/* An interpreter whose functions have no names, and whose version is not the reason. */
enum trace_unnamed_python {
    TRACE_PYTHON_OLD = 1,           /* older than 3.11 */
    TRACE_PYTHON_FREE_THREADED = 2, /* built without a global lock (Py_GIL_DISABLED) */
    TRACE_PYTHON_PROCESSOR = 3,     /* offsets are not known for this processor */
};

/* Reason why a process did not scan for leaks although the options request it. */
enum trace_unlooked {
    TRACE_UNLOOKED_NOT =
        0, /* it did scan, or did not reach the scan, or could not scan as a whole */
    TRACE_UNLOOKED_NAME_SPACE = 1, /* dlmopen has loaded libraries with a C library of their own */
    TRACE_UNLOOKED_BOUND = 2, /* RTLD_DEEPBIND has bound a library's malloc past the recorder */
};

enum trace_segment_type {
    TRACE_SEG_FREE = 0, /* a gap that was too small for what came next */
    TRACE_SEG_META = 1,
    TRACE_SEG_NODES = 2,
    TRACE_SEG_ROWS = 3,
    TRACE_SEG_THREADS = 4,
};

#define TRACE_SEGMENT_MAGIC 0x47455346u /* "FSEG" on little-endian machines */

struct trace_segment {
    uint32_t magic; /* written last */
    uint32_t type;  /* enum trace_segment_type */
    uint32_t index; /* among the segments of this type, from 0, in the order of the file */
    uint32_t record_size;
    uint32_t units; /* of TRACE_UNIT that it takes in the file, its header among them */
    uint8_t reserved[44];
};

/* ---- nodes ---- */

enum trace_node_kind {
    TRACE_NODE_NONE = 0,
    TRACE_NODE_ROOT = 1,      /* addr: epoch << 32 | thread id; parent 0 */
    TRACE_NODE_PC = 2,        /* addr: a return address (the call is before it) */
    TRACE_NODE_PC_EXACT = 3,  /* addr: the address itself (interrupted by a signal) */
    TRACE_NODE_TRUNCATED = 4, /* addr: number of frames truncated here, at first */
    TRACE_NODE_NAME = 5,      /* addr: file offset of a TRACE_META_STRING record */
    TRACE_NODE_KERNEL = 6,    /* addr: as TRACE_NODE_NAME; a function of the kernel */
    TRACE_NODE_FUTEX = 7,     /* a wait for, or wake of, the futex at `addr` in a module's data */
    TRACE_NODE_WAKER = 8, /* addr: id of a node, the stack of the waker that ended the sleep in the
                             parent's stack, or that woke the waker which the parent names */
    TRACE_NODE_INHERITED = 9, /* addr: number of a TRACE_META_ORIGIN << 32 | row id: the stack of
                                 that row in that trace; parent is a root */
    TRACE_NODE_REGION = 10,   /* addr: number of a TRACE_META_REGION; parent is the stack of blocks
                                 that were still live at the end of this region of the program */
    TRACE_NODE_MAPPING = 11,  /* addr: enum trace_mapping; parent is the stack of a call that mapped
                                 memory */
    TRACE_NODE_TAG = 12,      /* addr: number of a TRACE_META_REGION; a tag of the program for what
                               * the stacks above it allocate; parent is a root or another tag */
    TRACE_NODE_RESIDENT = 13, /* addr: enum trace_resident_kind; parent is a stack (a mapping's,
                                 too) with memory of that kind, or that pages came so to, or a
                                 TRACE_NODE_PART or _NAMED */
    TRACE_NODE_PART = 14, /* addr: enum trace_memory_part; parent is a root: resident memory that is
                             no stack's */
    TRACE_NODE_NAMED = 15, /* addr: number of a TRACE_META_REGION; parent is a TRACE_NODE_PART: a
                              part of that with this name */
    TRACE_NODE_CLASS = 16, /* addr: enum histogram << 8 | class (common/trace/lifeclass.h); parent
                              is a stack of blocks, some of which are of that class. Of waiting:
                              SLEEPCLASS_BASE + class (common/trace/sleepclass.h); parent is a
                              sleeper's stack */
};

/* Kind of page of resident memory. Memory of none of these kinds is private, anonymous and of small
 * pages, and has no node. */
enum trace_resident_kind {
    TRACE_RESIDENT_HUGE = 1,        /* private and anonymous, mapped as a huge page */
    TRACE_RESIDENT_FORKED = 2,      /* private and anonymous, small, and another process has it,
                                     * too */
    TRACE_RESIDENT_FILE = 3,        /* of a file, which the kernel can drop and read again */
    TRACE_RESIDENT_FILE_SHARED = 4, /* of a file, and another process has it, too */
    TRACE_RESIDENT_SHMEM = 5,       /* shared memory: POSIX's, System V's, memfd's, MAP_SHARED */
    /* For TRACE_ROW_SLACK: bytes of blocks beyond the requested size, and the free memory in the
     * pages that they lie in. */
    TRACE_RESIDENT_ROUNDED = 6,
    TRACE_RESIDENT_AROUND = 7,
    /* For TRACE_ROW_TOUCHED: the pages came without a disk, or had to wait for one. */
    TRACE_TOUCHED_MINOR = 8,
    TRACE_TOUCHED_MAJOR = 9,
};
#define TRACE_RESIDENT_KINDS 10

/* Part of resident memory that no stack allocated or mapped, as far as is known. */
enum trace_memory_part {
    TRACE_PART_PROGRAM = 1,   /* the program's file: text, data, zeroed data */
    TRACE_PART_LIBRARIES = 2, /* text, data, zeroed data of libraries; named by their files */
    TRACE_PART_STACKS = 3,    /* stacks of threads */
    TRACE_PART_ALLOCATOR = 4, /* in no block: free, or the allocator's own; named by arenas */
    TRACE_PART_RECORDER = 5,  /* the recorder itself */
    TRACE_PART_PAUSED = 6,    /* blocks that the program excluded (flamemem_pause) */
    TRACE_PART_OTHER = 7,     /* other mappings, named by their files */
    TRACE_PART_INHERITED = 8, /* of a forked process: memory that the parent had allocated or
                                 mapped, where its stacks are not recorded */
};
#define TRACE_PARTS 9

/* Kind of mapping. */
enum trace_mapping {
    TRACE_MAPPING_ANONYMOUS = 1,
    TRACE_MAPPING_FILE = 2,      /* for reading, or a copy of its own */
    TRACE_MAPPING_SHARED = 3,    /* with other processes, or with the file */
    TRACE_MAPPING_STACK = 4,     /* MAP_STACK, MAP_GROWSDOWN */
    TRACE_MAPPING_BREAK = 5,     /* by sbrk or brk; by the byte, all others by the page */
    TRACE_MAPPING_ALLOCATOR = 6, /* by an allocator, to serve the call; also of the break */
};
#define TRACE_MAPPINGS 7

struct trace_node {
    uint64_t addr;
    uint32_t parent; /* id of the caller's node, always smaller in file order of writing */
    uint32_t kind;   /* enum trace_node_kind, written last */
};

/* A TRACE_NODE_NAME right above the root: the frames between could not be followed. */
#define TRACE_STACK_INCOMPLETE "[stack incomplete]"

#define TRACE_NODE_SHIFT 12 /* log2(records a segment) */
#define TRACE_NODE_FIRST_SLOT 4

/* ---- rows ---- */

enum trace_row_flag {
    /* The blocks were live when fork made this process: they count as freed when
       freed, but this process did not allocate them. What was live of them at the
       fork is in TRACE_META_INHERITED records. */
    TRACE_ROW_INHERITED = 1u << 0,
    /* A verdict, no counter: of the blocks that other rows of this node and thread count as live,
     * alloc_calls blocks of alloc_bytes bytes together are not reached at the end. */
    TRACE_ROW_LEAKED = 1u << 1,         /* no pointer leads to them */
    TRACE_ROW_LEAKED_BY_LEAK = 1u << 2, /* only pointers in leaked blocks do */
    TRACE_ROW_INNER = 1u << 3,   /* they are reached, but by pointers to insides of blocks only */
    TRACE_ROW_REACHED = 1u << 4, /* the rest; made when traces are added up (trace_merge.h) */
    /* On a TRACE_NODE_REGION: alloc_calls blocks of alloc_bytes bytes together were still live at
     * the region's end. The process's end may find them leaked as well. */
    TRACE_ROW_REGION = 1u << 5,
    /* In no file, made by the reader (mark_growth.h): with each pass alloc_calls blocks of
       alloc_bytes bytes together more are live. free_bytes is the fit in millionths, free_calls
       the passes, temp_calls 1, so that all of them can be added up. */
    TRACE_ROW_GROWTH = 1u << 6,
    /* On a TRACE_NODE_MAPPING, and no block: alloc_bytes were mapped by alloc_calls calls there,
       free_bytes of them were unmapped, by whichever call; free_calls counts the calls of which
       nothing is mapped any more. A row of its own for each process: what a forked child inherits
       is not counted in it. Neither temp_calls nor peak_... */
    TRACE_ROW_MAPPED = 1u << 7,
    /*
     * Result of the last measurement of resident memory, and no blocks: alloc_bytes are resident of
     * the memory that this node's stack has allocated or mapped, or of the part that it names. All
     * such rows together are the bytes that TRACE_META_RESIDENT says were resident.
     */
    TRACE_ROW_RESIDENT = 1u << 8,
    TRACE_ROW_SWAPPED = 1u << 9, /* as RESIDENT, of swapped-out memory */
    /* Resident memory that is in no block, by the stacks whose blocks are around it: all together
     * are the RESIDENT rows of TRACE_PART_ALLOCATOR. */
    TRACE_ROW_SLACK = 1u << 10,
    /*
     * In a trace with TRACE_FEATURE_FAULTS, which is of the whole run and not of one process: the
     * node's stack touched alloc_calls times a page that was not there, and nothing else is
     * counted. The innermost frame is a TRACE_NODE_NAME, TRACE_FAULT_MINOR or TRACE_FAULT_MAJOR.
     */
    TRACE_ROW_FAULT = 1u << 11,
    /*
     * On a TRACE_NODE_CLASS, of blocks that other rows of its parent count: alloc_calls blocks of
     * alloc_bytes bytes together were allocated with such a size, or were freed with such a
     * lifetime, or were live with such an age when the process last measured ages. A row of one
     * thread, as others. With TRACE_ROW_INHERITED: ages of blocks from before the fork.
     */
    TRACE_ROW_CLASS = 1u << 12,
    /*
     * On a TRACE_NODE_RESIDENT of TRACE_TOUCHED_MINOR or _MAJOR, and no blocks: alloc_calls page
     * faults in what the stack below has allocated or mapped, or in the part that it names.
     */
    TRACE_ROW_TOUCHED = 1u << 13,
    /* In no file: blocks that were live at the beginning of a part (common/trace/trace_parts.h).
     * They are still live, and were not allocated in the part. */
    TRACE_ROW_EARLIER = 1u << 14,
    /*
     * Result of a search for who keeps blocks, and no blocks: alloc_calls live blocks of
     * alloc_bytes bytes together. The stack is no call stack: its frames are who keeps them,
     * outermost first (TRACE_NODE_NAME: a module, a variable, a function's frame), then the sites
     * of the blocks between (TRACE_NODE_PC), and the innermost one is their own site.
     */
    TRACE_ROW_KEPT = 1u << 15,
};
#define TRACE_FAULT_MINOR "[minor fault]"
#define TRACE_FAULT_MAJOR "[major fault]" /* it had to wait for a disk */
/* Frame before these: the kernel touched the page, for a system call that the frames above made. */
#define TRACE_FAULT_CALL "[system call]"
/* Rows of a measurement of resident memory. */
#define TRACE_ROW_LOOKED (TRACE_ROW_RESIDENT | TRACE_ROW_SWAPPED | TRACE_ROW_SLACK)
/* Verdicts of the process's end. */
#define TRACE_ROW_ENDS                                                                             \
    (TRACE_ROW_LEAKED | TRACE_ROW_LEAKED_BY_LEAK | TRACE_ROW_INNER | TRACE_ROW_REACHED)
#define TRACE_ROW_VERDICTS (TRACE_ROW_ENDS | TRACE_ROW_REGION | TRACE_ROW_GROWTH)
/* Flags of rows that do not count blocks. */
#define TRACE_ROW_NO_BLOCKS                                                                        \
    (TRACE_ROW_VERDICTS | TRACE_ROW_MAPPED | TRACE_ROW_LOOKED | TRACE_ROW_FAULT |                  \
     TRACE_ROW_CLASS | TRACE_ROW_TOUCHED | TRACE_ROW_KEPT)

/* A row that counts blocks of this process's own: no verdict on blocks of other rows, nothing
 * inherited. */
static inline int trace_row_is_counter(uint16_t flags)
{
    return !(flags & (TRACE_ROW_NO_BLOCKS | TRACE_ROW_INHERITED));
}

/*
 * The memory recorder's row. live = alloc - free. A thread that frees another
 * thread's block counts it in a row of its own (same node, alloc 0). So sums over the rows of a
 * node are right while single rows may have free > alloc. Sums are modulo 2^64.
 *
 * Peak: a row's share of the high-water mark is peak_* if row.peak_epoch ==
 * header.peak_epoch, else the row has not changed since the mark was set and
 * its share is its present live. Shares are modulo 2^64 (peak_calls: 2^32) too.
 */
struct trace_row {
    uint32_t node;   /* written last */
    uint16_t thread; /* id of a trace_thread; 0: none */
    uint16_t flags;  /* enum trace_row_flag */
    uint64_t alloc_bytes;
    uint64_t alloc_calls;
    uint64_t free_bytes;
    uint64_t free_calls;
    uint64_t temp_calls; /* freed by the same thread before its next allocation */
    uint64_t peak_bytes;
    uint32_t peak_calls;
    uint32_t peak_epoch;
};

/* Kind of wait: trace_off_row.kind. */
enum trace_off_kind {
    TRACE_OFF_OTHER = 0,
    TRACE_OFF_LOCK = 1,    /* futexes: mutexes, condition variables, joins */
    TRACE_OFF_FILE = 2,    /* files on disks */
    TRACE_OFF_NETWORK = 3, /* internet sockets */
    TRACE_OFF_LOCAL = 4,   /* pipes, unix sockets, eventfds, message queues */
    TRACE_OFF_POLL = 5,    /* epoll, poll, select */
    TRACE_OFF_TIMER = 6,   /* nothing but time */
    TRACE_OFF_CHILD = 7,   /* a child's end */
    TRACE_OFF_SIGNAL = 8,
    TRACE_OFF_TERMINAL = 9,
    TRACE_OFF_IPC = 10,   /* System V semaphores, file locks */
    TRACE_OFF_ONCPU = 15, /* not a sleep: cpu_ns and runq_ns of running code */
    /* Neither a sleep nor time on a CPU, but other uses of a thread's time, in blocked_ns; `sleeps`
     * pieces of it, max_ns the longest. All rows of a thread together are the time it was
     * traced. */
    TRACE_OFF_TRACER = 16,  /* it was stopped by the tracer */
    TRACE_OFF_STOPPED = 17, /* it was stopped by job control */
    TRACE_OFF_FAULT = 18,   /* outside of system calls, it waited for pages */
    TRACE_OFF_OUTSIDE =
        19, /* outside of system calls, or in one that is not traced, it was off its CPU */
    TRACE_OFF_LEFT_OUT = 20, /* in calls that were too short, or too long, to be reported */
    /* Kinds of a tracer that stops no thread: */
    TRACE_OFF_TOO_SHORT = 21,   /* asleep, too shortly to be sampled */
    TRACE_OFF_NOT_SAMPLED = 22, /* asleep, and awake again before it was sampled */
    /* On a TRACE_NODE_CLASS, and there alone: `sleeps` of the sleeps that other rows of its parent
       count were of that class, by how long they took, asleep and then waiting for a CPU; max_ns is
       the longest of them. Their time is in those other rows. */
    TRACE_OFF_CLASS = 23,
    /* Kind of a tracer that reads calls from rings in which threads log them: the thread waited
     * until its ring had been read. In blocked_ns, as of TRACE_OFF_TRACER. */
    TRACE_OFF_ROOM = 24,
};

/*
 * The off-CPU recorder's row: a (stack, wakers, thread, kind of wait). Its node is
 * the sleeper's stack (under it the root; on top the frame of the call), or a
 * TRACE_NODE_WAKER above that, one for each link of the chain.
 */
struct trace_off_row {
    uint32_t node;       /* written last */
    uint16_t thread;     /* id of a trace_off_thread */
    uint16_t kind;       /* enum trace_off_kind */
    uint64_t blocked_ns; /* blocked */
    uint64_t runq_ns;    /* run-queue wait */
    uint64_t sleeps;
    uint64_t max_ns;  /* the longest sleep */
    uint64_t cut_ns;  /* of blocked_ns: in sleeps cut by the start or the end of the trace */
    uint64_t cpu_ns;  /* TRACE_OFF_ONCPU: on a CPU */
    uint64_t samples; /* TRACE_OFF_ONCPU: samples that found it there */
};

#define TRACE_ROW_SHIFT 10
#define TRACE_ROW_FIRST_SLOT 1

/* ---- threads ---- */

struct trace_thread {
    uint32_t tid;  /* written last; 0: not there yet */
    uint32_t uses; /* how many threads, one after another, used this record */
    char comm[16]; /* the thread's name when its first event was seen; NUL-padded */
    uint64_t events;
    uint64_t cost_samples; /* events whose cost was measured */
    uint64_t cost_ns;      /* what they took; cost of all: cost_ns / cost_samples * events */
    uint64_t live_bytes;   /* allocated here minus freed here, modulo 2^64 */
    uint64_t skipped;      /* calls seen but not recorded (inside a hook, in a signal handler) */
};

/* Thread of the off-CPU recorder. */
struct trace_off_thread {
    uint32_t tid;  /* written last; 0: not there yet */
    uint32_t uses; /* how many threads share this record */
    char comm[16]; /* the name it had last; NUL-padded */
    uint64_t sleeps;
    uint32_t pid;
    uint32_t reserved;
    uint64_t wall_ns; /* how long it was traced */
    uint64_t cpu_ns;  /* part of wall_ns on a CPU */
    uint64_t runq_ns; /* part of wall_ns in the run queue */
};

#define TRACE_OFF_THREADS_MAX 4096

#define TRACE_THREAD_SHIFT 10
#define TRACE_THREAD_FIRST_SLOT 1

/* ---- metadata records ---- */

enum trace_meta_type {
    TRACE_META_END = 0,    /* nothing more in this segment */
    TRACE_META_EXE = 1,    /* path of the program */
    TRACE_META_ARG = 2,    /* one argument, in order, argv[0] first */
    TRACE_META_MODULE = 3, /* struct trace_module, then the path */
    TRACE_META_STRING = 4, /* text of a TRACE_NODE_NAME frame */
    TRACE_META_COMM = 5,   /* the process's short name */
    TRACE_META_ORIGIN = 6, /* struct trace_origin, then its path: a trace that rows were inherited
                              from; numbered from 0 in the order of the file */
    TRACE_META_INHERITED = 7, /* struct trace_inherited, then its entries */
    TRACE_META_TITLE = 8,     /* TRACE_RECORDER_OFF: process id (4 bytes), then its title; the last
                               * one counts, an empty one is none */
    TRACE_META_REGION = 9,  /* name of a region or a tag that the program has given, which may hold
                               any byte but NUL; numbered from 0 in the order of the file */
    TRACE_META_MARK = 10,   /* struct trace_mark, then its name and its entries */
    TRACE_META_MISUSE = 11, /* struct trace_misuse */
    TRACE_META_RESIDENT = 12, /* struct trace_resident; the last one counts */
    TRACE_META_MOMENT = 13,   /* struct trace_moment, then its entries: not written by the recorder,
                                 but by a watcher of the trace */
    TRACE_META_TIME_ZERO = 14, /* 8 bytes, CLOCK_MONOTONIC in nanoseconds: the beginning of the
                                  recording; without one, start_monotonic_ns */
    TRACE_META_MARK_TIME = 15, /* struct trace_mark_time, then the name of the mark that follows */
    TRACE_META_NAMES = 16,     /* names of the addresses that occur (common/trace/namepack.h): not
                                  written by the recorder, but by flame pack */
    TRACE_META_INTERVALS =
        24,               /* TRACE_RECORDER_OFF: struct trace_intervals, then room for entries */
    TRACE_META_LIFE = 25, /* TRACE_RECORDER_OFF: struct trace_life */
    TRACE_META_REGION_TIME = 26,  /* TRACE_RECORDER_OFF: struct trace_region_time */
    TRACE_META_REGIONS_LOST = 27, /* TRACE_RECORDER_OFF: 8 bytes: of how many regions the times are
                                     not in the file, as there was no room; at most one */
    TRACE_META_PART = 40, /* struct trace_part_facts, then numbers (common/trace/trace_parts.h): not
                             written by the recorder, but by flame watch --rotate */
    TRACE_META_RECORDING = 41, /* struct trace_fileset, first of its segment: not written by the
                                  recorder, but by flame mem -o FILE.flame and its like */
};

/* Lies at a multiple of 8; the payload follows, padded to a multiple of 8. */
struct trace_meta {
    uint32_t type; /* enum trace_meta_type, written last */
    uint32_t size; /* bytes of payload; strings have no NUL */
};

#define TRACE_BUILD_ID_MAX 32

/* Addresses that no process has. Those from TRACE_PLACED_BEGIN are of modules that were loaded
 * where others had been. TRACE_UNKNOWN_MODULE is one record for all code in modules that the
 * recorder had no room for. */
#define TRACE_PLACED_BEGIN ((uint64_t)1 << 53)
#define TRACE_PLACED_END ((uint64_t)1 << 54)
#define TRACE_UNKNOWN_MODULE TRACE_PLACED_END
#define TRACE_UNKNOWN_NAME "[unknown module]"
/* TRACE_RECORDER_MEM: a bit of addresses of code that belongs to no file, where a module was
 * unloaded before or loaded later. */
#define TRACE_ADDR_NO_MODULE ((uint64_t)1 << 55)

/*
 * A mapped ELF file. An address `pc` in a stack of epoch E belongs to the
 * module with start <= pc < end and first_epoch <= E < end_epoch; its address
 * in the file (st_value's terms) is pc - bias. Epochs only advance when an
 * address range comes to mean another module.
 *
 * TRACE_RECORDER_MEM has one epoch. The first module at an address has its own range; one that
 * comes there later has a range from TRACE_PLACED_BEGIN on, and so have addresses in it.
 */
struct trace_module {
    uint64_t start;
    uint64_t end;
    uint64_t bias;
    uint32_t first_epoch;
    uint32_t end_epoch;     /* UINT32_MAX while it may still be in use */
    uint32_t build_id_size; /* 0: none */
    uint32_t layout;        /* elf_layout of its program headers; 0: not known */
    uint8_t build_id[TRACE_BUILD_ID_MAX];
};

/* Another trace, of a process this one descends from by fork. A trace is this one if its header has
 * the same values; the path is where it was written. */
struct trace_origin {
    uint64_t start_realtime_ns;
    uint64_t start_monotonic_ns;
    uint32_t pid;
    uint32_t reserved;
};

/*
 * Blocks that were live at the fork, by the rows of one origin that had counted them. An entry is
 * three numbers of 7 bits a byte, the lowest first, the highest bit set but in the last byte of
 * each (LEB128): by how much the row's id is greater than that of the entry before (of 0 at first),
 * blocks, bytes. They are estimates if those of that trace are.
 */
struct trace_inherited {
    uint32_t origin;
    uint32_t entries;
};

/* Writes a LEB128 number to `at`, which has room for 10 bytes; returns the place behind it. */
static inline uint8_t *trace_put_number(uint8_t *at, uint64_t n)
{
    for (; n > 127; n >>= 7)
        *at++ = (uint8_t)(n | 128);
    *at++ = (uint8_t)n;
    return at;
}

/* Reads the LEB128 number at *s, which moves behind it. 0: it does not end before `end`, or is more
 * than 64 bits. */
static inline int trace_take_number(const uint8_t **s, const uint8_t *end, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; *s < end && shift < 64; shift += 7) {
        uint64_t digit = **s & 127;

        if (digit << shift >> shift != digit)
            return 0;
        *out |= digit << shift;
        if (!(*(*s)++ & 128))
            return 1;
    }
    return 0;
}

/* Folds the sign in, so that small numbers of either sign are short: 0, -1, 1, -2, ... become 0, 1,
 * 2, 3, ...; modulo 2^64. */
static inline uint64_t trace_fold_sign(uint64_t n)
{
    return n << 1 ^ (0 - (n >> 63));
}

static inline uint64_t trace_unfold_sign(uint64_t n)
{
    return n >> 1 ^ (0 - (n & 1));
}

/*
 * Live and mapped amounts of each row's stack at one moment, read from outside by a watcher of the
 * trace: for each row that has changed since the moment before, its change. An entry is three
 * numbers as those of trace_mark, but the last two are differences, modulo 2^64: summed over all
 * moments up to one they are the live amounts then (alloc - free). Rows of blocks and of mappings
 * have entries, verdicts have none. A moment may be dropped if its entries are added to the next
 * one's. Their times ascend within a file.
 */
struct trace_moment {
    uint64_t monotonic_ns; /* when; CLOCK_MONOTONIC */
    uint64_t rss_bytes;    /* of the process then, as /proc/PID/statm has it; 0: not known */
    uint32_t entries;
    uint32_t flags; /* enum trace_moment_flag */
};

enum trace_moment_flag {
    TRACE_MOMENT_LAST = 1u << 0, /* the process had ended, or executed another program: none of
                                    these blocks was live after this moment */
};

/* Recording that the trace belongs to, where a command became several programs with a trace
 * each. */
struct trace_fileset {
    uint64_t id[2]; /* the same in all of them */
    uint32_t file;  /* number of this one, from 0 */
    uint32_t files; /* how many there are, 2 or more */
};
_Static_assert(sizeof(struct trace_fileset) == 24, "on disk");

/*
 * Intervals of waiting, one wait after another. A record is room for entries, which the recorder
 * fills one by one, and may fill anew when it has merged some; `state` says whether it is to be
 * read. An entry is five numbers (LEB128):
 *
 * - a row's id << 2 | enum trace_interval_kind;
 * - the distance of its end to the end of the entry before (the first: to base_ns), sign folded in;
 * - its length;
 * - the part of the length that is in no counter, sign folded in: the rest was blocked time, or for
 *   a row of TRACE_OFF_ONCPU time on a CPU, and run-queue wait;
 * - the part that was run-queue wait.
 *
 * Those of TRACE_INTERVAL_SHARE and _SUM have two more: how many pieces, and the longest in
 * nanoseconds. All entries of a row add up to the row's counters, except lost time (lost_ns).
 */
struct trace_intervals {
    uint64_t base_ns;  /* CLOCK_MONOTONIC */
    uint64_t short_ns; /* waits shorter than that may be in sums here; 0: none is */
    uint64_t lost_ns;  /* of waits for which there was no room, or that are older than what was to
                          be kept, in all records so far */
    uint32_t bytes;    /* of entries; written behind each one */
    uint32_t state;    /* enum trace_intervals_state */
};

enum trace_intervals_state {
    TRACE_INTERVALS_SPARE = 0,
    TRACE_INTERVALS_USED = 1,
};

enum trace_interval_kind {
    TRACE_INTERVAL_SLEEP = 0, /* one wait, from its begin to its end */
    TRACE_INTERVAL_PART = 1,  /* an earlier part of the wait whose last part is another entry */
    TRACE_INTERVAL_SHARE = 2, /* so much of the time between two samples; not known when within
                               * it */
    TRACE_INTERVAL_SUM = 3,   /* several short waits of one row that lay close together */
};

/* Time in which a thread was traced, and the thread that created it. There is one for each thread
 * that has ended or was detached and that does not share its record (trace_off_thread.uses is
 * 1). */
struct trace_life {
    uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; begin <= end */
    uint16_t thread;           /* id of its trace_off_thread */
    uint16_t
        parent; /* the thread that created it; 0: it existed before, or its creator is not known */
    uint32_t reserved;
};

/*
 * Time in which a region of a thread was open: from push to pop of a tag, or from one mark to the
 * next of the same name and thread. Written when it is over. Those of a thread nest, but for passes
 * between marks.
 */
struct trace_region_time {
    uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; begin <= end */
    uint32_t region;           /* number of a TRACE_META_REGION before it */
    uint16_t thread;           /* id of its trace_off_thread */
    uint16_t flags;            /* enum trace_region_flag */
};

enum trace_region_flag {
    TRACE_REGION_CUT = 1u << 0,  /* it did not end by itself: its thread or the recording did */
    TRACE_REGION_PASS = 1u << 1, /* from mark to mark */
};

/*
 * Live amounts at a mark that the program has set, by rows: those whose live amount differs from
 * that at the mark before in the file. Records of one mark lie one behind the other. An entry is
 * three numbers as those of trace_inherited: by how much the row's id is greater, blocks, bytes;
 * the last two with their sign folded in (0, -1, 1, -2, ... are 0, 1, 2, 3, ...).
 */
struct trace_mark {
    uint64_t number; /* of marks with this name before it */
    uint32_t entries;
    uint32_t name_size; /* bytes, which may be any but NUL */
};

/* Time at which a mark was set. Readers that do not know this record still have the mark. */
struct trace_mark_time {
    uint64_t number; /* of marks with this name before it */
    uint64_t monotonic_ns;
};

/* Thinning of marks: all of the first 64 are kept, then those that 2 divides up to 128, those that
 * 4 divides up to 256, and so on. So there are always 33 to 64 with equal distances. */
#define TRACE_MARKS_KEPT 64u
static inline uint64_t trace_mark_step(uint64_t number)
{
    uint64_t step = 1;

    while (number / TRACE_MARKS_KEPT >= step)
        step *= 2;
    return step;
}

static inline int trace_mark_is_kept(uint64_t number)
{
    return number % trace_mark_step(number) == 0;
}

/* Sums of a measurement of resident memory. The rows are those of the last one that succeeded. */
struct trace_resident {
    uint64_t monotonic_ns; /* when; CLOCK_MONOTONIC */
    uint64_t kernel_bytes; /* Rss of /proc/self/smaps_rollup at that moment */
    uint64_t bytes;        /* sum of the rows: the same, if nothing changed meanwhile */
    uint64_t swapped_bytes;
    uint64_t blocks;       /* number of live blocks */
    uint64_t asked_bytes;  /* requested bytes of live blocks */
    uint64_t usable_bytes; /* sum of malloc_usable_size of live blocks; 0: not known */
    uint64_t slack_bytes;  /* resident, and in no block: TRACE_PART_ALLOCATOR */
    uint64_t took_ns;
    uint32_t error; /* an errno: why it failed; the others are 0 then */
    uint32_t stood; /* other threads were stopped meanwhile, or there were none */
};

/* ---- misuse of the allocator ---- */

enum trace_misuse_kind {
    TRACE_MISUSE_DOUBLE_FREE = 1,  /* of a block that was freed before */
    TRACE_MISUSE_INVALID_FREE = 2, /* of a pointer that was never handed out, or of a block that was
                                      freed too long ago to be remembered */
    TRACE_MISUSE_REALLOC_FREED = 3,   /* realloc of a block that was freed before */
    TRACE_MISUSE_REALLOC_INVALID = 4, /* realloc of a pointer that was never handed out, or of a
                                       * block that was freed too long ago */
    TRACE_MISUSE_MISMATCH = 5,        /* a function of one family, a block of another */
    TRACE_MISUSE_SIZE = 6,            /* a size that is not the block's */
};
#define TRACE_MISUSE_KINDS 7

/* Call that frees a block, or was to free it: its family and its form. */
enum trace_call {
    TRACE_CALL_NONE = 0,
    TRACE_CALL_FREE = 1,
    TRACE_CALL_REALLOC = 2,
    TRACE_CALL_REALLOCARRAY = 3,
    TRACE_CALL_FREE_SIZED = 4,
    TRACE_CALL_FREE_ALIGNED_SIZED = 5,
    TRACE_CALL_DELETE = 6,
    TRACE_CALL_DELETE_ARRAY = 7,
    TRACE_CALL_DELETE_ALIGNED = 8,
    TRACE_CALL_DELETE_ARRAY_ALIGNED = 9,
};
#define TRACE_CALLS 10

/* Calls that allocate a block. */
enum trace_made {
    TRACE_MADE_UNKNOWN = 0,
    TRACE_MADE_MALLOC = 1, /* malloc, calloc, realloc, aligned_alloc and their like */
    TRACE_MADE_NEW = 2,
    TRACE_MADE_NEW_ARRAY = 3,
    TRACE_MADE_NEW_ALIGNED = 4,
    TRACE_MADE_NEW_ARRAY_ALIGNED = 5,
};
#define TRACE_MADES 6

/* Target of a pointer that was never handed out. */
enum trace_where {
    TRACE_WHERE_UNKNOWN = 0,
    TRACE_WHERE_INSIDE = 1,   /* into a live block: `offset` behind its beginning */
    TRACE_WHERE_STACK = 2,    /* the calling thread's */
    TRACE_WHERE_STATIC = 3,   /* of the program or a library: variables, text */
    TRACE_WHERE_UNMAPPED = 4, /* there is no memory */
    TRACE_WHERE_MEMORY = 5,   /* elsewhere */
};
#define TRACE_WHERES 6

/* One misuse; repetitions in the same way are counted. */
struct trace_misuse {
    uint64_t count;
    uint32_t kind;       /* enum trace_misuse_kind */
    uint8_t call;        /* enum trace_call: the present call */
    uint8_t freed_by;    /* enum trace_call: the call that freed the block before */
    uint8_t made_by;     /* enum trace_made */
    uint8_t where;       /* enum trace_where */
    uint16_t thread;     /* id of a trace_thread: the caller */
    uint16_t freed_in;   /* id of a trace_thread that had freed it; 0: not known */
    uint32_t node;       /* the stack of the call */
    uint32_t alloc_node; /* where the block was allocated; 0: not known */
    uint32_t free_node;  /* where it had been freed; 0: not known, or it was not */
    uint64_t addr;
    uint64_t size;    /* of the block; of the one it lies in, for TRACE_WHERE_INSIDE */
    uint64_t given;   /* TRACE_MISUSE_SIZE: the size that the call gave */
    uint64_t offset;  /* TRACE_WHERE_INSIDE */
    uint64_t frees;   /* number of blocks freed since this one was; 0: not known */
    uint64_t forgets; /* number of frees that are remembered, if older ones are not; else 0 */
};

_Static_assert(sizeof(struct trace_misuse) == 80, "on disk");
_Static_assert(sizeof(struct trace_column) == 32, "on disk");
_Static_assert(sizeof(struct trace_header) == 1024, "on disk");
_Static_assert(sizeof(struct trace_list) == 16, "on disk");
_Static_assert(sizeof(struct trace_place) == 16, "on disk");
_Static_assert(sizeof(struct trace_segment) == 64, "on disk");
_Static_assert(sizeof(struct trace_node) == 16, "on disk");
_Static_assert(sizeof(struct trace_row) == 64, "on disk");
_Static_assert(sizeof(struct trace_thread) == 64, "on disk");
_Static_assert(sizeof(struct trace_off_row) == sizeof(struct trace_row), "on disk");
_Static_assert(sizeof(struct trace_off_thread) == sizeof(struct trace_thread), "on disk");
_Static_assert(sizeof(struct trace_meta) == 8, "on disk");
_Static_assert(sizeof(struct trace_life) == 24, "on disk");
_Static_assert(sizeof(struct trace_region_time) == 24, "on disk");
_Static_assert(sizeof(struct trace_module) == 72, "on disk");
_Static_assert(sizeof(struct trace_origin) == 24, "on disk");
_Static_assert(sizeof(struct trace_inherited) == 8, "on disk");
_Static_assert(sizeof(struct trace_mark) == 16, "on disk");
_Static_assert(sizeof(struct trace_mark_time) == 16, "on disk");
_Static_assert(sizeof(struct trace_resident) == 80, "on disk");
_Static_assert(sizeof(struct trace_moment) == 24, "on disk");
_Static_assert(sizeof(struct trace_intervals) == 32, "on disk");
_Static_assert((sizeof(struct trace_node) << TRACE_NODE_SHIFT) == TRACE_SEGMENT_SIZE, "ids");
_Static_assert((sizeof(struct trace_row) << TRACE_ROW_SHIFT) == TRACE_SEGMENT_SIZE, "ids");
_Static_assert((sizeof(struct trace_thread) << TRACE_THREAD_SHIFT) == TRACE_SEGMENT_SIZE, "ids");

#endif
