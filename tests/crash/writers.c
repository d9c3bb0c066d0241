// SPDX-License-Identifier: GPL-2.0
/*
 * Runs in the guest of scripts/crash: writes data that must survive, prints the
 * kernel's promises, and checks them after the power cut.
 *
 *   writers write TAG DIR [COUNT]   several concurrent writers, until killed, or
 *                                   COUNT promises each; for each one a line
 *                                   "ack TAG KIND NUMBER"
 *   writers check TAG DIR FILE      FILE has such lines; for each broken one a
 *                                   line "lost TAG KIND NUMBER: why"
 *
 * A line is printed only after the call that makes the promise has returned.
 * Contents are a function of kind and number, so no state is needed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK 4096
/* Blocks of the file that is overwritten in place; few, to hit each often. */
#define BLOCKS 64
#define NOISE_BLOCKS 1024
/* Fits the disk with any sizes. */
#define LAST 2000
#define LONGEST (32 * 1024)

enum { CLASS_RT = 1, CLASS_BE = 2, CLASS_IDLE = 3 };

static const char *tag;
static const char *dir;
static long limit;

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static uint64_t seed_of(const char *kind, uint64_t number)
{
	uint64_t hash = 0;

	while (*kind)
		hash = mix(hash ^ (unsigned char)*kind++);
	return mix(hash ^ number);
}

/* The first eight bytes are the number itself, for files that are replaced. */
static void fill(char *buf, size_t len, const char *kind, uint64_t number)
{
	uint64_t seed = seed_of(kind, number);
	size_t at;

	for (at = 0; at < len; at += 8) {
		uint64_t word = at ? mix(seed + at) : number;

		memcpy(buf + at, &word, len - at < 8 ? len - at : 8);
	}
}

static size_t length_of(const char *kind, uint64_t number)
{
	uint64_t seed = mix(seed_of(kind, number));

	/* Mostly small: then more promises fit between two cuts. */
	return 8 + seed % (seed >> 60 ? 3 * BLOCK : LONGEST - 8);
}

static int block_of(uint64_t number)
{
	return seed_of("block", number) % BLOCKS;
}

static void path_of(char *path, const char *kind, long number)
{
	if (number < 0)
		snprintf(path, BLOCK, "%s/%s", dir, kind);
	else
		snprintf(path, BLOCK, "%s/%s.%ld", dir, kind, number);
}

/* One write a line, so lines of several processes do not mix. */
static void say(const char *format, ...)
{
	char line[256];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (len >= (int)sizeof(line)) {
		len = sizeof(line) - 1;
		line[len - 1] = '\n';
	}
	if (write(1, line, len) != len)
		_exit(1);
}

static void die(const char *kind, const char *what)
{
	say("error %s %s: %s: %s\n", tag, kind, what, strerror(errno));
	_exit(1);
}

static void ack(const char *kind, long number)
{
	say("ack %s %s %ld\n", tag, kind, number);
}

static int open_file(const char *kind, long number, int flags)
{
	char path[BLOCK];
	int fd;

	path_of(path, kind, number);
	fd = open(path, flags, 0644);
	if (fd < 0)
		die(kind, "open");
	return fd;
}

static void write_all(const char *kind, int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t done = write(fd, buf, len);

		if (done < 0)
			die(kind, "write");
		buf += done;
		len -= done;
	}
}

static void sync_dir(const char *kind)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY);

	if (fd < 0 || fsync(fd))
		die(kind, "fsync of the directory");
	close(fd);
}

static void priority(int class, int level)
{
	syscall(SYS_ioprio_set, 1, 0, class << 13 | level);
}

static int more(long number)
{
	if (number < LAST && (!limit || number < limit))
		return 1;
	while (!limit)
		pause();
	return 0;
}

/* A new file and fsync; ext4's journal commits its name along with it. */
static void write_files(const char *kind)
{
	static char buf[LONGEST];
	long n;

	for (n = 0; more(n); n++) {
		int fd = open_file(kind, n, O_WRONLY | O_CREAT | O_EXCL);
		size_t len = length_of(kind, n);

		fill(buf, len, kind, n);
		write_all(kind, fd, buf, len);
		if (fsync(fd))
			die(kind, "fsync");
		close(fd);
		ack(kind, n);
	}
}

