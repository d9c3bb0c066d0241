// SPDX-License-Identifier: GPL-2.0
/*
 * layout.h, chipvec.h and batch.h by lines of text, for tests/host, where
 * another implementation answers the same lines.
 *
 *   layout TEXT                 -> number of chips, or the negative error
 *   span SECTOR SECTORS OFFSET  -> the vector, chip 0 first
 *   reset BATCHES               -> ok: no request, a pool of BATCHES
 *   add ID DIR SECTOR SECTORS   -> number of batches of DIR, or "full"
 *   issue DIR                   -> ID of the oldest waiting request of DIR's first
 *                                  batch, which is dispatched, or "-"
 *   remove ID                   -> ok
 */
#include "common/flash/batch.h"
#include "chiptext.h"

#include <stdlib.h>

#define IDS	4096

static struct flash_geometry geo;
static struct flash_batches batches;
static struct flash_batch pool[IDS];
static struct flash_batch_part part[IDS];

static void die(const char *line)
{
	fprintf(stderr, "oracle_chips: %s", line);
	exit(EXIT_FAILURE);
}

int main(void)
{
	unsigned long long sector, sectors, offset;
	char line[512], buf[FLASH_MAX_CHIPS + 1];
	unsigned int id, dir;
	struct flash_batch *first;
	struct flash_batch_part *next;
	struct flash_chipvec vec;
	int err;

	while (fgets(line, sizeof(line), stdin)) {
		if (!strncmp(line, "layout ", 7)) {
			err = flash_geometry_parse(line + 7, &geo);
			printf("%d\n", err ? err : (int)geo.nr_chips);
		} else if (sscanf(line, "span %llu %llu %llu", &sector,
				  &sectors, &offset) == 3) {
			flash_chipvec_fill(&vec, &geo, sector, sectors, offset);
			flash_chipvec_print(&vec, buf, sizeof(buf));
			puts(buf);
		} else if (sscanf(line, "reset %u", &id) == 1 && id <= IDS) {
			memset(part, 0, sizeof(part));
			flash_batches_init(&batches, pool, id);
			puts("ok");
		} else if (sscanf(line, "add %u %u %llu %llu", &id, &dir,
				  &sector, &sectors) == 4 && id < IDS &&
			   dir < FLASH_NR_DIRS) {
			flash_chipvec_fill(&part[id].vec, &geo, sector, sectors,
					   0);
			if (flash_batches_add(&batches, &part[id], dir))
				printf("%u\n", (u32)list_count_nodes(&batches.list[dir]));
			else
				puts("full");
		} else if (sscanf(line, "issue %u", &dir) == 1 &&
			   dir < FLASH_NR_DIRS) {
			first = list_first_entry_or_null(&batches.list[dir],
							 struct flash_batch, link);
			next = first ? flash_batch_first(first) : NULL;
			if (next) {
				flash_batch_dispatch(next);
				printf("%d\n", (int)(next - part));
			} else {
				puts("-");
			}
		} else if (sscanf(line, "remove %u", &id) == 1 && id < IDS) {
			flash_batches_remove(&batches, &part[id]);
			puts("ok");
		} else {
			die(line);
		}
	}
	return EXIT_SUCCESS;
}
