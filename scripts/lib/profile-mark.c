// SPDX-License-Identifier: GPL-2.0
/*
 * A program for the guest: executes the instruction that profile-plugin.c takes for a mark
 * and exits. It uses no C library, so that nothing else runs.
 */
void _start(void);
void _start(void)
{
	__asm__ volatile("xchg %rsi,%rsi; movl $60,%eax; xorl %edi,%edi; syscall");
	__builtin_unreachable();
}
