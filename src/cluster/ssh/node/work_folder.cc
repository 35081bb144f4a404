#include "cluster/ssh/node/work_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/unique_fd.h"

namespace gangrun::node {

namespace {

namespace fs = std::filesystem;

using base::Result;

constexpr std::size_t kMaxNotesBytes = std::size_t{256} << 20U;
constexpr std::size_t kMaxNoteBytes = std::size_t{64} << 10U;
constexpr const char* kPythonCache = "__pycache__";

base::Error cannot_be_read(const std::string& path, const std::error_code& failed) {
  return base::from_errno(failed.value(), base::format("read {}", path));
}

}  // namespace

// Receiving.

Result<> WorkFolder::begin_file(const cluster::FileMessage& file) {
  GANGRUN_TRY(file_.begin(path_, file));
  name_ = file.name;
  return file_.is_whole() && !file.is_folder ? note_whole_file() : Result<>();
}

Result<> WorkFolder::add(std::string_view bytes) {
  GANGRUN_TRY(file_.add(bytes));
  return file_.is_whole() ? note_whole_file() : Result<>();
}

// Once it is closed: on NFS that changes it.
Result<> WorkFolder::note_whole_file() {
  const std::string path = base::format("{}/{}", path_, name_);
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    return base::from_errno(errno, base::format("stat {}", path));
  }
  const base::UniqueFd notes(
      ::open(notes_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!notes.valid()) return base::from_errno(errno, base::format("open {}", notes_));
  const base::Json note = {{"name", name_},
                           {"size", info.st_size},
                           {"inode", info.st_ino},
                           {"changed_s", info.st_ctim.tv_sec},
                           {"changed_ns", info.st_ctim.tv_nsec}};
  return base::write_all(notes.get(), base::dump_json(note) + "\n", notes_);
}

// Looking for what tasks have written.

Result<WorkFolder::Stamps> WorkFolder::brought() const {
  auto text = base::read_file(notes_, kMaxNotesBytes);
  if (!text.ok() && text.error().code == base::Code::kNotFound) return Stamps{};
  if (!text.ok()) return text.error();
  Stamps stamps;
  for (const std::string& line : base::split(*text, '\n')) {
    const auto note = base::parse_json(line, kMaxNoteBytes);
    if (!note.ok()) continue;  // It was not written to its end: the file counts as new.
    GANGRUN_ASSIGN(const auto name, base::json_member<std::string>(*note, "name"));
    Stamp& stamp = stamps[name];
    GANGRUN_ASSIGN(stamp.size, base::json_member<std::uint64_t>(*note, "size"));
    GANGRUN_ASSIGN(stamp.inode, base::json_member<std::uint64_t>(*note, "inode"));
    GANGRUN_ASSIGN(stamp.changed_s, base::json_member<std::int64_t>(*note, "changed_s"));
    GANGRUN_ASSIGN(stamp.changed_ns, base::json_member<std::int64_t>(*note, "changed_ns"));
  }
  return stamps;
}

Result<> WorkFolder::add_entry(const std::string& name, const Stamps* brought,
                               std::vector<Entry>& entries) const {
  if (entries.size() == kMaxWorkFiles) {
    return base::Error{base::Code::kResourceExhausted,
                       base::format("{} has more than {} files", path_, kMaxWorkFiles)};
  }
  const std::string path = base::format("{}/{}", path_, name);
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    return base::from_errno(errno, base::format("stat {}", path));
  }
  if (S_ISLNK(info.st_mode)) {
    std::error_code failed;
    const std::string target = fs::read_symlink(path, failed).string();
    if (failed) return cannot_be_read(path, failed);
    // One that is absolute means nothing elsewhere.
    if (!target.starts_with('/')) entries.push_back({name, 0, false, target});
    return {};
  }
  if (!S_ISREG(info.st_mode)) return {};
  const Stamp stamp{static_cast<std::uint64_t>(info.st_size), info.st_ino, info.st_ctim.tv_sec,
                    info.st_ctim.tv_nsec};
  if (brought != nullptr) {
    const auto known = brought->find(name);
    if (known != brought->end() && known->second == stamp) return {};
  }
  entries.push_back({name, stamp.size, (info.st_mode & S_IXUSR) != 0});
  return {};
}

// `name`: "" is all of the folder.
Result<> WorkFolder::add_all(const std::string& name, const Stamps* brought,
                             std::vector<Entry>& entries) const {
  const fs::path top = name.empty() ? fs::path(path_) : fs::path(path_) / name;
  std::error_code failed;
  const auto status = fs::symlink_status(top, failed);
  if (!fs::is_directory(status)) return add_entry(name, brought, entries);
  for (auto at = fs::recursive_directory_iterator(top, failed);
       !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    const bool is_folder = at->is_directory(failed) && !at->is_symlink(failed);
    if (is_folder && at->path().filename() == kPythonCache) at.disable_recursion_pending();
    if (is_folder) continue;
    GANGRUN_TRY(add_entry(at->path().lexically_relative(path_).string(), brought, entries));
  }
  if (failed) return cannot_be_read(top.string(), failed);
  return {};
}

Result<WorkFolder::Written> WorkFolder::written(const std::vector<std::string>& names, bool new_too,
                                                std::uint64_t limit) const {
  Written written;
  for (std::string name : names) {
    while (name.ends_with('/')) name.pop_back();
    std::error_code failed;
    if (leads_out(name)) {
      return base::invalid_argument(base::format("'{}' is no file of a working folder", name));
    }
    if (!fs::exists(fs::symlink_status(fs::path(path_) / name, failed))) {
      written.missing.push_back(name);
      continue;
    }
    GANGRUN_TRY(add_all(name, nullptr, written.chosen));
  }
  if (!new_too) return written;
  std::set<std::string> known;
  for (const Entry& entry : written.chosen) known.insert(entry.name);
  GANGRUN_ASSIGN(const Stamps stamps, brought());
  std::vector<Entry> found;
  GANGRUN_TRY(add_all("", &stamps, found));
  std::sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.size, a.name) < std::pair(b.size, b.name);
  });
  for (Entry& entry : found) {
    if (known.contains(entry.name)) continue;
    if (entry.size > limit) {
      written.left.push_back(std::move(entry));
      continue;
    }
    limit -= entry.size;
    written.chosen.push_back(std::move(entry));
  }
  return written;
}

bool WorkFolder::has_new() const {
  const auto all = written({}, true, 0);
  return !all.ok() || !all->chosen.empty() || !all->left.empty();
}

}  // namespace gangrun::node
