/*
 * Problem: a branch to a stub is longer than a system call, so it also replaces instructions beside
 * the call, and no code may ever jump into the replaced bytes.
 *
 * Algorithm: a first pass over all code marks the targets of jumps, calls and address computations,
 * a bit a byte. A second pass examines each function that makes a call. From the call backwards,
 * then forwards, it adds instructions that can be moved until there is room for the branch, as long
 * as no target lies at one of them but the first. A window of one instruction, `mov $number,%eax`,
 * is the best: it has no inside to jump into, and no instruction needs to be moved. In a function
 * with a computed jump (a switch) only such a window is accepted.
 *
 * If there is a window, the call's number is traced back from the call to the instruction that set
 * it, as long as no target lies in between.
 *
 * Rejected: treating each byte sequence that could be a jump as one, without decoding. That refuses
 * 11 sites of glibc 2.36 that can be patched, read()'s among them.
 */
#define _GNU_SOURCE
#include "patch/find/find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "patch/find/code.h"
#include "patch/find/isa.h"

_Static_assert(sizeof((struct code *)0)->build_id == SITES_BUILD_ID_MAX, "the same size");

/* Limit of the distance before a call within which the instruction that set its number is searched
 * for. */
#define NUMBER_REACH 64

struct step {
    uint32_t at;
    struct insn insn;
};

struct finder {
    struct code code;
    const struct isa *isa;
    struct site_list *list;
    size_t sites_room;
    uint8_t **led_to;   /* a bit for each byte of each range: it is a target */
    struct step *steps; /* instructions of the function that is examined */
    size_t nsteps, steps_room;
    bool computed_jump;   /* the function has one */
    bool has_data;        /* some of its bytes are no instruction */
    uint32_t known_end;   /* the function's end, if that is known */
    uint32_t cancel_arch; /* address of __syscall_cancel_arch; 0: there is none */
};

static bool led_to(const struct finder *f, uint32_t addr)
{
    const struct code_range *r = code_at(&f->code, addr);
    uint32_t off;

    if (!r)
        return false;
    off = addr - r->addr;
    return f->led_to[r - f->code.ranges][off / 8] >> (off & 7) & 1;
}

static void lead_to(struct finder *f, uint64_t addr)
{
    const struct code_range *r = code_at(&f->code, addr);

    if (r) {
        uint32_t off = (uint32_t)(addr - r->addr);

        f->led_to[r - f->code.ranges][off / 8] |= (uint8_t)(1u << (off & 7));
    }
}

/* The end of the function that begins at functions[i]: the next one, or its range's. */
static uint32_t function_end(const struct finder *f, size_t i)
{
    const struct code_range *r = code_at(&f->code, f->code.functions[i].start);
    uint32_t end = r->addr + r->size;

    if (i + 1 < f->code.nfunctions && f->code.functions[i + 1].start < end)
        end = f->code.functions[i + 1].start;
    return end;
}

/* Decodes the instruction at an address before `end`. Returns its size, or 0. */
static unsigned decode_at(const struct finder *f, uint32_t at, uint32_t end, struct insn *insn)
{
    const struct code_range *r = code_at(&f->code, at);

    return f->isa->decode(r->bytes + (at - r->addr), end - at, insn);
}

static bool is_cancel_arch(const struct finder *f, size_t i)
{
    const struct code_range *r = code_at(&f->code, f->code.functions[i].start);
    uint32_t start = f->code.functions[i].start;

    return f->isa->is_cancel_arch(r->bytes + (start - r->addr), function_end(f, i) - start);
}

/* The first pass: marks the targets. */
static void note_leads(struct finder *f)
{
    for (size_t i = 0; i < f->code.nfunctions; i++) {
        uint32_t at = f->code.functions[i].start, end = function_end(f, i);

        lead_to(f, at);
        if (is_cancel_arch(f, i))
            f->cancel_arch = at;
        while (at < end) {
            struct insn insn;
            unsigned size = decode_at(f, at, end, &insn);

            if (size && (insn.refers || insn.flow == INSN_BRANCH || insn.flow == INSN_JUMP ||
                         insn.flow == INSN_CALL))
                lead_to(f, at + (uint64_t)insn.target);
            f->list->instructions += size != 0;
            f->list->unreadable += size == 0;
            at += size ? size : 1;
        }
    }
}

static bool is_step(const struct finder *f, size_t i)
{
    return i < f->nsteps &&
           (i == 0 || f->steps[i].at == f->steps[i - 1].at + f->steps[i - 1].insn.size);
}

/* Whether code can jump to a place after steps[from] and before steps[to]. */
static enum site_reason windows_flaw(const struct finder *f, size_t from, size_t to)
{
    for (size_t i = from + 1; i < to; i++)
        if (led_to(f, f->steps[i].at))
            return SITE_JUMPED_INTO;
    return f->computed_jump && to > from + 1 ? SITE_SWITCH : SITE_FINE;
}

/* Stores the offsets of distances in the moved instructions steps[from..to). False: there are too
 * many. */
