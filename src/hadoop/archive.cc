#include "hadoop/archive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "base/unique_fd.h"

namespace gangrun::hadoop {

namespace {

constexpr std::size_t kBlockBytes = 512;
constexpr std::size_t kReadBytes = std::size_t{64} * 1024;
constexpr std::size_t kMaxShortNameBytes = 100;
constexpr std::uint64_t kMaxOctalSize = 077777777777;
constexpr std::size_t kMaxDepth = 100;
constexpr unsigned kFolderMode = 0755;
constexpr unsigned kProgramMode = 0755;
constexpr unsigned kFileMode = 0644;

using Identity = std::pair<dev_t, ino_t>;

// One file or folder, as it will stand in the archive.
struct Entry {
  std::string path;  // of this machine
  bool is_folder = false;
  bool is_program = false;
  std::uint64_t size = 0;
};

std::string_view kind_of(mode_t mode) {
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISBLK(mode) || S_ISCHR(mode)) return "a device";
  return "neither a file nor a folder";
}

bool is_inside(std::string_view path, std::string_view folder) {
  return path == folder || folder == "/" ||
         (path.starts_with(folder) && path.substr(folder.size()).starts_with('/'));
}

// Walks through what was named and notes all of it by its name in the archive.
class Collector {
 public:
  explicit Collector(const ArchiveLimits& limits) : limits_(limits) {}

  base::Result<> add(const ArchiveSource& source) {
    for (const std::string& part : base::split(source.name, '/')) {
      if (part.empty() || part == "." || part == "..") {
        return base::invalid_argument(
            base::format("\"{}\" cannot be a name in an archive", source.name));
      }
    }
    std::error_code error;
    root_ = std::filesystem::canonical(source.path, error).string();
    if (error) return base::from_errno(error.value(), base::format("find {}", source.path));
    above_.clear();
    return visit(source.name, root_);
  }

  [[nodiscard]] const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  base::Result<> visit(const std::string& name, const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
      return base::from_errno(errno, base::format("look at {}", path));
    }
    if (entries_.size() >= limits_.max_files) {
      return base::Error{base::Code::kResourceExhausted,
                         base::format("{} is one file too many: an archive has at most {}", path,
                                      limits_.max_files)};
    }
    Entry entry{path, S_ISDIR(status.st_mode), (status.st_mode & S_IXUSR) != 0, 0};
    if (!entry.is_folder) {
      if (!S_ISREG(status.st_mode)) {
        return base::invalid_argument(base::format("{} is {}: it cannot be put into an archive",
                                                   path, kind_of(status.st_mode)));
      }
      entry.size = static_cast<std::uint64_t>(status.st_size);
      GANGRUN_TRY(count(entry));
    }
    if (!entries_.emplace(name, entry).second) {
      return base::invalid_argument(
          base::format("two files are to be called \"{}\" in the archive, one is {}", name, path));
    }
    return entry.is_folder ? visit_folder(name, path, {status.st_dev, status.st_ino})
                           : base::Result<>();
  }

  base::Result<> count(const Entry& entry) {
    bytes_ += entry.size;
    if (bytes_ <= limits_.max_bytes && entry.size <= kMaxOctalSize) return {};
    return base::Error{
        base::Code::kResourceExhausted,
        base::format("with {} ({} bytes) the files have more than the {} bytes that an archive may "
                     "have",
                     entry.path, entry.size, limits_.max_bytes)};
  }

  base::Result<> visit_folder(const std::string& name, const std::string& path,
                              const Identity& identity) {
    if (std::find(above_.begin(), above_.end(), identity) != above_.end() ||
        above_.size() >= kMaxDepth) {
      return base::invalid_argument(
          base::format("{} leads in a circle, or too deep, by way of a symbolic link", path));
    }
    above_.push_back(identity);
    std::error_code error;
    for (std::filesystem::directory_iterator item(path, error), end; !error && item != end;
         item.increment(error)) {
      GANGRUN_TRY(visit_item(name, item->path().string()));
    }
    above_.pop_back();
    if (error) return base::from_errno(error.value(), base::format("read the folder {}", path));
    return {};
  }

  base::Result<> visit_item(const std::string& name, const std::string& path) {
    std::error_code error;
    const std::string real = std::filesystem::canonical(path, error).string();
    if (error) {
      return base::from_errno(error.value(), base::format("follow the symbolic link {}", path));
    }
    if (!is_inside(real, root_)) {
      return base::invalid_argument(
          base::format("the symbolic link {} leads out of {}, to {}", path, root_, real));
    }
    return visit(name + path.substr(path.rfind('/')), path);
  }

