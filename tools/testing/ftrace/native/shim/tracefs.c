// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracefs without a file system: the files that trace.c and the core create are in a table, and
 * a test calls their operations as the kernel does.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <linux/tracefs.h>
#include <linux/uio.h>
#include <linux/version.h>

#include "native.h"

#define NAME_SIZE	48

struct entry {
	struct dentry	dentry;
	struct inode	inode;
	struct entry	*parent;	/* NULL: the top directory */
	struct entry	*next;
	const struct file_operations *fops;
	char		name[NAME_SIZE];
};

static struct entry *entries;

/* trace.c takes this for the directory "tracing"; files have NULL for it. */
static struct dentry top;

static struct entry *entry_of(struct dentry *dentry)
{
	return dentry && dentry != &top ? container_of(dentry, struct entry, dentry) : NULL;
}

static struct dentry *add(const char *name, struct dentry *parent, void *data,
			  const struct file_operations *fops)
{
	struct entry *e = host_alloc(sizeof(*e));

	memset(e, 0, sizeof(*e));
	strscpy(e->name, name);
	e->parent = entry_of(parent);
	e->fops = fops;
	e->inode.i_private = data;
	e->dentry.d_inode = &e->inode;
	host_lock();
	for (const struct entry *old = entries; old; old = old->next)
		if (old->parent == e->parent && !strcmp(old->name, name))
			native_fail("the file %s is made twice", name);
	e->next = entries;
	entries = e;
	host_unlock();
	return &e->dentry;
}

struct dentry *tracefs_create_file(const char *name, umode_t mode, struct dentry *parent,
				   void *data, const struct file_operations *fops)
{
	return add(name, parent, data, fops);
}

struct dentry *tracefs_create_dir(const char *name, struct dentry *parent)
{
	return add(name, parent, NULL, NULL);
}

static int (*make_instance)(const char *name);
static int (*remove_instance)(const char *name);

struct dentry *tracefs_create_instance_dir(const char *name, struct dentry *parent,
					   int (*mkdir)(const char *name),
					   int (*rmdir)(const char *name))
{
	make_instance = mkdir;
	remove_instance = rmdir;
	return add(name, parent, NULL, NULL);
}

struct dentry *debugfs_create_automount(const char *name, struct dentry *parent,
					debugfs_automount_t f, void *data)
{
	return &top;
}

bool tracefs_initialized(void)
{
	return true;
}

static bool is_below(const struct entry *e, const struct entry *dir)
{
	while (e && e != dir)
		e = e->parent;
	return e;
}

/* The parents come after their children in the list. */
void tracefs_remove(struct dentry *dentry)
{
	struct entry *dir = entry_of(dentry), **link = &entries, *e;

	if (!dir)
		return;
	host_lock();
	while ((e = *link)) {
		if (!is_below(e, dir)) {
			link = &e->next;
			continue;
		}
		*link = e->next;
		host_free(e);
		if (e == dir)
			break;
	}
	host_unlock();
}

static bool is_named(const struct entry *e, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[NAME_SIZE];

	if (strcmp(e->name, slash ? slash + 1 : path))
		return false;
	if (!slash)
		return !e->parent;
	if (!e->parent)
		return false;
	strscpy(dir, path, min_t(size_t, NAME_SIZE, slash - path + 1));
	return is_named(e->parent, dir);
}

struct native_file {
	struct file	file;
	struct inode	*inode;
	loff_t		pos;
};

/**
 * native_open - open a file of tracefs
 * @path: its name, in an instance "instances/NAME/FILE"
 * @flags: O_RDONLY, O_WRONLY or O_RDWR; O_TRUNC, O_APPEND
 *
 * Return: the file, or an ERR_PTR().
 */
struct native_file *native_open(const char *path, int flags)
{
	struct native_file *f;
	struct entry *e;
	int ret;

	host_lock();
	for (e = entries; e && !is_named(e, path); e = e->next)
		;
	host_unlock();
	if (!e)
		return ERR_PTR(-ENOENT);
	f = host_alloc(sizeof(*f));
	memset(f, 0, sizeof(*f));
	f->inode = &e->inode;
	f->file.f_inode = &e->inode;
	f->file.f_op = e->fops;
	f->file.f_flags = flags;
	f->file.f_mode = OPEN_FMODE(flags) | FMODE_LSEEK;
	mutex_init(&f->file.f_pos_lock);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	atomic_long_set(&f->file.f_count, 1);
#else
	file_ref_init(&f->file.f_ref, 1);
#endif
	ret = e->fops->open ? e->fops->open(&e->inode, &f->file) : 0;
	if (ret) {
		host_free(f);
		return ERR_PTR(ret);
	}
	return f;
}

