// SPDX-License-Identifier: GPL-2.0-only
/* What owners of ops see that is not a call: messages, broadcasts, flags, memory. */
#include <linux/jiffies.h>

#include "ftrace/callback.h"
#include "ftrace/hash.h"
#include "ftrace/ops.h"
#include "ftrace/plan.h"
#include "ftrace/table.h"
#include "tests.h"

static int unregister(void *ops)
{
	int ret = unregister_ftrace_function(ops);

	native_until_stopped();
	return ret;
}

SUITE(ops, NULL, ftrace_kunit_exit);

/* A task that stays in a callback is reported once, after 10 s. */
CASE(long_waits_are_reported)
{
	struct ftrace_ops *ops = native_dynamic_ops(test);
	const char *text = "a task is in the callback wait_inside";
	struct task_struct *caller, *owner;

	caller = native_hold_in_callback(test, ops, ftrace_kunit_func1);
	native_log_begin();
	owner = kthread_run_on_cpu(unregister, ops, 3, "native/%u");
	msleep(20);
	KUNIT_EXPECT_FALSE(test, native_log_has(text));
	jiffies += 5 * HZ;
	msleep(30);
	KUNIT_EXPECT_FALSE(test, native_log_has(text));
	/* On a busy machine the owner begins to wait late. */
	for (int i = 0; i < 5000 && !native_log_has(text); i++) {
		jiffies += HZ;
		usleep_range(1000, 2000);
	}
	KUNIT_EXPECT_TRUE(test, native_log_has(text));
	KUNIT_EXPECT_TRUE(test, native_log_has("to be removed, for 10 s\n"));
	native_log_begin();
	jiffies += 30 * HZ;
	msleep(30);
	KUNIT_EXPECT_FALSE(test, native_log_has(text));
	native_let_go();
	kthread_stop(caller);
	KUNIT_EXPECT_EQ(test, kthread_stop(owner), 0);
}

/* A change that concerns no site writes no text. */
CASE(changes_of_nothing_send_no_broadcast)
{
	static struct ftrace_ops ops = { .func = ftrace_kunit_note };
	static struct ftrace_ops other = { .func = ftrace_kunit_note };
	unsigned long before = native_broadcasts();

	register_on(test, &ops, ftrace_kunit_func1);
	KUNIT_EXPECT_GT(test, native_broadcasts(), before);
	register_on(test, &other, ftrace_kunit_func1);
	before = native_broadcasts();
	KUNIT_EXPECT_EQ(test, ftrace_kunit_filter(&ops, ftrace_kunit_func1, true), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_filter(&other, ftrace_kunit_func1, false), 0);
	KUNIT_EXPECT_EQ(test, ftrace_set_notrace(&ops, "ftrace_kunit_func2", 18, 1), 0);
	KUNIT_EXPECT_EQ(test, LOCKED(ftrace_ops_set_func(&ops, ops.func, ops.guard)), 0);
	KUNIT_EXPECT_EQ(test, native_broadcasts(), before);
}

/* The flags of the owner stay, and those of the core come and go. */
CASE(flags_of_the_owner_stay)
{
	static const unsigned long flags[] = {
		0, FTRACE_OPS_FL_SAVE_REGS, FTRACE_OPS_FL_RECURSION, FTRACE_OPS_FL_RCU, FTRACE_OPS_FL_PERMANENT,
		FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_SAVE_REGS,
		FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS,
	};
	static struct ftrace_ops ops;

	for (unsigned int i = 0; i < ARRAY_SIZE(flags); i++) {
		ops = (struct ftrace_ops){ .func = ftrace_kunit_note, .flags = flags[i] };
		register_on(test, &ops, ftrace_kunit_func1);
		KUNIT_EXPECT_EQ(test, ops.flags, flags[i] | FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_INITIALIZED);
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
		KUNIT_EXPECT_EQ(test, ops.flags, flags[i] | FTRACE_OPS_FL_INITIALIZED);
		KUNIT_EXPECT_PTR_EQ(test, ops.func, &ftrace_kunit_note);
		KUNIT_EXPECT_NULL(test, ops.callback);
		ftrace_free_filter(&ops);
	}
	/* Registers if there are any. */
	ops = (struct ftrace_ops){ .func = ftrace_kunit_note, .flags = FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED };
	register_on(test, &ops, ftrace_kunit_func1);
	KUNIT_EXPECT_TRUE(test, ops.flags & FTRACE_OPS_FL_SAVE_REGS);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	KUNIT_EXPECT_TRUE(test, ops.flags & FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED);
}

