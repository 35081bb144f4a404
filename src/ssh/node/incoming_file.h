#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "ssh/keeper_messages.h"

namespace gangrun::ssh::node {

// Whether a name, relative to a folder, is of nothing in it.
bool leads_out(const std::string& name);

// A file for the working folder of a job, as it comes: one after another.
class IncomingFile {
 public:
  // `folder`: the working folder. A name that leads out of it is refused.
  base::Result<> begin(const std::string& folder, const ssh::FileMessage& message);
  base::Result<> add(std::string_view bytes);
  // Whether no bytes of it are missing; also before the first.
  [[nodiscard]] bool is_whole() const { return !file_.valid(); }

 private:
  base::UniqueFd file_;
  std::string path_;
  std::uint64_t left_ = 0;
};

}  // namespace gangrun::ssh::node
