// SPDX-License-Identifier: GPL-2.0
/*
 * Charges of requests, by lines of text, for tests/host, which reads the same charges
 * from docs/operations.md.
 *
 *   OPERATION SECTORS -> sectors for acfq and hbfq, sixteenths of a slot of k2, queue and
 *	pieces of layer_read, kind of piq, chips on which it is counted
 *   list -> all operations
 */
#include "optext.h"

#include <stdlib.h>

int main(void)
{
	static const char * const kinds[] = { "read", "write", "other" };
	char line[64], name[32];
	unsigned int sectors;
	struct op_charge c;
	size_t i;

	while (fgets(line, sizeof(line), stdin)) {
		if (!strncmp(line, "list", 4)) {
			for (i = 0; i < NR_OPS; i++)
				printf("%s%c", ops[i].name,
				       i + 1 < NR_OPS ? ' ' : '\n');
			continue;
		}
		if (sscanf(line, "%31s %u", name, &sectors) != 2)
			goto bad;
		for (i = 0; i < NR_OPS && strcmp(ops[i].name, name); i++)
			;
		if (i == NR_OPS)
			goto bad;
		c = op_charge(ops[i].op, sectors);
		printf("%llu %u %s %u %s %u\n", (unsigned long long)c.tenant,
		       c.slots, kinds[c.layer_dir], c.pieces, kinds[c.kind],
		       c.piq_chips);
	}
	return 0;
bad:
	fprintf(stderr, "oracle_ops: %s", line);
	return EXIT_FAILURE;
}
