#include "kubernetes/joined_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>

#include "base/files.h"
#include "base/format.h"
#include "base/strings.h"

namespace gangrun::kubernetes {

namespace {

constexpr std::string_view kTo = "--to";
constexpr std::string_view kMode = "--mode";
constexpr mode_t kHighestMode = 0777;
constexpr int kOctal = 8;

std::string mode_text(mode_t mode) { return base::format("{:04o}", mode); }

std::optional<mode_t> mode_from(std::string_view text) {
  unsigned mode = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, mode, kOctal);
  if (read.ec != std::errc() || read.ptr != end || mode > kHighestMode) return std::nullopt;
  return static_cast<mode_t>(mode);
}

}  // namespace

std::vector<std::string> to_words(const std::vector<JoinedFile>& files) {
  std::vector<std::string> words;
  for (const JoinedFile& file : files) {
    words.insert(words.end(),
                 {std::string(kTo), file.path, std::string(kMode), mode_text(file.mode)});
    words.insert(words.end(), file.parts.begin(), file.parts.end());
  }
  return words;
}

std::optional<std::vector<JoinedFile>> joined_files_from(const std::vector<std::string>& words) {
  std::vector<JoinedFile> files;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with('/')) {
      if (files.empty()) return std::nullopt;
      files.back().parts.push_back(words[i]);
      continue;
    }
    const bool begins_file = words[i] == kTo && i + 3 < words.size() && words[i + 2] == kMode;
    const auto mode = begins_file ? mode_from(words[i + 3]) : std::nullopt;
    if (!mode || words[i + 1].empty()) return std::nullopt;
    files.push_back({.path = words[i + 1], .mode = *mode, .parts = {}});
    i += 3;
  }
  for (const JoinedFile& file : files) {
    if (file.parts.empty()) return std::nullopt;
  }
  return files;
}

std::string to_shell_line(const std::vector<JoinedFile>& files) {
  std::string line;
  for (const JoinedFile& file : files) {
    if (!line.empty()) line += " && ";
    line += base::format("cat {0} > {1} && chmod {2} {1}", base::join(file.parts, " "), file.path,
                         mode_text(file.mode));
  }
  return line;
}

base::Result<> put_together(const JoinedFile& file) {
  base::remove_if_there(file.path);
  GANGRUN_ASSIGN(const base::UniqueFd whole,
                 base::open_file(file.path, O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR));
  for (const std::string& path : file.parts) {
    GANGRUN_ASSIGN(const std::string part, base::read_file(path, kMaxPartBytes));
    GANGRUN_TRY(base::write_all(whole.get(), part, file.path));
  }
  if (::fchmod(whole.get(), file.mode) == 0) return {};
  return base::from_errno(errno, base::format("set the mode of {}", file.path));
}

}  // namespace gangrun::kubernetes
