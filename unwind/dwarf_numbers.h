/*
 * dwarf_numbers.h: the numbers of DWARF in unwind tables, under the names that the standards give
 * them.
 *
 * DW_CFA_* and DW_OP_* are from DWARF 5, sections 7.24 and 7.7.1; DW_CFA_GNU_*, DW_EH_PE_* and the
 * augmentation letters from the LSB core's "DWARF Extensions". The system's <dwarf.h> is not used
 * because it comes with libdwarf or elfutils, and the recorder is built without them.
 */
#ifndef FLAME_UNWIND_DWARF_NUMBERS_H
#define FLAME_UNWIND_DWARF_NUMBERS_H

/* Call frame instructions. The first three have an operand in their low six bits. */
enum {
    DW_CFA_advance_loc = 0x40,
    DW_CFA_offset = 0x80,
    DW_CFA_restore = 0xc0,
    DW_CFA_high_bits = 0xc0, /* flame's own: the mask of these three */
    DW_CFA_nop = 0x00,
    DW_CFA_set_loc = 0x01,
    DW_CFA_advance_loc1 = 0x02,
    DW_CFA_advance_loc2 = 0x03,
    DW_CFA_advance_loc4 = 0x04,
    DW_CFA_offset_extended = 0x05,
    DW_CFA_restore_extended = 0x06,
    DW_CFA_undefined = 0x07,
    DW_CFA_same_value = 0x08,
    DW_CFA_register = 0x09,
    DW_CFA_remember_state = 0x0a,
    DW_CFA_restore_state = 0x0b,
    DW_CFA_def_cfa = 0x0c,
    DW_CFA_def_cfa_register = 0x0d,
    DW_CFA_def_cfa_offset = 0x0e,
    DW_CFA_def_cfa_expression = 0x0f,
    DW_CFA_expression = 0x10,
    DW_CFA_offset_extended_sf = 0x11,
    DW_CFA_def_cfa_sf = 0x12,
    DW_CFA_def_cfa_offset_sf = 0x13,
    DW_CFA_val_offset = 0x14,
    DW_CFA_val_offset_sf = 0x15,
    DW_CFA_val_expression = 0x16,
    DW_CFA_AARCH64_negate_ra_state_with_pc = 0x2c,
    DW_CFA_AARCH64_negate_ra_state = 0x2d, /* elsewhere: DW_CFA_GNU_window_save */
    DW_CFA_GNU_args_size = 0x2e,
    DW_CFA_GNU_negative_offset_extended = 0x2f,
};

/* Operations of expressions. lit0 to lit31 and breg0 to breg31 follow one another. */
enum {
    DW_OP_deref = 0x06,
    DW_OP_and = 0x1a,
    DW_OP_plus = 0x22,
    DW_OP_shl = 0x24,
    DW_OP_ge = 0x2a,
    DW_OP_lit0 = 0x30,
    DW_OP_lit31 = 0x4f,
    DW_OP_breg0 = 0x70,
};

/* Encoding of a pointer: its format, its base, and whether it is indirect. */
enum {
    DW_EH_PE_absptr = 0x00,
    DW_EH_PE_uleb128 = 0x01,
    DW_EH_PE_udata2 = 0x02,
    DW_EH_PE_udata4 = 0x03,
    DW_EH_PE_udata8 = 0x04,
    DW_EH_PE_sleb128 = 0x09,
    DW_EH_PE_sdata2 = 0x0a,
    DW_EH_PE_sdata4 = 0x0b,
    DW_EH_PE_sdata8 = 0x0c,
    DW_EH_PE_format = 0x0f, /* flame's own: the mask of the values above */
    DW_EH_PE_pcrel = 0x10,
    DW_EH_PE_datarel = 0x30,
    DW_EH_PE_base = 0x70, /* flame's own: the mask of the values above */
    DW_EH_PE_indirect = 0x80,
    DW_EH_PE_omit = 0xff,
};

#endif