static bool note_relatives(const struct finder *f, size_t from, size_t to, struct patch_site *s)
{
    size_t n = 0;

    for (size_t i = from; i < to; i++) {
        if (!f->steps[i].insn.relative)
            continue;
        if (n == SITE_RELATIVES)
            return false;
        s->relative[n++] = (uint8_t)(f->steps[i].at - s->at + f->steps[i].insn.relative);
    }
    return true;
}

/* Tries a window that ends with the call, steps[c]. */
static enum site_reason try_before(const struct finder *f, size_t c, struct patch_site *s)
{
    uint32_t call = f->steps[c].at;
    enum site_reason flaw;
    size_t i = c;

    if (c > 0 && f->steps[c - 1].insn.sets_number_only && is_step(f, c)) {
        s->kind = SITE_NUMBER;
        s->at = f->steps[c - 1].at;
        return SITE_FINE;
    }
    while (call - f->steps[i].at < f->isa->branch) {
        if (i == 0 || !is_step(f, i) || !f->steps[i - 1].insn.movable ||
            call + f->isa->call_size - f->steps[i - 1].at > SITE_WINDOW)
            return SITE_IMMOVABLE;
        i--;
    }
    flaw = windows_flaw(f, i, c);
    if (flaw != SITE_FINE)
        return flaw;
    s->at = f->steps[i].at;
    if (!note_relatives(f, i, c, s)) {
        memset(s->relative, 0, sizeof s->relative);
        s->at = call;
        return SITE_IMMOVABLE;
    }
    s->kind = SITE_BEFORE;
    return SITE_FINE;
}

/* Tries a window that begins with the call. */
static enum site_reason try_after(const struct finder *f, size_t c, struct patch_site *s)
{
    uint32_t call = f->steps[c].at, end = call + f->isa->call_size;
    enum site_reason flaw;
    size_t i = c + 1;

    for (; end - call < f->isa->branch; i++) {
        if (!is_step(f, i) || !f->steps[i].insn.movable ||
            end + f->steps[i].insn.size - call > SITE_WINDOW)
            return SITE_IMMOVABLE;
        end += f->steps[i].insn.size;
    }
    flaw = windows_flaw(f, c, i);
    if (flaw != SITE_FINE)
        return flaw;
    if (!note_relatives(f, c + 1, i, s)) {
        memset(s->relative, 0, sizeof s->relative);
        return SITE_IMMOVABLE;
    }
    s->kind = SITE_AFTER;
    s->length = (uint8_t)(end - call);
    return SITE_FINE;
}

/* The number of the call at steps[c], the same on all paths to it. */
static int32_t number_of(const struct finder *f, size_t c)
{
    for (size_t i = c; i > 0 && c - i < NUMBER_REACH; i--) {
        const struct insn *before = &f->steps[i - 1].insn;

        if (!is_step(f, i) || led_to(f, f->steps[i].at) ||
            (before->flow != INSN_ON && before->flow != INSN_BRANCH))
            break;
        if (before->number_is == INSN_NUMBER_SET)
            return before->number;
        if (before->number_is == INSN_NUMBER_UNSURE)
            break;
    }
    return SITE_ANY_NUMBER;
}

/*
 * Whether the thread ends directly after steps[c]: then that call may unmap the thread's stack, as
 * in musl.
 */
static bool thread_ends_behind(const struct finder *f, size_t c)
{
    for (size_t i = c + 1; is_step(f, i); i++) {
        if (f->steps[i].insn.flow == INSN_KERNEL)
            return number_of(f, i) == f->isa->thread_exit;
        if (f->steps[i].insn.flow != INSN_ON)
            break;
    }
    return false;
}

static bool is_cancel_call(const struct finder *f, uint32_t call)
{
    const struct code_range *r = code_at(&f->code, call);

    return f->isa->is_cancel_call(r->bytes, call - r->addr);
}

/* libcrypto and node have tables among their code, and some of the tables' bytes look like
 * calls. */
static bool is_doubtful(const struct finder *f, uint32_t call)
{
    return f->has_data || (f->code.has_ends && call >= f->known_end);
}

static void copy_window(const struct finder *f, struct patch_site *s)
{
    const struct code_range *r = code_at(&f->code, s->at);

    memcpy(s->bytes, r->bytes + (s->at - r->addr), s->length);
}

/* A window before a call may overlap the window after the previous call. The latter window is
 * dropped, because a site whose call stays is better. */
static void make_room(struct site_list *list, const struct patch_site *s)
{
    struct patch_site *last = list->n ? &list->sites[list->n - 1] : NULL;

    if (!last || last->at + last->length <= s->at)
        return;
    memset(last->bytes + last->call_size, 0, sizeof last->bytes - last->call_size);
    memset(last->relative, 0, sizeof last->relative);
    last->length = last->call_size;
    last->kind = SITE_NONE;
    last->reason = SITE_IMMOVABLE;
}