/*
 * A site with unexpected bytes stays in its class when its ops goes without memory. When the site is
 * mended, the trampoline calls the ops no more.
 */
CASE(failed_sites_call_no_removed_ops)
{
	static struct ftrace_ops ops, other;

	for (unsigned int n = 0; n < 8; n++) {
		ops = (struct ftrace_ops){ .func = ftrace_kunit_note, .private = (void *)(unsigned long)'a' };
		other = (struct ftrace_ops){ .func = ftrace_kunit_note, .private = (void *)(unsigned long)'b' };
		register_on_glob(test, &ops, "ftrace_kunit_func[34]");
		register_on_glob(test, &other, "ftrace_kunit_func[34]");
		KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func3), "ba");
		ftrace_kunit_break_site(test, ftrace_kunit_func3);
		KUNIT_EXPECT_EQ(test, WITHOUT(n, unregister_ftrace_function(&ops)), 0);
		kunit_release_action(test, ftrace_kunit_mend_site, ftrace_kunit_func3);
		KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func3), "b");
		KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func4), "b");
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&other), 0);
		KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func3), "");
		ftrace_free_filter(&ops);
		ftrace_free_filter(&other);
		ftrace_kunit_forget(NULL);
	}
}

static struct ftrace_ops crowd[68];

/* One ops more than a trampoline has slots walks an array. */
CASE(many_ops_need_memory)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(crowd); i++) {
		struct native_op op = { NATIVE_REGISTERS(&crowd[i]) };
		unsigned long tramp = ftrace_kunit_tramp(ftrace_kunit_func1);

		crowd[i] = (struct ftrace_ops){
			.func = ftrace_kunit_note, .private = (void *)(unsigned long)'c',
			.flags = i == 66 ? FTRACE_OPS_FL_SAVE_REGS : 0,
		};
		KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&crowd[i], ftrace_kunit_func1, true), 0);
		/* The last one has another function, so that all its sites do not come from one class. */
		if (i == 67)
			KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&crowd[i], ftrace_kunit_func2, false), 0);
		if (i >= 63)
			KUNIT_EXPECT_GT(test, native_sweep(test, &op), 2U);
		KUNIT_ASSERT_EQ(test, register_ftrace_function(&crowd[i]), 0);
		/* The new class of all sites takes the trampoline, unless that lacks registers. */
		if (i >= 65 && i != 66)
			KUNIT_EXPECT_EQ(test, ftrace_kunit_tramp(ftrace_kunit_func1), tramp);
	}
	KUNIT_EXPECT_EQ(test, strlen(ftrace_kunit_calls_of(ftrace_kunit_func2)), 1U);
	for (unsigned int i = 0; i < ARRAY_SIZE(crowd); i++) {
		KUNIT_EXPECT_EQ(test, WITHOUT(1 + i % 4, unregister_ftrace_function(&crowd[i])), 0);
		KUNIT_EXPECT_STREQ(test, ftrace_kunit_state() ?: "", "");
		ftrace_free_filter(&crowd[i]);
	}
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), 0U);
}

static unsigned long nr_entered(const struct ftrace_callback *cb)
{
	unsigned long total = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		total += per_cpu_ptr(cb->count, cpu)->entered;
	return total;
}

/*
 * Without memory, an array keeps an ops that is removed. Calls that never stop must not count
 * themselves in for ever: a wait for the ops would seldom find the sums equal.
 */
