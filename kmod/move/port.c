// SPDX-License-Identifier: GPL-2.0
/*
 * port.c - see port.h.
 *
 * A port has a place for each page of the window, which is in flight at most once.  So the port's
 * maker has paid for everything that senders can put in.  Nothing appears in the window by itself:
 * the receiver takes messages in their order, and both sides touch only their own memory.
 *
 * The places of a message belong to one party at a time, so they need no lock: to the sender from
 * port_reserve to message_send, to the queue until message_pop, to the receiver until
 * port_give_back.  Like a parcel, they refer to pages as slots do, frozen or not, without
 * page-table entries.  Donated 2 MB without other holders pass as one huge page: the first places
 * of the message refer to huge pages, one for each 512 places, and the other places are empty.  So
 * they can be split into pages if they do not fit, without memory and without failure.
 *
 * The port's lock is a spinlock for the queue and the marks.  It is taken last and never held while
 * waiting.  So ports that pass into each other in a circle wait for no locks.
 */
#include <linux/anon_inodes.h>
#include <linux/bitmap.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <linux/cosy.h>
#include "compat/compat.h"
#include "load/locked.h"
#include "move/arena.h"
#include "move/by_file.h"
#include "move/huge.h"
#include "move/port.h"
#include "stats.h"

struct message {
	u32 first;  /* page of the window */
	u32 length; /* bytes */
	bool huge;  /* its places refer to huge pages */
};

struct cosy_port {
	struct kref references;	     /* one for each end that is open */
	struct cosy_counted counted; /* among the ports */
	struct cosy_locked locked;
	unsigned long count; /* pages of the window */
	union {
		cosy_slot_t *contents;	    /* EMPTY where no message has the place */
		cosy_huge_t *huge_contents; /* of the first places of a huge message */
	};
	wait_queue_head_t takers, passers;
	spinlock_t lock;
	bool no_taker, no_passer;  /* lock; that end is closed */
	unsigned long *busy;	   /* lock; a bit for each place that a message has */
	struct message *messages;  /* lock; a ring of `count` */
	unsigned long first, next; /* lock; numbers of the first message and of the next one */
};

static COSY_CENSUS(ports);

static unsigned long message_pages(const struct message *m)
{
	return DIV_ROUND_UP((unsigned long)m->length, PAGE_SIZE);
}

/* Returns how many of its places refer to something. */
static unsigned long message_places(const struct message *m)
{
	return m->huge ? message_pages(m) / COSY_HUGE_SLOTS : message_pages(m);
}

static u64 message_at(const struct message *m)
{
	return (u64)m->first << PAGE_SHIFT;
}

/* --- Lifetime ------------------------------------------------------------------------------ */

static void port_free_memory(struct cosy_port *port)
{
	kvfree(port->contents);
	kvfree(port->busy);
	kvfree(port->messages);
	kfree(port);
}

static struct cosy_port *port_alloc(unsigned long count)
{
	const gfp_t flags = GFP_KERNEL_ACCOUNT | __GFP_NOWARN;
	struct cosy_port *port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);

	if (!port)
		return NULL;
	port->contents = kvcalloc(count, sizeof(*port->contents), flags);
	port->busy = kvcalloc(BITS_TO_LONGS(count), sizeof(*port->busy), flags);
	port->messages = kvcalloc(count, sizeof(*port->messages), flags);
	if (!port->contents || !port->busy || !port->messages ||
	    cosy_locked_charge(&port->locked, count)) {
		port_free_memory(port);
		return NULL;
	}
	kref_init(&port->references);
	port->count = count;
	init_waitqueue_head(&port->takers);
	init_waitqueue_head(&port->passers);
	spin_lock_init(&port->lock);
	cosy_census_enter(&ports, &port->counted);
	cosy_stats_live(COSY_LIVE_PORTS, 1);
	return port;
}

/* Frees a port.  Its messages went when the end that takes them was closed. */
static void port_free(struct kref *references)
{
	struct cosy_port *port = container_of(references, struct cosy_port, references);

	cosy_census_leave(&ports, &port->counted);
	WARN_ON_ONCE(!bitmap_empty(port->busy, port->count));
	cosy_locked_uncharge(&port->locked);
	port_free_memory(port);
	cosy_stats_live(COSY_LIVE_PORTS, -1);
}

