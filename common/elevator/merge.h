/* SPDX-License-Identifier: GPL-2.0 */
/*
 * merge.h - merge lookup over a policy's queues
 *
 * A policy has its requests in its own order, and the store finds the neighbour of a new bio
 * among them: by end sector in the core's hash (back merges), by start sector in a tree per
 * direction (front merges, and two requests that a merge made adjacent). Requests merge only
 * within a class.
 */
#ifndef FLASH_MERGE_H
#define FLASH_MERGE_H

#include "compat.h"
#include "seam.h"

struct flash_queue;
struct flash_rq;

/**
 * enum flash_lookup - may a bio join a request?
 * @FLASH_LOOKUP_NONE: no, or not known yet
 * @FLASH_LOOKUP_NOTED: yes: a list has the request, which enters the lookup when a bio needs it
 * @FLASH_LOOKUP_STORED: yes: the lookup has the request
 */
enum flash_lookup {
	FLASH_LOOKUP_NONE,
	FLASH_LOOKUP_NOTED,
	FLASH_LOOKUP_STORED,
};

int flash_store_init(struct flash_queue *fq);
void flash_store_free(struct flash_queue *fq);
void flash_store_expect(struct flash_queue *fq, struct flash_rq *fr);
void flash_store_grown(struct flash_queue *fq, struct flash_rq *fr);
void flash_store_add(struct flash_queue *fq, struct flash_rq *fr);
void flash_store_fresh(struct flash_queue *fq);
void flash_store_all(struct flash_queue *fq);
void flash_store_del(struct flash_queue *fq, struct flash_rq *fr);

bool flash_store_may(const struct flash_queue *fq, struct bio *bio);
struct request *flash_store_find(struct flash_queue *fq, const struct bio *bio);
void flash_store_move(struct flash_queue *fq, struct request *rq);

#endif /* FLASH_MERGE_H */