/* Overwrites with O_DSYNC and O_DIRECT: FUA, where the device has it. */
static void write_dsync(const char *kind)
{
	char *buf = aligned_alloc(BLOCK, BLOCK);
	int fd = open_file(kind, -1, O_WRONLY | O_CREAT | O_EXCL);
	long n;

	memset(buf, 0, BLOCK);
	for (n = 0; n < BLOCKS; n++)
		write_all(kind, fd, buf, BLOCK);
	if (fsync(fd))
		die(kind, "fsync");
	close(fd);
	sync_dir(kind);
	fd = open_file(kind, -1, O_WRONLY | O_DSYNC);
	/* Not every file system has it; ext4 does. */
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_DIRECT))
		say("note %s %s: no O_DIRECT here\n", tag, kind);
	/* Number 0 is the content from before. */
	for (n = 1; more(n); n++) {
		fill(buf, BLOCK, kind, n);
		if (pwrite(fd, buf, BLOCK, (off_t)block_of(n) * BLOCK) != BLOCK)
			die(kind, "pwrite");
		ack(kind, n);
	}
}

/* Appends records, with fdatasync after each. */
static void write_append(const char *kind)
{
	static char buf[LONGEST];
	int fd = open_file(kind, -1, O_WRONLY | O_CREAT | O_EXCL);
	long n;

	for (n = 0; more(n); n++) {
		size_t len = length_of(kind, n);

		fill(buf, len, kind, n);
		write_all(kind, fd, buf, len);
		if (fdatasync(fd))
			die(kind, "fdatasync");
		ack(kind, n);
	}
}

/* A file that is replaced repeatedly: it must have the old or the new content. */
static void write_rename(const char *kind)
{
	static char buf[LONGEST];
	char from[BLOCK], to[BLOCK];
	long n;

	path_of(to, kind, -1);
	snprintf(from, sizeof(from), "%.4000s/%s.new", dir, kind);
	for (n = 0; more(n); n++) {
		size_t len = length_of(kind, n);
		int fd = open(from, O_WRONLY | O_CREAT | O_TRUNC, 0644);

		if (fd < 0)
			die(kind, "open");
		fill(buf, len, kind, n);
		write_all(kind, fd, buf, len);
		if (fsync(fd))
			die(kind, "fsync");
		close(fd);
		if (rename(from, to))
			die(kind, "rename");
		sync_dir(kind);
		ack(kind, n);
	}
}

/* Never synced and never promised: blocks that a cut can lose. */
static void write_noise(const char *kind)
{
	char *buf = aligned_alloc(BLOCK, BLOCK);
	int fd = open_file(kind, -1, O_RDWR | O_CREAT | O_EXCL);
	uint64_t n;

	for (n = 0;; n++) {
		uint64_t r = mix(n ^ 0x6e6f697365);

		fill(buf, BLOCK, kind, n);
		if (pwrite(fd, buf, BLOCK,
			   (off_t)(r % NOISE_BLOCKS) * BLOCK) != BLOCK)
			die(kind, "pwrite");
		if (n % 8 == 7)
			sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
		usleep(1000 + r % 2000);
	}
}

static const struct writer {
	const char *kind;
	void (*run)(const char *kind);
	int class;
	int level;
} writers[] = {
	{ "file-rt", write_files, CLASS_RT, 4 },
	{ "file-be", write_files, CLASS_BE, 7 },
	{ "file-idle", write_files, CLASS_IDLE, 0 },
	{ "dsync", write_dsync, CLASS_RT, 0 },
	{ "append", write_append, CLASS_BE, 0 },
	{ "rename", write_rename, CLASS_BE, 4 },
	{ "noise", write_noise, CLASS_BE, 4 },
};

#define WRITERS (int)(sizeof(writers) / sizeof(writers[0]))