static void port_put(struct cosy_port *port)
{
	kref_put(&port->references, port_free);
}

int cosy_ports_count(struct cosy_count *count)
{
	struct cosy_counted *entry = NULL;

	spin_lock(&ports.lock);
	while (count->left && (entry = cosy_census_find(&ports, count))) {
		const struct cosy_port *port = container_of(entry, struct cosy_port, counted);

		count->sum->ports++;
		count->sum->port_pages += port->count;
		cosy_count_pass(count, entry);
		count->left--;
	}
	spin_unlock(&ports.lock);
	return entry || !count->left;
}

/* --- Places and the queue ------------------------------------------------------------------ */

/* The next three need the port's lock.  They look for one page first: most messages have one. */
static void places_mark(struct cosy_port *port, const struct message *m)
{
	if (message_pages(m) == 1)
		__set_bit(m->first, port->busy);
	else
		bitmap_set(port->busy, m->first, message_pages(m));
}

static void places_unmark(struct cosy_port *port, const struct message *m)
{
	if (message_pages(m) == 1)
		__clear_bit(m->first, port->busy);
	else
		bitmap_clear(port->busy, m->first, message_pages(m));
}

static bool places_are_free(const struct cosy_port *port, const struct message *m)
{
	unsigned long end = m->first + message_pages(m);

	if (message_pages(m) == 1)
		return !test_bit(m->first, port->busy);
	return find_next_bit(port->busy, end, m->first) >= end;
}

/* Gives the sender the places; -EAGAIN: they are another's.  -EPIPE. */
static int port_try_reserve(struct cosy_port *port, const struct message *m)
{
	int ret = 0;

	spin_lock(&port->lock);
	if (port->no_taker)
		ret = -EPIPE;
	else if (!places_are_free(port, m))
		ret = -EAGAIN;
	else
		places_mark(port, m);
	spin_unlock(&port->lock);
	return ret;
}

/* Returns whether port_try_reserve would return anything but -EAGAIN. */
static bool port_may_reserve(struct cosy_port *port, const struct message *m)
{
	bool may;

	spin_lock(&port->lock);
	may = port->no_taker || places_are_free(port, m);
	spin_unlock(&port->lock);
	return may;
}

/* Reserves as port_try_reserve does, but waits for the places, unless the file does not block. */
static int port_reserve(struct cosy_port *port, const struct file *file, const struct message *m)
{
	for (;;) {
		int ret = port_try_reserve(port, m);

		if (ret != -EAGAIN || file->f_flags & O_NONBLOCK)
			return ret;
		ret = wait_event_interruptible(port->passers, port_may_reserve(port, m));
		if (ret)
			return ret;
	}
}

/*
 * Wakes the waiters.  A waiter rechecks the condition after it is on the queue, so an empty queue
 * seen after the change cannot lose a wakeup (wq_has_sleeper has the barrier).
 */
static void port_wake(struct wait_queue_head *queue, __poll_t events)
{
	if (wq_has_sleeper(queue))
		wake_up_interruptible_poll(queue, events);
}

/* Gives back the places of a message, whose pages are others' now. */
static void port_give_back(struct cosy_port *port, const struct message *m)
{
	unsigned long i, places = message_places(m);

	for (i = 0; i < places; i++)
		port->contents[m->first + i] = COSY_SLOT_EMPTY;
	spin_lock(&port->lock);
	places_unmark(port, m);
	spin_unlock(&port->lock);
	port_wake(&port->passers, EPOLLOUT | EPOLLWRNORM);
}

/* Drops the pages of a message, and gives back its places. */
static void port_drop(struct cosy_port *port, const struct message *m)
{
	unsigned long i, count = message_places(m);

	for (i = 0; i < count; i++) {
		struct page *page = cosy_slot_page(port->contents[m->first + i]);

		if (m->huge)
			cosy_huge_drop(&port->huge_contents[m->first + i]);
		else if (page)
			put_page(page);
		if (m->huge || i % 1024 == 1023)
			cond_resched();
	}
	port_give_back(port, m);
}

