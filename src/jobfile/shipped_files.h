#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/spec.h"
#include "jobfile/problem.h"

// Which files a job on a cluster needs beside its tasks, and what they are called there.
namespace gangrun::jobfile {

// A file or folder, with all in it, that has to be brought to the cluster.
struct LocalFile {
  std::string path;  // absolute, without "." and ".."
  std::string name;  // in a task's working folder; may have folders in it: "src/train.py"

  friend bool operator==(const LocalFile&, const LocalFile&) = default;
};

// A file of a cluster's file system, which is there already.
struct ClusterFile {
  std::string url;   // without the fragment
  std::string name;  // in a task's working folder

  friend bool operator==(const ClusterFile&, const ClusterFile&) = default;
};

// An archive that the tasks of one type find unpacked.
struct ShippedArchive {
  std::string type;
  std::string folder;  // in a task's working folder
  std::string source;  // an absolute path of this machine, or a URL

  friend bool operator==(const ShippedArchive&, const ShippedArchive&) = default;
};

// The names of all files are different, and none lies in a folder that is another or an archive's.
struct ShippedFiles {
  std::vector<LocalFile> local;
  std::vector<ClusterFile> there;
  std::vector<ShippedArchive> archives;
};

enum class FileKind { kNone, kFile, kFolder };

// Whether it begins like "hdfs://".
bool has_scheme(std::string_view path);
// A path may have any bytes, a URL only text.
Found check_path_or_url(const std::string& source, const std::string& path);
// Whether the scheme is one of a cluster's file system.
bool is_cluster_url(std::string_view path);

// "hdfs://name/data/wine.csv" is wine.csv, "hdfs://name/data/wine.csv#wines" is wines.
base::Result<ClusterFile> cluster_file(std::string_view url);

// "a/b.py#c.py" is a/b.py under the name c.py; without a "#" behind a path the name is empty.
// Whoever has a file whose own name has a "#" looks for that first.
LocalFile split_name(std::string_view text);

// A name in the tasks' folder that no machine could have is an error: one that is not UTF-8, or too
// long.
base::Result<> check_file_name(const std::string& name);

// All `files` by their own names or the ones behind "#", and the words of commands that are
// relative paths of regular files inside `folder` by these paths; a line for the shell is not
// looked into. `folder` is where the command was called, absolute; `kind_of` says what there is at
// an absolute path. Two different files of one name are an error that names both, as are a file and
// an archive's folder. Archives are those of each task type that has any, in the order of the spec.
base::Result<ShippedFiles> shipped_files(
    const job::JobSpec& spec, const std::string& folder,
    const std::function<FileKind(const std::string& path)>& kind_of);

}  // namespace gangrun::jobfile
