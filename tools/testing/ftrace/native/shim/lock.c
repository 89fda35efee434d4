// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks that find mistakes: a lock taken twice, released by another task, or taken in an
 * order that another place does not keep.
 */
#include <linux/cpu.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/version.h>

#include "native.h"

#define NR_CLASSES	64

/* The locks of all kinds, and which was taken while which was held. */
static const struct lock_class_key *class[NR_CLASSES];
static const char *class_name[NR_CLASSES];
static unsigned int nr_classes;
static bool before[NR_CLASSES][NR_CLASSES];

static unsigned int class_of(const struct lockdep_map *map)
{
	unsigned int n = 0;

	while (n < nr_classes && class[n] != map->key)
		n++;
	if (n == nr_classes) {
		if (n == NR_CLASSES)
			native_fail("more locks than NR_CLASSES in %s", __FILE__);
		class[n] = map->key;
		class_name[n] = map->name;
		nr_classes++;
	}
	return n;
}

static void check_order(const struct lockdep_map *map)
{
	unsigned int c;

	host_lock();
	c = class_of(map);
	for (int i = 0; i < current->lockdep_depth; i++) {
		unsigned int held = class_of(current->held_locks[i].instance);

		if (held == c)
			continue;
		before[held][c] = true;
		if (before[c][held]) {
			host_unlock();
			native_fail("lock %s is taken with %s held, elsewhere the other way round",
				    map->name, class_name[held]);
		}
	}
	host_unlock();
}

void lock_acquire(struct lockdep_map *map, unsigned int subclass, int trylock, int read,
		  int check, struct lockdep_map *nest, unsigned long ip)
{
	struct task_struct *task = current;

	/* Readers of RCU wait for nobody. */
	if (!trylock && read != 2 && map->key)
		check_order(map);
	if (task->lockdep_depth == MAX_LOCK_DEPTH)
		native_fail("too many locks");
	task->held_locks[task->lockdep_depth++].instance = map;
}

void lock_release(struct lockdep_map *map, unsigned long ip)
{
	struct task_struct *task = current;
	int i = task->lockdep_depth;

	while (i-- && task->held_locks[i].instance != map)
		;
	if (i < 0)
		native_fail("%s is released by a task that does not hold it", map->name);
	for (task->lockdep_depth--; i < task->lockdep_depth; i++)
		task->held_locks[i] = task->held_locks[i + 1];
}

int lock_is_held_type(const struct lockdep_map *map, int read)
{
	for (int i = 0; i < current->lockdep_depth; i++)
		if (current->held_locks[i].instance == map)
			return LOCK_STATE_HELD;
	return LOCK_STATE_NOT_HELD;
}

