#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "ssh/folder_mark.h"
#include "ssh/host_link.h"

namespace gangrun::ssh {

// How many are logged in at at once: what passes through one jump host must not be more than its
// sshd takes, which refuses some by chance where more than 10 log in (MaxStartups).
inline constexpr std::size_t kOpenedAtOnce = 16;
// A host that may yet answer is asked so often before the job is refused.
inline constexpr int kMaxTries = 3;

// The links to all hosts of a job, and their opening.
class HostLinks {
 public:
  // `hosts`: names.
  HostLinks(net::EventLoop& loop, const std::vector<std::string>& hosts, LinkOptions options);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] HostLink& at(std::size_t index) { return *entries_[index].link; }
  void set_callbacks(std::size_t index, HostLink::Callbacks callbacks) {
    entries_[index].callbacks = std::move(callbacks);
  }
  // Opens the link, once fewer than kOpenedAtOnce are being opened.
  void open(std::size_t index);

  // Before any callbacks are set: opens all, and returns when each link is up, or is down and will
  // not come up; false at the deadline. Or when it is cancelled.
  bool open_all(base::Instant deadline, const std::function<bool()>& is_cancelled);
  // Why the link did not come up then; none: it did, or open_all() was not called.
  [[nodiscard]] const std::optional<base::Error>& trouble(std::size_t index) const {
    return entries_[index].trouble;
  }
  [[nodiscard]] const std::string& working_folder() const { return options_.login.working_folder; }
  // Why no host can be known to have the working folder; empty: it can.
  [[nodiscard]] const std::string& no_mark() const { return no_mark_; }

  // From now on: a keeper that hears nothing takes its client for gone.
  void keep_pinging();

 private:
  struct Entry {
    std::unique_ptr<HostLink> link;
    HostLink::Callbacks callbacks;
    bool is_opening = false;
    // The state of open_all().
    int tries = 0;
    bool is_settled = false;
    std::optional<base::Error> trouble;
    net::Timer again;
  };

  void open_next();
  std::string mark();
  void opened(std::size_t index);
  void settle(std::size_t index, std::optional<base::Error> trouble);

  net::EventLoop& loop_;
  const LinkOptions options_;
  std::vector<Entry> entries_;
  std::deque<std::size_t> queue_;
  std::size_t opening_ = 0;
  std::size_t settled_ = 0;
  net::Timer ping_;
  // While links are being opened.
  std::unique_ptr<FolderMark> mark_;
  std::string no_mark_;
};

}  // namespace gangrun::ssh