CASE(removed_ops_are_not_counted)
{
	struct ftrace_ops *ops = kunit_kcalloc(test, ARRAY_SIZE(crowd), sizeof(*ops), GFP_KERNEL);
	struct ftrace_callback *cb;
	unsigned long before;

	KUNIT_ASSERT_NOT_NULL(test, ops);
	register_crowd(test, ops, ARRAY_SIZE(crowd), ftrace_kunit_func1);
	cb = ops[0].callback;
	before = nr_entered(cb);
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_EQ(test, nr_entered(cb), before + 1);

	KUNIT_EXPECT_EQ(test, WITHOUT(1, unregister_ftrace_function(&ops[0])), 0);
	native_settle();
	KUNIT_ASSERT_EQ(test, cb->nr_walks, 1U);
	ftrace_kunit_func1(1);
	KUNIT_EXPECT_EQ(test, nr_entered(cb), before + 1);
}

/*
 * Sites of one class go to two, one after the other: the class that the last one goes to takes the
 * trampoline.
 */
CASE(last_sites_take_the_trampoline)
{
	unsigned long tramp;

	for (unsigned int i = 0; i < ARRAY_SIZE(crowd); i++) {
		crowd[i] = (struct ftrace_ops){ .func = ftrace_kunit_note_x };
		ftrace_kunit_add_ops(test, &crowd[i]);
		if (i != 67)
			ftrace_kunit_filter(&crowd[i], ftrace_kunit_func1, false);
		if (i != 66)
			ftrace_kunit_filter(&crowd[i], ftrace_kunit_func2, false);
		if (i < 66)
			KUNIT_ASSERT_EQ(test, register_ftrace_function(&crowd[i]), 0);
	}
	tramp = ftrace_kunit_tramp(ftrace_kunit_func1);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&crowd[66]), 0);
	KUNIT_EXPECT_NE(test, ftrace_kunit_tramp(ftrace_kunit_func1), tramp);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_tramp(ftrace_kunit_func2), tramp);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&crowd[67]), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_tramp(ftrace_kunit_func2), tramp);
}

/* The memory of a direct caller can be freed, too: it is waited for, and can come again. */
CASE(direct_callers_come_again)
{
	struct ftrace_ops *ops = native_dynamic_ops(test);
	unsigned long target = (unsigned long)native_funcs[0], flags;

	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(ops, ftrace_kunit_func1, true), 0);
	/* A flag of the owner. */
	ops->flags |= FTRACE_OPS_FL_PERMANENT;
	flags = ops->flags | FTRACE_OPS_FL_DYNAMIC;
	KUNIT_EXPECT_EQ(test, modify_ftrace_direct(ops, target), -EINVAL);
	for (int i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, register_ftrace_direct(ops, target), 0);
		KUNIT_EXPECT_EQ(test, ops->flags, flags | FTRACE_OPS_FL_ENABLED |
				FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_SAVE_ARGS);
		KUNIT_EXPECT_EQ(test, ops->direct_call, target);
		KUNIT_EXPECT_EQ(test, register_ftrace_direct(ops, target), -EINVAL);
		KUNIT_EXPECT_EQ(test, modify_ftrace_direct(ops, target), 0);
		KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(ops, target, false), 0);
		KUNIT_EXPECT_NULL(test, ops->callback);
		KUNIT_EXPECT_NULL(test, ops->func);
		KUNIT_EXPECT_EQ(test, ops->direct_call, 0UL);
		KUNIT_EXPECT_EQ(test, ops->flags, flags);
		KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(ops, target, false), -EINVAL);
		KUNIT_EXPECT_EQ(test, modify_ftrace_direct(ops, target), -EINVAL);
	}
	/* An error leaves it as it was. */
	KUNIT_EXPECT_EQ(test, WITHOUT(2, register_ftrace_direct(ops, target)), -ENOMEM);
	KUNIT_EXPECT_NULL(test, ops->func);
	KUNIT_EXPECT_EQ(test, ops->direct_call, 0UL);
	KUNIT_EXPECT_FALSE(test, ops->flags & (FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_SAVE_ARGS));
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(ops, target), 0);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(ops, target, true), 0);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(ops->func_hash->filter_hash));
	KUNIT_EXPECT_EQ(test, register_ftrace_direct(ops, target), -EINVAL);
}

