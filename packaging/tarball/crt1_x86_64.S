/*
 * crt1_x86_64.S: start-up code of the tarball's program, for any glibc.
 *
 * Since 2.34 the C library runs the constructors of a program. Before that, start-up code in the program
 * did (__libc_csu_init). The argument `init` of __libc_start_main@GLIBC_2.2.5 selects between the two.
 * This code always passes `constructors`, which runs them, so every version runs them once. In all
 * versions the loader runs the destructors.
 */
	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	endbr64
	xorl	%ebp, %ebp
	movq	%rdx, %r9		/* rtld_fini */
	popq	%rsi			/* argc */
	movq	%rsp, %rdx		/* argv */
	andq	$-16, %rsp
	pushq	%rax
	pushq	%rsp			/* stack_end */
	xorl	%r8d, %r8d		/* fini */
	leaq	constructors(%rip), %rcx
	movq	main@GOTPCREL(%rip), %rdi
	call	*__libc_start_main@GOTPCREL(%rip)
	hlt
	.cfi_endproc
	.size	_start, . - _start

/* void constructors(int argc, char **argv, char **envp) */
	.type	constructors, @function
constructors:
	.cfi_startproc
	endbr64
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	pushq	%r13
	.cfi_adjust_cfa_offset 8
	pushq	%r14
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	movl	%edi, %r12d
	movq	%rsi, %r13
	movq	%rdx, %r14
	call	_init
	leaq	__init_array_start(%rip), %rbx
0:
	leaq	__init_array_end(%rip), %rax
	cmpq	%rax, %rbx
	jae	1f
	movl	%r12d, %edi
	movq	%r13, %rsi
	movq	%r14, %rdx
	call	*(%rbx)
	addq	$8, %rbx
	jmp	0b
1:
	addq	$8, %rsp
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	ret
	.cfi_endproc
	.size	constructors, . - constructors

	.hidden	__init_array_start
	.hidden	__init_array_end
	.section .rodata.cst4, "aM", @progbits, 4
	.globl	_IO_stdin_used
	.type	_IO_stdin_used, @object
	.size	_IO_stdin_used, 4
_IO_stdin_used:
	.long	0x20001
	.section .note.GNU-stack, "", @progbits
