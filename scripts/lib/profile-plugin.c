// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU that counts the instructions of the guest's kernel by address, for
 * scripts/bench-cost --profile, or those of locked sections, for scripts/lock-holds.
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
 * The guest can send 64-bit numbers, before a mark: XCHG RDI,RDI is a bit 0, XCHG R8,R8 a
 * bit 1, the highest bit first. The numbers are the first address of the watched code, the
 * first one after it, and for each kind of lock the addresses of the functions that take
 * and release it. The mark then counts sections instead of blocks, and its lines are
 * "KIND INSTRUCTIONS SECTIONS":
 *
 *	lock	a lock that the watched code takes is held, without interrupts
 *	wall	the same sections with the interrupts that hit them
 *	off	instructions of the watched code within a section with interrupts off,
 *		which may have been begun by other code
 *	cli	sections with interrupts off that the watched code begins
 *
 * After these, lines "at ADDRESS INSTRUCTIONS" are the blocks of the longest "lock" section.
 *
 * A section begins with a jump from the watched code to the function that takes the lock.
 * Locks of other code are therefore not counted. Nested locks are one section.
 *
 * Virtual time has one CPU, so nothing here is locked.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The part of QEMU's interface that this uses. Each QEMU loads plugins of a range of
 * versions: 7.2 of 0 and 1, 10.0 of 2 to 4. costprofile.py finds one, API.
 */
typedef uint64_t qemu_plugin_id_t;
struct qemu_info_t {
	const char *target;
	int oldest_api, newest_api;
};
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
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t size);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

int qemu_plugin_version = API;

/* Since this version qemu_plugin_insn_data() copies; before, it returned a pointer. */
#define API_COPIES 3

#define SLOTS (1 << 20)
#define KERNEL (1ULL << 63)

/* Longer sections count as this long, in instructions. */
#define LONGEST ((1 << 20) - 1)
/* Blocks of a section that are remembered. */
#define PATH 32768
/* Numbers that the guest may send. */
#define SENT 32

/*
 * Effect of an instruction on the interrupt flag: ENTERS and LEAVES are the begin and the
 * end of an interrupt.
 */
enum effect { KEEPS, CLEARS, ENTERS, SETS, LEAVES };

/* What a block of user space says to this plugin. */
enum word { NOTHING, MARK, ZERO, ONE };

/**
 * struct block - code of the guest that QEMU translates as one unit
 * @addr: address of the first instruction; 0 for user space
 * @insns: number of instructions
 * @before: number of instructions up to the one that has @effect, that one included;
 *	@insns if there is none
 * @effect: effect of the block on the interrupt flag
 * @word: what the block says
 * @runs: how often the block ran since the last mark
 * @count: instructions since the last mark, with interrupts on [0] and off [1]
 */
struct block {
	uint64_t addr;
	uint32_t insns;
	uint32_t before;
	enum effect effect;
	enum word word;
	uint64_t runs;
	uint64_t count[2];
};

static struct block *blocks[SLOTS];
static bool copies;
static FILE *out;
static unsigned long marks;
static bool irqs_off, in_user;

/* Numbers from the guest: how many bits, the numbers; those of the present count. */
static unsigned int bits, nr_watched;
static uint64_t sent[SENT], watched[SENT];

enum kind { LOCK, WALL, OFF, CLI, KINDS };
static const char *const kinds[KINDS] = { "lock", "wall", "off", "cli" };
static uint64_t sections[KINDS][LONGEST + 1];

/*
 * State of the watch: nested interrupts, nested locks, instructions of the present
 * sections; the previous block outside of interrupts was watched code; the watched code
 * began the present section with interrupts off.
 */
static unsigned int interrupts, locks;
static uint64_t now[KINDS];
static bool from_watched, begun;

/* The blocks of the present locked section, and of the longest one. */
static const struct block *path[PATH], *longest_path[PATH];
static unsigned int nr_path, nr_longest;
static uint64_t longest;

static void lock_ends(void)
{
	if (now[LOCK] > longest) {
		longest = now[LOCK];
		nr_longest = nr_path;
		memcpy(longest_path, path, nr_path * sizeof(*path));
	}
	nr_path = 0;
}

static void section(enum kind kind)
{
	if (now[kind])
		sections[kind][now[kind] < LONGEST ? now[kind] : LONGEST]++;
	now[kind] = 0;
}

static void bit(bool one)
{
	uint64_t *number = &sent[bits / 64 % SENT];

	*number = *number << 1 | one;
	bits++;
}

/* Is @addr a function that takes (0) or releases (1) a lock? */
static bool is_lock(uint64_t addr, unsigned int side)
{
	for (unsigned int i = 2 + side; i < nr_watched; i += 2)
		if (watched[i] == addr)
			return true;
	return false;
}

