/*
 * Functions made by hand, one for each kind of site and each reason not to patch one, in the
 * smallest ELF file there is: what the finder reports of them. And the conditions for a site list
 * to be accepted.
 */
#include <elf.h>
#include <errno.h>

#include "patch/find/find.h"
#include "tests/tap.h"

#define VADDR 0x401000u
#define TEXT 0x1000u

static struct {
    uint8_t bytes[0x2000];
    size_t size;
} file;

static void begin_file(void)
{
    Elf64_Ehdr eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                     .e_type = ET_DYN,
                     .e_machine = EM_X86_64,
                     .e_phoff = sizeof eh,
                     .e_phentsize = sizeof(Elf64_Phdr),
                     .e_phnum = 2};
    static const struct {
        Elf64_Nhdr head;
        char name[4];
        uint8_t id[4];
    } note = {{4, 4, NT_GNU_BUILD_ID}, "GNU", {1, 2, 3, 0xff}};
    Elf64_Phdr notes = {
        .p_type = PT_NOTE, .p_offset = 0x400, .p_filesz = sizeof note, .p_memsz = sizeof note};

    memset(&file, 0, sizeof file);
    memcpy(file.bytes, &eh, sizeof eh);
    memcpy(file.bytes + sizeof eh + sizeof notes, &notes, sizeof notes);
    memcpy(file.bytes + 0x400, &note, sizeof note);
    file.size = TEXT;
}

static void end_file(void)
{
    Elf64_Phdr text = {.p_type = PT_LOAD,
                       .p_flags = PF_R | PF_X,
                       .p_offset = TEXT,
                       .p_vaddr = VADDR,
                       .p_filesz = file.size - TEXT,
                       .p_memsz = file.size - TEXT};

    memcpy(file.bytes + sizeof(Elf64_Ehdr), &text, sizeof text);
}

/* One function, and what its first call must be. */
struct row {
    const char *name;
    uint8_t code[48];
    unsigned size;
    unsigned call; /* its place in the code */
    uint8_t kind, reason;
    int32_t number;
    uint8_t before, length;
};

#define CODE(...) .code = {__VA_ARGS__}, .size = sizeof((uint8_t[]){__VA_ARGS__})
#define MOV_EAX(n) 0xb8, (n)&0xff, (n) >> 8, 0, 0
#define SYSCALL 0x0f, 0x05
#define CMP_RAX 0x48, 0x3d, 0, 0xf0, 0xff, 0xff
#define MOV_R9_RSP 0x4c, 0x8b, 0x4c, 0x24, 8

/* How both C libraries move a function's arguments to where the kernel has them, and
 * __syscall_cancel_arch of glibc 2.41, whose call is at 44. */
#define CANCEL_MOVES                                                                               \
    0x49, 0x89, 0xfb, 0x48, 0x89, 0xf0, 0x48, 0x89, 0xd7, 0x48, 0x89, 0xce, 0x4c, 0x89, 0xc2,      \
        0x4d, 0x89, 0xca, 0x4c, 0x8b, 0x44, 0x24, 8, 0x4c, 0x8b, 0x4c, 0x24, 16, 0x4c, 0x89, 0x5c, \
        0x24, 8
#define CANCEL_ARCH 0x8b, 0x07, 0xf6, 0x07, 8, 0x0f, 0x85, 0, 0, 0, 0, CANCEL_MOVES, SYSCALL, 0xc3

