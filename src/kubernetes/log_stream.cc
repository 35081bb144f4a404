#include "kubernetes/log_stream.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "kubernetes/api_url.h"
#include "kubernetes/refusal.h"
#include "kubernetes/rfc3339.h"

namespace gangrun::kubernetes {

namespace {

constexpr std::size_t kShortestTime = 20;  // "2026-01-31T12:00:00Z"
constexpr std::size_t kLongestTime = 35;   // with nanoseconds and "+01:00"

// Empty where the line does not begin with one: the kubelet's own words have none.
std::string_view time_of(std::string_view line) {
  const std::string_view word = line.substr(0, std::min(line.find(' '), kLongestTime + 1));
  if (word.size() < kShortestTime || word.size() > kLongestTime) return {};
  if (!begins_as_rfc3339(word)) return {};
  const std::size_t other = word.find_first_not_of("0123456789.:+-Z", kShortestTime - 1);
  return other == std::string_view::npos ? word : std::string_view();
}

constexpr std::size_t kMaxWordsBytes = 1000;

Query query_of(const LogRequest& request) {
  Query out = {{"timestamps", "true"}};
  if (!request.container.empty()) out.emplace_back("container", request.container);
  if (request.follow) out.emplace_back("follow", "true");
  if (request.since) out.emplace_back("sinceTime", *request.since);
  return out;
}

base::Error error_of_log(const Refusal& refusal) {
  base::Error out = error_of(refusal);
  // "container "main" in pod "a" is waiting to start: ContainerCreating"
  if (refusal.status == 400 && out.message.find("waiting to start") != std::string::npos) {
    out.code = base::Code::kFailedPrecondition;
  }
  return out;
}

}  // namespace

bool LogLines::tell(std::string_view line, const OnLine& on_line) {
  if (!time_.empty()) return on_line(time_, line);
  const std::string_view time = time_of(line);
  if (!time.empty()) line.remove_prefix(std::min(line.size(), time.size() + 1));
  return on_line(time, line);
}

bool LogLines::put(std::string_view piece, const OnLine& on_line) {
  while (!piece.empty()) {
    const std::size_t room = kMaxLogLineBytes - line_.size();
    const std::size_t end = piece.substr(0, room + 1).find('\n');
    if (end == std::string_view::npos && piece.size() <= room) {
      line_ += piece;
      break;
    }
    const bool is_whole = end != std::string_view::npos;
    const std::size_t taken = is_whole ? end : room;
    std::string held = std::exchange(line_, {});
    std::string_view line = piece.substr(0, taken);
    if (!held.empty()) line = held += line;
    piece.remove_prefix(is_whole ? taken + 1 : taken);
    if (is_whole && line.ends_with('\r')) line.remove_suffix(1);
    const std::string time(time_.empty() ? time_of(line) : std::string_view(time_));
    if (!tell(line, on_line)) return false;
    time_ = is_whole ? "" : time;
  }
  return true;
}

bool LogLines::finish(const OnLine& on_line) {
  if (line_.empty()) return true;
  const std::string line = std::exchange(line_, {});
  return tell(line, on_line);
}

LogStream::LogStream(Core& core, LogRequest request, LogCallbacks callbacks)
    : core_(core),
      request_(std::move(request)),
      callbacks_(std::make_shared<const LogCallbacks>(std::move(callbacks))) {
  opening_ = core_.openings.take([this] {
    opening_limit_ = core_.loop.after(kOpeningTime, [this] { opening_.reset(); });
    open();
  });
}

void LogStream::open() {
  entry_.emplace(
      *core_.logins, [this](const Way& way) { begin(way); },
      [this](base::Error error) { end(std::move(error)); });
  entry_->start();
}

void LogStream::begin(const Way& way) {
  net::CallRequest call;
  call.target = api_target(core_.prefix, pod_path(request_.name_space, request_.pod, "log"),
                           query_of(request_));
  call.headers = way.headers;
  net::CallOptions options;
  options.deadline = core_.loop.now() + (request_.follow ? kFirstLineLimit : kLogLimit);
  if (!request_.follow) options.idle_limit = kLogLimit;
  net::StreamCallbacks callbacks;
  callbacks.on_sent = [this] { opening_.reset(); };
  callbacks.on_begin = [this] { has_begun_ = true; };
  callbacks.on_piece = [this](std::string_view piece) { on_piece(piece); };
  callbacks.on_end = [this](base::Result<net::HttpResponse> answer) { on_end(std::move(answer)); };
  stream_ = net::stream(core_.loop, way.remote, std::move(call), options, std::move(callbacks));
}

void LogStream::on_piece(std::string_view piece) {
  lines_.put(piece,
             [this](std::string_view time, std::string_view text) { return tell(time, text); });
}

bool LogStream::tell(std::string_view time, std::string_view text) {
  const auto sign = life_.sign();
  const auto callbacks = callbacks_;
  if (const auto words = std::exchange(words_, std::nullopt)) {
    callbacks->on_line("", *words);
    if (sign.expired()) return false;
  }
  if (time.empty()) {
    words_ = text;
    return true;
  }
  callbacks->on_line(time, text);
  return !sign.expired();
}

void LogStream::on_end(base::Result<net::HttpResponse> answer) {
  if (answer.ok()) {
    if (answer->status == 401 && entry_->start_anew()) return;
    if (answer->status >= 300) return end(error_of_log(read_refusal(*answer)));
    return end({});
  }
  const bool is_silent = answer.error().code == base::Code::kDeadlineExceeded && !has_begun_;
  if (is_silent && request_.follow) return open();
  end(std::move(answer).error());
}

void LogStream::end(base::Result<> result) {
  opening_.reset();
  const bool goes_on = lines_.finish(
      [this](std::string_view time, std::string_view text) { return tell(time, text); });
  if (!goes_on) return;
  const auto sign = life_.sign();
  const auto callbacks = callbacks_;
  const auto words = std::exchange(words_, std::nullopt);
  if (words && result.ok()) {
    result = base::unavailable("the log broke off: " + base::shorten(*words, kMaxWordsBytes));
  } else if (words) {
    callbacks->on_line("", *words);
    if (sign.expired()) return;
  }
  if (!result.ok()) return callbacks->on_end(core_.explain(std::move(result).error()));
  callbacks->on_end({});
}

}  // namespace gangrun::kubernetes
