#include "jobfile/checks.h"

#include <algorithm>
#include <array>
#include <set>

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
  return !name.empty() && name.size() <= job::kMaxNameBytes && name.front() != '.' &&
         name.front() != '-' && !name.starts_with(kReserved) &&
         base::is_of_letters_digits_and(name, "_.-");
}

bool is_label(std::string_view text) {
  return text.size() <= job::kMaxLabelBytes && base::is_letter_or_digit(text.front()) &&
         base::is_of_letters_digits_and(text, "_-");
}

}  // namespace

Found check_count(std::size_t count, std::size_t most, std::string_view things,
                  const std::string& path) {
  if (count <= most) return std::nullopt;
  return Problem{path, base::format("{} {} are more than the limit of {}", count, things, most)};
}

bool is_archive_name(std::string_view path) {
  const std::string name = base::in_small_letters(path);
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) {
    return name.size() > ending.size() && name.ends_with(ending);
  });
}

Found check_archives(const std::map<std::string, std::string>& archives, const std::string& path) {
  if (auto found = check_count(archives.size(), job::kMaxArchives, "archives", path)) return found;
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

Found check_outputs(const std::vector<std::string>& outputs, const std::string& path) {
  if (auto found = check_count(outputs.size(), job::kMaxOutputs, "outputs", path)) return found;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string own_path = base::format("{}.{}", path, i);
    if (auto found = check_text(outputs[i], own_path)) return found;
    std::string plain = outputs[i];
    if (plain.ends_with('/')) plain.pop_back();
    const std::vector<std::string> parts = base::split(plain, '/');
    const bool fits = plain.find('\n') == std::string::npos &&
                      std::none_of(parts.begin(), parts.end(), [](const std::string& part) {
                        return part.empty() || part == "." || part == "..";
                      });
    if (!fits) {
      return Problem{own_path, base::format("{} is not the path of an output; allowed: a relative "
                                            "path of a file or folder, without '.' and '..'",
                                            job::in_quotes(outputs[i]))};
    }
    if (!seen.insert(plain).second) {
      return Problem{own_path, base::format("{} is given twice", job::in_quotes(outputs[i]))};
    }
  }
  return std::nullopt;
}

Found check_label(const std::optional<std::string>& label, const std::string& path) {
  if (!label || label->empty() || is_label(*label)) return std::nullopt;
  return Problem{path, base::format("{} is not a node label; allowed: a letter or digit, then at "
                                    "most {} letters, digits, '_' or '-'; nothing for the nodes "
                                    "without one",
                                    job::in_quotes(*label), job::kMaxLabelBytes - 1)};
}

}  // namespace gangrun::jobfile
