// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU that counts the instructions of the guest's kernel by address, for
 * scripts/bench-cost --profile.
 *
 * QEMU translates guest code block by block. Each block of the kernel has two counters:
 * instructions run with interrupts on, and with interrupts off. User space as a whole has
 * one. Nothing in the guest changes, and neither does its virtual time.
 *
 * A plugin cannot read the interrupt flag, so this one follows it. STI, IRET and SYSRET set
 * it; CLI and every way into the kernel clear it. An entry from user space is the first
 * kernel block after a user block; an interrupt in the kernel begins with CLD, which the
 * kernel uses at entries only. POPF does not matter: Linux restores the flag with STI,
 * except on the way to suspend.
 *
 * A mark is the instruction XCHG RSI,RSI in user space (profile-mark.c). Every other mark
 * starts the count again; the next one writes it to the file out=: a line "mark N", and a
 * line "ADDRESS RUNS ON OFF" for each block that ran. User space has address 0.
 *
 * Virtual time has one CPU, so nothing here is locked.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part of QEMU's interface, version 1, that this uses. */
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
void qemu_plugin_register_vcpu_tb_trans_cb(
	qemu_plugin_id_t id,
	void (*cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(
	struct qemu_plugin_tb *tb, void (*cb)(unsigned int cpu, void *data),
	enum qemu_plugin_cb_flags flags, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t at);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

int qemu_plugin_version = 1;

#define SLOTS (1 << 20)
#define KERNEL (1ULL << 63)

/* Effect of an instruction on the interrupt flag. */
enum effect { KEEPS, CLEARS, SETS };

/**
 * struct block - code of the guest that QEMU translates as one unit
 * @addr: address of the first instruction; 0 for user space
 * @insns: number of instructions
 * @before: number of instructions up to the one that has @effect, that one included;
 *	@insns if there is none
 * @effect: effect of the block on the interrupt flag
 * @mark: the block contains a mark
 * @runs: how often the block ran since the last mark
 * @count: instructions since the last mark, with interrupts on [0] and off [1]
 */
struct block {
	uint64_t addr;
	uint32_t insns;
	uint32_t before;
	enum effect effect;
	bool mark;
	uint64_t runs;
	uint64_t count[2];
};

static struct block *blocks[SLOTS];
static FILE *out;
static unsigned long marks;
static bool irqs_off, in_user;

/* Writes what was counted if this mark ends a count, and starts again. */
static void marked(void)
{
	bool write = ++marks % 2 == 0;

	if (write)
		fprintf(out, "mark %lu\n", marks);
	for (size_t i = 0; i < SLOTS; i++) {
		struct block *b = blocks[i];

		if (!b || !b->runs)
			continue;
		if (write)
			fprintf(out, "%" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
				b->addr, b->runs, b->count[0], b->count[1]);
		b->runs = b->count[0] = b->count[1] = 0;
	}
	fflush(out);
}

static void executed(unsigned int cpu, void *data)
{
	struct block *b = data;

	(void)cpu;
	b->runs++;
	if (!b->addr) {
		irqs_off = false;
		in_user = true;
		b->count[0] += b->insns;
		if (b->mark)
			marked();
		return;
	}
	if (in_user) {
		irqs_off = true;
		in_user = false;
	}
	b->count[irqs_off] += b->before;
	if (b->effect == KEEPS)
		return;
	irqs_off = b->effect == CLEARS;
	b->count[irqs_off] += b->insns - b->before;
}

static enum effect effect_of(const struct qemu_plugin_insn *insn)
{
	const uint8_t *code = qemu_plugin_insn_data(insn);
	size_t size = qemu_plugin_insn_size(insn);

	if (size == 1 && (code[0] == 0xfa || code[0] == 0xfc))
		return CLEARS;		/* CLI, CLD */
	if (size == 1 && code[0] == 0xfb)
		return SETS;		/* STI */
	if ((size == 2 && code[0] == 0x48 && code[1] == 0xcf) ||
	    (size == 3 && !memcmp(code, "\x48\x0f\x07", 3)))
		return SETS;		/* IRETQ, SYSRETQ */
	return KEEPS;
}

static struct block *find(const struct block *key)
{
	size_t at = (key->addr * 0x9e3779b97f4a7c15ULL + key->insns) >> 44;

	for (;; at = (at + 1) % SLOTS) {
		struct block *b = blocks[at];

		if (!b) {
			b = blocks[at] = malloc(sizeof(*b));
			if (!b)
				abort();
			*b = *key;
			return b;
		}
		if (b->addr == key->addr && b->insns == key->insns &&
		    b->before == key->before && b->effect == key->effect &&
		    b->mark == key->mark)
			return b;
	}
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t insns = qemu_plugin_tb_n_insns(tb);
	struct block key = { .insns = insns, .before = insns };

	(void)id;
	key.addr = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	if (key.addr < KERNEL)
		key.addr = 0;
	for (size_t i = 0; i < insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		enum effect effect;

		if (!key.addr) {
			if (qemu_plugin_insn_size(insn) == 3 &&
			    !memcmp(qemu_plugin_insn_data(insn), "\x48\x87\xf6", 3))
				key.mark = true;
			continue;
		}
		effect = effect_of(insn);
		if (effect == KEEPS)
			continue;
		/* The last one counts if a block has several, which is rare. */
		key.effect = effect;
		key.before = i + 1;
	}
	qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, QEMU_PLUGIN_CB_NO_REGS,
					     find(&key));
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);
int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "w");
	}
	if (!out) {
		fprintf(stderr, "profile-plugin: no out=FILE that can be written\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