/* What the file allows: FMODE_*. */
fmode_t native_mode(const struct native_file *f)
{
	return f->file.f_mode;
}

/* As write(2) of @len bytes. */
ssize_t native_write_len(struct native_file *f, const char *text, size_t len)
{
	char behind[16], *copy;
	ssize_t ret;

	if ((const char __user *)text == NATIVE_BAD_USER)
		return f->file.f_op->write(&f->file, NATIVE_BAD_USER, len, &f->pos);
	/* Behind the text is what nobody may read. */
	copy = host_alloc(len + sizeof(behind));
	memcpy(copy, text, len);
	memset(copy + len, '7', sizeof(behind));
	ret = f->file.f_op->write(&f->file, (const char __user *)copy, len, &f->pos);
	host_free(copy);
	return ret;
}

/**
 * native_write - write all of a text to an open file, as a shell does
 * @f: the file
 * @text: the text
 *
 * Return: 0, or the error of the first call of write that fails.
 */
int native_write(struct native_file *f, const char *text)
{
	size_t len = strlen(text), at = 0;

	while (at < len) {
		ssize_t ret = native_write_len(f, text + at, len - at);

		/* A shell would write the same again and again. */
		if (ret <= 0)
			return ret ?: -EIO;
		at += ret;
	}
	return 0;
}

/**
 * native_read - read an open file on, with a buffer of some size
 * @f: the file
 * @buf: where the text goes
 * @size: how much to read
 *
 * Return: the number of bytes, 0 at the end, or -errno.
 */
ssize_t native_read(struct native_file *f, char *buf, size_t size)
{
	return f->file.f_op->read(&f->file, (char __user *)buf, size, &f->pos);
}

/* The next read is from the start. */
void native_rewind(struct native_file *f)
{
	f->pos = 0;
}

/**
 * native_close_one - close a descriptor of a file that has another one
 * @f: the file
 *
 * Return: what close(2) returns: the error of ->flush.
 */
int native_close_one(struct native_file *f)
{
	int ret;

	get_file(&f->file);
	ret = f->file.f_op->flush ? f->file.f_op->flush(&f->file, NULL) : 0;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	atomic_long_dec(&f->file.f_count);
#else
	file_ref_init(&f->file.f_ref, 1);
#endif
	return ret;
}

/**
 * native_drop - drop the last reference to a file, after its last descriptor was closed
 * @f: the file
 */
void native_drop(struct native_file *f)
{
	if (f->file.f_op->release)
		f->file.f_op->release(f->inode, &f->file);
	host_free(f);
}

/**
 * native_close - close a file
 * @f: the file
 *
 * Return: what close(2) returns: the error of ->flush.
 */
int native_close(struct native_file *f)
{
	int ret = f->file.f_op->flush ? f->file.f_op->flush(&f->file, NULL) : 0;

	native_drop(f);
	return ret;
}

/**
 * native_echo - open a file, write a text, close the file
 * @path: the file
 * @flags: for native_open(), besides O_WRONLY
 * @text: the text
 *
 * Return: 0, or the first error.
 */
int native_echo(const char *path, int flags, const char *text)
{
	struct native_file *f = native_open(path, O_WRONLY | flags);
	int ret, end;

	if (IS_ERR(f))
		return PTR_ERR(f);
	ret = native_write(f, text);
	end = native_close(f);
	return ret ?: end;
}

/**
 * native_cat - read a whole file
 * @path: the file
 * @buf: where the text goes, which ends with a 0
 * @size: room there
 * @chunk: the size of each read
 *
 * Return: the number of bytes, or -errno.
 */
ssize_t native_cat(const char *path, char *buf, size_t size, size_t chunk)
{
	struct native_file *f = native_open(path, O_RDONLY);
	ssize_t ret = 0, at = 0;

	buf[0] = 0;
	if (IS_ERR(f))
		return PTR_ERR(f);
	while (at < size - 1) {
		ret = native_read(f, buf + at, min_t(size_t, chunk, size - 1 - at));
		if (ret <= 0)
			break;
		at += ret;
	}
	buf[at] = 0;
	native_close(f);
	return ret < 0 ? ret : at;
}

