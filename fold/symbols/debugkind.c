/*
 * Source: DWARF 5, section 7.5.1 (unit headers) and 3.1.2 (skeleton units), and the ELF gABI's
 * compressed sections. Before DWARF 5 a skeleton is no unit of its own kind; what GNU's extension
 * for it has, and nothing else of that version, is .debug_addr.
 */
#include "fold/symbols/debugkind.h"

#include <stdbool.h>
#include <string.h>

#include "fold/symbols/elfsym_impl.h"

#define COMPRESSED_BY_ZSTD 2u
#define SKELETON 4u
#define UNIT_HEADER 7u /* length, version, and kind */

static bool is_zstd(Elf_Scn *section)
{
    GElf_Chdr header;

    return gelf_getchdr(section, &header) && header.ch_type == COMPRESSED_BY_ZSTD;
}

static bool has_skeleton(const uint8_t *bytes, size_t size, bool has_addresses)
{
    uint32_t len;
    uint16_t version;

    for (size_t at = 0; at < size && size - at >= UNIT_HEADER; at += sizeof len + len) {
        memcpy(&len, bytes + at, sizeof len);
        memcpy(&version, bytes + at + sizeof len, sizeof version);
        if (version == 5 ? bytes[at + sizeof len + sizeof version] == SKELETON
                         : version == 4 && has_addresses)
            return true;
        if (len > size - at - sizeof len)
            return false;
    }
    return false;
}

enum debugkind debugkind_of(const struct elfsym *e)
{
    GElf_Shdr header;
    Elf_Scn *section = elfsym_section(e, ".debug_info", &header);
    Elf_Data *data;

    if (!section)
        return DEBUGKIND_PLAIN;
    if (header.sh_flags & SHF_COMPRESSED)
        return is_zstd(section) ? DEBUGKIND_ZSTD : DEBUGKIND_PLAIN;
    data = elf_rawdata(section, NULL);
    if (data && data->d_buf &&
        has_skeleton(data->d_buf, data->d_size, elfsym_has_section(e, ".debug_addr")))
        return DEBUGKIND_SPLIT;
    return DEBUGKIND_PLAIN;
}