static const struct row rows[] = {
    {"getpid", CODE(MOV_EAX(39), SYSCALL, 0xc3), 5, SITE_NUMBER, SITE_FINE, 39, 5, 7},
    {"a number in front of a jump's target", CODE(0x74, 5, MOV_EAX(39), SYSCALL, 0xc3), 7,
     SITE_NUMBER, SITE_FINE, 39, 5, 7},
    {"syscall(): a number from memory, a register loaded",
     CODE(0x48, 0x89, 0xf8, MOV_R9_RSP, SYSCALL, CMP_RAX, 0xc3), 8, SITE_BEFORE, SITE_FINE, -1, 5,
     7},
    {"read: a number set by xor", CODE(0x48, 0x89, 0xf2, 0x31, 0xc0, SYSCALL, 0xc3), 5, SITE_BEFORE,
     SITE_FINE, 0, 5, 7},
    {"the address of a lock", CODE(MOV_EAX(202), 0x48, 0x8d, 0x3d, 1, 0, 0, 0, SYSCALL, 0xc3), 12,
     SITE_BEFORE, SITE_FINE, 202, 7, 9},
    {"code before the call that cannot move", CODE(0xe8, 0, 0, 0, 0, SYSCALL, CMP_RAX, 0xc3), 5,
     SITE_AFTER, SITE_FINE, -1, 0, 8},
    {"code behind the call that is a jump's target",
     CODE(0xe8, 0, 0, 0, 0, SYSCALL, CMP_RAX, 0x74, 0xf8, 0xc3), 5, SITE_NONE, SITE_JUMPED_INTO, -1,
     0, 2},
    {"code before the call that is a jump's target",
     CODE(0x74, 3, 0x48, 0x89, 0xf2, 0x31, 0xc0, SYSCALL, CMP_RAX, 0xc3), 7, SITE_AFTER, SITE_FINE,
     0, 0, 8},
    {"a stack pointer that moves before the call",
     CODE(0x53, 0x53, 0x53, 0x53, 0x53, SYSCALL, 0xc3), 5, SITE_NONE, SITE_IMMOVABLE, -1, 0, 2},
    {"a computed jump behind the call",
     CODE(0x48, 0x89, 0xf2, 0x31, 0xc0, SYSCALL, CMP_RAX, 0xff, 0xe1), 5, SITE_NONE, SITE_SWITCH, 0,
     0, 2},
    {"a computed jump behind a call with its number before it",
     CODE(MOV_EAX(1), SYSCALL, 0xff, 0xe1), 5, SITE_NUMBER, SITE_FINE, 1, 5, 7},
    {"vfork", CODE(0x5f, MOV_EAX(58), SYSCALL, 0x57, 0xc3), 6, SITE_NONE, SITE_RETURNS_TWICE, 58, 0,
     2},
    {"clone3", CODE(MOV_EAX(435), SYSCALL, 0xc3), 5, SITE_NONE, SITE_RETURNS_TWICE, 435, 0, 2},
    {"a signal return", CODE(0x48, 0xc7, 0xc0, 15, 0, 0, 0, SYSCALL), 7, SITE_NONE, SITE_SIGRETURN,
     15, 0, 2},
    {"the end of a thread", CODE(MOV_EAX(60), SYSCALL, 0xf4), 5, SITE_NONE, SITE_NO_STACK, 60, 0,
     2},
    {"a thread that unmaps its stack and ends",
     CODE(MOV_EAX(11), SYSCALL, 0x31, 0xff, MOV_EAX(60), SYSCALL), 5, SITE_NONE, SITE_NO_STACK, 11,
     0, 2},
    {"cancellation", CODE(CANCEL_ARCH), 44, SITE_NONE, SITE_CANCELLATION, -1, 0, 2},
    {"cancellation in musl", CODE(0x8b, 0x07, 0x85, 0xc0, 0x75, 0, CANCEL_MOVES, SYSCALL, 0xc3), 39,
     SITE_NONE, SITE_CANCELLATION, -1, 0, 2},
    {"data beside the call", CODE(MOV_EAX(39), SYSCALL, 0xc3, 0x06, 0x07), 5, SITE_NONE,
     SITE_DOUBTFUL, 39, 0, 2},
    {"a call's bytes in a constant", CODE(0xb8, SYSCALL, 0x0f, 0x05, 0xc3), 0, 0, 0, 0, 0, 0},
};

static void check_row(const struct row *r)
{
    const struct patch_site *s;
    struct site_list list;

    begin_file();
    memcpy(file.bytes + TEXT, r->code, r->size);
    file.size += r->size;
    end_file();
    if (!is_int(sites_find(&list, file.bytes, file.size), 0, "%s: the file is read", r->name))
        return;
    if (!r->length) {
        is_int((intmax_t)list.n, 0, "%s: no site is found", r->name);
        sites_release(&list);
        return;
    }
    s = list.sites;
    if (ok(list.n > 0, "%s: a site is found", r->name)) {
        is_int(s->call, VADDR + r->call, "  at its place");
        is_str(site_kind_name(s->kind), site_kind_name(r->kind), "  its kind");
        is_str(site_reason_name(s->reason), site_reason_name(r->reason), "  its reason");
        is_int(s->number, r->number, "  its number");
        is_int(s->call - s->at, r->before, "  what gives way before it");
        is_int(s->length, r->length, "  its window");
        ok(site_is_sound(s), "  is sound");
        is_mem(s->bytes, r->code + r->call - r->before, r->length, "  its bytes");
    }
    sites_release(&list);
}

static void check_neighbours(void)
{
    static const uint8_t code[] = {0x53, SYSCALL, MOV_EAX(39), SYSCALL, 0xc3};
    struct site_list list;

    begin_file();
    memcpy(file.bytes + TEXT, code, sizeof code);
    file.size += sizeof code;
    end_file();
    is_int(sites_find(&list, file.bytes, file.size), 0, "two adjacent calls are read");
    is_int((intmax_t)list.n, 2, "two adjacent calls give two sites");
    is_int(list.sites[0].kind, SITE_NONE,
           "the first of two adjacent calls leaves the second its window");
    is_int(list.sites[1].kind, SITE_NUMBER, "the second of two adjacent calls has its window");
    ok(site_is_sound(&list.sites[0]), "the first of two adjacent calls is sound");
    is_int((intmax_t)list.build_id_len, 4, "the build id is found");
    is_mem(list.build_id, "\1\2\3\377", 4, "the build id is the file's");
    sites_release(&list);
}

