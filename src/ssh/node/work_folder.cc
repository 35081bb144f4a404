#include "ssh/node/work_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <utility>

#include "base/described_json.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"

namespace gangrun::ssh::node {

namespace {

using base::Result;

constexpr std::size_t kMaxNotesBytes = std::size_t{256} << 20U;
constexpr std::size_t kMaxNoteBytes = std::size_t{64} << 10U;

// Commands that Python starts with files work in gangrun-tasks/TYPE-INDEX, in which each file is a
// link (python/gangrun/_job.py). That is not the task's.
bool is_given(const cluster::FoundOutput& output) {
  const auto parts = base::split(output.name, '/');
  return output.kind == cluster::FoundOutput::Kind::kLink && parts.size() == 3 &&
         parts[0] == "gangrun-tasks" && parts[2] == output.at;
}

// A name, relative to the folder, is of something in it.
Result<> check_name(const std::string& name) {
  const std::filesystem::path path(name);
  if (!path.empty() && !path.is_absolute() &&
      std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; })) {
    return {};
  }
  return base::invalid_argument(base::format("'{}' is no file of a working folder", name));
}

// All folders that have one of these in them.
template <typename Notes>
std::set<std::string> folders_of(const Notes& notes) {
  std::set<std::string> folders;
  for (const auto& [name, note] : notes) {
    for (std::size_t slash = name.rfind('/'); slash != std::string::npos && slash > 0;
         slash = name.rfind('/', slash - 1)) {
      if (!folders.insert(name.substr(0, slash)).second) break;
    }
  }
  return folders;
}

// The unchanged targets of links: without them the links would lead to nothing.
Result<> add_ends_of_links(const std::string& folder, cluster::FoundOutputs& all) {
  cluster::OutputSearch search{.names = std::vector<std::string>(), .is_known = is_given};
  std::set<std::string> there;
  for (const cluster::FoundOutput& output : all.found) {
    there.insert(output.name);
    // Not all of a folder that the link itself is in: that folder comes with it.
    const bool leads_back = output.at.empty() || output.name.starts_with(output.at + "/");
    if (output.kind == cluster::FoundOutput::Kind::kLink && !leads_back) {
      search.names->push_back(output.at);
    }
  }
  if (search.names->empty()) return {};
  for (const cluster::OddOutput& odd : all.odd) there.insert(odd.name);
  GANGRUN_ASSIGN(auto ends, cluster::find_outputs(folder, search));
  for (cluster::FoundOutput& output : ends.found) {
    if (there.insert(output.name).second) all.found.push_back(std::move(output));
  }
  for (cluster::OddOutput& odd : ends.odd) {
    if (there.insert(odd.name).second) all.odd.push_back(std::move(odd));
  }
  return {};
}

}  // namespace

// Receiving.

Result<> WorkFolder::begin_file(const ssh::FileMessage& file) {
  if (file_.valid()) {
    return base::invalid_argument(
        base::format("{}/{} is not whole: {} bytes are missing", path_, name_, left_));
  }
  GANGRUN_TRY(check_name(file.name));
  name_ = file.name;
  while (name_.ends_with('/')) name_.pop_back();
  const std::string path = base::format("{}/{}", path_, file.name);
  left_ = file.size;
  if (file.is_folder) {
    GANGRUN_TRY(base::make_folders(path, 0700));
    return note_whole();
  }
  GANGRUN_TRY(base::make_folders(std::filesystem::path(path).parent_path().string(), 0700));
  const mode_t mode = file.is_executable ? 0700 : 0600;
  file_.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!file_.valid()) return base::from_errno(errno, base::format("open {}", path));
  return add("");
}

Result<> WorkFolder::add(std::string_view bytes) {
  if (!file_.valid() || bytes.size() > left_) {
    return base::invalid_argument("bytes of a file came that nobody announced");
  }
  left_ -= bytes.size();
  GANGRUN_TRY(base::write_all(file_.get(), bytes, base::format("{}/{}", path_, name_)));
  if (left_ > 0) return {};
  // A program that is open for writing cannot be executed.
  file_.reset();
  return note_whole();
}

