#include "cluster/found_outputs.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "base/terminal_text.h"

namespace gangrun::cluster {

namespace {

namespace fs = std::filesystem;

using base::Result;
using Kind = FoundOutput::Kind;

constexpr const char* kPythonCache = "__pycache__";
// How many a sentence names, and how much of each.
constexpr std::size_t kMaxNamed = 5;
constexpr std::size_t kMaxName = 120;

std::string kind_words(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISBLK(mode) || S_ISCHR(mode) ? "a device" : "no file";
}

std::string join(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : base::format("{}/{}", folder, name);
}

std::string parent_of(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

std::size_t depth_of(const std::string& name) {
  return static_cast<std::size_t>(std::ranges::count(name, '/'));
}

// Whether `name` is the folder or in it; "" is the top.
bool is_within(const std::string& name, const std::string& folder) {
  return folder.empty() || name == folder || name.starts_with(folder + "/");
}

class Finder {
 public:
  Finder(const std::string& folder, const OutputSearch& search)
      : folder_(folder), search_(search) {}

  Result<> start();
  Result<> find_all();
  Result<> find(const std::string& name);
  FoundOutputs& found() { return found_; }

 private:
  struct Item {
    std::string at;
    std::string name;
    // The folders of the links by which it was come to.
    std::vector<std::string> ways;
  };
  struct Target {
    std::string at;
    mode_t mode = 0;
  };

  [[nodiscard]] std::string path_of(const std::string& at) const { return join(folder_, at); }
  void add_odd(const std::string& name, std::string why) {
    if (known_.insert(name).second) found_.odd.push_back({name, std::move(why)});
  }
  [[nodiscard]] bool is_known(const FoundOutput& output) const {
    return search_.is_known && search_.is_known(output);
  }
  void add(FoundOutput output);
  Result<> walk(Item top, bool is_named);
  void look_at(const Item& item, bool is_named);
  void look_at_folder(const Item& item);
  void look_at_link(const Item& item, bool is_named);
  // The target of the link, or why that cannot be brought.
  [[nodiscard]] Result<Target> target_of(const std::string& link) const;
  [[nodiscard]] std::string text_of(const std::string& link, const Target& target) const;

  const std::string folder_;
  const OutputSearch& search_;
  fs::path real_folder_;
  std::vector<Item> waiting_;
  std::set<std::string> known_;
  FoundOutputs found_;
};

Result<> Finder::start() {
  std::error_code failed;
  real_folder_ = fs::canonical(folder_, failed);
  if (failed) return base::from_errno(failed.value(), base::format("find {}", folder_));
  return {};
}

void Finder::add(FoundOutput output) {
  if (is_known(output)) return;
  if (known_.insert(output.name).second) found_.found.push_back(std::move(output));
}

Result<Finder::Target> Finder::target_of(const std::string& link) const {
  std::error_code failed;
  const fs::path real = fs::canonical(path_of(link), failed);
  if (failed == std::errc::no_such_file_or_directory) {
    return base::invalid_argument("a link to nothing");
  }
  if (failed) {
    return base::invalid_argument(base::format("a link that leads nowhere: {}", failed.message()));
  }
  const std::string inside = real.lexically_relative(real_folder_).string();
  if (inside.empty() || inside == ".." || inside.starts_with("../")) {
    return base::invalid_argument("a link that leads out of the folder");
  }
  struct stat info {};
  if (::lstat(real.c_str(), &info) != 0) return base::invalid_argument("a link to nothing");
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    return base::invalid_argument(base::format("a link to {}", kind_words(info.st_mode)));
  }
  return Target{inside == "." ? "" : inside, info.st_mode};
}

// As it is, if it leads there without another link and without a way out.
std::string Finder::text_of(const std::string& link, const Target& target) const {
  std::error_code failed;
  std::string text = fs::read_symlink(path_of(link), failed).string();
  const fs::path parent = parent_of(link);
  std::string direct = (parent / text).lexically_normal().string();
  while (direct.ends_with('/')) direct.pop_back();
  if (direct == ".") direct.clear();
  if (!failed && stays_inside(text, depth_of(link)) && direct == target.at) return text;
  return fs::path("/" + target.at).lexically_relative("/" + parent.string()).string();
}

void Finder::look_at_link(const Item& item, bool is_named) {
  const auto target = target_of(item.at);
  if (!target.ok()) return add_odd(item.name, target.error().message);
  FoundOutput link{.name = item.name, .kind = Kind::kLink, .at = target->at};
  if (is_known(link)) return;
  std::vector<std::string> ways = item.ways;
  ways.push_back(parent_of(item.at));
  // A link that leads back to a folder above it has no end.
  const bool leads_back = S_ISDIR(target->mode) && std::ranges::any_of(ways, [&](const auto& way) {
                            return is_within(way, target->at);
                          });
  if (search_.follows_links) {
    if (leads_back) return add_odd(item.name, "a link to a folder that it is in");
    waiting_.push_back({target->at, item.name, std::move(ways)});
    return;
  }
  link.target = text_of(item.at, *target);
  add(std::move(link));
  // A search of the whole folder finds the link's target anyway.
  if (search_.names && (is_named || !leads_back)) {
    waiting_.push_back({target->at, target->at, {}});
  }
}

void Finder::look_at_folder(const Item& item) {
  std::error_code failed;
  bool is_empty = true;
  for (auto at = fs::directory_iterator(path_of(item.at), failed);
       !failed && at != fs::directory_iterator(); at.increment(failed)) {
    is_empty = false;
    const std::string own = at->path().filename().string();
    if (own == kPythonCache && !search_.names) continue;
    waiting_.push_back({join(item.at, own), join(item.name, own), item.ways});
  }
  if (failed) return add_odd(item.name, failed.message());
  if (is_empty && !item.name.empty()) {
    add({.name = item.name, .kind = Kind::kFolder, .at = item.at});
  }
}

void Finder::look_at(const Item& item, bool is_named) {
  if (!base::is_valid_utf8(item.name)) return add_odd(item.name, "its name is not UTF-8");
  if (depth_of(item.name) >= kMaxOutputDepth) {
    return add_odd(item.name, base::format("deeper than {} folders", kMaxOutputDepth));
  }
  struct stat info {};
  if (::lstat(path_of(item.at).c_str(), &info) != 0) {
    return add_odd(item.name, std::generic_category().message(errno));
  }
  if (S_ISLNK(info.st_mode)) return look_at_link(item, is_named);
  if (S_ISDIR(info.st_mode)) return look_at_folder(item);
  if (!S_ISREG(info.st_mode)) return add_odd(item.name, kind_words(info.st_mode));
  add({.name = item.name,
       .at = item.at,
       .size = static_cast<std::uint64_t>(info.st_size),
       .is_executable = (info.st_mode & S_IXUSR) != 0,
       .inode = info.st_ino,
       .changed_s = info.st_ctim.tv_sec,
       .changed_ns = info.st_ctim.tv_nsec});
}

Result<> Finder::walk(Item top, bool is_named) {
  waiting_.push_back(std::move(top));
  std::set<std::pair<std::string, std::string>> seen;
  while (!waiting_.empty()) {
    const Item item = std::move(waiting_.back());
    waiting_.pop_back();
    // A target of several links is found once.
    if (search_.names && !seen.emplace(item.at, item.name).second) continue;
    look_at(item, std::exchange(is_named, false));
    if (found_.found.size() + found_.odd.size() > kMaxFoundOutputs ||
        seen.size() > kMaxFoundOutputs) {
      return base::Error{base::Code::kResourceExhausted,
                         base::format("{} has more than {} files", folder_, kMaxFoundOutputs)};
    }
  }
  return {};
}

Result<> Finder::find_all() { return walk({}, false); }

Result<> Finder::find(const std::string& name) {
  std::string at;
  std::string alias;
  std::vector<std::string> parts = base::split(name, '/');
  std::erase_if(parts, [](const std::string& part) { return part.empty() || part == "."; });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    at = join(at, parts[i]);
    alias = join(alias, parts[i]);
    struct stat info {};
    const bool is_last = i + 1 == parts.size();
    if (::lstat(path_of(at).c_str(), &info) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) {
        found_.missing.push_back(name);
      } else {
        add_odd(alias, std::generic_category().message(errno));
      }
      return {};
    }
    if (is_last || !S_ISLNK(info.st_mode)) continue;
    const auto target = target_of(at);
    if (!target.ok()) {
      add_odd(alias, target.error().message);
      return {};
    }
    if (!search_.follows_links) {
      add({.name = alias, .kind = Kind::kLink, .target = text_of(at, *target)});
      alias = target->at;
    }
    at = target->at;
  }
  return walk({at, alias, {}}, true);
}

}  // namespace