/* Queues a message.  If nobody will take it, it is lost, like bytes left in a pipe. */
static void message_send(struct cosy_port *port, const struct message *m)
{
	bool lost;

	spin_lock(&port->lock);
	lost = port->no_taker;
	if (!lost)
		port->messages[port->next++ % port->count] = *m;
	spin_unlock(&port->lock);
	if (lost)
		port_drop(port, m);
	else
		port_wake(&port->takers, EPOLLIN | EPOLLRDNORM);
}

/*
 * Copies the first message, and leaves it in the queue.  1; 0: no more can come; -EAGAIN: none is
 * there.
 */
static int message_peek(struct cosy_port *port, struct message *m)
{
	int ret = 1;

	spin_lock(&port->lock);
	if (port->first != port->next)
		*m = port->messages[port->first % port->count];
	else
		ret = port->no_passer ? 0 : -EAGAIN;
	spin_unlock(&port->lock);
	return ret;
}

static bool takers_must_wait(const struct cosy_port *port)
{
	return READ_ONCE(port->first) == READ_ONCE(port->next) && !READ_ONCE(port->no_passer);
}

/* Copies it as message_peek does, but waits for one, unless the file does not block. */
static int message_wait(struct cosy_port *port, const struct file *file, struct message *m)
{
	for (;;) {
		int ret = message_peek(port, m);

		if (ret != -EAGAIN || file->f_flags & O_NONBLOCK)
			return ret;
		ret = wait_event_interruptible(port->takers, !takers_must_wait(port));
		if (ret)
			return ret;
	}
}

/* Gives the caller the first message's places, unless another message is the first by now. */
static bool message_pop(struct cosy_port *port, struct message *m)
{
	const struct message *first;
	bool is_first = false;

	spin_lock(&port->lock);
	if (port->first != port->next) {
		first = &port->messages[port->first % port->count];
		is_first = first->first == m->first && first->length == m->length;
		m->huge = first->huge;
	}
	port->first += is_first;
	spin_unlock(&port->lock);
	return is_first;
}

/* Puts a message that could not be copied back at the front, so that it is not lost. */
static void message_return(struct cosy_port *port, const struct message *m)
{
	spin_lock(&port->lock);
	port->messages[--port->first % port->count] = *m;
	spin_unlock(&port->lock);
	port_wake(&port->takers, EPOLLIN | EPOLLRDNORM);
}

/* --- Pass ---------------------------------------------------------------------------------- */

/* Splits the huge pages of a message that the caller owns into pages. */
static void message_divide(struct cosy_port *port, struct message *m)
{
	cosy_slot_t *places = port->contents + m->first;
	unsigned long i = message_places(m);

	/* From the last one on, since its pages take none of the places before. */
	while (m->huge && i--) {
		struct cosy_huge *huge = cosy_huge_of(port->huge_contents[m->first + i]);

		places[i] = COSY_SLOT_EMPTY;
		if (huge)
			cosy_huge_split(huge, places + i * COSY_HUGE_SLOTS);
		cond_resched();
	}
	m->huge = false;
}

/*
 * Returns whether a message can be huge pages: whole ones that others hold copies of are not moved.
 */
static bool message_may_be_huge(const struct message *m, const struct cosy_slots *s)
{
	return !(s->address & ~PMD_MASK) && !(m->length & ~PMD_MASK) && cosy_huge_are_alone(s);
}

/* Moves whole pages of the caller's into places. */
static int places_fill(struct cosy_port *port, struct message *m, u64 address, unsigned long count,
		       u32 how)
{
	unsigned long rights = how == COSY_MOVE_COPY ? VM_READ : VM_READ | VM_WRITE;
	cosy_slot_t left = how == COSY_MOVE_DONATE ? COSY_SLOT_GONE : COSY_SLOT_EMPTY;
	cosy_slot_t *places = port->contents + m->first;
	struct cosy_slots s;
	int ret;

	ret = cosy_slots_begin_all(address, count, rights, &s);
	if (ret)
		return ret;
	if (how == COSY_MOVE_COPY) {
		ret = cosy_slots_copy(&s, places);
	} else if (message_may_be_huge(m, &s)) {
		ret = cosy_huge_donate(&s, port->huge_contents + m->first, left);
		m->huge = !ret;
	} else {
		ret = cosy_slots_donate(&s, places, left);
	}
	cosy_slots_end(&s);
	return ret;
}