// Once it is closed: on NFS that changes it.
Result<> WorkFolder::note_whole() {
  const std::string path = base::format("{}/{}", path_, name_);
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    return base::from_errno(errno, base::format("stat {}", path));
  }
  const base::UniqueFd notes(
      ::open(notes_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!notes.valid()) return base::from_errno(errno, base::format("open {}", notes_));
  const Note note{.name = name_,
                  .size = static_cast<std::uint64_t>(info.st_size),
                  .inode = info.st_ino,
                  .changed_s = info.st_ctim.tv_sec,
                  .changed_ns = info.st_ctim.tv_nsec};
  return base::write_all(notes.get(), base::dump_json(base::to_json(note)) + "\n", notes_);
}

// Looking for what tasks have written.

Result<WorkFolder::Notes> WorkFolder::brought() const {
  auto text = base::read_file(notes_, kMaxNotesBytes);
  if (!text.ok() && text.error().code == base::Code::kNotFound) return Notes{};
  if (!text.ok()) return text.error();
  Notes notes;
  for (const std::string& line : base::split(*text, '\n')) {
    const auto json = base::parse_json(line, kMaxNoteBytes);
    if (!json.ok()) continue;  // It was not written to its end: the file counts as new.
    GANGRUN_ASSIGN(const auto note, base::from_json<Note>(*json));
    notes[note.name] = note;
  }
  return notes;
}

Result<WorkFolder::Written> WorkFolder::written(const std::vector<std::string>& names, bool new_too,
                                                std::uint64_t limit) const {
  for (const std::string& name : names) GANGRUN_TRY(check_name(name));
  GANGRUN_ASSIGN(auto named, cluster::find_outputs(path_, {.names = names, .is_known = is_given}));
  Written written{std::move(named.found), {}, std::move(named.odd), std::move(named.missing)};
  if (!new_too) return written;
  std::set<std::string> known;
  for (const cluster::FoundOutput& output : written.chosen) known.insert(output.name);
  for (const cluster::OddOutput& odd : written.odd) known.insert(odd.name);
  GANGRUN_ASSIGN(const Notes notes, brought());
  const std::set<std::string> folders = folders_of(notes);
  const auto is_known = [&](const cluster::FoundOutput& output) {
    if (output.kind == cluster::FoundOutput::Kind::kLink) return is_given(output);
    const auto note = notes.find(output.name);
    if (output.kind == cluster::FoundOutput::Kind::kFolder) {
      return note != notes.end() || folders.contains(output.name);
    }
    return note != notes.end() && note->second == Note{output.name, output.size, output.inode,
                                                       output.changed_s, output.changed_ns};
  };
  GANGRUN_ASSIGN(auto all,
                 cluster::find_outputs(path_, {.names = std::nullopt, .is_known = is_known}));
  GANGRUN_TRY(add_ends_of_links(path_, all));
  std::ranges::sort(all.found, {}, [](const cluster::FoundOutput& output) {
    return std::pair(output.size, std::string_view(output.name));
  });
  for (cluster::FoundOutput& output : all.found) {
    if (known.contains(output.name)) continue;
    if (output.size > limit) {
      written.left.push_back(std::move(output));
      continue;
    }
    limit -= output.size;
    written.chosen.push_back(std::move(output));
  }
  for (cluster::OddOutput& odd : all.odd) {
    if (!known.contains(odd.name)) written.odd.push_back(std::move(odd));
  }
  return written;
}

bool WorkFolder::has_new() const {
  struct stat info {};
  // Somebody who was killed while he removed it came as far.
  if (::lstat(path_.c_str(), &info) != 0 && errno == ENOENT) return false;
  const auto all = written({}, true, 0);
  return !all.ok() || !all->chosen.empty() || !all->left.empty() || !all->odd.empty();
}

}  // namespace gangrun::ssh::node
