// SPDX-License-Identifier: GPL-2.0
/*
 * Control groups with a real-time level: entries, the table, and which of two levels
 * counts. Only a guest shows that groups further up count.
 */
#include "k2drive.h"

static int parse(const char *text, size_t *who, u64 *id, u32 *level)
{
	*who = 77;
	*id = 77;
	*level = 77;
	return flash_groups_parse(text, 0, K2_RT_LEVELS - 1, who, id, level);
}

static void entries(void)
{
	static const char * const bad[] = {
		"", " ", "5", "/a", "/a ", " 5", "x 5", "5 x", "5 5x", "-5 5",
		"5 -5", "5 +5", "5 0x5", "5 1.5", "a/b 5", "5 5 5", "1 Default",
		"/a default ", "/a none",
	};
	static const char * const far[] = {
		"5 8", "5 10", "0 5", "99999999999999999999 5", "/a b 8",
		"5 99999999999999999999", "/a 4294967296", "/a 4294967295",
	};
	unsigned int i, seen = 0;
	char text[32];
	size_t who;
	u64 id;
	u32 level;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		eq(parse(bad[i], &who, &id, &level), -EINVAL,
		   "'%s' is no entry", bad[i]);
		seen += who == 77 && id == 77 && level == 77;
	}
	eq(seen, sizeof(bad) / sizeof(bad[0]), "nothing is set after errors");
	for (i = 0; i < sizeof(far) / sizeof(far[0]); i++)
		eq(parse(far[i], &who, &id, &level), -ERANGE,
		   "'%s' is beyond the limits", far[i]);
	for (i = 0; i < K2_RT_LEVELS; i++) {
		snprintf(text, sizeof(text), "42 %u", i);
		eq(parse(text, &who, &id, &level), 0, "level %u", i);
		eq(level, i, "is that");
	}
	eq(id, 42, "of this group");
	eq(parse("/a b/c 007", &who, &id, &level), 0, "a path with a blank");
	eq(who, 6, "its length");
	eq(id, 0, "and no number");
	eq(level, 7, "zeroes before it do no harm");
	eq(parse("/ default", &who, &id, &level), 0, "the root");
	eq(level, FLASH_GROUP_NONE, "gets its default back");
}

static u32 get(const struct k2_groups *groups, u64 id)
{
	return flash_groups_get(groups->g, groups->nr, id);
}

static int set(struct k2_groups *groups, u64 id, u32 level)
{
	return flash_groups_set(groups->g, &groups->nr, K2_GROUPS, id, level);
}

static void table(void)
{
	static struct k2_groups groups, before;
	u32 i, seen;

	eq(get(&groups, 1), FLASH_GROUP_NONE, "nobody has a level at first");
	eq(set(&groups, 1, FLASH_GROUP_NONE), 0,
	   "what is not there can be taken back");
	for (i = 0; i < K2_GROUPS; i++)
		eq(set(&groups, i * 13ULL % K2_GROUPS + 10, i % 8), 0,
		   "room for entry %u", i);
	eq(groups.nr, K2_GROUPS, "as many as fit");
	for (i = 1, seen = 1; i < groups.nr; i++)
		seen += groups.g[i - 1].id < groups.g[i].id;
	eq(seen, K2_GROUPS, "in their order");
	for (i = 0, seen = 0; i < K2_GROUPS; i++)
		seen += get(&groups, i * 13ULL % K2_GROUPS + 10) == i % 8;
	eq(seen, K2_GROUPS, "each is found");
	before = groups;
	eq(set(&groups, 5, 5), -ENOSPC, "no room for one more");
	eq(memcmp(&groups, &before, sizeof(groups)), 0, "and nothing has changed");
	eq(set(&groups, 10, 7), 0, "one that is there can change");
	eq(get(&groups, 10), 7, "and does");
	eq(set(&groups, 10, 0), 0, "to the most urgent level, too");
	eq(get(&groups, 10), 0, "which is not none");
	eq(set(&groups, 20, FLASH_GROUP_NONE), 0, "and go");
	eq(get(&groups, 20), FLASH_GROUP_NONE, "then it has none");
	eq(get(&groups, 19) < 8 && get(&groups, 21) < 8, 1, "its neighbours have");
	eq(set(&groups, ~0ULL, 3), 0, "there is room again");
	eq(get(&groups, ~0ULL), 3, "for the largest number");
}

static void levels(void)
{
	unsigned int own, group, bad = 0;

	for (own = 0; own <= K2_RT_LEVELS; own++) {
		for (group = 0; group < K2_RT_LEVELS; group++)
			bad += k2_urgent(own, group) !=
			       (own < group ? own : group);
		bad += k2_urgent(own, FLASH_GROUP_NONE) != own;
	}
	eq(bad, 0, "the more urgent level counts, and the own one without another");
}

int main(void)
{
	entries();
	table();
	levels();
	return tap_done();
}
