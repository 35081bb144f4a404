#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/context.h"
#include "wire/key_messages.h"

namespace gangrun::client {

inline constexpr std::size_t kMaxTaskValueBytes = wire::kMaxValueBytes;
inline constexpr std::chrono::milliseconds kMaxTaskWait = wire::kMaxKeyWait;

// The keys of the job in one of whose tasks this command runs, and its barriers: asked of the
// task's agent, which knows who asks.
class TaskKeys {
 public:
  // kFailedPrecondition: this is no task, or one that has no agent.
  static base::Result<TaskKeys> of(const Context& context);

  base::Result<> put(const std::string& key, std::string value) const;
  // kNotFound where there is none.
  base::Result<std::string> get(const std::string& key) const;
  // kDeadlineExceeded where nobody has put it in that time.
  base::Result<std::string> wait(const std::string& key, std::chrono::milliseconds timeout) const;
  base::Result<> erase(const std::string& key) const;
  base::Result<std::vector<std::string>> list(const std::string& prefix) const;

  // Waits until so many tasks have come, or all. kDeadlineExceeded says who has not; kNotFound who
  // has ended, so that not so many can come any more.
  base::Result<> barrier(const std::string& name, std::optional<int> tasks,
                         std::chrono::milliseconds timeout) const;

 private:
  struct Call {
    std::string method = "GET";
    std::string path;
    std::map<std::string, std::string> query{};
    std::string body{};
    std::chrono::milliseconds wait{0};
  };

  TaskKeys(std::string address, std::string process)
      : address_(std::move(address)), process_(std::move(process)) {}
  [[nodiscard]] base::Result<std::string> ask(Call call) const;

  std::string address_;
  std::string process_;
};

}  // namespace gangrun::client
