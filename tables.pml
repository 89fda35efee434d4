/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of sites, which are looked up without a lock (kernel/trace/ftrace/table.c).
 *
 * A module is loaded and unloaded, and then another module is loaded. Readers look up an address
 * in the text of the kernel or of a module. The stores of the writer become visible late and in
 * any order, unless rcu_assign_pointer() or a grace period orders them.
 *
 * The writer holds ftrace_lock. A variant leaves out what a NO_ names.
 */
#include "claim.pml"

CLAIMS array_is_there;		/* no reader uses an array that was freed */
CLAIMS table_is_there;		/* ... or a table */
CLAIMS sites_are_there;		/* ... or sites */
CLAIMS all_is_whole;		/* ... or an array or a table that is not complete */

/* Objects. Modules are numbered 1 and 2. Array n has the tables of the kernel and of module n. */
#define ARRAY(n)	(n)
#define TABLE(n)	(2 + (n))
#define SITES(n)	(4 + (n))
#define OBJECTS		7
#define READERS		2

/* x_w is what the writer wrote, x is what readers see. */
byte tables_w, tables;		/* the array that ftrace_tables points to, by its number */
bit filled_w[3], filled[3];	/* arrays */
bit built_w[3], built[3];	/* tables */
bit nr_w[3], nr[3];		/* does the table have sites? */

inline rcu_stores()
{
	tables = tables_w;
	filled[1] = filled_w[1];
	filled[2] = filled_w[2];
	built[1] = built_w[1];
	built[2] = built_w[2];
	nr[1] = nr_w[1];
	nr[2] = nr_w[2]
}

#include "rcu.pml"

active proctype stores_become_visible()
{
end:	do
	:: atomic { tables != tables_w -> tables = tables_w }
	:: atomic { filled[1] != filled_w[1] -> filled[1] = filled_w[1] }
	:: atomic { filled[2] != filled_w[2] -> filled[2] = filled_w[2] }
	:: atomic { built[1] != built_w[1] -> built[1] = built_w[1] }
	:: atomic { built[2] != built_w[2] -> built[2] = built_w[2] }
	:: atomic { nr[1] != nr_w[1] -> nr[1] = nr_w[1] }
	:: atomic { nr[2] != nr_w[2] -> nr[2] = nr_w[2] }
	od
}

/* ftrace_location_range() */
active [READERS] proctype reader()
{
	byte me = _pid - 1, array, table, o;

end:	do
	::
#ifndef NO_PREEMPT_OFF
		rcu_read_lock(me);
#endif
		/* ftrace_table_of() */
		array = tables;
		atomic {
			CLAIM(array_is_there, !freed[ARRAY(array)]);
			CLAIM(all_is_whole, array == 0 || filled[array]);
			if
			:: table = 0
			:: table = array
			fi }
		/* ftrace_find_site_in() */
		if
		:: table ->
			atomic {
				CLAIM(table_is_there, !freed[TABLE(table)]);
				CLAIM(all_is_whole, built[table]);
				table = (nr[table] -> table : 0) }
			atomic {
				if
				:: table -> CLAIM(sites_are_there, !freed[SITES(table)])
				:: else
				fi }
		:: !table
		fi;
		atomic {
			array = 0;
			table = 0;
#ifndef NO_PREEMPT_OFF
			rcu_read_unlock(me)
#endif
		}
	od
}

active proctype writer()
{
	byte module;

	do
	:: module < 2 ->
		/* ftrace_table_build() and ftrace_tables_add() */
		atomic {
			module++;
			built_w[module] = 1;
			nr_w[module] = 1;
			filled_w[module] = 1 }
		atomic {
#ifndef NO_ASSIGN_TABLES
			rcu_stores();
#endif
			tables_w = module }
		if
		:: module == 2 ->
#ifdef NO_GRACE_TABLE
			freed[TABLE(1)] = 1
#else
			free_rcu(TABLE(1))
#endif
		:: else
		fi;
#ifdef NO_GRACE_ARRAY
		freed[ARRAY(module - 1)] = 1;
#else
		free_rcu(ARRAY(module - 1));
#endif
		/* ftrace_tables_drop() */
		nr_w[module] = 0;
#ifdef NO_GRACE_SITES
		freed[SITES(module)] = 1
#else
		free_rcu(SITES(module))
#endif
	:: else -> break
	od
}