/* Copies bytes into a new page, with zeros behind them. */
static int place_copy(cosy_slot_t *place, u64 address, unsigned long count)
{
	const void __user *from = (const void __user *)address;
	struct page *page = cosy_slot_page_alloc(__GFP_ZERO);

	if (!page)
		return -ENOMEM;
	*place = cosy_slot_of(page);
	return copy_from_user(page_address(page), from, count) ? -EFAULT : 0;
}

static int message_fill(struct cosy_port *port, struct message *m, const struct cosy_move *move)
{
	unsigned long whole = m->length >> PAGE_SHIFT, rest = m->length & ~PAGE_MASK;
	int ret = 0;

	if (rest)
		ret = place_copy(port->contents + m->first + whole,
				 move->address + (whole << PAGE_SHIFT), rest);
	if (!ret && whole)
		ret = places_fill(port, m, move->address, whole, move->how);
	return ret;
}

/* Returns the message of `length` bytes for offset `at`; false: it is not within the window. */
static bool message_make(const struct cosy_port *port, u64 at, u64 length, struct message *ret)
{
	u64 size = (u64)port->count << PAGE_SHIFT;

	if (at & ~PAGE_MASK || at >= size || !length || length > size - at)
		return false;
	*ret = (struct message){ .first = at >> PAGE_SHIFT, .length = length };
	return true;
}

static long pass_to(struct file *file, const struct cosy_move *move)
{
	struct cosy_port *port = file->private_data;
	struct message m;
	long ret;

	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (!message_make(port, move->at, move->length, &m))
		return -EINVAL;
	ret = port_reserve(port, file, &m);
	if (ret)
		return ret;
	ret = message_fill(port, &m, move);
	if (ret) {
		port_drop(port, &m);
		return ret;
	}
	message_send(port, &m);
	return move->length;
}

