/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NATIVE_PIECES_H
#define NATIVE_PIECES_H

#include <linux/types.h>

/* @at counts from the start of the room; @freed is 0 while the piece is used. */
struct native_piece {
	unsigned long	at;
	unsigned long	freed;
	size_t		size;
};

struct native_room {
	size_t		size, used;
	unsigned int	nr;
	unsigned long	nr_freed;
	struct native_piece pieces[2048];
};

struct native_piece *native_piece_take(struct native_room *room, size_t size);
struct native_piece *native_piece_drop(struct native_room *room, unsigned long at);

#endif
