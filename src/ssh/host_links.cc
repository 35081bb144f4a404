#include "ssh/host_links.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/overloaded.h"

namespace gangrun::ssh {

namespace {

constexpr std::chrono::milliseconds kPauseOfTries(500);

// The only thing that a keeper says without being asked: somebody has told it to end.
bool says_leaving(const Frame& frame) {
  return std::visit(
      base::Overloaded{
          [](const MessageFrame& each) { return each.message == to_json(LeavingMessage{}); },
          [](const base::OneOf<OpenFrame, StreamFrame, LogFrame, FileFrame> auto&) {
            return false;
          }},
      frame);
}

}  // namespace

HostLinks::HostLinks(net::EventLoop& loop, const std::vector<std::string>& hosts,
                     LinkOptions options)
    : loop_(loop), options_(std::move(options)), entries_(hosts.size()) {
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    Entry& entry = entries_[i];
    entry.link = std::make_unique<HostLink>(loop_, hosts[i], options_);
    entry.link->set_callbacks(
        {.on_up =
             [this, i] {
               opened(i);
               entries_[i].callbacks.on_up();
             },
         .on_frame = [&entry](const Frame& frame) { entry.callbacks.on_frame(frame); },
         .on_down =
             [this, i](const base::Error& why, bool can_pass) {
               opened(i);
               entries_[i].callbacks.on_down(why, can_pass);
             },
         .on_drained = [&entry] { entry.callbacks.on_drained(); }});
  }
}

void HostLinks::open(std::size_t index) {
  Entry& entry = entries_[index];
  entry.again.reset();
  if (entry.is_opening || std::find(queue_.begin(), queue_.end(), index) != queue_.end()) return;
  queue_.push_back(index);
  open_next();
}

void HostLinks::open_next() {
  while (opening_ < kOpenedAtOnce && !queue_.empty()) {
    const std::size_t index = queue_.front();
    queue_.pop_front();
    ++opening_;
    entries_[index].is_opening = true;
    entries_[index].link->open(mark());
  }
  if (opening_ == 0) mark_.reset();
}

std::string HostLinks::mark() {
  if (mark_ == nullptr) {
    auto made = FolderMark::make(working_folder());
    no_mark_ = made.ok() ? std::string() : made.error().message;
    if (made.ok()) mark_ = std::move(*made);
  }
  return mark_ == nullptr ? std::string() : mark_->name();
}

void HostLinks::opened(std::size_t index) {
  if (!std::exchange(entries_[index].is_opening, false)) return;
  --opening_;
  open_next();
}

bool HostLinks::open_all(base::Instant deadline, const std::function<bool()>& is_cancelled) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    set_callbacks(i, {.on_up = [this, i] { settle(i, std::nullopt); },
                      .on_frame =
                          [this, i](const Frame& frame) {
                            if (says_leaving(frame))
                              return at(i).lose_keeper("has lost its keeper");
                            at(i).give_up("sends something before any request");
                          },
                      .on_down =
                          [this, i](const base::Error& why, bool can_pass) {
                            Entry& own = entries_[i];
                            // One that came up and went is to come up again.
                            if (std::exchange(own.is_settled, false)) --settled_;
                            if (!can_pass || ++own.tries == kMaxTries) return settle(i, why);
                            own.again =
                                loop_.after(kPauseOfTries * own.tries, [this, i] { open(i); });
                          },
                      .on_drained = [] {}});
    open(i);
  }
  return loop_.run_until([&] { return settled_ == entries_.size() || is_cancelled(); }, deadline);
}

void HostLinks::settle(std::size_t index, std::optional<base::Error> trouble) {
  Entry& entry = entries_[index];
  entry.trouble = std::move(trouble);
  if (!std::exchange(entry.is_settled, true)) ++settled_;
}

void HostLinks::keep_pinging() {
  for (const Entry& entry : entries_) entry.link->send(PingMessage{});
  ping_ = loop_.after(kPingInterval, [this] { keep_pinging(); });
}

}  // namespace gangrun::ssh
