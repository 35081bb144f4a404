#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "hadoop/records.h"
#include "hadoop/web_hdfs.h"
#include "net/fetch.h"

namespace gangrun::hadoop {

// Something that is to be in HDFS under a name, known by its content.
struct Content {
  std::string name;    // of the file, without "/"
  std::string digest;  // SHA-256 of the content, 64 hexadecimal digits
  net::FileSlice file;
};

// A file that is there, for containers; its type and visibility are left as they are by default.
LocalResource resource_of(const FileSystem& file_system, const std::string& path,
                          const FileStatus& status);

// The SHA-256 of a file's part, in hexadecimal digits. Reads it all.
base::Result<std::string> digest_of(const net::FileSlice& file);

// Files that are uploaded once and found again by their content: BASE/DIGEST/NAME in HDFS. Beside
// it lies an empty file whose time is when the content was last wanted; the content's own time is
// never changed, as YARN refuses a file whose time is another than it was told. Several may put the
// same content at once. Blocks; one thread at a time.
class ContentStore {
 public:
  // kPrivate: nobody else may read it. kPublic: everybody may.
  ContentStore(WebHdfs& hdfs, std::string base, Visibility visibility);

  struct Found {
    LocalResource resource;  // its type is left as it is by default
    bool uploaded = false;   // false: it was there
  };
  // Uploads the content unless it is there. For a public store, kFailedPrecondition where a folder
  // above it may not be entered by everybody; it names the folder.
  base::Result<Found> ensure(const Content& content, base::WallTime now,
                             const std::function<void(std::uint64_t sent)>& progress,
                             base::Instant deadline);

  // Removes what has not been asked for since `max_age` before `now`, and what uploads left behind
  // that never ended. How many contents were removed. Nothing there is no error.
  base::Result<int> clean(base::WallTime now, std::chrono::seconds max_age, base::Instant deadline);

 private:
  [[nodiscard]] bool is_public() const { return visibility_ == Visibility::kPublic; }
  base::Result<> check_parents(base::Instant deadline);
  base::Result<std::optional<FileStatus>> look(const std::string& path, base::Instant deadline);
  base::Result<> upload(const Content& content, const std::string& folder,
                        const std::function<void(std::uint64_t)>& progress, base::Instant deadline);
  void mark_used(const std::string& folder, base::WallTime now, base::Instant deadline);
  base::Result<bool> clean_folder(const FileStatus& folder, std::int64_t limit,
                                  base::Instant deadline);

  WebHdfs& hdfs_;
  const std::string base_;
  const Visibility visibility_;
  bool parents_checked_ = false;
};

}  // namespace gangrun::hadoop