Result<FoundOutputs> find_outputs(const std::string& folder, const OutputSearch& search) {
  Finder finder(folder, search);
  GANGRUN_TRY(finder.start());
  if (!search.names) {
    GANGRUN_TRY(finder.find_all());
    return std::move(finder.found());
  }
  for (const std::string& name : *search.names) GANGRUN_TRY(finder.find(name));
  return std::move(finder.found());
}

Result<base::UniqueFd> open_output(const std::string& folder, const std::string& at) {
  base::UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::vector<std::string> parts = base::split(at, '/');
  for (std::size_t i = 0; fd.valid() && i < parts.size(); ++i) {
    const bool is_last = i + 1 == parts.size();
    fd.reset(::openat(fd.get(), parts[i].c_str(),
                      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | (is_last ? O_NONBLOCK : O_DIRECTORY)));
  }
  if (!fd.valid()) return base::from_errno(errno, "open");
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return base::from_errno(errno, "stat");
  if (!S_ISREG(info.st_mode)) return base::invalid_argument("it is no file any more");
  return fd;
}

std::string odd_words(const std::vector<OddOutput>& odd, std::uint64_t all) {
  const std::size_t shown = std::min(odd.size(), kMaxNamed);
  std::string words =
      base::first_and_more(std::span(odd).first(shown), shown, [](const OddOutput& each) {
        return base::format("{} ({})", base::their_words(each.name, kMaxName),
                            base::harmless_sentence(base::shorten(each.why, kMaxName)));
      });
  if (all > shown) words += base::format(" and {} more", all - shown);
  return words;
}

bool stays_inside(std::string_view target, std::size_t depth) {
  if (target.empty() || target.front() == '/' || target.find('\0') != std::string::npos) {
    return false;
  }
  bool is_down = false;
  for (const std::string& part : base::split(target, '/')) {
    if (part == "..") {
      if (is_down || depth == 0) return false;
      --depth;
    } else if (!part.empty() && part != ".") {
      is_down = true;
    }
  }
  return true;
}

}  // namespace gangrun::cluster
