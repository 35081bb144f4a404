#include "wire/rendezvous_relay.h"

#include <algorithm>
#include <utility>

namespace gangrun::wire {

namespace {

constexpr int kOk = 200;
constexpr int kBadRequest = 400;
constexpr int kNotFound = 404;
constexpr int kMethodNotAllowed = 405;
constexpr int kTooLarge = 413;
constexpr int kUnavailable = 503;
constexpr int kFull = 507;
// The agent may have no session with a master, or one with a master that says nothing.
constexpr std::string_view kNoAnswer =
    "the task's agent has no connection to the job's master, or no answer from it\n";

}  // namespace

std::optional<std::string> rendezvous_key(std::string_view path) {
  if (!path.starts_with('/') || path.size() > kMaxRendezvousKeyBytes + 1) return std::nullopt;
  path.remove_prefix(1);
  const std::size_t slash = path.find('/');
  const bool has_two_parts = slash != std::string_view::npos && slash > 0 &&
                             slash + 1 < path.size() &&
                             path.find('/', slash + 1) == std::string_view::npos;
  const bool is_printable =
      std::all_of(path.begin(), path.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!has_two_parts || !is_printable) return std::nullopt;
  return std::string(path);
}

net::HttpResponse rendezvous_response(int status, std::string body) {
  net::HttpResponse response{
      .status = status,
      .content_type = status == kOk ? "application/octet-stream" : "text/plain; charset=utf-8",
      .headers = {},
      .body = std::move(body)};
  if (status == kMethodNotAllowed) response.headers.add("Allow", "GET, PUT, DELETE");
  return response;
}

void RendezvousRelay::request(RendezvousTicket ticket, std::string_view method,
                              std::string_view path, std::string body, base::Instant now) {
  const auto key = rendezvous_key(path);
  if (!key) return output_.answer(ticket, kBadRequest, "the path must be /SCOPE/KEY\n");
  if (method == "GET") return get(*key, {ticket, now + kRendezvousHold});
  const Waiting waiting{ticket, now + kRendezvousPatience};
  if (method == "PUT") return put(*key, std::move(body), waiting);
  if (method == "DELETE") return erase(*key, waiting);
  output_.answer(ticket, kMethodNotAllowed, "GET, PUT and DELETE are understood\n");
}

// One question for a key waits at the master however often the processes ask.
void RendezvousRelay::get(const std::string& key, Waiting waiting) {
  if (const auto asked = gets_.find(key); asked != gets_.end()) {
    return questions_.at(asked->second).waiting.push_back(waiting);
  }
  if (may_ask(waiting)) ask(RendezvousAction::kGet, key, {waiting});
}

void RendezvousRelay::put(const std::string& key, std::string value, Waiting waiting) {
  if (value.size() > kMaxRendezvousValueBytes) {
    return output_.answer(waiting.ticket, kTooLarge, "the value is too large\n");
  }
  const auto former = own_.find(key);
  const bool is_new = former == own_.end();
  const std::size_t before = is_new ? 0 : former->second.size();
  if ((is_new && own_.size() >= kMaxOwnRendezvousKeys) ||
      own_bytes_ - before + value.size() > kMaxOwnRendezvousBytes) {
    return output_.answer(waiting.ticket, kFull, "the task has put too much\n");
  }
  if (!may_ask(waiting)) return;
  own_bytes_ = own_bytes_ - before + value.size();
  own_[key] = std::move(value);
  ask(RendezvousAction::kPut, key, {waiting});
}

void RendezvousRelay::erase(const std::string& key, Waiting waiting) {
  if (!may_ask(waiting)) return;
  forget_own(key);
  forget_own(rank_key_of(key));
  ask(RendezvousAction::kDelete, key, {waiting});
}

bool RendezvousRelay::may_ask(const Waiting& waiting) {
  if (questions_.size() < kMaxRendezvousQuestions) return true;
  output_.answer(waiting.ticket, kUnavailable, "too many questions wait for the master\n");
  return false;
}

void RendezvousRelay::ask(RendezvousAction action, const std::string& key,
                          std::vector<Waiting> waiting) {
  const std::int64_t id = next_id_++;
  const auto& question = questions_[id] = Question{action, key, std::move(waiting)};
  if (action == RendezvousAction::kGet) gets_[key] = id;
  send(id, question);
}

// A put sends what the key has now, which may be newer than what was asked.
void RendezvousRelay::send(std::int64_t id, const Question& question) {
  RendezvousMessage message;
  message.id = id;
  message.action = question.action;
  message.key = question.key;
  if (question.action == RendezvousAction::kPut) {
    const auto own = own_.find(question.key);
    if (own == own_.end()) {
      message.action = RendezvousAction::kDelete;
    } else {
      message.value = own->second;
    }
  }
  output_.send(std::move(message));
}

void RendezvousRelay::forget(RendezvousTicket ticket) {
  for (auto& [id, question] : questions_) {
    std::erase_if(question.waiting, [&](const Waiting& one) { return one.ticket == ticket; });
  }
}

void RendezvousRelay::on_answer(const RendezvousAnswerMessage& message) {
  const auto found = questions_.find(message.id);
  if (found == questions_.end()) return;
  const Question question = std::move(found->second);
  questions_.erase(found);
  if (question.action == RendezvousAction::kGet) gets_.erase(question.key);
  const bool refused = !message.refused.empty();
  if (refused && question.action == RendezvousAction::kPut) forget_own(question.key);
  for (const Waiting& one : question.waiting) {
    if (refused) {
      output_.answer(one.ticket, kFull, message.refused + "\n");
    } else {
      output_.answer(one.ticket, kOk, message.value);
    }
  }
}

// Own keys come first, so that no get or delete that was asked after a put overtakes it.
void RendezvousRelay::on_attached() {
  std::erase_if(questions_, [](const auto& entry) {
    return entry.second.action == RendezvousAction::kPut && entry.second.waiting.empty();
  });
  const auto asked = questions_;
  for (const auto& [key, value] : own_) {
    const bool waits = std::any_of(asked.begin(), asked.end(), [&key = key](const auto& entry) {
      return entry.second.action == RendezvousAction::kPut && entry.second.key == key;
    });
    if (!waits) ask(RendezvousAction::kPut, key, {});
  }
  for (const auto& [id, question] : asked) send(id, question);
}

std::optional<base::Instant> RendezvousRelay::next_deadline() const {
  std::optional<base::Instant> next;
  for (const auto& [id, question] : questions_) {
    for (const Waiting& one : question.waiting) {
      if (!next || one.until < *next) next = one.until;
    }
  }
  return next;
}

// The questions stay: their answers may come yet, and a get is not asked twice.
void RendezvousRelay::on_time(base::Instant now) {
  std::vector<std::pair<RendezvousTicket, RendezvousAction>> late;
  for (auto& [id, question] : questions_) {
    std::erase_if(question.waiting, [&, action = question.action](const Waiting& one) {
      if (one.until > now) return false;
      late.emplace_back(one.ticket, action);
      return true;
    });
  }
  for (const auto& [ticket, action] : late) {
    if (action == RendezvousAction::kGet) {
      output_.answer(ticket, kNotFound, "");
    } else {
      output_.answer(ticket, kUnavailable, std::string(kNoAnswer));
    }
  }
}

void RendezvousRelay::forget_own(const std::string& key) {
  const auto own = own_.find(key);
  if (own == own_.end()) return;
  own_bytes_ -= own->second.size();
  own_.erase(own);
}

}  // namespace gangrun::wire
