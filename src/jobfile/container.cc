#include "jobfile/container.h"

#include <algorithm>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/limits.h"
#include "job/units.h"
#include "jobfile/checks.h"

namespace gangrun::jobfile {

namespace {

constexpr std::string_view kReadOnly = ":ro";
constexpr std::size_t kMaxImageTagBytes = 128;
constexpr std::size_t kMinDigestDigits = 32;

// Small letters and digits, and between two of them one '.', one or two '_', or any number of '-'.
bool is_component(std::string_view text) {
  if (text.empty() || !base::is_small_letter_or_digit(text.front()) ||
      !base::is_small_letter_or_digit(text.back()))
    return false;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    while (i < text.size() && !base::is_small_letter_or_digit(text[i])) ++i;
    const std::string_view between = text.substr(begin, i - begin);
    const bool is_dashes = between.find_first_not_of('-') == std::string_view::npos;
    if (!is_dashes && between != "." && between != "_" && between != "__") return false;
    while (i < text.size() && base::is_small_letter_or_digit(text[i])) ++i;
  }
  return true;
}

bool is_registry(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (colon != std::string_view::npos && !job::parse_count(text.substr(colon + 1), 1, 65535).ok()) {
    return false;
  }
  return !name.empty() && base::is_letter_or_digit(name.front()) &&
         base::is_letter_or_digit(name.back()) && base::is_of_letters_digits_and(name, ".-");
}

bool is_tag(std::string_view text) {
  return !text.empty() && text.size() <= kMaxImageTagBytes && text.front() != '.' &&
         text.front() != '-' && base::is_of_letters_digits_and(text, "_.-");
}

bool is_digest(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 ||
      !base::is_small_letter_or_digit(text.front()))
    return false;
  const std::string_view digits = text.substr(colon + 1);
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon),
                     [](char c) {
                       return base::is_small_letter_or_digit(c) || c == '+' || c == '.' || c == '-';
                     }) &&
         digits.size() >= kMinDigestDigits &&
         std::all_of(digits.begin(), digits.end(), base::is_small_hex_digit);
}

bool is_image(std::string_view text) {
  if (text.size() > job::kMaxImageBytes) return false;
  const std::size_t at = text.find('@');
  if (at != std::string_view::npos && !is_digest(text.substr(at + 1))) return false;
  text = text.substr(0, at);
  // A colon before the last '/' belongs to the registry's port.
  const std::size_t colon = text.find(':', text.rfind('/') + 1);
  if (colon != std::string_view::npos) {
    if (!is_tag(text.substr(colon + 1))) return false;
    text = text.substr(0, colon);
  }
  std::vector<std::string> components = base::split(text, '/');
  if (components.size() > 1 && !is_component(components.front())) {
    if (!is_registry(components.front())) return false;
    components.erase(components.begin());
  }
  return std::all_of(components.begin(), components.end(),
                     [](const std::string& part) { return is_component(part); });
}

}  // namespace

job::Mount mount_from(std::string_view text) {
  const bool read_only = text.ends_with(kReadOnly);
  if (read_only) text.remove_suffix(kReadOnly.size());
  return {std::string(text), read_only};
}

std::string to_string(const job::Mount& mount) {
  return mount.read_only ? mount.path + std::string(kReadOnly) : mount.path;
}

Found check_image(const std::string& image, const std::string& path) {
  if (image.empty() || is_image(image)) return std::nullopt;
  return Problem{path, base::format("{} is not the name of an image; allowed: "
                                    "[HOST[:PORT]/]NAME[:TAG][@DIGEST], the NAME of small letters, "
                                    "digits and '.', '_', '-', '/' between them, at most {} bytes",
                                    job::in_quotes(image), job::kMaxImageBytes)};
}

std::set<std::string> images_of(const job::JobSpec& job) {
  std::set<std::string> images;
  for (const job::TaskSpec& task : job.tasks) {
    if (const std::string& image = job.image_of(task); !image.empty()) images.insert(image);
  }
  return images;
}

Found check_mounts(const std::vector<job::Mount>& mounts) {
  if (auto found = check_count(mounts.size(), job::kMaxMounts, "mounts", "mounts")) return found;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const std::string path = base::format("mounts.{}", i);
    const std::string& own = mounts[i].path;
    if (auto found = check_bytes(own, path)) return found;
    // The engines write a mount as "path:path:ro", YARN a list of them with commas.
    if (!own.starts_with('/') || own.find_first_of(":,\n") != std::string::npos) {
      return Problem{path, base::format("{} is not the path of a mount; allowed: an absolute path "
                                        "without ':' and ',', and then :ro or nothing",
                                        job::in_quotes(own))};
    }
    if (!seen.insert(own).second) {
      return Problem{path, base::format("{} is given twice", job::in_quotes(own))};
    }
  }
  return std::nullopt;
}

}  // namespace gangrun::jobfile
