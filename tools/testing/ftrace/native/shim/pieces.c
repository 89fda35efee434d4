// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pieces of a room of memory, for alloc_percpu() and for code. What was freed longest ago is used again
 * first, and only when a use after the free had time to crash: when QUARANTINE pieces of the size are
 * free, or no other memory is left.
 */
#include <linux/kernel.h>

#include "native.h"
#include "pieces.h"

#define QUARANTINE	48

static struct native_piece *piece_new(struct native_room *room, size_t size)
{
	struct native_piece *piece = &room->pieces[room->nr];

	if (room->used + size > room->size || room->nr == ARRAY_SIZE(room->pieces))
		return NULL;
	piece->at = room->used;
	piece->size = size;
	room->used += size;
	room->nr++;
	return piece;
}

/* A piece of @size bytes, or NULL. host_lock() held, as for the other one. */
struct native_piece *native_piece_take(struct native_room *room, size_t size)
{
	struct native_piece *oldest = NULL, *piece = NULL;
	unsigned int nr = 0;

	for (unsigned int n = 0; n < room->nr; n++) {
		struct native_piece *each = &room->pieces[n];

		if (!each->freed || each->size != size)
			continue;
		nr++;
		if (!oldest || each->freed < oldest->freed)
			oldest = each;
	}
	if (nr < QUARANTINE)
		piece = piece_new(room, size);
	if (!piece)
		piece = oldest;
	if (piece)
		piece->freed = 0;
	return piece;
}

/* The piece at @at, which is not used any more; NULL if it was not used. */
struct native_piece *native_piece_drop(struct native_room *room, unsigned long at)
{
	for (unsigned int n = 0; n < room->nr; n++) {
		if (room->pieces[n].at != at || room->pieces[n].freed)
			continue;
		room->pieces[n].freed = ++room->nr_freed;
		return &room->pieces[n];
	}
	return NULL;
}
