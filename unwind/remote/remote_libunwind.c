/*
 * libunwind's remote interface, with flame's own accessors. Source: its manual pages
 * unw_create_addr_space(3), unw_init_remote(3) and _U_dyn_register(3). The function that searches a
 * module's table is exported under the name of its architecture and has no prototype in the
 * installed headers; other profilers declare it themselves too.
 *
 * No caching policy is set: libunwind caches by address, and an address means something else in
 * every process.
 */
#include "unwind/remote/remote_libunwind.h"
#include "unwind/step.h"

#include <libunwind.h>

extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip,
                                              unw_dyn_info_t *di, unw_proc_info_t *pi,
                                              int need_unwind_info, void *arg);

struct session {
    const struct remote_source *source;
    uint64_t regs[REMOTE_REGS];
};

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi,
                          int need_unwind_info, void *arg)
{
    const struct session *s = arg;
    unw_dyn_info_t di = {.format = UNW_INFO_FORMAT_REMOTE_TABLE};
    struct remote_tables t;
    uint64_t head, count;

    /* Version 1, a 4-byte pointer, a 4-byte count, pairs of 4 bytes: what linkers write. */
    if (!s->source->tables(s->source->arg, ip, &t) || t.hdr_size < 12 ||
        !s->source->word(s->source->arg, t.hdr, &head) || (head & 0xffffffff) != 0x3b031b01 ||
        !s->source->word(s->source->arg, t.hdr + 8, &count))
        return -UNW_ENOINFO;
    count &= 0xffffffff;
    if (count == 0 || count > (t.hdr_size - 12) / 8)
        return -UNW_ENOINFO;
    di.start_ip = t.start;
    di.end_ip = t.end;
    di.u.rti.segbase = t.hdr;
    di.u.rti.table_data = t.hdr + 12;
    di.u.rti.table_len = count * 8 / sizeof(unw_word_t);
    return UNW_OBJ(dwarf_search_unwind_table)(as, ip, &di, pi, need_unwind_info, arg);
}

static void put_unwind_info(unw_addr_space_t as FLAME_UNUSED, unw_proc_info_t *pi FLAME_UNUSED,
                            void *arg FLAME_UNUSED)
{
}

static int get_dyn_info_list_addr(unw_addr_space_t as FLAME_UNUSED, unw_word_t *at FLAME_UNUSED,
                                  void *arg FLAME_UNUSED)
{
    return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t as FLAME_UNUSED, unw_word_t addr, unw_word_t *value,
                      int write, void *arg)
{
    const struct session *s = arg;
    uint64_t word;

    if (write || !s->source->word(s->source->arg, addr, &word))
        return -UNW_EINVAL;
    *value = word;
    return 0;
}

static int access_reg(unw_addr_space_t as FLAME_UNUSED, unw_regnum_t reg, unw_word_t *value,
                      int write, void *arg)
{
    const struct session *s = arg;

    if (write || reg < 0 || reg >= REMOTE_REGS)
        return -UNW_EBADREG;
    *value = s->regs[reg];
    return 0;
}

static int access_fpreg(unw_addr_space_t as FLAME_UNUSED, unw_regnum_t reg FLAME_UNUSED,
                        unw_fpreg_t *value FLAME_UNUSED, int write FLAME_UNUSED,
                        void *arg FLAME_UNUSED)
{
    return -UNW_EBADREG;
}

static int resume(unw_addr_space_t as FLAME_UNUSED, unw_cursor_t *cursor FLAME_UNUSED,
                  void *arg FLAME_UNUSED)
{
    return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t as FLAME_UNUSED, unw_word_t addr FLAME_UNUSED,
                         char *name FLAME_UNUSED, size_t size FLAME_UNUSED,
                         unw_word_t *offset FLAME_UNUSED, void *arg FLAME_UNUSED)
{
    return -UNW_ENOINFO;
}

int remote_libunwind(const uint64_t regs[REMOTE_REGS], const struct remote_source *source,
                     uintptr_t *pcs, int max, enum walk_end *end)
{
    static unw_accessors_t accessors = {.find_proc_info = find_proc_info,
                                        .put_unwind_info = put_unwind_info,
                                        .get_dyn_info_list_addr = get_dyn_info_list_addr,
                                        .access_mem = access_mem,
                                        .access_reg = access_reg,
                                        .access_fpreg = access_fpreg,
                                        .resume = resume,
                                        .get_proc_name = get_proc_name};
    static unw_addr_space_t as;
    struct session s = {.source = source};
    uintptr_t exact = REMOTE_EXACT;
    unw_cursor_t cursor;
    int n = 0, err;

    memcpy(s.regs, regs, sizeof s.regs);
    *end = WALK_LOST;
    if (!as) {
        as = unw_create_addr_space(&accessors, 0);
        if (!as)
            return 0;
        unw_set_caching_policy(as, UNW_CACHE_NONE);
    }
    if (unw_init_remote(&cursor, as, &s) != 0)
        return 0;
    while (n < max) {
        unw_word_t pc;

        if (unw_get_reg(&cursor, UNW_REG_IP, &pc) != 0 || step_to(pc) != STEP_OK)
            break;
        pcs[n++] = pc | exact;
        exact =
            rule_kind_of(rules_find(source->rules, pc - !exact)) == RULE_SIGNAL ? REMOTE_EXACT : 0;
        err = unw_step(&cursor);
        if (err == 0)
            *end = WALK_COMPLETE;
        if (err <= 0)
            break;
    }
    return n;
}
