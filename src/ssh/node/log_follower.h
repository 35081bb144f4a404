#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ssh/frames.h"

namespace gangrun::ssh::node {

// Reads what is appended to logs of this host, and says where it stood.
class LogFollower {
 public:
  // The view is valid during the call.
  using Sink = std::function<void(const ssh::LogFrame&)>;
  explicit LogFollower(Sink sink) : sink_(std::move(sink)) {}

  // `prefix`: ".out" and ".err" are added. From these offsets on.
  void add(std::uint32_t agent, const std::string& prefix, std::uint64_t out_offset,
           std::uint64_t error_offset);
  // One file, as agent 0.
  void add_file(const std::string& path) { files_[0].push_back({0, true, path, 0}); }
  void remove(std::uint32_t agent);

  // Tells what is new, at most about `bytes`; where there is more than that of one log, the others
  // are told of too. Whether all was told.
  bool tell(std::size_t bytes);
  // The same of one agent, without a look at the others.
  bool tell_of(std::uint32_t agent, std::size_t bytes);
  // How long the agent's logs are now: those of standard output and standard error.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> sizes(std::uint32_t agent) const;
  // Whether all that the agent's logs have now was told.
  [[nodiscard]] bool is_told(std::uint32_t agent) const;
  // Whether a log that had bytes has been removed or cut: what is written to it now comes no more.
  [[nodiscard]] bool is_gone(std::uint32_t agent) const;

 private:
  struct File {
    std::uint32_t agent = 0;
    bool is_error = false;
    std::string path;
    std::uint64_t offset = 0;
  };

  static std::uint64_t size(const File& file);
  static std::uint64_t unread(const File& file);
  std::size_t tell_some(File& file, std::size_t most);
  bool tell_all(const std::vector<File*>& files, std::size_t bytes);
  [[nodiscard]] const std::vector<File>& files_of(std::uint32_t agent) const;

  Sink sink_;
  std::map<std::uint32_t, std::vector<File>> files_;  // by their agent
};

}  // namespace gangrun::ssh::node
