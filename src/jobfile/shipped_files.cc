#include "jobfile/shipped_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "job/limits.h"
#include "job/units.h"

namespace gangrun::jobfile {

namespace {

using base::Result;

constexpr std::array<std::string_view, 3> kClusterSchemes = {"hdfs", "viewfs", "webhdfs"};

std::string_view scheme_of(std::string_view path) {
  const std::size_t end = path.find("://");
  if (end == std::string_view::npos || end == 0) return {};
  const std::string_view scheme = path.substr(0, end);
  return base::is_of_letters_digits_and(scheme, "+.-") ? scheme : std::string_view();
}

// Absolute, without ".", ".." and a slash at the end.
std::string normal_path(const std::string& folder, const std::string& path) {
  // An absolute path takes the place of the folder.
  std::string normal = (std::filesystem::path(folder) / path).lexically_normal().string();
  while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

// The files so far, by their names.
class Names {
 public:
  // Whether the file is new; an error if its name is none there, or another one has its name, or
  // would lie where it does.
  Result<bool> add(const std::string& name, const std::string& source) {
    GANGRUN_TRY(check_file_name(name));
    const auto [entry, is_new] = sources_.emplace(name, source);
    if (!is_new) {
      if (entry->second == source) return false;
      return clash(name, entry->second, source);
    }
    for (std::size_t slash = name.find('/'); slash != std::string::npos;
         slash = name.find('/', slash + 1)) {
      const auto outer = sources_.find(name.substr(0, slash));
      if (outer == sources_.end()) continue;
      if (outer->second + name.substr(slash) == source) return false;
      return clash(name, outer->second, source);
    }
    // Those that came first and would lie in it.
    for (auto inner = sources_.lower_bound(name + "/");
         inner != sources_.end() && inner->first.starts_with(name + "/"); ++inner) {
      if (source + inner->first.substr(name.size()) == inner->second) continue;
      return clash(inner->first, inner->second, source);
    }
    return true;
  }

  // An error if a file is called as the folder of an archive, or would lie in it.
  [[nodiscard]] Result<> check_folder(const std::string& folder, const std::string& source) const {
    const auto file = sources_.lower_bound(folder);
    if (file != sources_.end() && file->first == folder) return clash(folder, file->second, source);
    const auto inner = sources_.lower_bound(folder + "/");
    if (inner == sources_.end() || !inner->first.starts_with(folder + "/")) return {};
    return clash(folder, inner->second, source);
  }

 private:
  static base::Error clash(const std::string& name, const std::string& one,
                           const std::string& other) {
    return base::invalid_argument(
        base::format("files: {} and {} would both be {} in the tasks' folder; allowed: one of "
                     "each name",
                     job::in_quotes(one), job::in_quotes(other), job::in_quotes(name)));
  }

  std::map<std::string, std::string> sources_;
};

// Whether it leads from a folder to something in it.
bool is_relative_name(const std::string& name) {
  const std::vector<std::string> parts = base::split(name, '/');
  return std::none_of(parts.begin(), parts.end(), [](const std::string& part) {
    return part.empty() || part == "." || part == "..";
  });
}

using KindOf = std::function<FileKind(const std::string& path)>;

Result<std::vector<ShippedArchive>> shipped_archives(const job::JobSpec& spec,
                                                     const std::string& folder,
                                                     const KindOf& kind_of, const Names& names) {
  std::vector<ShippedArchive> archives;
  for (const job::TaskSpec& task : spec.tasks) {
    for (const auto& [name, source] : spec.archives_of(task)) {
      ShippedArchive archive{task.type, name, source};
      if (!is_cluster_url(source)) {
        archive.source = normal_path(folder, source);
        const FileKind kind = kind_of(archive.source);
        if (kind != FileKind::kFile) {
          return base::invalid_argument(
              base::format("archives.{}: {}{}", name, job::in_quotes(source),
                           kind == FileKind::kNone
                               ? ": there is no such file"
                               : " is a folder; allowed: an archive; use `files` for folders"));
        }
      }
      GANGRUN_TRY(names.check_folder(name, archive.source));
      archives.push_back(std::move(archive));
    }
  }
  return archives;
}

}  // namespace

bool has_scheme(std::string_view path) { return !scheme_of(path).empty(); }

Found check_path_or_url(const std::string& source, const std::string& path) {
  return has_scheme(source) ? check_text(source, path) : check_bytes(source, path);
}

bool is_cluster_url(std::string_view path) {
  const std::string_view scheme = scheme_of(path);
  return std::find(kClusterSchemes.begin(), kClusterSchemes.end(), scheme) != kClusterSchemes.end();
}

Result<ClusterFile> cluster_file(std::string_view url) {
  if (!is_cluster_url(url)) {
    return base::invalid_argument(
        base::format("{} is not in a file system of a cluster; allowed: paths, and URLs of {}",
                     job::in_quotes(url), base::join(kClusterSchemes, ", ")));
  }
  ClusterFile file;
  const std::size_t hash = url.find('#');
  file.url = url.substr(0, hash);
  if (hash != std::string_view::npos) {
    file.name = url.substr(hash + 1);
  } else {
    const std::string_view rest = url.substr(url.find("://") + 3);
    const std::size_t slash = rest.rfind('/');
    if (slash != std::string_view::npos) file.name = rest.substr(slash + 1);
  }
  const bool fits = !file.name.empty() && file.name != "." && file.name != ".." &&
                    file.name.find('/') == std::string::npos;
  if (fits) return file;
  return base::invalid_argument(
      base::format("{} gives the file no name; allowed: a URL that ends in a file's name, or in "
                   "#name without '/'",
                   job::in_quotes(url)));
}

LocalFile split_name(std::string_view text) {
  const std::size_t hash = text.rfind('#');
  if (hash == std::string_view::npos || hash == 0) return {std::string(text), ""};
  return {std::string(text.substr(0, hash)), std::string(text.substr(hash + 1))};
}

Result<> check_file_name(const std::string& name) {
  if (!base::is_valid_utf8(name)) {
    return base::invalid_argument(
        base::format("files: {} cannot be a name in the tasks' folder; allowed on a cluster: "
                     "UTF-8; another name is given behind a '#'",
                     job::in_quotes(name)));
  }
  const auto parts = base::split(name, '/');
  const bool fits = name.size() <= job::kMaxFileNameBytes &&
                    std::ranges::all_of(parts, [](const std::string& part) {
                      return part.size() <= job::kMaxFileNamePartBytes;
                    });
  if (fits) return {};
  return base::invalid_argument(base::format(
      "files: {} ({} bytes) is too long for a name in the tasks' folder; allowed: {} bytes, and {} "
      "between slashes",
      job::in_quotes(name), name.size(), job::kMaxFileNameBytes, job::kMaxFileNamePartBytes));
}

Result<ShippedFiles> shipped_files(
    const job::JobSpec& spec, const std::string& folder,
    const std::function<FileKind(const std::string& path)>& kind_of) {
  ShippedFiles shipped;
  Names names;
  for (const std::string& text : spec.files) {
    if (is_cluster_url(text)) {
      GANGRUN_ASSIGN(ClusterFile file, cluster_file(text));
      GANGRUN_ASSIGN(const bool is_new, names.add(file.name, file.url));
      if (is_new) shipped.there.push_back(std::move(file));
      continue;
    }
    LocalFile file;
    file.path = normal_path(folder, text);
    if (kind_of(file.path) == FileKind::kNone) {
      const LocalFile named = split_name(text);
      if (!named.name.empty() && !is_relative_name(named.name)) {
        return base::invalid_argument(base::format(
            "files: {}: {} cannot be a name in the tasks' folder; allowed: a relative path without "
            "'.' and '..'",
            job::in_quotes(text), job::in_quotes(named.name)));
      }
      file.path = normal_path(folder, named.path);
      file.name = named.name;
    }
    if (file.name.empty()) file.name = file.path.substr(file.path.rfind('/') + 1);
    if (file.name.empty() || kind_of(file.path) == FileKind::kNone) {
      return base::invalid_argument(
          base::format("files: {}: there is no such file or folder", job::in_quotes(text)));
    }
    GANGRUN_ASSIGN(const bool is_new, names.add(file.name, file.path));
    if (is_new) shipped.local.push_back(std::move(file));
  }
  const std::string inside = normal_path(folder, "") + "/";
  for (const job::TaskSpec& task : spec.tasks) {
    for (const std::string& word : spec.command_of(task).words) {
      if (word.empty() || word.front() == '/') continue;
      LocalFile file;
      file.path = normal_path(folder, word);
      if (!file.path.starts_with(inside) || kind_of(file.path) != FileKind::kFile) continue;
      file.name = file.path.substr(inside.size());
      GANGRUN_ASSIGN(const bool is_new, names.add(file.name, file.path));
      if (is_new) shipped.local.push_back(std::move(file));
    }
  }
  GANGRUN_ASSIGN(shipped.archives, shipped_archives(spec, folder, kind_of, names));
  return shipped;
}

}  // namespace gangrun::jobfile