/*
 * Sites are patched by address, so that a page is mapped once a step for all its sites; and a chunk
 * of sites costs one broadcast.
 */
CASE(pages_are_mapped_once)
{
	static unsigned long ips[NATIVE_FUNCS];
	static struct ftrace_ops ops;
	unsigned long before, sent;

	for (unsigned int i = 0; i < NATIVE_FUNCS; i++)
		ips[i] = (unsigned long)native_funcs[i * 7 % NATIVE_FUNCS];
	ops = (struct ftrace_ops){ .func = ftrace_kunit_note };
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ips(&ops, ips, NATIVE_FUNCS, 0, 1), 0);
	before = native_maps();
	sent = native_broadcasts();
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
	KUNIT_EXPECT_LT(test, native_maps() - before, 60UL);
	/* Of two chunks: int3; rest and int3; rest and first byte; first byte. */
	KUNIT_EXPECT_EQ(test, native_broadcasts() - sent, 4UL);
	before = native_maps();
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	KUNIT_EXPECT_LT(test, native_maps() - before, 60UL);
	ftrace_free_filter(&ops);
}

/* perf is told that a site has changed, with the bytes before and after. */
static void expect_pokes(struct kunit *test, test_func_t func, const u8 *before, unsigned int times)
{
	unsigned long ip = ftrace_location((unsigned long)func);
	unsigned int found = 0;

	for (unsigned int i = 0; i < native_nr_pokes; i++) {
		const struct native_poke *poke = &native_pokes[i];

		if (poke->addr != ip)
			continue;
		found++;
		KUNIT_EXPECT_EQ(test, poke->old_len, (size_t)MCOUNT_INSN_SIZE);
		KUNIT_EXPECT_EQ(test, poke->new_len, (size_t)MCOUNT_INSN_SIZE);
		KUNIT_EXPECT_MEMEQ(test, poke->before, before, MCOUNT_INSN_SIZE);
		KUNIT_EXPECT_MEMEQ(test, poke->after, (void *)ip, MCOUNT_INSN_SIZE);
	}
	KUNIT_EXPECT_EQ(test, found, times);
}

/*
 * A perf event that comes in the middle of a batch is told again when the sites have no int3. What
 * it was told before it came, it does not get.
 */
CASE(perf_hears_of_changes)
{
	/* Questions before it comes: at the start, and two in each of three steps. */
	static const unsigned int times[] = { 1, 2, 2, 2, 1, 1, 1, 0 };
	static struct ftrace_ops ops = { .func = ftrace_kunit_note };
	u8 before[2][MCOUNT_INSN_SIZE];

	ftrace_kunit_add_ops(test, &ops);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&ops, "ftrace_kunit_func[12]", 21, 1), 0);
	for (unsigned int n = 0; n < 2 * ARRAY_SIZE(times); n++) {
		for (unsigned int i = 0; i < 2; i++)
			memcpy(before[i], (void *)ftrace_location((unsigned long)kunit_funcs[i]),
			       MCOUNT_INSN_SIZE);
		native_nr_pokes = 0;
		native_perf_sleeps = n / 2;
		native_perf_wants = true;
		KUNIT_EXPECT_EQ(test, n % 2 ? unregister_ftrace_function(&ops) :
				register_ftrace_function(&ops), 0);
		native_perf_wants = false;
		native_perf_sleeps = 0;
		for (unsigned int i = 0; i < 2; i++)
			expect_pokes(test, kunit_funcs[i], before[i], times[n / 2]);
	}
}

static struct ftrace_count __percpu *count[65];
static unsigned int nr_counters;

