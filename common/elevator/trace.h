/* SPDX-License-Identifier: GPL-2.0 */
/*
 * trace.h - trace events of a scheduler's decisions
 *
 * Each module has its own events: their system is the module's name, which Kbuild passes as
 * FLASH_MODULE, such as events/k2/flash_insert. An event that is off costs a branch that is
 * patched out.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM FLASH_MODULE

#if !defined(FLASH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define FLASH_TRACE_H

#include <linux/tracepoint.h>

#include "iosched.h"

#define FLASH_WHYS(X)						\
	X(FLASH_WHY_ORDER, "order")				\
	X(FLASH_WHY_HEAD, "head")				\
	X(FLASH_WHY_UNTRACKED, "untracked")			\
	X(FLASH_WHY_META_TURN, "meta_turn")			\
	X(FLASH_WHY_NRT_TURN, "nrt_turn")			\
	X(FLASH_WHY_IDLE_TURN, "idle_turn")			\
	X(FLASH_WHY_CHIPS, "chips")				\
	X(FLASH_WHY_AGED, "aged")				\
	X(FLASH_WHY_DONE, "done")				\
	X(FLASH_WHY_REQUEUED, "requeued")			\
	X(FLASH_WHY_FREED, "freed")				\
	X(FLASH_WHY_SET, "set")					\
	X(FLASH_WHY_SEARCH, "search")				\
	X(FLASH_WHY_OPEN, "open")				\
	X(FLASH_WHY_CALIBRATE, "calibrate")

#ifndef FLASH_WHY_ENUM
#define FLASH_WHY_ENUM
#define FLASH_WHY_NAME(why, text)	why,

/**
 * enum flash_why - the reason of an event
 * @FLASH_WHY_ORDER:	inserted, or next in the policy's order
 * @FLASH_WHY_HEAD:	inserted before all others
 * @FLASH_WHY_UNTRACKED: without a record, so dispatched at once
 * @FLASH_WHY_META_TURN: metadata, although real-time requests wait
 * @FLASH_WHY_NRT_TURN:	best effort, although real-time requests wait
 * @FLASH_WHY_IDLE_TURN: idle class, although other non-real-time requests wait
 * @FLASH_WHY_CHIPS:	before an older request, as its chips are idle
 * @FLASH_WHY_AGED:	the largest number of requests has passed it
 * @FLASH_WHY_DONE:	completed
 * @FLASH_WHY_REQUEUED:	requeued by the driver
 * @FLASH_WHY_FREED:	completed without a slot: absorbed by another request, or polled
 * @FLASH_WHY_SET:	the user has set the in-flight limit
 * @FLASH_WHY_SEARCH:	the search has found another limit
 * @FLASH_WHY_OPEN:	no real-time request for a time, so no limit
 * @FLASH_WHY_CALIBRATE: no limit while the device is measured
 */
enum flash_why { FLASH_WHYS(FLASH_WHY_NAME) FLASH_NR_WHYS };
#endif

#define FLASH_WHY_DEFINE(why, text)	TRACE_DEFINE_ENUM(why);
FLASH_WHYS(FLASH_WHY_DEFINE)

#define FLASH_WHY_SYMBOL(why, text)	{ why, text },
#define flash_show_why(why) \
	__print_symbolic(why, FLASH_WHYS(FLASH_WHY_SYMBOL) { -1, "" })

/*
 * A request: its sectors, its scheduler tag, which identifies it until completion, its
 * class in the policy (-1: none), its I/O priority class, and the state of the device. At
 * completion the core has set the length to 0.
 */
DECLARE_EVENT_CLASS(flash_request,
	TP_PROTO(const struct flash_queue *fq, struct request *rq,
		 const struct flash_rq *fr, unsigned int why),
	TP_ARGS(fq, rq, fr, why),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, sector)
		__field(unsigned int, nr_sector)
		__field(unsigned int, op)
		__field(unsigned int, hctx)
		__field(int, tag)
		__field(int, class)
		__field(unsigned int, prio)
		__field(unsigned int, bound)
		__field(int, inflight)
		__field(unsigned int, queued)
		__field(unsigned int, why)
	),
	TP_fast_assign(
		__entry->dev = fq->q->disk ? disk_devt(fq->q->disk) : 0;
		__entry->sector = blk_rq_pos(rq);
		__entry->nr_sector = blk_rq_sectors(rq);
		__entry->op = (__force unsigned int)req_op(rq);
		__entry->hctx = rq->mq_hctx->queue_num;
		__entry->tag = rq->internal_tag;
		__entry->class = fr ? (int)fr->class : -1;
		__entry->prio = IOPRIO_PRIO_CLASS(req_get_ioprio(rq));
		__entry->bound = READ_ONCE(fq->bound);
		__entry->inflight = atomic_read(&fq->inflight);
		__entry->queued = READ_ONCE(fq->queued);
		__entry->why = why;
	),
	TP_printk("%u,%u op %u %llu + %u hctx %u tag %d class %d prio %u bound %u inflight %d queued %u why %s",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->op,
		  __entry->sector, __entry->nr_sector, __entry->hctx,
		  __entry->tag, __entry->class, __entry->prio, __entry->bound,
		  __entry->inflight, __entry->queued,
		  flash_show_why(__entry->why))
);

/* A request was inserted. Under flash_queue.lock. */
DEFINE_EVENT(flash_request, flash_insert,
	TP_PROTO(const struct flash_queue *fq, struct request *rq,
		 const struct flash_rq *fr, unsigned int why),
	TP_ARGS(fq, rq, fr, why));

/* A request was chosen; the block layer issues it next. Under flash_queue.lock. */
DEFINE_EVENT(flash_request, flash_dispatch,
	TP_PROTO(const struct flash_queue *fq, struct request *rq,
		 const struct flash_rq *fr, unsigned int why),
	TP_ARGS(fq, rq, fr, why));

/* A request has completed or was requeued. Its slot is freed after this event. */
DEFINE_EVENT(flash_request, flash_complete,
	TP_PROTO(const struct flash_queue *fq, struct request *rq,
		 const struct flash_rq *fr, unsigned int why),
	TP_ARGS(fq, rq, fr, why));

/* The in-flight limit has changed. Under flash_queue.lock. */
TRACE_EVENT(flash_bound,
	TP_PROTO(const struct flash_queue *fq, unsigned int bound,
		 unsigned int why),
	TP_ARGS(fq, bound, why),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(unsigned int, from)
		__field(unsigned int, to)
		__field(int, inflight)
		__field(unsigned int, queued)
		__field(unsigned int, why)
	),
	TP_fast_assign(
		__entry->dev = fq->q->disk ? disk_devt(fq->q->disk) : 0;
		__entry->from = fq->bound;
		__entry->to = bound;
		__entry->inflight = atomic_read(&fq->inflight);
		__entry->queued = READ_ONCE(fq->queued);
		__entry->why = why;
	),
	TP_printk("%u,%u bound %u to %u inflight %d queued %u why %s",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->from,
		  __entry->to, __entry->inflight, __entry->queued,
		  flash_show_why(__entry->why))
);

/* flash_tell_why - set the reason of the next flash_dispatch, if the event is on */
#define flash_tell_why(fq, reason)				\
	do {							\
		if (trace_flash_dispatch_enabled())		\
			(fq)->why = (reason);			\
	} while (0)

#endif /* FLASH_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
