#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "gang/event.h"
#include "journal/record.h"

namespace gangrun::journal {

// The file that a writer appends to.
class File {
 public:
  virtual ~File() = default;
  // How much was appended; less than all where there is no room for the rest.
  virtual base::Result<std::size_t> append(std::string_view bytes) = 0;
  virtual base::Result<> truncate(std::int64_t bytes) = 0;
  // Returns when the disk has what was appended.
  virtual base::Result<> sync() = 0;
};

// The facts about its segment that a writer needs.
struct Opening {
  std::string job_id;
  int attempt = 1;  // of the master: the segment's number
  base::WallTime started;
  base::Instant origin;  // the same moment
  // Waits after each record until the disk has it. Not needed where the tasks are beside the
  // master: what a lost host would take from the journal, it takes from the job too.
  bool durable = false;
};

// Writes one segment of a journal. What has been appended is in the file (for every other process,
// and whatever happens to this one) when the call returns. After an error the file is as it was
// before, and the next record may be tried: a full disk may have room again.
class Writer {
  struct Private {};

 public:
  // `folder` exists. kAlreadyExists where the segment does: a segment is written once.
  static base::Result<std::unique_ptr<Writer>> create(const std::string& folder,
                                                      const Opening& opening);
  // The same on an empty file, which errors call `path`.
  static base::Result<std::unique_ptr<Writer>> create_on(std::unique_ptr<File> file,
                                                         std::string path, const Opening& opening);
  Writer(Private, std::string path, std::unique_ptr<File> file, const Opening& opening);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() = default;

  // One line by one write().
  base::Result<> append(const Record& record);
  base::Result<> event(const gang::Event& event, base::Instant at);

 private:
  base::Result<> write_line(std::string line);
  base::Error take_back(base::Error error);

  std::string path_;
  std::unique_ptr<File> file_;
  base::Instant origin_;
  bool durable_;
  bool damaged_ = false;  // a part of a line could not be taken back
  std::int64_t bytes_ = 0;
  std::int64_t lines_ = 0;
};

}  // namespace gangrun::journal