int native_mkdir(const char *name)
{
	return make_instance(name);
}

int native_rmdir(const char *name)
{
	return remove_instance(name);
}

/* The memory of a user is that of the program; one address of it cannot be read or written. */
#define BAD_USER	NATIVE_BAD_USER

unsigned long _copy_from_user(void *to, const void __user *from, unsigned long n)
{
	might_sleep();
	if (from == BAD_USER)
		return n;
	memcpy(to, (__force void *)from, n);
	return 0;
}

unsigned long _copy_to_user(void __user *to, const void *from, unsigned long n)
{
	might_sleep();
	if (to == BAD_USER)
		return n;
	memcpy((__force void *)to, from, n);
	return 0;
}

void __might_fault(const char *file, int line)
{
	__might_sleep(file, line);
}

/* get_user() calls this with the address in %rax, and finds value and error in %rdx and %rax. */
asm(".text\n"
    ".globl __get_user_1\n"
    "__get_user_1:\n"
    "	cmp	$1, %rax\n"
    "	je	1f\n"
    "	movzbl	(%rax), %edx\n"
    "	xor	%eax, %eax\n"
    "	ret\n"
    "1:	xor	%edx, %edx\n"
    "	mov	$-14, %rax\n"
    "	ret\n");

void iov_iter_init(struct iov_iter *i, unsigned int direction, const struct iovec *iov,
		   unsigned long nr_segs, size_t count)
{
	*i = (struct iov_iter){ .iter_type = ITER_UBUF, .ubuf = iov->iov_base, .count = count };
}

size_t _copy_to_iter(const void *addr, size_t bytes, struct iov_iter *i)
{
	bytes = min(bytes, i->count);
	if (_copy_to_user(i->ubuf + i->iov_offset, addr, bytes))
		return 0;
	i->iov_offset += bytes;
	i->count -= bytes;
	return bytes;
}

/* sysctl: the files of /proc/sys/kernel. */
static const struct ctl_table *sysctls[8];
static unsigned int nr_sysctls;

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
void __register_sysctl_init(const char *path, struct ctl_table *table, const char *table_name,
			    size_t size)
#else
void __register_sysctl_init(const char *path, const struct ctl_table *table,
			    const char *table_name, size_t size)
#endif
{
	while (size--)
		sysctls[nr_sysctls++] = table++;
}

/* One number. The kernel's buffer is memory of the kernel, too. */
int proc_dointvec(const struct ctl_table *table, int write, void *buffer, size_t *lenp,
		  loff_t *ppos)
{
	int *value = table->data, ret;
	char text[16];

	if (!write) {
		if (*ppos) {
			*lenp = 0;
			return 0;
		}
		*lenp = snprintf(buffer, *lenp, "%d\n", *value);
		*ppos += *lenp;
		return 0;
	}
	if (strscpy(text, buffer) < 0)
		return -EINVAL;
	ret = kstrtoint(strim(text), 0, value);
	return ret;
}

static const struct ctl_table *sysctl_find(const char *name)
{
	for (unsigned int i = 0; i < nr_sysctls; i++)
		if (!strcmp(sysctls[i]->procname, name))
			return sysctls[i];
	native_fail("no sysctl %s", name);
}

/**
 * native_sysctl_write - write to a file of /proc/sys/kernel
 * @name: the file
 * @text: what is written
 *
 * Return: 0 or -errno.
 */
int native_sysctl_write(const char *name, const char *text)
{
	const struct ctl_table *table = sysctl_find(name);
	size_t len = strlen(text);
	char buf[32];
	loff_t pos = 0;

	strscpy(buf, text);
	return table->proc_handler(table, 1, buf, &len, &pos);
}

/* The number in a file of /proc/sys/kernel. */
int native_sysctl_read(const char *name)
{
	const struct ctl_table *table = sysctl_find(name);
	char buf[32];
	size_t len = sizeof(buf) - 1;
	loff_t pos = 0;
	int value;

	if (table->proc_handler(table, 0, buf, &len, &pos))
		native_fail("%s cannot be read", name);
	buf[len] = 0;
	return kstrtoint(strim(buf), 0, &value) ? -1 : value;
}
