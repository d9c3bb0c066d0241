/* SPDX-License-Identifier: GPL-2.0 */
/*
 * piq_pick.h - the order of mode auto
 *
 * Pure logic, shared with the user-space unit tests: no kernel header.
 *
 * A modern device queues by itself, for each chip. Batches would only make it
 * wait for the slowest of a batch; what helps is to hand it requests whose chips
 * are idle and to keep the others here, where their order can still be chosen.
 *
 * One-page requests wait in a line for their chip, and a bitmap says which chips
 * have a line and are idle: the choice takes the same time however many wait. It
 * goes round the chips. Requests of several chips wait in a line of their own, of
 * which scan_depth are looked at.
 *
 *   - The oldest request of its direction, if it is a wide one, may queue up
 *     behind one more request on each chip than others: else it would wait for
 *     the moment at which all its chips are idle, and the device would idle then.
 *   - Urgent requests go before all others, and to a chip that has one more
 *     than the others would find there: they are the next that it serves.
 *   - Reads go before writes, except in write epochs: where both want the chips
 *     writes have at least a fifth of the device time. An epoch begins when they
 *     have had so much less that it would have sufficed for a write on each chip,
 *     and ends when that is paid back. A long write pays more, so it gets its
 *     turn, too, but not as often: by cost. Writes go at any time to idle chips
 *     that no read wants.
 *   - A read does not wait here for a write that the device has on its chip: the
 *     device may serve it first, or interrupt the write.
 *   - Nobody waits for ever: chips are kept free for the oldest requests of each
 *     direction when they have waited max_wait, and for the oldest wide one when
 *     max_pass younger ones of its kind have passed it, or when it is a write and
 *     writes have their epoch; and for a wide one that is urgent, when it has been
 *     passed as often, or when none that is urgent is older. They go when their chips
 *     have drained.
 *
 * How many requests a chip is given at a time is the user's, or learned: a device
 * that takes time before and after the chip has its part needs two or more to keep
 * its chips at work. But only one write, where a read may come to wait for it.
 * A chip that has as many is given one more now and then, if nothing else can go:
 * this does not keep that request waiting any longer, and what it takes says
 * whether the layout is still true.
 *
 * An order is worth something where somebody is to be preferred, or where not all
 * can be in the device. As long as there are reads or writes only, none is real-time
 * and the user bounds nothing, mode auto is the FIFO that it is without a layout, as
 * each chip then serves its own in order of arrival. Else a layout can be right and
 * still cost throughput, if it is not true of all pages, or if the device has an
 * order of its own. So it is compared with the FIFO now and then.
 *
 * Whenever nothing is out something can go, so whoever waits is waited for by
 * the end of a request and needs no timer.
 *
 * Without a layout, or with one that does not pay, all of this is one FIFO, which
 * urgent requests pass, but for the oldest when it has waited max_wait.
 */
#ifndef PIQ_PICK_H
#define PIQ_PICK_H

#include "piq_order.h"

/* Guessed device times before any is learned, ns. */
#define PIQ_READ_NS	100000
#define PIQ_WRITE_NS	500000

/* Reads have so many times what writes are promised. */
#define PIQ_READ_SHARE	4

/* Quanta of device time that a direction can save up at most. */
#define PIQ_DEBT_MAX	4

/* A write's part in the average. */
#define PIQ_WRITE_WEIGHT	16

/** piq_trusts - is there a layout that is right? */
static inline bool piq_trusts(const struct piq_sched *s)
{
	return s->mode == PIQ_AUTO && s->trusted && s->geo.nr_chips;
}

/** piq_aware - does mode auto go by the layout? */
static inline bool piq_aware(const struct piq_sched *s)
{
	return piq_trusts(s) && !s->blind;
}

static inline u32 piq_row(const struct piq_item *it)
{
	return it->urgent ? PIQ_URGENT : (u32)piq_dir(it);
}

/*
 * Among the wide ones, by arrival: nearly always as the last one. A request that grows
 * beyond its chip is older than some of them. Its place is not searched, as interrupts
 * are off: a heap has such requests until piq_wide_after() gets to their places.
 */
static inline void piq_wide_add(struct piq_sched *s, u32 row,
				struct piq_item *it)
{
	struct flash_link *last = s->wide[row].prev;