static void watch(const struct block *b, bool user)
{
	bool own = b->addr >= watched[0] && b->addr < watched[1];

	if (b->effect == ENTERS && !user)
		interrupts++;
	if (!interrupts) {
		if (from_watched && is_lock(b->addr, 0))
			locks++;
		if (from_watched && locks && is_lock(b->addr, 1) && !--locks) {
			lock_ends();
			section(LOCK);
			section(WALL);
		}
		if (b->effect == CLEARS && !irqs_off &&
		    (own || (from_watched && is_lock(b->addr, 0))))
			begun = true;
		from_watched = own;
	}
	if (locks) {
		now[WALL] += b->insns;
		if (!interrupts) {
			now[LOCK] += b->insns;
			if (nr_path < PATH)
				path[nr_path++] = b;
		}
	}
	if (irqs_off && own)
		now[OFF] += b->insns;
	if (begun)
		now[CLI] += b->insns;
	if (b->effect == SETS || b->effect == LEAVES) {
		section(OFF);
		section(CLI);
		begun = false;
	}
	if (b->effect == LEAVES && interrupts)
		interrupts--;
}

/* Forgets sections that have not ended. */
static void watch_ends(void)
{
	memset(now, 0, sizeof(now));
	interrupts = locks = nr_path = 0;
	from_watched = begun = false;
}

/* Writes the sections, and starts again. */
static void marked_sections(bool write)
{
	for (int kind = 0; kind < KINDS; kind++) {
		for (int i = 0; write && i <= LONGEST; i++)
			if (sections[kind][i])
				fprintf(out, "%s %d %" PRIu64 "\n", kinds[kind], i,
					sections[kind][i]);
		memset(sections[kind], 0, sizeof(sections[kind]));
	}
	for (unsigned int i = 0; write && i < nr_longest; i++)
		fprintf(out, "at %" PRIx64 " %" PRIu32 "\n", longest_path[i]->addr,
			longest_path[i]->insns);
	longest = nr_longest = 0;
}

/* Writes what was counted if this mark ends a count, and starts again. */
static void marked(void)
{
	bool write = ++marks % 2 == 0;

	if (write)
		fprintf(out, "mark %lu\n", marks);
	if (bits) {
		nr_watched = bits / 64 < SENT ? bits / 64 : SENT;
		memcpy(watched, sent, sizeof(watched));
		bits = 0;
	}
	if (nr_watched) {
		marked_sections(write);
		fflush(out);
		return;
	}
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
	bool user = in_user;

	(void)cpu;
	b->runs++;
	if (!b->addr) {
		irqs_off = false;
		in_user = true;
		b->count[0] += b->insns;
		watch_ends();
		if (b->word == MARK)
			marked();
		else if (b->word != NOTHING)
			bit(b->word == ONE);
		return;
	}
	if (in_user) {
		irqs_off = true;
		in_user = false;
	}
	if (nr_watched)
		watch(b, user);
	b->count[irqs_off] += b->before;
	if (b->effect == KEEPS)
		return;
	irqs_off = b->effect == CLEARS || b->effect == ENTERS;
	b->count[irqs_off] += b->insns - b->before;
}

/* Copies the first @size bytes of an instruction, which must have as many. */
static void copy_code(const struct qemu_plugin_insn *insn, uint8_t *to, size_t size)
{
	const void *(*pointer)(const struct qemu_plugin_insn *insn) =
		(const void *(*)(const struct qemu_plugin_insn *))(void (*)(void))
			qemu_plugin_insn_data;

	if (copies)
		qemu_plugin_insn_data(insn, to, size);
	else
		memcpy(to, pointer(insn), size);
}

static enum effect effect_of(const struct qemu_plugin_insn *insn)
{
	uint8_t code[3];
	size_t size = qemu_plugin_insn_size(insn);

	if (size > sizeof(code))
		return KEEPS;
	copy_code(insn, code, size);
	if (size == 1 && code[0] == 0xfa)
		return CLEARS;		/* CLI */
	if (size == 1 && code[0] == 0xfc)
		return ENTERS;		/* CLD */
	if (size == 1 && code[0] == 0xfb)
		return SETS;		/* STI */
	if (size == 2 && code[0] == 0x48 && code[1] == 0xcf)
		return LEAVES;		/* IRETQ */
	if (size == 3 && !memcmp(code, "\x48\x0f\x07", 3))
		return SETS;		/* SYSRETQ */
	return KEEPS;
}

static enum word word_of(const struct qemu_plugin_insn *insn)
{
	static const char words[][3] = { [MARK] = "\x48\x87\xf6", [ZERO] = "\x48\x87\xff",
					 [ONE] = "\x4d\x87\xc0" };

	uint8_t code[3];

	if (qemu_plugin_insn_size(insn) != sizeof(code))
		return NOTHING;
	copy_code(insn, code, sizeof(code));
	for (enum word word = MARK; word <= ONE; word++)
		if (!memcmp(code, words[word], sizeof(code)))
			return word;
	return NOTHING;
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
		    b->word == key->word)
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
			enum word word = word_of(insn);

			if (word != NOTHING)
				key.word = word;
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

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc,
			char **argv);
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc,
			char **argv)
{
	copies = info->newest_api >= API_COPIES;
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
