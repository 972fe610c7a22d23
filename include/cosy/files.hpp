// SPDX-License-Identifier: MIT
/*
 * files.hpp - <cosy/files.h> for C++17: handles that close themselves, ranges, exceptions.
 *
 *	for (const cosy::entry &file : cosy::walk("/usr/share", cosy::walk::stat))
 *		if (file.stat)
 *			bytes += file.stat->st_size;
 *
 * Functions throw std::system_error with errno's value where those of <cosy/files.h> return an error;
 * what() names the function, and the path of a directory that cannot be opened.
 * An error of one entry is no exception: it is in the entry.  What an iterator points to belongs to
 * the handle and is valid until the iterator is advanced.  Handles can be moved, not copied.
 */
#ifndef COSY_FILES_HPP
#define COSY_FILES_HPP

#include <cosy/files.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fcntl.h>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace cosy {

namespace detail {

[[noreturn]] inline void fail(const char *function)
{
	throw std::system_error(errno, std::generic_category(), function);
}

[[noreturn]] inline void fail(const char *function, const std::string &path)
{
	int error = errno;
	throw std::system_error(error, std::generic_category(), function + (": " + path));
}

/* A handle of C that its close function ends. */
template <auto Close> struct closer {
	template <class Handle> void operator()(Handle *handle) const
	{
		Close(handle);
	}
};
template <class Handle, auto Close> using owner = std::unique_ptr<Handle, closer<Close>>;

/* Returns what a next function of C returns, or null at the end. */
template <class Value, class Handle>
const Value *next(int (*function)(Handle *, const Value **), Handle *handle, const char *name)
{
	const Value *found;
	int more = function(handle, &found);
	if (more < 0)
		fail(name);
	return more ? found : nullptr;
}

/* An input iterator over what a handle's next() returns: a pointer, or null at the end. */
template <class Handle, class Value> class iterator {
public:
	using iterator_category = std::input_iterator_tag;
	using value_type = Value;
	using difference_type = std::ptrdiff_t;
	using pointer = const Value *;
	using reference = const Value &;

	iterator() = default;
	explicit iterator(Handle *handle) : handle(handle), value(handle->next())
	{
	}
	reference operator*() const
	{
		return *value;
	}
	pointer operator->() const
	{
		return value;
	}
	iterator &operator++()
	{
		value = handle->next();
		return *this;
	}
	void operator++(int)
	{
		++*this;
	}
	friend bool operator==(const iterator &a, const iterator &b)
	{
		return a.value == b.value;
	}
	friend bool operator!=(const iterator &a, const iterator &b)
	{
		return a.value != b.value;
	}

private:
	Handle *handle = nullptr;
	const Value *value = nullptr; /* null: the end */
};

} // namespace detail

/* An entry of a directory; its members are those of cosy_dir_entry. */
using entry = cosy_dir_entry;

/* One directory: begin() to end() once. */
class scan {
public:
	static constexpr std::uint32_t stat = COSY_SCAN_STAT;
	static constexpr std::uint32_t follow = COSY_SCAN_FOLLOW;
	static constexpr std::uint32_t dots = COSY_SCAN_DOTS;

	explicit scan(const std::string &path, std::uint32_t flags = 0, int dirfd = AT_FDCWD)
	    : handle(cosy_scan_open(dirfd, path.c_str(), flags))
	{
		if (!handle)
			detail::fail("cosy_scan_open", path);
	}

	/* Returns the next entry, or null at the end. */
	const entry *next()
	{
		return detail::next<entry>(cosy_scan_next, handle.get(), "cosy_scan_next");
	}

	/* Returns the open directory's descriptor, which stays the handle's. */
	int fd() const
	{
		return cosy_scan_fd(handle.get());
	}

	using iterator = detail::iterator<scan, entry>;
	iterator begin()
	{
		return iterator(this);
	}
	iterator end()
	{
		return {};
	}

private:
	detail::owner<cosy_scan, cosy_scan_close> handle;
};

/*
 * A tree.  The range has the entries alone; next() returns each event, of which `event` says the
 * kind: entries, directories entered, left, and those that failed.
 */
class walk {
public:
	static constexpr std::uint32_t stat = COSY_WALK_STAT;
	static constexpr std::uint32_t follow = COSY_WALK_FOLLOW;
	static constexpr std::uint32_t post = COSY_WALK_POST;
	static constexpr std::uint32_t one_fs = COSY_WALK_ONE_FS;
	static constexpr std::uint32_t nofollow_first = COSY_WALK_NOFOLLOW_FIRST;

	/* max_depth 0: all; dirfd as openat's. */
	explicit walk(const std::string &path, std::uint32_t flags = 0, std::uint32_t max_depth = 0,
		      int dirfd = AT_FDCWD)
	{
		cosy_walk_options options = {};
		options.size = sizeof(options);
		options.flags = flags;
		options.max_depth = max_depth;
		handle.reset(cosy_walk_open(dirfd, path.c_str(), &options));
		if (!handle)
			detail::fail("cosy_walk_open", path);
	}

	/* Returns the next event, or null at the end. */
	const entry *next()
	{
		return detail::next<entry>(cosy_walk_next, handle.get(), "cosy_walk_next");
	}

	/* Keeps out of the directory of the last event, as cosy_walk_skip does. */
	void skip()
	{
		if (cosy_walk_skip(handle.get()) < 0)
			detail::fail("cosy_walk_skip");
	}

	/* Returns the descriptor of the directory that the last event's name is in. */
	int fd()
	{
		int found = cosy_walk_fd(handle.get());
		if (found == -1)
			detail::fail("cosy_walk_fd");
		return found;
	}