	if (last == &s->wide[row] || piq_of_line(last)->seq < it->seq) {
		flash_link_after(&it->line, last);
		return;
	}
	it->late = true;
	it->aged.key = it->seq;
	it->aged.tie = 0;
	flash_heap_add(&s->late[row], &it->aged);
}

/*
 * The wide one of a row behind @at, or NULL. Whoever walks from &s->wide[row] on finds
 * them by arrival.
 */
static inline struct piq_item *piq_wide_after(struct piq_sched *s, u32 row,
					      struct flash_link *at)
{
	struct flash_link *ring = &s->wide[row], *next = at->next;
	struct flash_node *late = s->late[row];

	if (late && (next == ring || late->key < piq_of_line(next)->seq)) {
		struct piq_item *it = piq_of_aged(late);

		flash_heap_del(&s->late[row], late);
		it->late = false;
		flash_link_after(&it->line, at);
		return it;
	}
	return next == ring ? NULL : piq_of_line(next);
}

/* The oldest wide one of a row, or NULL. */
static inline struct piq_item *piq_wide_first(struct piq_sched *s, u32 row)
{
	return piq_wide_after(s, row, &s->wide[row]);
}

/* Into the line of its chips, of which nobody in the line of a chip is younger. */
static inline void piq_line_join(struct piq_sched *s, struct piq_item *it)
{
	u32 row = piq_row(it);

	it->chip = flash_chipvec_single(&it->part.vec);
	if (it->chip == FLASH_NO_CHIP) {
		piq_wide_add(s, row, it);
		return;
	}
	flash_ring_add(&it->line, &s->line[row][it->chip]);
	flash_chipvec_set(&s->some[row], it->chip);
}

/* Out of that line. */
static inline void piq_line_leave(struct piq_sched *s, struct piq_item *it)
{
	u32 row = piq_row(it);

	if (it->late) {
		flash_heap_del(&s->late[row], &it->aged);
		flash_ring_init(&it->line);
		it->late = false;
		return;
	}
	flash_unlink(&it->line);
	if (it->chip != FLASH_NO_CHIP &&
	    flash_ring_empty(&s->line[row][it->chip]))
		flash_chipvec_unset(&s->some[row], it->chip);
}

/* Into the lines of mode auto, as the youngest. */
static inline void piq_pick_add(struct piq_sched *s, struct piq_item *it)
{
	if (it->urgent)
		flash_ring_add(&it->rush, &s->rush);
	piq_line_join(s, it);
}

/* Out of them. */
static inline void piq_pick_leave(struct piq_sched *s, struct piq_item *it)
{
	piq_line_leave(s, it);
	flash_unlink(&it->rush);
}

/* It needs the chips @v now, no chip less than before. */
static inline void piq_pick_grow(struct piq_sched *s, struct piq_item *it,
				 const struct flash_chipvec *v)
{
	bool moves = flash_chipvec_single(v) != it->chip;

	if (moves)
		piq_line_leave(s, it);
	it->part.vec = *v;
	if (moves)
		piq_line_join(s, it);
}

/*
 * A request that needs the chips @v now takes the place of an older one, which it has
 * swallowed and which waits still. Its age is set.
 */
static inline void piq_pick_replace(struct piq_sched *s, struct piq_item *it,
				    struct piq_item *gone,
				    const struct flash_chipvec *v)
{
	piq_line_leave(s, it);
	it->part.vec = *v;
	if (flash_chipvec_single(v) == gone->chip && !gone->late) {
		it->chip = gone->chip;
		flash_link_after(&it->line, &gone->line);
	} else {
		piq_line_join(s, it);
	}
	if (it->urgent) {
		flash_unlink(&it->rush);
		flash_link_after(&it->rush, &gone->rush);
	}
}

/* How many chips a request needs: without an address as many as it has pages. */
static inline u32 piq_width(const struct piq_sched *s, const struct piq_item *it)
{
	u64 pages;

	if (it->sector != FLASH_NO_SECTOR)
		return flash_chipvec_weight(&it->part.vec);
	pages = (((u64)it->sectors << FLASH_SECTOR_SHIFT) +
		 (1U << s->geo.page_shift) - 1) >> s->geo.page_shift;
	return pages < s->geo.nr_chips ? (u32)pages : s->geo.nr_chips;
}