/* Take the counters that are free. ftrace_lock held. */
static void take_counters(struct kunit *test)
{
	nr_counters = 0;
	do {
		native_fail_nth(1);
		count[nr_counters] = ftrace_count_get();
	} while (count[nr_counters] && ++nr_counters < ARRAY_SIZE(count));
	native_fail_nth(0);
	KUNIT_EXPECT_LT(test, nr_counters, ARRAY_SIZE(count));
}

static void put_counters(void)
{
	while (nr_counters--)
		ftrace_count_put(count[nr_counters]);
}

/* When all counters are in use, a new one needs memory for a group of them. */
CASE(counters_need_memory)
{
	unsigned long live;

	/* What earlier cases have left to RCU would be freed meanwhile. */
	native_settle();
	guard(mutex)(&ftrace_lock);
	take_counters(test);
	live = native_live();
	for (unsigned int n = 1; n <= 2; n++) {
		native_fail_nth(n);
		KUNIT_EXPECT_NULL(test, ftrace_count_get());
		KUNIT_EXPECT_EQ(test, native_live(), live);
		native_fail_nth(0);
	}
	put_counters();
}

/* An ops that may be freed has a counter of its own. */
CASE(counted_ops_need_memory)
{
	static struct ftrace_ops counted = { .func = ftrace_kunit_note, .flags = FTRACE_OPS_FL_DYNAMIC };
	struct native_op op = { NATIVE_REGISTERS(&counted) };

	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&counted, ftrace_kunit_func1, true), 0);
	LOCKED(take_counters(test));
	KUNIT_EXPECT_GT(test, native_sweep(test, &op), 2U);
	LOCKED(put_counters());
	ftrace_free_filter(&counted);
}

/*
 * A function without a call site, which ends where the next function begins: that one's site is not
 * the site of the first.
 */
void native_no_site(void);
extern const u8 native_no_site_end[];
asm(".text\n"
    ".globl native_no_site, native_no_site_end\n"
    ".type native_no_site, @function\n"
    "native_no_site:\n\tret\n"
    "native_no_site_end:\n"
    ".type native_no_site_end, @function\n"
    "1:\tcall __fentry__\n\tret\n"
    ".pushsection __mcount_loc, \"a\"\n\t.quad 1b\n.popsection\n");

CASE(the_next_site_is_another)
{
	unsigned long next = (unsigned long)native_no_site_end;

	KUNIT_EXPECT_EQ(test, ftrace_location(next), next);
	KUNIT_EXPECT_EQ(test, ftrace_location((unsigned long)native_no_site), 0UL);
}

static struct ftrace_hash *hash_of(struct kunit *test, unsigned long from, unsigned long to)
{
	struct ftrace_hash *hash = ftrace_hash_alloc();

	KUNIT_ASSERT_NOT_NULL(test, hash);
	for (unsigned long ip = from; ip < to; ip++)
		KUNIT_EXPECT_EQ(test, ftrace_hash_add(hash, ip, false), 0);
	return hash;
}

/* The addresses of a hash, of 0 to 63: a bit for each. */
static u64 bits_of(struct ftrace_hash *hash)
{
	u64 bits = 0;

	for (unsigned int ip = 0; ip < 64; ip++)
		bits |= (u64)!!ftrace_lookup_ip(hash, ip) << ip;
	return bits;
}

static void lose(struct ftrace_hash *hash, unsigned long from, unsigned long to,
		 struct hlist_head *taken)
{
	guard(mutex)(&ftrace_lock);
	if (taken)
		ftrace_hash_take(hash, from, to, taken);
	else
		ftrace_hash_forget(hash, from, to);
}