void lockdep_init_map_type(struct lockdep_map *lock, const char *name,
			   struct lock_class_key *key, int subclass, u8 inner, u8 outer,
			   u8 lock_type)
{
	lock->name = name;
	lock->key = key;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
void __mutex_init(struct mutex *lock, const char *name, struct lock_class_key *key)
#else
void mutex_init_lockdep(struct mutex *lock, const char *name, struct lock_class_key *key)
#endif
{
	memset(lock, 0, sizeof(*lock));
	lockdep_init_map_type(&lock->dep_map, name, key, 0, 0, 0, 0);
}

/* A lock that is a variable is a class of its own, whose key is its address. */
static void mutex_name(struct mutex *lock)
{
	if (!lock->dep_map.name)
		native_fail("a mutex was not initialized");
	if (!lock->dep_map.key)
		lock->dep_map.key = (struct lock_class_key *)lock;
}

static bool mutex_take(struct mutex *lock)
{
	long none = 0;

	return __atomic_compare_exchange_n(&lock->owner.counter, &none, (long)current, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* What the task of a CPU waits for. */
static struct mutex *wanted[NATIVE_CPUS];

/* Does any task wait for a lock? */
bool native_waits_for(const struct mutex *lock)
{
	for (int cpu = 0; cpu < NATIVE_CPUS; cpu++)
		if (READ_ONCE(wanted[cpu]) == lock)
			return true;
	return false;
}

void mutex_lock_nested(struct mutex *lock, unsigned int subclass)
{
	might_sleep();
	mutex_name(lock);
	if (__atomic_load_n(&lock->owner.counter, __ATOMIC_RELAXED) == (long)current)
		native_fail("mutex %s is taken twice", lock->dep_map.name);
	lock_acquire(&lock->dep_map, subclass, 0, 0, 1, NULL, _RET_IP_);
	if (mutex_take(lock))
		return;
	WRITE_ONCE(wanted[raw_smp_processor_id()], lock);
	native_sleep_begin("mutex_lock");
	while (!mutex_take(lock))
		host_usleep(20);
	native_sleep_end();
	WRITE_ONCE(wanted[raw_smp_processor_id()], NULL);
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
int mutex_trylock(struct mutex *lock)
#else
int _mutex_trylock_nest_lock(struct mutex *lock, struct lockdep_map *nest)
#endif
{
	mutex_name(lock);
	if (!mutex_take(lock))
		return 0;
	lock_acquire(&lock->dep_map, 0, 1, 0, 1, NULL, _RET_IP_);
	return 1;
}

void mutex_unlock(struct mutex *lock)
{
	if (__atomic_load_n(&lock->owner.counter, __ATOMIC_RELAXED) != (long)current)
		native_fail("mutex %s is released by a task that does not hold it",
			    lock->dep_map.name);
	lock_release(&lock->dep_map, _RET_IP_);
	__atomic_store_n(&lock->owner.counter, 0, __ATOMIC_RELEASE);
}

/* The lock of mappings, which nobody takes for writing; the list of events, written at boot. */
void down_read(struct rw_semaphore *sem)
{
	might_sleep();
	if (!sem->dep_map.key)
		sem->dep_map.key = (struct lock_class_key *)sem;
	lock_acquire(&sem->dep_map, 0, 0, 1, 1, NULL, _RET_IP_);
}

void up_read(struct rw_semaphore *sem)
{
	lock_release(&sem->dep_map, _RET_IP_);
}

void down_write(struct rw_semaphore *sem)
{
	down_read(sem);
}

void up_write(struct rw_semaphore *sem)
{
	up_read(sem);
}

bool mutex_is_locked(struct mutex *lock)
{
	return __atomic_load_n(&lock->owner.counter, __ATOMIC_RELAXED);
}

void _raw_spin_lock(raw_spinlock_t *lock)
{
	preempt_disable();
	lock_acquire(&lock->dep_map, 0, 0, 0, 1, NULL, _RET_IP_);
	while (__atomic_exchange_n(&lock->raw_lock.val.counter, 1, __ATOMIC_ACQUIRE))
		host_usleep(1);
}

void _raw_spin_unlock(raw_spinlock_t *lock)
{
	lock_release(&lock->dep_map, _RET_IP_);
	__atomic_store_n(&lock->raw_lock.val.counter, 0, __ATOMIC_RELEASE);
	preempt_enable();
}

/* Nobody writes the list of tasks. */
DEFINE_RWLOCK(tasklist_lock);

void _raw_read_lock(rwlock_t *lock)
{
	preempt_disable();
	lock_acquire(&lock->dep_map, 0, 0, 1, 1, NULL, _RET_IP_);
}

void _raw_read_unlock(rwlock_t *lock)
{
	lock_release(&lock->dep_map, _RET_IP_);
	preempt_enable();
}

unsigned long _raw_spin_lock_irqsave(raw_spinlock_t *lock)
{
	unsigned long flags;

	local_irq_save(flags);
	_raw_spin_lock(lock);
	return flags;
}

void _raw_spin_unlock_irqrestore(raw_spinlock_t *lock, unsigned long flags)
{
	_raw_spin_unlock(lock);
	local_irq_restore(flags);
}

void __raw_spin_lock_init(raw_spinlock_t *lock, const char *name, struct lock_class_key *key,
			  short inner)
{
	memset(lock, 0, sizeof(*lock));
	lockdep_init_map_type(&lock->dep_map, name, key, 0, 0, 0, 0);
}

/* CPUs come and go never; only who holds the lock is known. */
static struct lock_class_key hotplug_key;
static struct lockdep_map hotplug = { .name = "cpu_hotplug_lock", .key = &hotplug_key };

void cpus_read_lock(void)
{
	might_sleep();
	lock_acquire(&hotplug, 0, 0, 1, 1, NULL, _RET_IP_);
}

void cpus_read_unlock(void)
{
	lock_release(&hotplug, _RET_IP_);
}

void lockdep_assert_cpus_held(void)
{
	if (!lock_is_held_type(&hotplug, -1))
		native_fail("the CPU hotplug lock is not held");
}