/* The device time of a request on each of its chips. */
static inline u64 piq_each(const struct piq_sched *s, const struct piq_item *it)
{
	u64 ns = flash_cost_ns(&s->cost, piq_dir(it), it->sectors);

	if (ns)
		return ns;
	return it->kind == PIQ_WRITE ? PIQ_WRITE_NS : PIQ_READ_NS;
}

/* A request goes: whose turn is it now? */
static inline void piq_pay(struct piq_sched *s, struct piq_item *it)
{
	bool alone = !s->waiting[!piq_dir(it)];
	u64 each, work, quantum;
	s64 most;

	if (it->kind == PIQ_OTHER)
		return;
	/* Nobody owes anything to a direction that has nothing to do. */
	if (alone) {
		s->lead = 0;
		s->epoch = false;
		if (it->kind == PIQ_READ)
			return;
	}
	each = piq_each(s, it);
	work = each * piq_width(s, it);
	if (it->kind == PIQ_WRITE) {
		if (!s->write_ns)
			s->write_ns = each;
		s->write_ns += each / PIQ_WRITE_WEIGHT -
			       s->write_ns / PIQ_WRITE_WEIGHT;
	}
	if (alone)
		return;
	if (it->kind == PIQ_READ)
		s->lead += (s64)(work / PIQ_READ_SHARE);
	else
		s->lead -= (s64)work;
	quantum = (s->write_ns ? s->write_ns : PIQ_WRITE_NS) * s->geo.nr_chips;
	/* Who could not use its turn, its chips being busy, saves up no more. */
	most = (s64)(PIQ_DEBT_MAX * quantum + work);
	if (s->lead > most)
		s->lead = most;
	if (s->lead < -most)
		s->lead = -most;
	if (!s->epoch && s->lead >= (s64)quantum) {
		s->epoch = true;
		s->stats.epochs++;
	} else if (s->lead <= 0) {
		s->epoch = false;
	}
}

/* Chips are kept free for @it: by arrival, whatever the direction. */
static inline void piq_keep(struct piq_sched *s, struct piq_item *it)
{
	u32 at = s->nr_reserved++;

	for (; at && s->reserved[at - 1]->seq > it->seq; at--)
		s->reserved[at] = s->reserved[at - 1];
	s->reserved[at] = it;
	s->stats.aged += !it->kept;
	it->kept = true;
}

static inline bool piq_is_reserved(const struct piq_sched *s,
				   const struct piq_item *it)
{
	u32 i;

	for (i = 0; i < s->nr_reserved; i++) {
		if (s->reserved[i] == it)
			return true;
	}
	return false;
}

/* For the oldest wide one of a row, if it is its turn or too many have passed it. */
static inline void piq_keep_wide(struct piq_sched *s, u32 row, bool turn)
{
	struct piq_item *it = piq_wide_first(s, row);

	/* An old one may still be behind others that are older. */
	if (it && !piq_is_reserved(s, it) &&
	    (turn || piq_passes(s, it) >= s->tun.max_pass))
		piq_keep(s, it);
}

/**
 * piq_reserve - who do we keep chips free for?
 * @s: the device
 * @now: the time, ns
 *
 * Only when something has happened: in between nothing can go anyway.
 */
static inline void piq_reserve(struct piq_sched *s, u64 now)
{
	struct piq_item *wide;
	u32 dir, nth;

	s->nr_reserved = 0;
	/* Nobody else is there who could take them. */
	if (piq_waiting(s) < 2)
		return;
	if (!piq_aware(s)) {
		struct piq_item *it;

		if (s->mode != PIQ_AUTO || flash_ring_empty(&s->rush))
			return;
		it = piq_oldest_of_all(s);
		if (now >= it->arrived + s->tun.max_wait)
			piq_keep(s, it);
		return;
	}
	for (dir = 0; dir < FLASH_NR_DIRS; dir++) {
		struct flash_link *ring = &s->order[dir], *link = ring->next;
		struct piq_item *it;

		for (nth = 0; link != ring && nth < PIQ_RESERVED; nth++) {
			it = piq_of_order(link);
			if (now < it->arrived + s->tun.max_wait)
				break;
			piq_keep(s, it);
			link = link->next;
		}
		piq_keep_wide(s, dir, dir == FLASH_WRITE && s->epoch);
	}
	/* Others of it come to a chip as soon as that has one less. */
	wide = piq_wide_first(s, PIQ_URGENT);
	piq_keep_wide(s, PIQ_URGENT, wide && s->rush.next == &wide->rush);
}

