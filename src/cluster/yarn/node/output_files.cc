#include "cluster/yarn/node/output_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/units.h"

namespace gangrun::node {

namespace {

namespace fs = std::filesystem;

using base::Result;

// How many files a sentence names, and how much of each.
constexpr std::size_t kMaxNamed = 5;
constexpr std::size_t kMaxName = 200;

// Finds the files below the names.
class Finder {
 public:
  explicit Finder(fs::path folder) : folder_(std::move(folder)) {}

  Result<> start() {
    std::error_code failed;
    real_folder_ = fs::canonical(folder_, failed);
    if (failed) return base::from_errno(failed.value(), base::format("find {}", folder_.string()));
    return {};
  }
  Result<> add_all(const std::string& name);
  OutputFiles& found() { return found_; }

 private:
  Result<> add(const fs::path& path);
  // Where a link leads, if that is a file in the folder; else nothing.
  [[nodiscard]] std::optional<fs::path> target_of(const fs::path& link) const;

  const fs::path folder_;
  fs::path real_folder_;
  std::set<std::string> known_;
  OutputFiles found_;
};

std::optional<fs::path> Finder::target_of(const fs::path& link) const {
  std::error_code failed;
  fs::path target = fs::canonical(link, failed);
  if (failed || !fs::is_regular_file(target, failed)) return std::nullopt;
  const fs::path inside = target.lexically_relative(real_folder_);
  if (inside.empty() || *inside.begin() == "..") return std::nullopt;
  return target;
}

Result<> Finder::add(const fs::path& path) {
  std::string name = path.lexically_relative(folder_).string();
  if (!known_.insert(name).second) return {};
  if (known_.size() > kMaxOutputFiles) {
    return base::Error{base::Code::kResourceExhausted,
                       base::format("there are more than {} files", kMaxOutputFiles)};
  }
  fs::path at = path;
  std::error_code failed;
  if (fs::is_symlink(fs::symlink_status(path, failed))) {
    const auto target = target_of(path);
    if (!target) {
      found_.odd.push_back(std::move(name));
      return {};
    }
    at = *target;
  }
  struct stat info {};
  if (::lstat(at.c_str(), &info) != 0) {
    return base::from_errno(errno, base::format("stat {}", name));
  }
  if (!S_ISREG(info.st_mode)) {
    found_.odd.push_back(std::move(name));
    return {};
  }
  found_.chosen.push_back({std::move(name), at.string(), static_cast<std::uint64_t>(info.st_size),
                           (info.st_mode & S_IXUSR) != 0});
  return {};
}

Result<> Finder::add_all(const std::string& name) {
  const fs::path top = folder_ / name;
  std::error_code failed;
  const fs::file_status status = fs::symlink_status(top, failed);
  if (!fs::exists(status)) {
    found_.missing.push_back(name);
    return {};
  }
  if (!fs::is_directory(status)) return add(top);
  for (auto at = fs::recursive_directory_iterator(top, failed);
       !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    if (at->is_directory(failed) && !at->is_symlink(failed)) continue;
    GANGRUN_TRY(add(at->path()));
  }
  if (failed) return base::from_errno(failed.value(), base::format("read {}", name));
  return {};
}

void keep_limit(OutputFiles& files, std::uint64_t limit) {
  std::vector<OutputFile> chosen;
  for (OutputFile& file : files.chosen) {
    if (file.size > limit) {
      files.over.push_back(std::move(file));
    } else {
      limit -= file.size;
      chosen.push_back(std::move(file));
    }
  }
  files.chosen = std::move(chosen);
}

std::string names_words(const std::vector<std::string>& names) {
  return base::first_and_more(
      names, kMaxNamed, [](const std::string& name) { return base::shorten(name, kMaxName); });
}

}  // namespace

Result<OutputFiles> output_files(const std::string& folder, const std::vector<std::string>& names,
                                 std::optional<std::uint64_t> limit) {
  Finder finder(folder);
  GANGRUN_TRY(finder.start());
  for (std::string name : names) {
    while (name.ends_with('/')) name.pop_back();
    GANGRUN_TRY(finder.add_all(name));
  }
  OutputFiles files = std::move(finder.found());
  std::ranges::sort(files.chosen, {}, [](const OutputFile& file) {
    return std::pair(file.size, std::string_view(file.name));
  });
  if (limit) keep_limit(files, *limit);
  return files;
}

std::string lost_words(const OutputsEnd& end, std::optional<std::uint64_t> limit) {
  std::vector<std::string> sentences;
  if (!end.files.over.empty()) {
    std::vector<std::string> names;
    for (const OutputFile& file : end.files.over) names.push_back(file.name);
    sentences.push_back(base::format("over outputs_limit ({}): {}",
                                     job::memory_text(static_cast<std::int64_t>(*limit >> 20U)),
                                     names_words(names)));
  }
  if (!end.files.odd.empty()) {
    sentences.push_back(
        base::format("no file, or a link that leads elsewhere: {}", names_words(end.files.odd)));
  }
  if (!end.failures.empty()) {
    sentences.push_back(base::format(
        "could not be written: {}",
        base::first_and_more(end.failures, kMaxNamed, [](const OutputsEnd::Failure& failure) {
          return base::format("{} ({})", base::shorten(failure.name, kMaxName), failure.why);
        })));
  }
  const std::size_t left = end.files.chosen.size() - end.written - end.failures.size();
  if (!end.trouble.empty()) {
    sentences.push_back(
        left > 0 ? base::format("{} not written: {}",
                                left == 1 ? "1 file was" : base::format("{} files were", left),
                                end.trouble)
                 : end.trouble);
  }
  return base::format("{}", base::join(sentences, "; "));
}

std::string missing_words(const OutputsEnd& end) {
  if (end.files.missing.empty()) return {};
  return base::format("it has written no {}", names_words(end.files.missing));
}

}  // namespace gangrun::node