/* Text that goes leaves filters, from its first byte to the last. */
CASE(hashes_lose_text)
{
	for (int take = 0; take < 2; take++) {
		struct ftrace_hash *hash = hash_of(test, 10, 50);
		struct ftrace_func_entry *entry;
		struct hlist_node *tmp;
		HLIST_HEAD(taken);

		lose(hash, 20, 30, take ? &taken : NULL);
		KUNIT_EXPECT_EQ(test, bits_of(hash), GENMASK_ULL(49, 10) & ~GENMASK_ULL(29, 20));
		KUNIT_EXPECT_EQ(test, hash->count, 30UL);
		KUNIT_EXPECT_EQ(test, hash->flags, 0UL);
		/* A filter with words that wait keeps its flag. */
		hash->flags = FTRACE_HASH_FL_MOD;
		if (!take)
			lose(hash, 30, 31, NULL);
		KUNIT_EXPECT_EQ(test, hash->flags, FTRACE_HASH_FL_MOD + 0UL);
		hash->flags = 0;
		lose(hash, 0, 64, take ? &taken : NULL);
		KUNIT_EXPECT_EQ(test, hash->count, 0UL);
		KUNIT_EXPECT_FALSE(test, ftrace_hash_empty(hash));
		hlist_for_each_entry_safe(entry, tmp, &taken, hlist)
			kfree(entry);
		/* A function that is there: those that have gone do not count any more. */
		KUNIT_EXPECT_EQ(test, ftrace_hash_add(hash, 5, false), 0);
		KUNIT_EXPECT_EQ(test, hash->flags, 0UL);
		ftrace_hash_del(hash, ftrace_lookup_ip(hash, 5));
		KUNIT_EXPECT_TRUE(test, ftrace_hash_empty(hash));
		ftrace_hash_free(hash);
	}
}

static struct ftrace_ops above, subs[3];

/* Each of the first ones has a function of its own. */
static void make_subs(struct kunit *test, unsigned int nr)
{
	above = (struct ftrace_ops){ .func = ftrace_kunit_note_x };
	for (unsigned int i = 0; i < nr; i++) {
		subs[i] = (struct ftrace_ops){ .func = ftrace_kunit_note };
		KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&subs[i], kunit_funcs[i], true), 0);
	}
}

static void free_subs(unsigned int nr)
{
	while (nr--)
		ftrace_free_filter(&subs[nr]);
}

static int start_sub(unsigned int i)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_startup_subops(&above, &subs[i], 0);
}

static int end_sub(unsigned int i)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_shutdown_subops(&above, &subs[i], 0);
}

/* A callback that must not be called again by itself is called in an NMI, too. */
CASE(nmis_are_traced)
{
	static struct ftrace_ops ops = { .func = ftrace_kunit_note_x, .flags = FTRACE_OPS_FL_RECURSION };
	const char *calls;

	register_on(test, &ops, ftrace_kunit_func1);
	preempt_count_add(NMI_OFFSET);
	calls = ftrace_kunit_calls_of(ftrace_kunit_func1);
	preempt_count_sub(NMI_OFFSET);
	KUNIT_EXPECT_STREQ(test, calls, "x");
}

/* If an ops that runs under another goes without memory, its sites are left at the next change. */
CASE(left_sites_are_left_later)
{
	unsigned int failed = 0, failed_again = 0;
	int ret;

	for (unsigned int n = 1; n < 10; n++) {
		make_subs(test, 3);
		KUNIT_EXPECT_EQ(test, start_sub(0), 0);
		KUNIT_EXPECT_EQ(test, start_sub(1), 0);
		native_fail_nth(n);
		failed += end_sub(0) == -ENOMEM;
		/* Nor does it forget the sites when the next change fails, too. */
		ret = WITHOUT(n, start_sub(2));
		if (ret) {
			failed_again++;
			KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
			KUNIT_EXPECT_EQ(test, start_sub(2), 0);
		}
		KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, 0));
		KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "");
		KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func2), "x");
		KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func3), "x");
		KUNIT_EXPECT_EQ(test, end_sub(1), 0);
		KUNIT_EXPECT_EQ(test, end_sub(2), 0);
		free_subs(3);
	}
	KUNIT_EXPECT_GT(test, failed, 0U);
	KUNIT_EXPECT_GT(test, failed_again, 0U);
}