/* May @it go to chips of which each has @more requests than its depth - 1? */
static inline bool piq_fits(const struct piq_sched *s,
			    const struct piq_item *it, u32 more)
{
	if (flash_occupancy_free(&s->occ, &it->part.vec))
		return true;
	return more && piq_load(s, it) < s->depth + more;
}

/* A read for a chip that has writes only: it does not wait for these, old or not. */
static inline bool piq_reads_on(const struct piq_sched *s,
				const struct piq_item *it)
{
	return it->kind == PIQ_READ && it->chip != FLASH_NO_CHIP &&
	       flash_chipvec_test(&s->readable, it->chip);
}

static inline bool piq_kept(const struct flash_chipvec *kept,
			    const struct piq_item *it)
{
	return flash_chipvec_conflict(kept, &it->part.vec);
}

/*
 * One of the lines whose chip is in @free, going round, or NULL. Of chips that take
 * several, those that have nothing come first.
 */
static inline struct piq_item *piq_pick_line(struct piq_sched *s, u32 row,
					     const struct flash_chipvec *free,
					     const struct flash_chipvec *kept)
{
	struct flash_chipvec can = *free;
	u32 i, words = flash_chipvec_words(free), chip;
	u64 any = 0, empty = 0;

	for (i = 0; i < words; i++) {
		can.word[i] &= s->some[row].word[i] & ~kept->word[i];
		any |= can.word[i];
		empty |= can.word[i] & s->empty.word[i];
	}
	if (!any)
		return NULL;
	for (i = 0; empty && i < words; i++)
		can.word[i] &= s->empty.word[i];
	chip = flash_chipvec_from(&can, s->cursor + 1);
	if (chip == FLASH_NO_CHIP)
		chip = flash_chipvec_first(&can);
	return piq_of_line(s->line[row][chip].next);
}

/* One of the wide ones, or NULL; @more: see piq_fits(). */
static inline struct piq_item *piq_pick_wide(struct piq_sched *s, u32 row,
					     u32 more,
					     const struct flash_chipvec *kept)
{
	struct piq_item *it = piq_wide_first(s, row);
	u32 n;

	for (n = 0; it && n < s->tun.scan_depth;
	     it = piq_wide_after(s, row, &it->line), n++) {
		if (row == FLASH_WRITE &&
		    !flash_chipvec_inside(&it->part.vec, &s->writable))
			continue;
		if (piq_fits(s, it, more) && !piq_kept(kept, it))
			return it;
	}
	return NULL;
}

/*
 * A request of one direction for idle chips, or NULL. @turn: it is not the other
 * direction's turn, at whose cost the oldest would queue up.
 */
static inline struct piq_item *piq_pick_dir(struct piq_sched *s,
					    enum flash_dir dir, bool turn,
					    const struct flash_chipvec *kept)
{
	struct piq_item *it = piq_oldest(s, (enum piq_kind)dir);
	struct flash_chipvec free = s->occ.idle;
	u32 i;

	if (!it)
		return NULL;
	if (it->chip == FLASH_NO_CHIP && piq_fits(s, it, turn) &&
	    !piq_kept(kept, it))
		return it;
	for (i = 0; dir == FLASH_WRITE && i < flash_chipvec_words(&free); i++)
		free.word[i] &= s->writable.word[i];
	it = piq_pick_line(s, dir, &free, kept);
	return it ? it : piq_pick_wide(s, dir, 0, kept);
}

/* An urgent request, or NULL. */
static inline struct piq_item *piq_pick_urgent(struct piq_sched *s,
					       const struct flash_chipvec *kept)
{
	struct piq_item *it;

	if (flash_ring_empty(&s->rush))
		return NULL;
	it = piq_pick_line(s, PIQ_URGENT, &s->eager, kept);
	return it ? it : piq_pick_wide(s, PIQ_URGENT, 1, kept);
}

/* One for a busy chip, if it is time for that, or NULL. */
static inline struct piq_item *piq_pick_probe(struct piq_sched *s,
					      const struct flash_chipvec *kept)
{
	struct piq_item *it;

	if (s->probe < PIQ_PROBE_NTH)
		return NULL;
	it = piq_pick_line(s, FLASH_READ, &s->eager, kept);
	return it ? it : piq_pick_line(s, FLASH_WRITE, &s->eager, kept);
}