  const ArchiveLimits& limits_;
  std::map<std::string, Entry> entries_;
  std::string root_;
  std::vector<Identity> above_;
  std::uint64_t bytes_ = 0;
};

void put_octal(std::string& header, std::size_t at, std::size_t digits, std::uint64_t value) {
  for (std::size_t i = digits; i-- > 0; value >>= 3U) {
    header[at + i] = static_cast<char>('0' + (value & 7U));
  }
}

struct HeaderFields {
  std::string_view name;  // at most kMaxShortNameBytes
  unsigned mode = 0;
  std::uint64_t size = 0;
  char type = '0';
};

// The block before a file's bytes (POSIX ustar).
std::string header_of(const HeaderFields& fields) {
  std::string out(kBlockBytes, '\0');
  out.replace(0, fields.name.size(), fields.name);
  put_octal(out, 100, 7, fields.mode);
  put_octal(out, 108, 7, 0);  // user
  put_octal(out, 116, 7, 0);  // group
  put_octal(out, 124, 11, fields.size);
  put_octal(out, 136, 11, 0);  // time
  out[156] = fields.type;
  out.replace(257, 8,
              std::string_view("ustar\0"
                               "00",
                               8));
  unsigned sum = 0;
  out.replace(148, 8, "        ");
  for (const char c : out) sum += static_cast<unsigned char>(c);
  put_octal(out, 148, 6, sum);
  out[154] = '\0';
  return out;
}

std::string padding_of(std::uint64_t size) {
  return std::string((kBlockBytes - size % kBlockBytes) % kBlockBytes, '\0');
}

// A record of an extended header: "LENGTH path=NAME\n", its own length counted.
std::string path_record(const std::string& name) {
  const std::size_t rest = std::string_view(" path=\n").size() + name.size();
  std::size_t length = rest + std::to_string(rest).size();
  length = rest + std::to_string(length).size();
  return base::format("{} path={}\n", length, name);
}

bool is_plain(std::string_view name) {
  return name.size() <= kMaxShortNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

base::Result<> write_header(const std::string& name, const Entry& entry, net::Gzip& gzip) {
  const std::string shown = entry.is_folder ? name + "/" : name;
  HeaderFields fields{shown, kFileMode, entry.size, '0'};
  if (entry.is_folder) {
    fields.mode = kFolderMode;
    fields.type = '5';
  } else if (entry.is_program) {
    fields.mode = kProgramMode;
  }
  if (!is_plain(shown)) {
    // POSIX 2001: a header before the header has the name, in UTF-8.
    const std::string record = path_record(shown);
    GANGRUN_TRY(gzip.put(header_of({"PaxHeader", kFileMode, record.size(), 'x'})));
    GANGRUN_TRY(gzip.put(record + padding_of(record.size())));
    fields.name = std::string_view(shown).substr(0, kMaxShortNameBytes);
  }
  return gzip.put(header_of(fields));
}

base::Result<> write_content(const Entry& entry, net::Gzip& gzip) {
  const base::UniqueFd fd(::open(entry.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return base::from_errno(errno, base::format("open {}", entry.path));
  std::string buffer(kReadBytes, '\0');
  std::uint64_t left = entry.size;
  while (left > 0) {
    const std::size_t wanted = std::min<std::uint64_t>(left, buffer.size());
    const ssize_t size = ::read(fd.get(), buffer.data(), wanted);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return base::from_errno(errno, base::format("read {}", entry.path));
    if (size == 0) {
      return base::Error{base::Code::kFailedPrecondition,
                         base::format("{} became shorter while it was packed", entry.path)};
    }
    GANGRUN_TRY(gzip.put({buffer.data(), static_cast<std::size_t>(size)}));
    left -= static_cast<std::uint64_t>(size);
  }
  return gzip.put(padding_of(entry.size));
}

}  // namespace

base::Result<> write_archive(const std::vector<ArchiveSource>& sources, const ArchiveLimits& limits,
                             const net::ByteSink& sink) {
  Collector collector(limits);
  for (const ArchiveSource& source : sources) GANGRUN_TRY(collector.add(source));
  net::Gzip gzip(sink);
  for (const auto& [name, entry] : collector.entries()) {
    GANGRUN_TRY(write_header(name, entry, gzip));
    if (!entry.is_folder) GANGRUN_TRY(write_content(entry, gzip));
  }
  GANGRUN_TRY(gzip.put(std::string(2 * kBlockBytes, '\0')));
  return gzip.finish();
}

}  // namespace gangrun::hadoop
