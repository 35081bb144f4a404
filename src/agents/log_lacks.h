#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace gangrun::agents {

// The lines that the log of a task lacks, of all its runs. Each agent of the task tells the number
// of its own, and tells it again in each session.
class LogLacks {
 public:
  // The agent is known by its attempt. `lost`: so many lines of all its runs; 0: it has not counted
  // them. Returns what people are to be told; none: it is known.
  std::optional<std::string> add(int agent, const std::string& why, std::int64_t lost);
  // All that is known, in words; empty: the log lacks nothing.
  [[nodiscard]] const std::string& words() const { return words_; }

 private:
  struct Lack {
    std::string why;
    std::int64_t lost = 0;
  };

  std::map<int, Lack> of_agents_;
  std::string words_;
};

}  // namespace gangrun::agents
