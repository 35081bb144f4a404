#include "jobfile/archives.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/limits.h"
#include "job/units.h"
#include "jobfile/shipped_files.h"

namespace gangrun::jobfile {

namespace {

// The endings of files that YARN's nodes unpack; they would leave any other file unchanged.
constexpr std::array<std::string_view, 4> kEndings = {".tar.gz", ".tgz", ".tar", ".zip"};
// Links of our own in a task's folder begin so.
constexpr std::string_view kReserved = "gangrun-";

bool is_folder_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return base::is_letter_or_digit(c) || c == '_' || c == '.' || c == '-';
  };
  return !name.empty() && name.size() <= job::kMaxNameBytes && name.front() != '.' &&
         name.front() != '-' && !name.starts_with(kReserved) &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

}  // namespace

bool is_archive_name(std::string_view path) {
  const std::string name = base::in_small_letters(path);
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) {
    return name.size() > ending.size() && name.ends_with(ending);
  });
}

Found check_archives(const std::map<std::string, std::string>& archives, const std::string& path) {
  if (archives.size() > job::kMaxArchives) {
    return Problem{path, base::format("{} archives are more than the limit of {}", archives.size(),
                                      job::kMaxArchives)};
  }
  for (const auto& [folder, source] : archives) {
    if (!is_folder_name(folder)) {
      return Problem{path, base::format("{} is not the name of an archive's folder; allowed: a "
                                        "letter, digit or '_', then at most {} of these, '.' or "
                                        "'-'; not one that begins with {}",
                                        job::in_quotes(folder), job::kMaxNameBytes - 1, kReserved)};
    }
    const std::string own_path = base::format("{}.{}", path, folder);
    if (source.empty()) return Problem{own_path, "the path is empty"};
    if (auto found = check_path_or_url(source, own_path)) return found;
    if (has_scheme(source) && !is_cluster_url(source)) {
      return Problem{own_path, cluster_file(source).error().message};
    }
    if (is_archive_name(source)) continue;
    return Problem{own_path, base::format("{} is not an archive; allowed: paths and URLs that end "
                                          "in {}; use `files` for other files and folders",
                                          job::in_quotes(source), base::join(kEndings, ", "))};
  }
  return std::nullopt;
}

}  // namespace gangrun::jobfile
