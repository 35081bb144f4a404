#include "yarn/bundles.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/letters.h"

namespace gangrun::yarn {

namespace {

// Neither a folder's part nor hidden, and without characters that a path of HDFS may not have.
bool is_plain(const std::string& name) {
  return !name.starts_with('.') && std::all_of(name.begin(), name.end(), [](char c) {
    return base::is_letter_or_digit(c) || c == '.' || c == '_' || c == '-';
  });
}

}  // namespace

Bundles bundles_of(const std::vector<jobfile::LocalFile>& files,
                   const std::function<std::uint64_t(const std::string& path)>& size_of) {
  Bundles bundles;
  for (const jobfile::LocalFile& file : files) {
    const bool is_own = bundles.own.size() < kMaxOwnBundles && is_plain(file.name) &&
                        size_of(file.path) >= kOwnBundleBytes;
    (is_own ? bundles.own : bundles.common).push_back(file);
  }
  return bundles;
}

std::uint64_t bytes_below(const std::string& path, std::uint64_t enough) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!fs::is_directory(path, failed)) {
    const std::uintmax_t size = fs::file_size(path, failed);
    return failed ? 0 : size;
  }
  std::uint64_t total = 0;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator item(path, options, failed), end; !failed && item != end;
       item.increment(failed)) {
    std::error_code unseen;  // a file that goes away just now: packing will tell
    const bool is_file = item->is_regular_file(unseen);
    const std::uintmax_t size = is_file ? item->file_size(unseen) : 0;
    total += unseen ? 0 : size;
    if (total >= enough) break;
  }
  return total;
}

}  // namespace gangrun::yarn
