// SPDX-License-Identifier: GPL-2.0
/*
 * Runs in the guest: the instruction that profile-plugin.c takes for a mark, and
 * the end. Without a C library: nothing else runs.
 */
void _start(void);
void _start(void)
{
	__asm__ volatile("xchg %rsi,%rsi; movl $60,%eax; xorl %edi,%edi; syscall");
	__builtin_unreachable();
}
