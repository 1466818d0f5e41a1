/* crt1_aarch64.S: as crt1_x86_64.S, which has the reasons. */
	.text
	.globl	_start
	.type	_start, %function
_start:
	.cfi_startproc
	.cfi_undefined x30
	mov	x29, #0
	mov	x30, #0
	mov	x5, x0			/* rtld_fini */
	ldr	x1, [sp]		/* argc */
	add	x2, sp, #8		/* argv */
	mov	x6, sp			/* stack_end */
	mov	x4, #0			/* fini */
	adrp	x3, constructors
	add	x3, x3, :lo12:constructors
	adrp	x0, :got:main
	ldr	x0, [x0, :got_lo12:main]
	bl	__libc_start_main
	brk	#1
	.cfi_endproc
	.size	_start, . - _start

/* void constructors(int argc, char **argv, char **envp) */
	.type	constructors, %function
constructors:
	.cfi_startproc
	stp	x29, x30, [sp, #-64]!
	.cfi_def_cfa_offset 64
	.cfi_offset x29, -64
	.cfi_offset x30, -56
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	str	x23, [sp, #48]
	.cfi_offset x19, -48
	.cfi_offset x20, -40
	.cfi_offset x21, -32
	.cfi_offset x22, -24
	.cfi_offset x23, -16
	mov	w19, w0
	mov	x20, x1
	mov	x21, x2
	bl	_init
	adrp	x22, __init_array_start
	add	x22, x22, :lo12:__init_array_start
	adrp	x23, __init_array_end
	add	x23, x23, :lo12:__init_array_end
0:
	cmp	x22, x23
	b.hs	1f
	mov	w0, w19
	mov	x1, x20
	mov	x2, x21
	ldr	x3, [x22], #8
	blr	x3
	b	0b
1:
	ldr	x23, [sp, #48]
	ldp	x21, x22, [sp, #32]
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #64
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	constructors, . - constructors

	.hidden	__init_array_start
	.hidden	__init_array_end
	.section .rodata.cst4, "aM", %progbits, 4
	.globl	_IO_stdin_used
	.type	_IO_stdin_used, %object
	.size	_IO_stdin_used, 4
_IO_stdin_used:
	.word	0x20001
	.section .note.GNU-stack, "", %progbits
