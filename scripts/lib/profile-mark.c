// SPDX-License-Identifier: GPL-2.0
/*
 * A program for the guest: executes the instruction that profile-plugin.c takes for a mark
 * and exits. With arguments, hexadecimal numbers of 64 bits, it sends these to the plugin
 * instead. It uses no C library, so that nothing else runs.
 */
void _start(void);
void sends(char *const *argv);

/* One function for each instruction: QEMU translates them to separate blocks. */
__asm__(
	".text\n"
	"say_mark: xchg %rsi,%rsi; ret\n"
	"say_zero: xchg %rdi,%rdi; ret\n"
	"say_one: xchg %r8,%r8; ret\n"
	".globl _start\n"
	"_start: lea 8(%rsp),%rdi; call sends\n"
	"movl $60,%eax; xorl %edi,%edi; syscall\n");
void say_mark(void);
void say_zero(void);
void say_one(void);

void sends(char *const *argv)
{
	if (!argv[0] || !argv[1])
		say_mark();
	while (*argv && *++argv) {
		unsigned long number = 0;

		for (const char *digit = *argv; *digit; digit++)
			number = number << 4 | (unsigned long)(*digit <= '9' ? *digit - '0' :
							       *digit - 'a' + 10);
		for (int bit = 63; bit >= 0; bit--)
			number >> bit & 1 ? say_one() : say_zero();
	}
}
