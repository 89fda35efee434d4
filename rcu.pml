/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RCU, as the models of readers without a lock need it.
 *
 * An object is freed as soon as the last reader that was reading when the object was given to RCU
 * has stopped. A reader that starts later sees all that the writer wrote before.
 *
 * A model defines OBJECTS, the number of its objects, READERS, and rcu_stores(), after which all
 * stores of the writer are visible. A model that calls synchronize_rcu() also defines GRACE, an
 * object that is only there to be waited for.
 */

bit reading[READERS];
bit freed[OBJECTS];
bit waits[OBJECTS * READERS];		/* the object waits for the reader */

inline rcu_read_lock(r)
{
	reading[r] = 1
}

inline rcu_read_unlock(r)
{
	d_step {
		reading[r] = 0;
		for (o : 0 .. OBJECTS - 1) {
			if
			:: waits[o * READERS + r] ->
				waits[o * READERS + r] = 0;
				freed[o] = !waits[o * READERS] && !waits[o * READERS + READERS - 1]
			:: else
			fi
		}
		o = 0
	}
}

/* kfree_rcu() and the like */
inline free_rcu(object)
{
	d_step {
		rcu_stores();
		waits[object * READERS] = reading[0];
		waits[object * READERS + READERS - 1] = reading[READERS - 1];
		freed[object] = !reading[0] && !reading[READERS - 1]
	}
}

inline synchronize_rcu()
{
	free_rcu(GRACE);
	freed[GRACE]
}