static void check_point(void)
{
    static const uint8_t caller[] = {0xe8, 11, 0, 0, 0, 0xc3}, arch[] = {CANCEL_ARCH};
    uint64_t entry = VADDR + 16;
    struct site_list list;

    begin_file();
    memcpy(file.bytes + offsetof(Elf64_Ehdr, e_entry), &entry, sizeof entry);
    memset(file.bytes + TEXT, 0x90, 16);
    memcpy(file.bytes + TEXT, caller, sizeof caller);
    memcpy(file.bytes + TEXT + 16, arch, sizeof arch);
    file.size += 16 + sizeof arch;
    end_file();
    is_int(sites_find(&list, file.bytes, file.size), 0, "a cancellation point is read");
    if (is_int((intmax_t)list.n, 2,
               "a cancellation point has two sites: its caller and its function's call")) {
        is_str(site_kind_name(list.sites[0].kind), "call",
               "a cancellation point's caller is a call site");
        is_int(list.sites[0].at, VADDR, "a cancellation point's caller is at its place");
        is_int(list.sites[0].length, 5, "a cancellation point's caller has the length of its call");
        ok(site_is_sound(&list.sites[0]), "a cancellation point's caller is sound");
        is_int(list.sites[1].reason, SITE_CANCELLATION,
               "a cancellation point's function is no site");
    }
    sites_release(&list);
}

static void check_relatives(void)
{
    static const uint8_t code[] = {MOV_EAX(202), 0x48, 0x8d, 0x3d, 1, 0, 0, 0, SYSCALL, 0xc3};
    struct site_list list;

    begin_file();
    memcpy(file.bytes + TEXT, code, sizeof code);
    file.size += sizeof code;
    end_file();
    sites_find(&list, file.bytes, file.size);
    is_int(list.sites[0].relative[0], 3, "a distance that changes on a move is recorded");
    is_int(list.sites[0].relative[1], 0, "a site records no further distance");
    sites_release(&list);
}

static void check_refusals(void)
{
    struct site_list list;

    begin_file();
    end_file();
    is_int(sites_find(&list, file.bytes, file.size), -ENOEXEC,
           "sites_find refuses a file without code");
    file.bytes[18] = EM_386;
    is_int(sites_find(&list, file.bytes, file.size), -ENOEXEC,
           "sites_find refuses a file for another machine");
    is_int(sites_find(&list, "", 0), -ENOEXEC, "sites_find refuses an empty file");
    is_int(sites_find_in(&list, "/dev/null"), -EINVAL, "sites_find_in refuses a device");
    is_int(sites_find_in(&list, "/nonexistent"), -ENOENT, "sites_find_in refuses a missing file");
}

static void check_soundness(void)
{
    static const struct patch_site good = {.at = 0x1000,
                                           .call = 0x1007,
                                           .number = 202,
                                           .kind = SITE_BEFORE,
                                           .length = 9,
                                           .call_size = 2,
                                           .bytes = {1, 2, 3},
                                           .relative = {3}};
    int believed = 0;

#define WITH(member, value)                                                                        \
    do {                                                                                           \
        struct patch_site s = good;                                                                \
        s.member = value;                                                                          \
        believed += !row(!site_is_sound(&s), "%s", #member " " #value);                            \
    } while (0)
    ok(site_is_sound(&good), "a valid site is sound");
    WITH(kind, SITE_KINDS);
    WITH(kind, SITE_NONE);
    WITH(kind, SITE_AFTER);
    WITH(kind, SITE_NUMBER);
    WITH(reason, SITE_REASONS);
    WITH(reason, SITE_SWITCH);
    WITH(number, -2);
    WITH(length, 8);
    WITH(length, SITE_WINDOW + 1);
    WITH(call_size, 0);
    WITH(call, 0x0fff);
    WITH(at, 0x1008);
    WITH(at, UINT32_MAX);
    WITH(bytes[9], 1);
    WITH(relative[0], 4);
    WITH(relative[1], 3);
    WITH(relative[1], 5);
    is_int(believed, 0, "a site with a field out of range is unsound");
}

int main(void)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_row(&rows[i]);
    check_neighbours();
    check_point();
    check_relatives();
    check_refusals();
    check_soundness();
    is_str(site_kind_name(99), "?", "an unknown kind has no name");
    is_str(site_reason_name(99), "?", "an unknown reason has no name");
    return done_testing();
}
