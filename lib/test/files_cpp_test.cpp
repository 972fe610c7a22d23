// SPDX-License-Identifier: MIT
// <cosy/files.hpp>: ranges, ownership, exceptions.  What the calls themselves do is tested in C.
#include <cosy/files.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

namespace fs = std::filesystem;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);       \
			std::exit(1);                                                              \
		}                                                                                  \
	} while (0)

// Returns errno's value of the std::system_error that the function throws; 0: it throws none.
template <class Function> static int thrown(Function function)
{
	try {
		function();
	} catch (const std::system_error &error) {
		return error.code().value();
	}
	return 0;
}

static void fill(const fs::path &top)
{
	for (int dir = 0; dir < 3; dir++)
		for (int file = 0; file < 10; file++) {
			fs::path path = top / ("dir" + std::to_string(dir)) /
					("file" + std::to_string(file));
			fs::create_directories(path.parent_path());
			std::ofstream(path) << std::string(100 * file, 'x');
		}
	fs::create_symlink("missing", top / "dangling");
}

static void test_scan(const fs::path &top)
{
	std::map<std::string, std::uintmax_t> expected, found;
	for (const fs::directory_entry &entry : fs::directory_iterator(top / "dir1"))
		expected[entry.path().filename()] = entry.file_size();
	for (const cosy::entry &entry : cosy::scan(top / "dir1", cosy::scan::stat))
		found[entry.name] = entry.stat->st_size;
	CHECK(found == expected && found.size() == 10);
	CHECK(thrown([&] { cosy::scan(top / "missing"); }) == ENOENT);
	CHECK(thrown([&] { cosy::scan(top, 1u << 31); }) == EINVAL);
	cosy::scan first(top);
	cosy::scan moved(std::move(first));
	CHECK(moved.fd() >= 0 && moved.next());
}

static void test_walk(const fs::path &top)
{
	std::size_t expected = 0, found = 0, left = 0;
	for (const fs::directory_entry &entry : fs::recursive_directory_iterator(top))
		expected += !entry.path().empty();
	for (const cosy::entry &entry : cosy::walk(top, cosy::walk::stat)) {
		CHECK(entry.stat &&
		      fs::symlink_status(entry.path).type() != fs::file_type::not_found);
		found++;
	}
	CHECK(found == expected && found == 34);
	cosy::walk walk(top, cosy::walk::post);
	while (const cosy::entry *event = walk.next()) {
		if (event->event == COSY_WALK_ENTER && event->depth == 1)
			walk.skip();
		left += event->event == COSY_WALK_LEAVE;
		CHECK(event->event != COSY_WALK_ENTRY || event->depth == 1);
	}
	CHECK(left == 4);
	CHECK(thrown([&] { walk.skip(); }) == EINVAL);
	CHECK(thrown([&] { cosy::walk(top / "dangling"); }) == ENOENT);
	std::string said;
	try {
		cosy::walk(top / "missing");
	} catch (const std::system_error &error) {
		said = error.what();
	}
	CHECK(said.find(top / "missing") != std::string::npos);
}

static void test_many(const fs::path &top)
{
	std::vector<cosy_stat_result> stats = cosy::stat_many(
		{top / "dir0/file5", top / "missing", top / "dangling"}, AT_SYMLINK_NOFOLLOW);
	CHECK(stats.size() == 3 && stats[0].statx.stx_size == 500 && stats[1].error == ENOENT);
	CHECK(!stats[2].error && S_ISLNK(stats[2].statx.stx_mode));
	CHECK(cosy::stat_many({}).empty());

	std::vector<cosy::read_files> kept;
	kept.emplace_back(
		std::vector<std::string>{top / "dir0/file3", top / "missing", top / "dir0/file1"});
	std::vector<std::size_t> sizes;
	for (const cosy_file &file : kept.front())
		sizes.push_back(file.error ? 0 : cosy::read_files::data(file).size());
	CHECK((sizes == std::vector<std::size_t>{300, 0, 100}));
}

static void test_trees(const fs::path &top)
{
	fs::path copy = top.string() + "-copy";
	cosy::copy_tree(top, copy);
	CHECK(fs::file_size(copy / "dir2/file9") == 900 && fs::is_symlink(copy / "dangling"));
	CHECK(thrown([&] { cosy::copy_tree(top, copy); }) == EEXIST);

	fs::remove(copy / "dangling");
	fs::create_directory(copy / "dangling"); // in the way of a symbolic link
	std::string failed;
	CHECK(thrown([&] {
		      cosy::copy_tree(top, copy, COSY_COPY_INTO, [&](const char *path, int) {
			      failed = path;
			      return true;
		      });
	      }) != 0);
	CHECK(fs::path(failed).filename() == "dangling");
	bool passed = false;
	try {
		cosy::copy_tree(top, copy, COSY_COPY_INTO,
				[](const char *, int) -> bool { throw std::logic_error("stop"); });
	} catch (const std::logic_error &) {
		passed = true;
	}
	CHECK(passed);
	cosy::remove_tree(copy, COSY_REMOVE_KEEP_FIRST);
	CHECK(fs::is_empty(copy));
	cosy::remove_tree(copy);
	CHECK(!fs::exists(copy));
	CHECK(thrown([&] { cosy::remove_tree(copy); }) == ENOENT);
}

int main()
{
	char name[] = "/tmp/cosy-files-cpp-XXXXXX";
	CHECK(mkdtemp(name));
	fs::path top = name;
	fill(top);
	test_scan(top);
	test_walk(top);
	test_many(top);
	test_trees(top);
	fs::remove_all(top);
	return 0;
}