/* Fills the places with copies of the bytes. */
static int message_fill_from(struct cosy_port *port, const struct message *m, struct iov_iter *from)
{
	unsigned long i, pages = message_pages(m);

	for (i = 0; i < pages; i++) {
		size_t part = min_t(size_t, iov_iter_count(from), PAGE_SIZE);
		struct page *page = cosy_slot_page_alloc(part < PAGE_SIZE ? __GFP_ZERO : 0);

		if (!page)
			return -ENOMEM;
		port->contents[m->first + i] = cosy_slot_of(page);
		if (copy_page_from_iter(page, 0, part, from) < part)
			return -EFAULT;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static ssize_t port_write(struct kiocb *call, struct iov_iter *from)
{
	struct cosy_port *port = call->ki_filp->private_data;
	struct message m;
	ssize_t ret;

	if (!message_make(port, call->ki_pos, iov_iter_count(from), &m))
		return -EINVAL;
	ret = port_reserve(port, call->ki_filp, &m);
	if (ret)
		return ret;
	ret = message_fill_from(port, &m, from);
	if (ret) {
		port_drop(port, &m);
		return ret;
	}
	message_send(port, &m);
	return m.length;
}

/* --- Take ---------------------------------------------------------------------------------- */

/* Puts the first message's pages into the window.  -ESTALE: it is another message by now. */
static int message_take(struct cosy_port *port, struct message *m, const struct cosy_move *move)
{
	bool present = move->flags & (COSY_MOVE_POPULATE | COSY_MOVE_WILL_WRITE);
	bool write = move->flags & COSY_MOVE_WILL_WRITE;
	u64 address = move->address + message_at(m);
	unsigned long pages = message_pages(m);
	struct cosy_slots s;
	int ret;

	ret = cosy_slots_begin_all(address, pages, VM_READ | VM_WRITE, &s);
	if (ret)
		return ret;
	if (message_pop(port, m)) {
		if (m->huge && !cosy_huge_fits(&s))
			message_divide(port, m);
		if (m->huge) {
			cosy_slots_clear(&s, s.count);
			cosy_huge_import(&s, port->huge_contents + m->first);
		} else {
			cosy_slots_import(&s, port->contents + m->first);
		}
		/* Without memory for this the next access faults. */
		if (present)
			cosy_slots_present(&s, write);
	} else {
		ret = -ESTALE;
	}
	cosy_slots_unlock(&s);
	if (!ret && m->huge && present)
		cosy_huge_touch(&s, write);
	mmap_read_unlock(current->mm);
	if (!ret)
		port_give_back(port, m);
	return ret;
}

static long take_from(struct file *file, const struct cosy_move *move)
{
	struct cosy_port *port = file->private_data;
	struct message m;
	long ret;

	if (!(file->f_mode & FMODE_READ))
		return -EBADF;
	do {
		ret = message_wait(port, file, &m);
		if (ret <= 0)
			return ret;
		if (message_at(&m) + (message_pages(&m) << PAGE_SHIFT) > move->length)
			return -EMSGSIZE;
		if (put_user(message_at(&m), (u64 __user *)move->at))
			return -EFAULT;
		ret = message_take(port, &m, move);
	} while (ret == -ESTALE);
	return ret ? ret : m.length;
}

/* Copies a message's bytes, which are the caller's. */
static ssize_t message_copy(const struct cosy_port *port, const struct message *m,
			    struct iov_iter *to)
{
	size_t done = 0;

	while (done < m->length) {
		struct page *page = cosy_slot_page(port->contents[m->first + (done >> PAGE_SHIFT)]);
		size_t part = min_t(size_t, PAGE_SIZE, m->length - done), now;

		now = page ? copy_page_to_iter(page, 0, part, to) : iov_iter_zero(part, to);
		if (now < part)
			return -EFAULT;
		if (fatal_signal_pending(current))
			return -EINTR;
		done += part;
		cond_resched();
	}
	return done;
}

static ssize_t port_read(struct kiocb *call, struct iov_iter *to)
{
	struct cosy_port *port = call->ki_filp->private_data;
	struct message m;
	ssize_t ret = message_wait(port, call->ki_filp, &m);

	if (ret <= 0)
		return ret;
	if (call->ki_pos != message_at(&m))
		return -ESTALE;
	if (iov_iter_count(to) < m.length)
		return -EMSGSIZE;
	if (!message_pop(port, &m))
		return -ESTALE;
	message_divide(port, &m);
	ret = message_copy(port, &m, to);
	if (ret < 0)
		message_return(port, &m);
	else
		port_drop(port, &m);
	return ret;
}

/* --- The descriptors ----------------------------------------------------------------------- */

static long port_ioctl(struct file *file, unsigned int command, unsigned long address)
{
	struct cosy_port *port = file->private_data;
	struct cosy_port_message answer = {};
	struct message m;
	int ret;

	if (command != COSY_IOC_PORT)
		return -ENOTTY;
	if (file->f_mode & FMODE_WRITE) {
		answer.length = (u64)port->count << PAGE_SHIFT;
	} else {
		ret = message_wait(port, file, &m);
		if (ret < 0)
			return ret;
		if (ret)
			answer = (struct cosy_port_message){ message_at(&m), m.length };
	}
	return copy_to_user((void __user *)address, &answer, sizeof(answer)) ? -EFAULT : 0;
}

/*
 * Reports POLLOUT when any message may be passed, that is when none is under way: otherwise a
 * message that was refused because of some pages could be refused again.
 */
static __poll_t port_poll(struct file *file, poll_table *table)
{
	struct cosy_port *port = file->private_data;
	__poll_t ret = 0;

	poll_wait(file, file->f_mode & FMODE_WRITE ? &port->passers : &port->takers, table);
	spin_lock(&port->lock);
	if (file->f_mode & FMODE_WRITE) {
		if (port->no_taker)
			ret = EPOLLOUT | EPOLLWRNORM | EPOLLHUP;
		else if (bitmap_empty(port->busy, port->count))
			ret = EPOLLOUT | EPOLLWRNORM;
	} else {
		if (port->first != port->next)
			ret = EPOLLIN | EPOLLRDNORM;
		if (port->no_passer)
			ret |= EPOLLIN | EPOLLRDNORM | EPOLLHUP;
	}
	spin_unlock(&port->lock);
	return ret;
}

/* Nobody will take messages any more: drops those that wait, and tells the senders. */
static void port_end_takes(struct cosy_port *port)
{
	struct message m;

	spin_lock(&port->lock);
	port->no_taker = true;
	spin_unlock(&port->lock);
	while (message_peek(port, &m) > 0 && message_pop(port, &m))
		port_drop(port, &m);
	wake_up_interruptible_poll(&port->passers, EPOLLOUT | EPOLLHUP);
}

static void port_end_passes(struct cosy_port *port)
{
	spin_lock(&port->lock);
	port->no_passer = true;
	spin_unlock(&port->lock);
	wake_up_interruptible_poll(&port->takers, EPOLLIN | EPOLLHUP);
}

static int port_release(struct inode *inode, struct file *file)
{
	struct cosy_port *port = file->private_data;

	if (file->f_mode & FMODE_WRITE)
		port_end_passes(port);
	else
		port_end_takes(port);
	port_put(port);
	return 0;
}

static void port_show(struct seq_file *to, struct file *file)
{
	const struct cosy_port *port = file->private_data;

	seq_printf(to, "cosy-pages:\t%lu\n", port->count);
}

static const struct file_operations port_fops = {
	.owner = THIS_MODULE,
	.read_iter = port_read,
	.write_iter = port_write,
	.unlocked_ioctl = port_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = port_poll,
	.release = port_release,
	.show_fdinfo = port_show,
	.llseek = noop_llseek,
};

/* Opens an end, which takes over a reference. */
static struct file *port_open(struct cosy_port *port, int mode)
{
	struct file *file = anon_inode_getfile("[cosy port]", &port_fops, port, mode);

	if (IS_ERR(file))
		port_put(port);
	else
		file->f_mode |= mode == O_RDONLY ? FMODE_PREAD : FMODE_PWRITE;
	return file;
}

/* Opens both ends. */
static int port_open_both(struct cosy_port *port, struct file **files)
{
	kref_get(&port->references);
	files[0] = port_open(port, O_RDONLY);
	if (IS_ERR(files[0])) {
		port_put(port);
		return PTR_ERR(files[0]);
	}
	files[1] = port_open(port, O_WRONLY);
	if (!IS_ERR(files[1]))
		return 0;
	fput(files[0]);
	return PTR_ERR(files[1]);
}

static int port_install(struct file **files, int __user *to)
{
	int fds[2] = { get_unused_fd_flags(O_CLOEXEC), get_unused_fd_flags(O_CLOEXEC) };
	int error = min(fds[0], fds[1]), i;

	if (error >= 0 && copy_to_user(to, fds, sizeof(fds)))
		error = -EFAULT;
	for (i = 0; i < 2; i++) {
		if (error >= 0)
			fd_install(fds[i], files[i]);
		else if (fds[i] >= 0)
			put_unused_fd(fds[i]);
	}
	return min(error, 0);
}

long cosy_port_create(const struct cosy_move *move)
{
	struct cosy_port *port;
	struct file *files[2];
	int ret;

	if (move->length > COSY_MAX_ARENA)
		return -EINVAL;
	port = port_alloc(move->length >> PAGE_SHIFT);
	if (!port)
		return -ENOMEM;
	ret = port_open_both(port, files);
	if (ret)
		return ret;
	ret = port_install(files, (int __user *)move->at);
	if (ret) {
		fput(files[0]);
		fput(files[1]);
	}
	return ret;
}

long cosy_port_pass(const struct cosy_move *move)
{
	if (move->how != COSY_MOVE_COPY && move->how != COSY_MOVE_DONATE &&
	    move->how != COSY_MOVE_DONATE_ZERO)
		return -EINVAL;
	if (move->how != COSY_MOVE_COPY && move->length & ~PAGE_MASK)
		return -EINVAL;
	return cosy_move_by_file(move, &port_fops, WRITE, pass_to);
}

long cosy_port_take(const struct cosy_move *move)
{
	return cosy_move_by_file(move, &port_fops, READ, take_from);
}
