// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slow driver of flight-recorder.rst: a write to /dev/slow has to wait for a mutex with which
 * the driver sleeps, and a read has interrupts off, so that a timer of the driver is late.
 */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#define LATE_MS	100

static DEFINE_MUTEX(slow_mutex);
static bool slow_waits, slow_has_read;

/* Triggers of the tutorial: something took too long. */
static noinline void slow_write_late(void)
{
	pr_info("slow: a write was late\n");
}

static noinline void slow_timer_late(void)
{
	pr_info("slow: a timer was late\n");
}

static void slow_flush(struct work_struct *work)
{
	mutex_lock(&slow_mutex);
	while (!READ_ONCE(slow_waits))
		msleep(20);
	msleep(5 * LATE_MS);
	WRITE_ONCE(slow_waits, false);
	mutex_unlock(&slow_mutex);
}

static DECLARE_WORK(slow_work, slow_flush);

/* Behind it somebody else has the mutex, until the first write waits for it. */
static int slow_open(struct inode *inode, struct file *file)
{
	if (!(file->f_mode & FMODE_WRITE))
		return 0;
	schedule_work(&slow_work);
	while (!mutex_is_locked(&slow_mutex))
		msleep(20);
	return 0;
}

static ssize_t slow_write(struct file *file, const char __user *data, size_t len, loff_t *at)
{
	ktime_t begin = ktime_get();

	WRITE_ONCE(slow_waits, true);
	mutex_lock(&slow_mutex);
	mutex_unlock(&slow_mutex);
	if (ktime_ms_delta(ktime_get(), begin) > LATE_MS)
		slow_write_late();
	return len;
}

/* Not a matter of clocks, which stand still in some guests while interrupts are off. */
static void slow_timer_func(struct timer_list *timer)
{
	if (slow_has_read)
		slow_timer_late();
}

static struct timer_list slow_timer;

static noinline void slow_read_registers(void)
{
	unsigned long flags;

	local_irq_save(flags);
	slow_has_read = false;
	mod_timer(&slow_timer, jiffies + 1);
	mdelay(3 * LATE_MS);
	slow_has_read = true;
	local_irq_restore(flags);
}

static ssize_t slow_read(struct file *file, char __user *data, size_t len, loff_t *at)
{
	slow_read_registers();
	return 0;
}

static const struct file_operations slow_fops = {
	.owner	= THIS_MODULE,
	.open	= slow_open,
	.read	= slow_read,
	.write	= slow_write,
};

static struct miscdevice slow_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "slow",
	.fops	= &slow_fops,
};

static int __init slow_init(void)
{
	timer_setup(&slow_timer, slow_timer_func, TIMER_PINNED);
	return misc_register(&slow_device);
}
module_init(slow_init);

static void __exit slow_exit(void)
{
	misc_deregister(&slow_device);
	cancel_work_sync(&slow_work);
	timer_delete_sync(&slow_timer);
}
module_exit(slow_exit);

MODULE_DESCRIPTION("A driver that is slow");
MODULE_LICENSE("GPL");