/* With the last ops under it, an ops leaves what it could not leave before. */
CASE(left_sites_go_with_the_last)
{
	unsigned int failed = 0;

	for (unsigned int n = 1; n < 10; n++) {
		make_subs(test, 2);
		KUNIT_EXPECT_EQ(test, start_sub(0), 0);
		KUNIT_EXPECT_EQ(test, start_sub(1), 0);
		native_fail_nth(n);
		if (end_sub(0) == -ENOMEM) {
			failed++;
			KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "x");
		}
		native_fail_nth(0);
		KUNIT_EXPECT_EQ(test, end_sub(1), 0);
		KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func1, 0));
		KUNIT_EXPECT_TRUE(test, ftrace_kunit_site_calls(ftrace_kunit_func2, 0));
		free_subs(2);
	}
	KUNIT_EXPECT_GT(test, failed, 0U);
}

/* What runs under an ops is not started again; what does not is not ended. */
CASE(subops_are_started_once)
{
	unsigned int before = native_warnings;

	make_subs(test, 1);
	KUNIT_EXPECT_EQ(test, start_sub(0), 0);
	KUNIT_EXPECT_EQ(test, start_sub(0), -EBUSY);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "x");
	KUNIT_EXPECT_EQ(test, end_sub(0), 0);
	KUNIT_EXPECT_EQ(test, end_sub(0), -EBUSY);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "");
	native_warnings = before;
	free_subs(1);
}

/* An ops without a filter, and without a trace array, traces all functions and all tasks. */
CASE(new_subops_trace_all)
{
	above = (struct ftrace_ops){ .func = ftrace_kunit_note_x };
	subs[0] = (struct ftrace_ops){ .func = ftrace_kunit_note, .flags = FTRACE_OPS_FL_PID };
	subs[1] = (struct ftrace_ops){
		.func = ftrace_kunit_note, .private = (void *)(unsigned long)'a',
	};
	for (unsigned int i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, start_sub(i), 0);
		KUNIT_EXPECT_NULL(test, above.guard);
		KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "x");
		KUNIT_EXPECT_TRUE(test, subs[i].flags & FTRACE_OPS_FL_INITIALIZED);
	}
	for (unsigned int i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, end_sub(i), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_kunit_calls_of(ftrace_kunit_func1), "");
}

/* An ops can take the place of a registered one only, and must not be registered itself. */
CASE(replacements_are_checked)
{
	static struct ftrace_ops ops = { .func = ftrace_kunit_note };
	static struct ftrace_ops other = { .func = ftrace_kunit_note };
	static struct ftrace_ops idle = { .func = ftrace_kunit_note };
	unsigned int before = native_warnings;

	ftrace_kunit_add_ops(test, &idle);
	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(&idle, ftrace_kunit_func1, true), 0);
	register_on(test, &ops, ftrace_kunit_func1);
	register_on(test, &other, ftrace_kunit_func1);
	KUNIT_EXPECT_EQ(test, LOCKED(ftrace_ops_replace(&idle, &idle)), -EBUSY);
	KUNIT_EXPECT_EQ(test, LOCKED(ftrace_ops_replace(&ops, &other)), -EBUSY);
	native_warnings = before;
	KUNIT_EXPECT_NULL(test, idle.callback);
}

/*
 * A broadcast tells tasks in a walk that an ops has gone: all that its removal needs. Where no walk
 * has the ops, the broadcasts that change text are enough.
 */
CASE(removals_send_broadcasts)
{
	unsigned long sent[2];

	for (unsigned int round = 0; round < 2; round++) {
		unsigned int nr = round ? ARRAY_SIZE(crowd) : 1;

		register_crowd(test, crowd, nr, ftrace_kunit_func1);
		/* The trampolines that had the ops before, in slots of their own, are freed. */
		native_settle();
		sent[round] = native_broadcasts();
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&crowd[0]), 0);
		sent[round] = native_broadcasts() - sent[round];
		for (unsigned int i = 1; i < nr; i++)
			KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&crowd[i]), 0);
		for (unsigned int i = 0; i < nr; i++)
			ftrace_free_filter(&crowd[i]);
	}
	KUNIT_EXPECT_EQ(test, sent[0], 3UL);
	KUNIT_EXPECT_EQ(test, sent[1], 1UL);
}

