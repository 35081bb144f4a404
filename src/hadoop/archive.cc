#include "hadoop/archive.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/format.h"
#include "base/unique_fd.h"

namespace gangrun::hadoop {

namespace {

constexpr std::size_t kBlockBytes = 512;
constexpr std::size_t kReadBytes = std::size_t{64} * 1024;
constexpr std::size_t kMaxShortNameBytes = 100;
constexpr std::uint64_t kMaxOctalSize = 077777777777;
constexpr unsigned kFolderMode = 0755;
constexpr unsigned kProgramMode = 0755;
constexpr unsigned kFileMode = 0644;

using Entry = base::FileTree::Entry;

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
  base::FileTree tree({.max_files = limits.max_files,
                       .max_bytes = std::min(limits.max_bytes, kMaxOctalSize),
                       .may_lead_out = false});
  for (const ArchiveSource& source : sources) GANGRUN_TRY(tree.add(source.name, source.path));
  net::Gzip gzip(sink);
  for (const auto& [name, entry] : tree.entries()) {
    GANGRUN_TRY(write_header(name, entry, gzip));
    if (!entry.is_folder) GANGRUN_TRY(write_content(entry, gzip));
  }
  GANGRUN_TRY(gzip.put(std::string(2 * kBlockBytes, '\0')));
  return gzip.finish();
}

}  // namespace gangrun::hadoop