static int write_mode(void)
{
	pid_t pids[WRITERS];
	int left = WRITERS - 1, status, bad = 0, i;

	for (i = 0; i < WRITERS; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			die(writers[i].kind, "fork");
		if (pids[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		priority(writers[i].class, writers[i].level);
		writers[i].run(writers[i].kind);
		_exit(0);
	}
	/* A failed writer has printed its error; do not wait for the others. */
	while (left && !bad && wait(&status) > 0) {
		bad = status;
		left--;
	}
	for (i = 0; i < WRITERS; i++)
		kill(pids[i], SIGKILL);
	return bad ? 1 : 0;
}

static long lost;

static void tell_lost(const char *kind, long number, const char *format, ...)
{
	char why[128];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	/* Print only the first lines of thousands. */
	if (lost++ < 20)
		say("lost %s %s %ld: %s\n", tag, kind, number, why);
}

/* The whole file, or -1; longer files than the longest one are truncated. */
static ssize_t read_file(const char *kind, long number, char *buf, size_t size)
{
	char path[BLOCK];
	ssize_t done, len = 0;
	int fd;

	path_of(path, kind, number);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	while ((size_t)len < size &&
	       (done = read(fd, buf + len, size - len)) != 0) {
		if (done < 0) {
			len = -1;
			break;
		}
		len += done;
	}
	close(fd);
	return len;
}

static ssize_t differs(const char *got, const char *want, size_t len)
{
	size_t at;

	for (at = 0; at < len; at++)
		if (got[at] != want[at])
			return at;
	return -1;
}

static char got[LONGEST + 1], want[LONGEST];

static void check_whole(const char *kind, long promised, long number,
			ssize_t len)
{
	ssize_t at;

	if (len != (ssize_t)length_of(kind, number)) {
		tell_lost(kind, promised, "%zd bytes, want %zu", len,
			  length_of(kind, number));
		return;
	}
	fill(want, len, kind, number);
	at = differs(got, want, len);
	if (at >= 0)
		tell_lost(kind, promised, "differs from byte %zd on", at);
}

static void check_file(const char *kind, long number)
{
	ssize_t len = read_file(kind, number, got, sizeof(got));

	if (len < 0)
		tell_lost(kind, number, "%s", strerror(errno));
	else
		check_whole(kind, number, number, len);
}

static void check_rename(const char *kind, long promised)
{
	ssize_t len = read_file(kind, -1, got, sizeof(got));
	uint64_t number;

	if (len < 8) {
		tell_lost(kind, promised, len < 0 ? "cannot be read" :
			  "has no content");
		return;
	}
	memcpy(&number, got, 8);
	if (number > LAST || (long)number < promised)
		tell_lost(kind, promised, "there is number %lld",
			  (long long)number);
	else
		check_whole(kind, promised, number, len);
}

static void check_append(const char *kind, long promised)
{
	char path[BLOCK];
	FILE *file;
	long n;

	path_of(path, kind, -1);
	file = fopen(path, "r");
	if (!file) {
		tell_lost(kind, promised, "%s", strerror(errno));
		return;
	}
	for (n = 0; n <= promised; n++) {
		size_t len = length_of(kind, n);
		size_t have = fread(got, 1, len, file);
		ssize_t at;

		fill(want, len, kind, n);
		at = differs(got, want, have);
		if (have < len && at < 0)
			at = have;
		if (at < 0)
			continue;
		tell_lost(kind, n, "differs from byte %zd of %zu on", at, len);
		break;
	}
	fclose(file);
}

static void check_dsync(const char *kind, const long *promised)
{
	static char all[BLOCKS * BLOCK + 1];
	ssize_t len = read_file(kind, -1, all, sizeof(all));
	int block;

	if (len != BLOCKS * BLOCK) {
		tell_lost(kind, 0, "%zd bytes, want %d", len, BLOCKS * BLOCK);
		return;
	}
	for (block = 0; block < BLOCKS; block++) {
		const char *here = all + (size_t)block * BLOCK;
		uint64_t number;
		ssize_t at;

		memcpy(&number, here, 8);
		if (number > LAST || (long)number < promised[block]) {
			tell_lost(kind, promised[block],
				  "block %d has number %lld", block,
				  (long long)number);
			continue;
		}
		memset(want, 0, BLOCK);
		if (number)
			fill(want, BLOCK, kind, number);
		at = differs(here, want, BLOCK);
		if (at >= 0 || (number && block_of(number) != block))
			tell_lost(kind, promised[block],
				  "block %d differs from byte %zd on", block,
				  at);
	}
}

static int check_mode(const char *acks)
{
	long dsync[BLOCKS] = {}, append = -1, renamed = -1, count = 0;
	int any_dsync = 0;
	char line[256], whose[64], kind[64];
	FILE *file = fopen(acks, "r");
	long number;

	if (!file)
		die("check", acks);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "ack %63s %63s %ld", whose, kind,
			   &number) != 3) {
			errno = EINVAL;
			die("check", line);
		}
		if (strcmp(whose, tag))
			continue;
		count++;
		if (!strncmp(kind, "file-", 5)) {
			check_file(kind, number);
		} else if (!strcmp(kind, "append")) {
			append = number > append ? number : append;
		} else if (!strcmp(kind, "rename")) {
			renamed = number > renamed ? number : renamed;
		} else if (!strcmp(kind, "dsync")) {
			any_dsync = 1;
			if (dsync[block_of(number)] < number)
				dsync[block_of(number)] = number;
		} else {
			errno = EINVAL;
			die("check", kind);
		}
	}
	fclose(file);
	if (append >= 0)
		check_append("append", append);
	if (renamed >= 0)
		check_rename("rename", renamed);
	if (any_dsync)
		check_dsync("dsync", dsync);
	say("checked %s: %ld promises, %ld broken\n", tag, count, lost);
	return lost ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc >= 4) {
		tag = argv[2];
		dir = argv[3];
		if (!strcmp(argv[1], "write") && argc <= 5) {
			limit = argc == 5 ? atol(argv[4]) : 0;
			return write_mode();
		}
		if (!strcmp(argv[1], "check") && argc == 5)
			return check_mode(argv[4]);
	}
	fprintf(stderr, "usage: writers write TAG DIR [COUNT]\n"
		"       writers check TAG DIR FILE\n");
	return 2;
}