	/*
	 * Entries, and directories that failed: these have `error`, as entries without attributes
	 * do, and `event` COSY_WALK_FAILED.
	 */
	class entries {
	public:
		explicit entries(walk *of) : of(of)
		{
		}
		const entry *next()
		{
			const entry *found;
			do
				found = of->next();
			while (found && (found->event == COSY_WALK_ENTER ||
					 found->event == COSY_WALK_LEAVE));
			return found;
		}

	private:
		walk *of;
	};

	using iterator = detail::iterator<entries, entry>;
	iterator begin()
	{
		range = entries(this);
		return iterator(&range);
	}
	iterator end()
	{
		return {};
	}

private:
	detail::owner<cosy_walk, cosy_walk_close> handle;
	entries range{nullptr};
};

namespace detail {

inline std::vector<const char *> pointers(const std::vector<std::string> &strings)
{
	std::vector<const char *> found;
	found.reserve(strings.size());
	for (const std::string &string : strings)
		found.push_back(string.c_str());
	return found;
}

} // namespace detail

/* Makes statx of each name; results are in their order, each with its `error`. */
inline std::vector<cosy_stat_result> stat_many(const std::vector<std::string> &names, int flags = 0,
					       std::uint32_t mask = STATX_BASIC_STATS,
					       int dirfd = AT_FDCWD)
{
	std::vector<cosy_stat_result> results(names.size());
	if (cosy_stat_many(dirfd, detail::pointers(names).data(), names.size(), flags, mask,
			   results.data()) < 0)
		detail::fail("cosy_stat_many");
	return results;
}

/* The contents of files, in the order of their paths. */
class read_files {
public:
	static constexpr std::uint32_t nofollow = COSY_READ_NOFOLLOW;

	/* max_size 0: memory is the limit; dirfd has to stay open as long as the handle. */
	explicit read_files(std::vector<std::string> of, std::uint32_t flags = 0,
			    std::uint64_t max_size = 0, int dirfd = AT_FDCWD)
	    : paths(std::make_unique<std::vector<std::string>>(std::move(of))),
	      names(detail::pointers(*paths))
	{
		cosy_read_options options = {};
		options.size = sizeof(options);
		options.flags = flags;
		options.max_size = max_size;
		handle.reset(cosy_read_files_open(dirfd, names.data(), names.size(), &options));
		if (!handle)
			detail::fail("cosy_read_files_open");
	}

	/* Returns the next file, or null at the end; its `error` says why it could not be read. */
	const cosy_file *next()
	{
		return detail::next<cosy_file>(cosy_read_files_next, handle.get(), "cosy_read_files_next");
	}

	/* Returns the bytes of a file that next() returned. */
	static std::string_view data(const cosy_file &file)
	{
		return {static_cast<const char *>(file.data), file.size};
	}

	using iterator = detail::iterator<read_files, cosy_file>;
	iterator begin()
	{
		return iterator(this);
	}
	iterator end()
	{
		return {};
	}

private:
	std::unique_ptr<std::vector<std::string>> paths; /* stays where it is when this moves */
	std::vector<const char *> names;
	detail::owner<cosy_read_files, cosy_read_files_close> handle; /* closed before what it reads from */
};

/* Is called for each file that could not be copied or removed; true: go on with the others. */
using failed_function = std::function<bool(const char *path, int error)>;

namespace detail {

/* A failed_function on its way through C, and an exception of it on the way back. */
struct report {
	const failed_function &failed;
	std::exception_ptr thrown;

	static int call(void *argument, const char *path, int error) noexcept
	{
		report *self = static_cast<report *>(argument);
		try {
			return self->failed(path, error) ? 0 : 1;
		} catch (...) {
			self->thrown = std::current_exception();
			return 1;
		}
	}
};

template <class Options, class Call>
void with_report(const char *function, std::uint32_t flags, const failed_function &failed, Call call)
{
	report state{failed, nullptr};
	Options options = {};
	options.size = sizeof(options);
	options.flags = flags;
	options.failed = failed ? report::call : nullptr;
	options.argument = &state;
	int result = call(&options);
	if (state.thrown)
		std::rethrow_exception(state.thrown);
	if (result < 0)
		fail(function);
}

} // namespace detail

/*
 * Copies the directory `from` and all below it to `to`.  Throws at the first failure, or, with
 * `failed`, at the end, with the first failure.  Flags: COSY_COPY_*.
 */
inline void copy_tree(const std::string &from, const std::string &to, std::uint32_t flags = 0,
		      const failed_function &failed = nullptr, int from_dirfd = AT_FDCWD,
		      int to_dirfd = AT_FDCWD)
{
	detail::with_report<cosy_copy_options>(
	    "cosy_copy_tree", flags, failed, [&](const cosy_copy_options *options) {
		    return cosy_copy_tree(from_dirfd, from.c_str(), to_dirfd, to.c_str(), options);
	    });
}

/* Removes the directory `path` and all below it.  Errors as of copy_tree.  Flags: COSY_REMOVE_*. */
inline void remove_tree(const std::string &path, std::uint32_t flags = 0,
			const failed_function &failed = nullptr, int dirfd = AT_FDCWD)
{
	detail::with_report<cosy_remove_options>(
	    "cosy_remove_tree", flags, failed, [&](const cosy_remove_options *options) {
		    return cosy_remove_tree(dirfd, path.c_str(), options);
	    });
}

} // namespace cosy

#endif // COSY_FILES_HPP
