#include "kubernetes/pods/pod_streams.h"

#include <utility>

#include "kubernetes/rfc3339.h"

namespace gangrun::kubernetes::pods {

std::optional<std::string> LineFilter::begin() {
  if (!last_time_) return std::nullopt;
  is_again_ = true;
  to_skip_ = of_last_;
  return last_;
}

bool LineFilter::is_new(std::string_view time) {
  const auto at = kubernetes::parse_rfc3339(time);
  if (!at) return true;
  if (is_again_) {
    if (*at < *last_time_) return false;
    if (*at == *last_time_ && to_skip_ > 0) {
      --to_skip_;
      return false;
    }
    is_again_ = *at == *last_time_;
  }
  of_last_ = last_time_ && *at == *last_time_ ? of_last_ + 1 : 1;
  last_time_ = at;
  last_ = std::string(time);
  return true;
}

PodStreams::PodStreams(net::EventLoop& loop, kubernetes::Client& client, const Manifests& manifests,
                       Callbacks callbacks)
    : posts_(loop), client_(client), manifests_(manifests), callbacks_(std::move(callbacks)) {}

void PodStreams::read(const job::TaskId& task, const std::string& uid, bool follow) {
  Stream& stream = streams_[task];
  if (stream.uid != uid) stream.filter = LineFilter();
  stream.uid = uid;
  stream.reading = ++last_reading_;
  kubernetes::LogRequest request;
  request.name_space = manifests_.input().name_space;
  request.pod = manifests_.pod_name(task);
  request.container = manifests_.container_of(task);
  request.follow = follow;
  request.since = stream.filter.begin();
  const int reading = stream.reading;
  kubernetes::LogCallbacks callbacks;
  callbacks.on_line = [this, task, reading](std::string_view time, std::string_view text) {
    const auto found = streams_.find(task);
    if (found == streams_.end() || found->second.reading != reading) return;
    if (!found->second.filter.is_new(time)) return;
    callbacks_.on_line(task, found->second.uid, kubernetes::parse_rfc3339(time), text);
  };
  // A callback may begin another reading, which must not end this one while it calls.
  callbacks.on_end = [this, task, reading](base::Result<> ended) {
    posts_.post(
        [this, task, reading, ended = std::move(ended)] { on_ended(task, reading, ended); });
  };
  stream.activity = client_.read_log(std::move(request), std::move(callbacks));
}

void PodStreams::on_ended(const job::TaskId& task, int reading, base::Result<> ended) {
  const auto found = streams_.find(task);
  if (found == streams_.end() || found->second.reading != reading) return;
  found->second.activity.reset();
  callbacks_.on_ended(task, found->second.uid, std::move(ended));
}

void PodStreams::drop(const job::TaskId& task) { streams_.erase(task); }

}  // namespace gangrun::kubernetes::pods