/*
 * Is it plain that nothing can go? So most looks at a busy device end, and so the
 * many steps below are left out.
 */
static inline bool piq_all_wait(const struct piq_sched *s)
{
	u32 i, row, words = flash_chipvec_words(&s->occ.idle);
	u64 can = 0;

	if (s->nr_reserved || s->probe >= PIQ_PROBE_NTH)
		return false;
	for (row = 0; row < PIQ_NR_ROWS; row++) {
		if (!flash_ring_empty(&s->wide[row]) || s->late[row])
			return false;
	}
	for (i = 0; i < words; i++) {
		can |= s->some[PIQ_URGENT].word[i] & s->eager.word[i];
		can |= s->some[FLASH_READ].word[i] & s->readable.word[i];
		can |= s->some[FLASH_WRITE].word[i] & s->occ.idle.word[i] &
		       s->writable.word[i];
	}
	return !can;
}

/*
 * The only one that waits, if its chips are idle, or NULL: with nobody to be preferred
 * the many steps below find nobody else. So it is where one comes after the other.
 */
static inline struct piq_item *piq_pick_only(struct piq_sched *s)
{
	struct piq_item *it;

	it = piq_oldest(s, s->waiting[PIQ_READ] ? PIQ_READ : PIQ_WRITE);
	if (!flash_occupancy_free(&s->occ, &it->part.vec))
		return NULL;
	if (it->kind == PIQ_WRITE && it->chip != FLASH_NO_CHIP &&
	    !flash_chipvec_test(&s->writable, it->chip))
		return NULL;
	return it;
}

/* What goes by chips, or NULL; see the top. */
static inline struct piq_item *piq_pick_aware(struct piq_sched *s)
{
	enum flash_dir first = s->epoch ? FLASH_WRITE : FLASH_READ;
	struct flash_chipvec kept;
	struct piq_item *it;
	u32 i;

	if (piq_all_wait(s))
		return NULL;
	flash_chipvec_clear(&kept, &s->geo);
	for (i = 0; i < s->nr_reserved; i++) {
		it = s->reserved[i];
		/* Behind an older one; its other chips work until that has gone. */
		if (piq_kept(&kept, it))
			continue;
		if (piq_fits(s, it, it->chip == FLASH_NO_CHIP) ||
		    piq_reads_on(s, it))
			return it;
		flash_chipvec_union(&kept, &it->part.vec);
	}
	it = piq_pick_urgent(s, &kept);
	if (!it)
		it = piq_pick_dir(s, first, true, &kept);
	if (!it)
		it = piq_pick_dir(s, !first, !s->waiting[first], &kept);
	if (!it)
		it = piq_pick_line(s, FLASH_READ, &s->readable, &kept);
	return it ? it : piq_pick_probe(s, &kept);
}

/**
 * piq_pick_next - the request that goes next
 * @s: the device, in mode auto, and somebody waits
 *
 * Return: the request, or NULL: nothing may go before others are done.
 */
static inline struct piq_item *piq_pick_next(struct piq_sched *s)
{
	struct piq_item *oldest, *it;
	bool aware = piq_aware(s);

	if (!aware || s->waiting[PIQ_OTHER]) {
		oldest = piq_oldest_of_all(s);
		if (!oldest || oldest->kind == PIQ_OTHER)
			return oldest;
		if (!aware)
			return s->nr_reserved || flash_ring_empty(&s->rush) ?
			       oldest : piq_of_rush(s->rush.next);
	} else if (piq_waiting(s) == 1) {
		it = piq_pick_only(s);
		if (it)
			return it;
	}
	it = piq_pick_aware(s);
	return it ? it : piq_oldest(s, PIQ_OTHER);
}

/* Takes out the request that piq_pick_next() has returned. */
static inline void piq_pick_issue(struct piq_sched *s, struct piq_item *it)
{
	if (it->kind == PIQ_OTHER)
		return;
	piq_pick_leave(s, it);
	if (it->chip == FLASH_NO_CHIP || !s->trusted)
		return;
	s->cursor = it->chip;
	s->probe++;
	if (piq_load(s, it) >= s->depth)
		s->probe = 0;
}

#endif /* PIQ_PICK_H */
