#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/described.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "cluster/found_outputs.h"
#include "ssh/keeper_messages.h"

namespace gangrun::ssh::node {

// The folder in which the tasks of a job work on a host that does not share the client's: what was
// brought there, and what they have written since.
class WorkFolder {
 public:
  // The folder "work" in a job's folder (RunFolder), with "brought" beside it, which tells later
  // keepers what was brought.
  explicit WorkFolder(const std::string& run_folder)
      : path_(run_folder + "/work"), notes_(run_folder + "/brought") {}

  [[nodiscard]] const std::string& path() const { return path_; }

  // A file comes, one after another, and then its bytes; or a folder. An error names it; one that
  // leads out of the folder is none.
  base::Result<> begin_file(const ssh::FileMessage& file);
  base::Result<> add(std::string_view bytes);

  struct Written {
    std::vector<cluster::FoundOutput> chosen;
    std::vector<cluster::FoundOutput> left;  // over the limit
    std::vector<cluster::OddOutput> odd;     // that cannot be brought
    std::vector<std::string> missing;
  };
  // The files to be brought to the client: all that is at `names`, and what links there lead to;
  // and with `new_too`, of what is new or has changed since it was brought, as many as have `limit`
  // bytes together, the smallest first; and what new links lead to. Caches of compiled Python are
  // not worth it.
  [[nodiscard]] base::Result<Written> written(const std::vector<std::string>& names, bool new_too,
                                              std::uint64_t limit) const;
  // Whether something is new or has changed; also where that cannot be found out.
  [[nodiscard]] bool has_new() const;

 private:
  // The facts that tell a file from another of its name.
  struct Note {
    std::string name;
    std::uint64_t size = 0;
    std::uint64_t inode = 0;
    std::int64_t changed_s = 0;
    std::int64_t changed_ns = 0;

    static constexpr bool kIsOpen = true;
    GANGRUN_ROWS(Note, name, size, inode, changed_s, changed_ns);
    friend bool operator==(const Note&, const Note&) = default;
  };
  using Notes = std::map<std::string, Note>;

  base::Result<> note_whole();
  [[nodiscard]] base::Result<Notes> brought() const;
  std::string path_;
  std::string notes_;
  base::UniqueFd file_;  // that comes, until it is whole
  std::string name_;     // of that, or of the last one
  std::uint64_t left_ = 0;
};

}  // namespace gangrun::ssh::node