/* How many of the functions are no nop. */
static unsigned int nr_calling(void)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < NATIVE_FUNCS; i++)
		nr += !ftrace_kunit_site_calls(native_funcs[i], 0);
	return nr;
}

/* Without memory the sites of a removed ops are changed in batches of 64, of three steps each. */
CASE(large_removals_need_no_memory)
{
	static struct ftrace_ops ops;
	unsigned long before, sent = 0;

	for (unsigned int n = 1; n < 5; n++) {
		ops = (struct ftrace_ops){ .func = ftrace_kunit_note_x };
		register_on_glob(test, &ops, "native_func_*");
		native_fail_nth(n);
		before = native_broadcasts();
		KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
		sent = max(sent, native_broadcasts() - before);
		native_fail_nth(0);
		KUNIT_EXPECT_EQ(test, nr_calling(), 0U);
		ftrace_free_filter(&ops);
	}
	KUNIT_EXPECT_GE(test, sent, 3UL * (NATIVE_FUNCS / 64));
	KUNIT_EXPECT_LE(test, sent, 3UL * (NATIVE_FUNCS / 64 + 2));
}

/* A table of more sites than a batch has room for. */
CASE(tables_are_cleared_in_batches)
{
	static struct ftrace_ops ops = { .func = ftrace_kunit_note_x };
	struct ftrace_table *t;

	register_on_glob(test, &ops, "native_func_*");
	scoped_guard(mutex, &ftrace_lock) {
		ftrace_find_site(ftrace_location((unsigned long)native_funcs[0]), &t);
		ftrace_plan_clear(t);
	}
	KUNIT_EXPECT_EQ(test, nr_calling(), 0U);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&ops), 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_nr_classes(), 0U);
}

static void go_and_stay(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			struct ftrace_regs *fregs)
{
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)native_stay);
}

/* The code that an ops sends tasks to can be freed: it is waited for, besides the callback. */
CASE(code_is_waited_for)
{
	struct ftrace_ops *dynamic = native_dynamic_ops(test);
	struct task_struct *caller;

	KUNIT_ASSERT_EQ(test, ftrace_kunit_filter(dynamic, ftrace_kunit_func1, true), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(dynamic, (unsigned long)native_stay), 0);
	caller = native_call_until_inside(ftrace_kunit_func1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_direct(dynamic, (unsigned long)native_stay, false), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(native_inside), 2U);
	kthread_stop(caller);
	dynamic->func = go_and_stay;
	dynamic->flags |= FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS;
	KUNIT_ASSERT_EQ(test, register_ftrace_function(dynamic), 0);
	caller = native_call_until_inside(ftrace_kunit_func1);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(dynamic), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(native_inside), 2U);
	kthread_stop(caller);
	ftrace_free_filter(dynamic);
}

/* A task that entered on a CPU that has left since, as hotplug can make it, is waited for, too. */
CASE(other_cpus_are_waited_for)
{
	struct ftrace_ops *ops = native_dynamic_ops(test);
	struct ftrace_count *away;
	struct task_struct *owner;

	ops->func = ftrace_kunit_note_x;
	register_on(test, ops, ftrace_kunit_func1);
	away = per_cpu_ptr(ops->callback->count, NATIVE_ONLINE);
	away->entered++;
	owner = kthread_run_on_cpu(unregister, ops, 3, "native/%u");
	msleep(50);
	KUNIT_EXPECT_NOT_NULL(test, READ_ONCE(ops->callback));
	WRITE_ONCE(away->left, away->entered);
	KUNIT_EXPECT_EQ(test, kthread_stop(owner), 0);
	KUNIT_EXPECT_NULL(test, ops->callback);
}