static void add_site(struct finder *f, size_t c)
{
    struct patch_site s = {.at = f->steps[c].at,
                           .call = f->steps[c].at,
                           .length = f->isa->call_size,
                           .call_size = f->isa->call_size,
                           .number = number_of(f, c)};
    enum site_reason before, after;

    /* Every path to the call passes a window directly before it. */
    if (c > 0 && f->steps[c - 1].insn.sets_number_only && is_step(f, c))
        s.number = f->steps[c - 1].insn.number;
    s.reason = f->isa->judge(s.number);
    if (s.reason == SITE_FINE && is_cancel_call(f, s.call))
        s.reason = SITE_CANCELLATION;
    if (s.reason == SITE_FINE && thread_ends_behind(f, c))
        s.reason = SITE_NO_STACK;
    if (s.reason == SITE_FINE && is_doubtful(f, s.call))
        s.reason = SITE_DOUBTFUL;
    if (s.reason == SITE_FINE) {
        before = try_before(f, c, &s);
        if (before == SITE_FINE)
            s.length = (uint8_t)(s.call + s.call_size - s.at);
        else if ((after = try_after(f, c, &s)) != SITE_FINE)
            s.reason = before < after ? before : after;
    }
    make_room(f->list, &s);
    copy_window(f, &s);
    GROW(f->list->sites, f->list->n, f->sites_room);
    f->list->sites[f->list->n++] = s;
}

/* Adds a site for a call of __syscall_cancel_arch. */
static void add_point(struct finder *f, size_t c)
{
    struct patch_site s = {.at = f->steps[c].at,
                           .call = f->steps[c].at,
                           .kind = SITE_CALL,
                           .number = SITE_ANY_NUMBER,
                           .length = f->steps[c].insn.size,
                           .call_size = f->steps[c].insn.size};

    copy_window(f, &s);
    GROW(f->list->sites, f->list->n, f->sites_room);
    f->list->sites[f->list->n++] = s;
}

static bool is_point(const struct finder *f, const struct step *s)
{
    return f->cancel_arch && s->insn.flow == INSN_CALL && s->insn.size == f->isa->branch &&
           s->at + (uint64_t)s->insn.target == f->cancel_arch && !is_doubtful(f, s->at);
}

/* The second pass, for one function. */
static void look_at_function(struct finder *f, size_t i)
{
    uint32_t start = f->code.functions[i].start, at = start, end = function_end(f, i);
    bool any = false;

    f->nsteps = 0;
    f->computed_jump = f->has_data = false;
    f->known_end = f->code.functions[i].end;
    while (at < end) {
        struct step s = {.at = at};
        unsigned size = decode_at(f, at, end, &s.insn);

        if (size) {
            GROW(f->steps, f->nsteps, f->steps_room);
            f->steps[f->nsteps++] = s;
            any |= s.insn.flow == INSN_KERNEL || is_point(f, &s);
            f->computed_jump |= s.insn.flow == INSN_JUMP_COMPUTED;
        }
        f->has_data |= !size;
        at += size ? size : 1;
    }
    for (size_t c = 0; any && c < f->nsteps && f->list->n <= SITES_MAX; c++) {
        const struct step *s = &f->steps[c];

        if (s->insn.flow == INSN_KERNEL && s->insn.size == f->isa->call_size)
            add_site(f, c);
        else if (is_point(f, s))
            add_point(f, c);
    }
}

int sites_find(struct site_list *list, const void *file, size_t size)
{
    struct finder f = {.list = list};
    int err = -ENOEXEC;

    memset(list, 0, sizeof *list);
    if (!code_open(&f.code, file, size) || !(f.isa = isa_of(f.code.machine)))
        goto out;
    f.led_to = xcalloc(f.code.n, sizeof *f.led_to);
    for (size_t i = 0; i < f.code.n; i++) {
        f.led_to[i] = xcalloc(f.code.ranges[i].size / 8 + 1, 1);
        list->code_bytes += f.code.ranges[i].size;
    }
    note_leads(&f);
    for (size_t i = 0; i < f.code.nfunctions; i++)
        look_at_function(&f, i);
    memcpy(list->build_id, f.code.build_id, sizeof list->build_id);
    list->build_id_len = f.code.build_id_len;
    err = list->n > SITES_MAX ? -E2BIG : 0;
out:
    for (size_t i = 0; f.led_to && i < f.code.n; i++)
        free(f.led_to[i]);
    free(f.led_to);
    free(f.steps);
    code_release(&f.code);
    if (err)
        sites_release(list);
    return err;
}

int sites_find_in(struct site_list *list, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;
    struct strbuf bytes = STRBUF_INIT;
    struct stat st;

    memset(list, 0, sizeof *list);
    if (fd < 0)
        return -errno;
    err = fstat(fd, &st) < 0 ? -errno : !S_ISREG(st.st_mode) ? -EINVAL : 0;
    if (!err)
        err = strbuf_read_fd(&bytes, fd);
    if (!err)
        err = sites_find(list, bytes.buf, bytes.len);
    close(fd);
    strbuf_release(&bytes);
    return err;
}

size_t sites_build_id(const void *file, size_t size, uint8_t id[SITES_BUILD_ID_MAX])
{
    return code_build_id(file, size, id);
}

void sites_release(struct site_list *list)
{
    free(list->sites);
    memset(list, 0, sizeof *list);
}
