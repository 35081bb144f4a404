#include "agent/key_relay.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/described_json.h"
#include "base/format.h"

namespace gangrun::agent {

namespace {

constexpr int kUnavailable = 503;
constexpr int kRefused = 507;
constexpr int kPreconditionFailed = 412;

std::string no_answer_to(const KeyRequest& request) {
  constexpr std::string_view kNoMaster =
      "the task's agent has no connection to the job's master, or no answer from it";
  if (request.waits()) {
    return base::format("{}: the limit of this wait, {}, is over", kNoMaster,
                        base::to_words(request.wait));
  }
  return base::format("{} for {}; it tries to connect again, so ask again", kNoMaster,
                      base::to_words(kKeyPatience));
}

}  // namespace

void KeyRelay::request(KeyTicket ticket, KeyRequest request, base::Instant now) {
  if (questions_.size() >= kMaxKeyRequests) {
    return output_.answer(ticket, key_error(kUnavailable, "too many requests wait already"));
  }
  const base::Duration time = request.waits() ? base::Duration(request.wait) : kKeyPatience;
  const bool is_change = request.is_change();
  if (is_change) request.key->change = next_change_++;
  Question& question = questions_[ticket] = {ticket, std::move(request), now + time, 0};
  if (!is_change) return send(question, now);
  changes_.push_back(ticket);
  send_next_change(now);
}

void KeyRelay::send(Question& question, base::Instant now) {
  if (question.id == 0) {
    question.id = numbers_.next();
    asked_[question.id] = question.ticket;
  }
  wire::AskMessage ask{.id = question.id, .kind = {}, .about = {}, .limit = kKeyPatience};
  if (question.request.barrier) {
    ask.kind = wire::kBarrierKind;
    ask.about = base::to_json(*question.request.barrier);
  } else {
    ask.kind = wire::kKeyKind;
    ask.about = base::to_json(*question.request.key);
  }
  if (question.request.waits()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(question.until - now);
    ask.limit = std::clamp(left, std::chrono::milliseconds(0), wire::kMaxHold);
  }
  output_.ask(std::move(ask));
}

void KeyRelay::send_next_change(base::Instant now) {
  if (changes_.empty()) return;
  Question& next = questions_.at(changes_.front());
  if (next.id == 0) send(next, now);
}

void KeyRelay::remove(Questions::iterator question) {
  asked_.erase(question->second.id);
  std::erase(changes_, question->first);
  questions_.erase(question);
}

// A change goes on: it may have been made.
void KeyRelay::forget(KeyTicket ticket) {
  const auto found = questions_.find(ticket);
  if (found == questions_.end() || found->second.request.is_change()) return;
  const std::int64_t id = found->second.id;
  const bool is_held = found->second.request.waits();
  remove(found);
  if (!is_held) return;
  output_.ask({.id = numbers_.next(),
               .kind = std::string(wire::kCancelKind),
               .about = base::to_json(wire::CancelQuestion{id}),
               .limit = kKeyPatience});
}

void KeyRelay::finish(Questions::iterator question, net::HttpResponse response, base::Instant now) {
  const KeyTicket ticket = question->first;
  remove(question);
  send_next_change(now);
  output_.answer(ticket, std::move(response));
}

void KeyRelay::on_answer(const wire::AnswerMessage& answer, base::Instant now) {
  const auto asked = asked_.find(answer.id);
  if (asked == asked_.end()) return;
  const auto question = questions_.find(asked->second);
  if (answer.refused.empty()) return on_said(question, answer.said, now);
  const int status = question->second.request.barrier ? kPreconditionFailed : kRefused;
  finish(question, key_error(status, answer.refused), now);
}

void KeyRelay::on_said(Questions::iterator found, const base::Json& said, base::Instant now) {
  Question& question = found->second;
  const KeyRequest& request = question.request;
  // It is asked once more, where there is time, and in the round that is open.
  const auto again = [&] {
    asked_.erase(std::exchange(question.id, 0));
    send(question, now);
  };
  const bool is_late = now + kKeySlack >= question.until;
  if (request.key) {
    const auto answer = base::from_json<wire::KeyAnswer>(said);
    if (!answer.ok()) return finish(found, key_error(kUnavailable, answer.error().message), now);
    if (!answer->found && request.waits() && !is_late) return again();
    return finish(found, key_response(request, *answer), now);
  }
  const auto answer = base::from_json<wire::BarrierAnswer>(said);
  if (!answer.ok()) return finish(found, key_error(kUnavailable, answer.error().message), now);
  if (answer->is_complete || !answer->ended.empty()) {
    return finish(found, barrier_response(request, *answer, run_), now);
  }
  const bool is_other_round =
      std::exchange(question.request.barrier->round, answer->round) != answer->round;
  if (is_other_round || !is_late) return again();
  finish(found, barrier_response(request, *answer, run_), now);
}

void KeyRelay::on_attached(base::Instant now) {
  for (auto& [ticket, question] : questions_) {
    if (question.id != 0) send(question, now);
  }
}

base::Instant KeyRelay::limit_of(const Question& question) {
  return question.request.waits() ? question.until + kKeyAllowance : question.until;
}

std::optional<base::Instant> KeyRelay::next_deadline() const {
  std::optional<base::Instant> next;
  for (const auto& [ticket, question] : questions_) {
    if (!next || limit_of(question) < *next) next = limit_of(question);
  }
  return next;
}

void KeyRelay::on_time(base::Instant now) {
  std::vector<KeyTicket> late;
  for (const auto& [ticket, question] : questions_) {
    if (limit_of(question) <= now) late.push_back(ticket);
  }
  for (const KeyTicket ticket : late) {
    const auto question = questions_.find(ticket);
    if (question == questions_.end()) continue;
    finish(question, key_error(kUnavailable, no_answer_to(question->second.request)), now);
  }
}

}  // namespace gangrun::agent
