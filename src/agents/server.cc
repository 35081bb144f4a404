#include "agents/server.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"
#include "job/described.h"
#include "wire/messages.h"
#include "wire/paths.h"
#include "wire/rendezvous_relay.h"
#include "wire/rest_bodies.h"

namespace gangrun::agents {

namespace {

using base::Json;
using net::HttpRequest;
using net::HttpResponse;

base::Result<int> query_number(const HttpRequest& request, const std::string& key, int fallback,
                               int least, int most) {
  const auto found = request.query.find(key);
  if (found == request.query.end()) return fallback;
  const auto number = base::parse_integer(found->second);
  if (!number || *number < least || *number > most) {
    return base::invalid_argument(base::format("{}={}: must be a whole number from {} to {}", key,
                                               base::shorten(found->second, 40), least, most));
  }
  return static_cast<int>(*number);
}

// More waits only for an agent that does not read what it is told.
constexpr std::size_t kMaxQueuedBytes = 2 * wire::kMaxMasterMessageBytes;

net::ServerOptions server_options() {
  net::ServerOptions options;
  options.max_body_bytes = wire::kMaxRendezvousValueBytes;
  options.channel.max_message_bytes = wire::kMaxAgentMessageBytes;
  options.channel.max_queued_bytes = kMaxQueuedBytes;
  // The desk measures silence itself, and allows for a master that stood still.
  options.channel.idle_timeout = std::chrono::hours(24);
  return options;
}

// Why an agent left, in its words; none where its connection broke.
std::optional<std::string> farewell_of(const net::Channel& channel) {
  const std::optional<std::string> said = channel.farewell();
  if (!said || !said->starts_with(wire::kFarewell)) return std::nullopt;
  std::string_view why = std::string_view(*said).substr(wire::kFarewell.size());
  if (why.starts_with(": ")) why.remove_prefix(2);
  return std::string(why);
}

}  // namespace

Server::Server(net::EventLoop& loop, base::Secret secret, DeskOptions options,
               ServerCallbacks callbacks, base::Logger& logger)
    : loop_(loop),
      callbacks_(std::move(callbacks)),
      gatekeeper_(std::move(secret), "registry", logger),
      desk_(options, *this, logger),
      server_(loop, server_options()) {
  gatekeeper_.guard(server_);
  server_.on_request([this](const HttpRequest& request, net::Responder responder) {
    on_request(request, std::move(responder));
  });
  server_.on_channel_request([](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (request.path != wire::kAgentPath)
      return wire::error_answer(404, "not_found", "no such path");
    return std::nullopt;
  });
  server_.on_channel([this](const HttpRequest&, std::unique_ptr<net::Channel> channel) {
    on_channel(std::move(channel));
  });
}

Server::~Server() = default;

base::Result<> Server::listen_unix(const std::string& path) { return server_.listen_unix(path); }

base::Result<std::uint16_t> Server::listen_tls(const std::string& address, std::uint16_t port,
                                               const net::JobCertificate& certificate) {
  auto listening = server_.listen_tls(address, port, certificate);
  if (listening.ok()) tls_port_ = *listening;
  return listening;
}

base::Result<std::uint16_t> Server::listen_tls_everywhere(std::uint16_t port,
                                                          const net::JobCertificate& certificate) {
  auto listening = listen_tls("::", port, certificate);
  if (listening.ok()) return listening;
  return listen_tls("0.0.0.0", port, certificate);
}

void Server::publish(const job::ClusterSpec& spec, std::size_t outline_above) {
  starts_.emplace(spec, outline_above);
  desk_.set_generation(generation());
  for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
    if (waiter->second.generation > generation()) {
      ++waiter;
      continue;
    }
    net::Responder responder = std::move(waiter->second.responder);
    waiter = waiters_.erase(waiter);
    responder.answer(spec_response());
  }
}

bool Server::send_start(const job::TaskId& task, int attempt, int restarts) {
  GANGRUN_CHECK(starts_.has_value(), job::to_string(task), attempt);  // publish() comes first
  return desk_.send_start(task, attempt, restarts, *starts_);
}

bool Server::send_stop(const job::TaskId& task, std::chrono::milliseconds grace) {
  return desk_.send_stop(task, grace);
}

bool Server::send_end(const job::TaskId& task, std::chrono::milliseconds grace) {
  return desk_.send_end(task, grace);
}

void Server::send(wire::SessionId session, wire::Frame frame) {
  const auto found = channels_.find(session);
  if (found != channels_.end()) found->second->send(std::move(frame));
}

void Server::close(wire::SessionId session, std::string_view reason) {
  const auto found = channels_.find(session);
  if (found != channels_.end()) found->second->close(reason);
}

void Server::event(DeskEvent event) { on_agent_(std::move(event)); }

void Server::on_channel(std::unique_ptr<net::Channel> channel) {
  const wire::SessionId session = next_session_++;
  net::Channel& opened = *channels_.emplace(session, std::move(channel)).first->second;
  if (held_) {
    held_->try_emplace(session);
  } else {
    desk_.on_opened(session, loop_.now());
    wait_for_time();
  }
  opened.on_closed([this, session](const base::Error&) { on_session_end(session); });
  opened.on_message([this, session](std::string_view frame) { on_frame(session, frame); });
}

void Server::on_frame(wire::SessionId session, std::string_view frame) {
  if (!held_) {
    desk_.on_frame(session, frame, loop_.now());
    return wait_for_time();
  }
  Held& held = (*held_)[session];
  held.bytes += frame.size();
  if (held.frames.size() < kMaxHeldFrames && held.bytes <= kMaxHeldBytes) {
    return held.frames.emplace_back(frame), void();
  }
  close(session, "too much before the first answer");
}

// By the loop: whoever asks for it may not be ready for what agents say.
void Server::let_agents_in() {
  if (!held_ || let_in_timer_.pending()) return;
  let_in_timer_ = loop_.after(std::chrono::milliseconds(0), [this] {
    const auto held = std::exchange(held_, std::nullopt);
    for (const auto& [session, sent] : *held) {
      desk_.on_opened(session, loop_.now());
      for (const std::string& frame : sent.frames) desk_.on_frame(session, frame, loop_.now());
    }
    wait_for_time();
  });
}

void Server::on_session_end(wire::SessionId session) {
  const auto ended = channels_.extract(session);
  if (held_ && held_->erase(session) > 0) return;
  desk_.on_closed(session, farewell_of(*ended.mapped()));
}

// A timer that comes too early, because deadlines have moved on since, only sets the next one.
void Server::wait_for_time() {
  const std::optional<base::Instant> next = desk_.next_deadline();
  if (!next || (timer_.pending() && timer_at_ <= next)) return;
  timer_at_ = next;
  timer_ = loop_.at(*next, [this] {
    timer_at_.reset();
    desk_.on_time(loop_.now());
    wait_for_time();
  });
}

void Server::on_request(const HttpRequest& request, net::Responder responder) {
  if (request.path.starts_with(wire::kRendezvousPath))
    return responder.answer(on_rendezvous(request));
  if (request.path == wire::kAskPath && callbacks_.ask) {
    if (request.method != "POST") return responder.answer(wire::method_not_allowed("POST"));
    return on_ask(request.body, std::move(responder));
  }
  if (request.body.size() > wire::kMaxRequestBytes) {
    return responder.answer(wire::error_answer(
        413, "too_large", base::format("a body has at most {} bytes", wire::kMaxRequestBytes)));
  }
  if (request.path == wire::kClusterSpecPath) return on_cluster_spec(request, std::move(responder));
  if (request.path == wire::kStatusPath) {
    if (request.method != "GET") return responder.answer(wire::method_not_allowed("GET"));
    return responder.answer(
        wire::json_response(200, base::dump_json(base::to_json(callbacks_.status()))));
  }
  if (request.path == wire::kStopPath) {
    if (request.method != "POST") return responder.answer(wire::method_not_allowed("POST"));
    return responder.answer(on_stop(request.body));
  }
  if (request.path == wire::kNoticePath && callbacks_.ask) {
    if (request.method != "POST") return responder.answer(wire::method_not_allowed("POST"));
    return responder.answer(on_notice(request.body));
  }
  if (request.path == wire::kJoinPath && join_) {
    if (request.method != "POST") return responder.answer(wire::method_not_allowed("POST"));
    return responder.answer(on_join(request.body));
  }
  if (request.path == wire::kLinesPath) return on_lines(request, std::move(responder));
  if (request.path.starts_with(wire::kTasksPath)) return responder.answer(on_task(request));
  if (request.path.starts_with(wire::kOutputsPath) && callbacks_.outputs != nullptr) {
    return responder.answer(on_outputs(request));
  }
  if (request.path == wire::kAgentPath) {
    return responder.answer(
        wire::error_answer(426, "upgrade_required", "agents open a WebSocket at this path"));
  }
  responder.answer(wire::error_answer(404, "not_found", "no such path"));
}

void Server::on_cluster_spec(const HttpRequest& request, net::Responder responder) {
  if (request.method != "GET") return responder.answer(wire::method_not_allowed("GET"));
  const auto generation = query_number(request, "generation", 1, 1, wire::kMaxGeneration);
  if (!generation.ok()) return responder.answer(wire::error_answer(generation.error()));
  const auto wait =
      query_number(request, "wait", 0, 0, static_cast<int>(wire::kMaxSpecWait.count()));
  if (!wait.ok()) return responder.answer(wire::error_answer(wait.error()));
  if (this->generation() >= *generation) return responder.answer(spec_response());
  if (*wait == 0) return responder.answer(wire::json_response(204, ""));
  if (waiters_.size() >= wire::kMaxSpecWaiters) {
    return responder.answer(
        wire::error_answer(503, "resource_exhausted",
                           base::format("{} requests wait already", wire::kMaxSpecWaiters)));
  }
  const std::uint64_t id = next_waiter_++;
  net::Timer limit = loop_.after(std::chrono::seconds(*wait), [this, id] {
    const auto found = waiters_.find(id);
    net::Responder late = std::move(found->second.responder);
    waiters_.erase(found);
    late.answer(wire::json_response(204, ""));
  });
  responder.on_gone([this, id] { waiters_.erase(id); });
  waiters_.emplace(id, Waiter{*generation, std::move(responder), std::move(limit)});
}

void Server::add_line(const job::TaskId& task, bool is_error, std::string_view text,
                      std::optional<base::WallTime> time) {
  lines_.add(task, is_error, text, time);
  if (lines_waiters_.empty() || lines_timer_.pending()) return;
  lines_timer_ = loop_.after(wire::kLinesDelay, [this] {
    while (!lines_waiters_.empty()) answer_lines(lines_waiters_.begin()->first);
  });
}

void Server::on_lines(const HttpRequest& request, net::Responder responder) {
  if (request.method != "GET") return responder.answer(wire::method_not_allowed("GET"));
  const auto from = query_number(request, "from", 0, 0, std::numeric_limits<int>::max());
  if (!from.ok()) return responder.answer(wire::error_answer(from.error()));
  const int most = static_cast<int>(std::chrono::milliseconds(wire::kMaxLinesWait).count());
  const auto wait = query_number(request, "wait_ms", 0, 0, most);
  if (!wait.ok()) return responder.answer(wire::error_answer(wait.error()));
  // A number of which we do not know comes from another master's time.
  if (lines_.next() != *from || *wait == 0 || lines_waiters_.size() >= wire::kMaxLinesWaiters) {
    return responder.answer(lines_response(*from));
  }
  lines_given_ = *from;
  const std::uint64_t id = next_waiter_++;
  net::Timer limit =
      loop_.after(std::chrono::milliseconds(*wait), [this, id] { answer_lines(id); });
  responder.on_gone([this, id] { lines_waiters_.erase(id); });
  lines_waiters_.emplace(id, LinesWaiter{*from, std::move(responder), std::move(limit)});
}

void Server::answer_lines(std::uint64_t waiter) {
  const auto found = lines_waiters_.find(waiter);
  LinesWaiter waiting = std::move(found->second);
  lines_waiters_.erase(found);
  waiting.responder.answer(lines_response(waiting.from));
}

HttpResponse Server::lines_response(std::int64_t from) {
  const wire::KeptLines lines = lines_.from(from);
  lines_given_ = lines.next;
  return wire::json_response(200, base::dump_json(base::to_json(lines)));
}

HttpResponse Server::spec_response() const {
  return wire::json_response(200, starts_->encoded_spec());
}

HttpResponse Server::on_task(const HttpRequest& request) {
  const std::string_view place = std::string_view(request.path).substr(wire::kTasksPath.size());
  const std::vector<std::string> parts = base::split(place, '/');
  if (parts.size() != 2) return wire::error_answer(404, "not_found", "no such path");
  const auto task = job::parse_task_id(base::format("{}:{}", parts[0], parts[1]));
  if (!task.ok()) return wire::error_answer(404, "not_found", "the job has no such task");
  if (request.method == "GET") return get_task(*task);
  if (request.method == "PUT") return put_task(*task, request.body);
  return wire::method_not_allowed("GET, PUT");
}

HttpResponse Server::get_task(const job::TaskId& task) const {
  const std::optional<KnownPlace> place = desk_.place(task);
  if (!place) return wire::error_answer(404, "not_found", "the job has no such task");
  wire::TaskPlace told{.task = task,
                       .attempt = place->attempt,
                       .address = place->address,
                       .connected = place->connected};
  if (place->address && place->control) {
    told.control =
        wire::ControlPlace{place->address->host, place->control->port, place->control->fingerprint};
  }
  return wire::json_response(200, base::dump_json(base::to_json(told)));
}

HttpResponse Server::put_task(const job::TaskId& task, const std::string& body) {
  const auto report = [&]() -> base::Result<> {
    GANGRUN_ASSIGN(const auto place, wire::body_from<wire::PlaceReport>(body));
    return desk_.report_place(task, place.attempt, place.address);
  };
  const base::Result<> reported = report();
  return reported.ok() ? get_task(task) : wire::error_answer(reported.error());
}

void Server::on_ask(const std::string& body, net::Responder responder) {
  const auto question = [&]() -> base::Result<cluster::Question> {
    GANGRUN_ASSIGN(const Json json, base::parse_json(body, cluster::kMaxQuestionBytes));
    return base::from_json<cluster::Question>(json);
  }();
  if (!question.ok()) return responder.answer(wire::error_answer(question.error()));
  const auto waits = std::make_shared<net::Responder>(std::move(responder));
  callbacks_.ask(*question, [waits](const cluster::Answer& answer) {
    waits->answer(wire::json_response(200, base::dump_json(base::to_json(answer))));
  });
}

HttpResponse Server::on_notice(const std::string& body) {
  const auto asker = wire::body_from<wire::AskedBy>(body);
  if (!asker.ok()) return wire::error_answer(asker.error());
  callbacks_.ask(cluster::notice_question({.by = asker->name()}), [](const cluster::Answer&) {});
  return wire::json_response(202, "{}");
}

// Below kOutputsPath: nothing for the list, "/TASK" for all of a task, "/TASK/NAME" for one.
HttpResponse Server::on_outputs(const HttpRequest& request) {
  std::string_view place = std::string_view(request.path).substr(wire::kOutputsPath.size());
  const bool is_list = place.empty();
  if (!is_list && !place.starts_with('/')) {
    return wire::error_answer(404, "not_found", "no such path");
  }
  if (!is_list) place.remove_prefix(1);
  if (!is_list && place.find('/') == std::string_view::npos) {
    if (request.method != "DELETE") return wire::method_not_allowed("DELETE");
    return remove_outputs(place);
  }
  if (request.method != "GET") return wire::method_not_allowed("GET");
  if (!is_list) return read_output(request, place);
  const auto task = request.query.find("task");
  auto list = callbacks_.outputs->list(task == request.query.end() ? "" : task->second);
  if (!list.ok()) return wire::error_answer(list.error());
  list->is_whole = job::is_final(callbacks_.status().state);
  return wire::json_response(200, base::dump_json(base::to_json(*list)));
}

HttpResponse Server::read_output(const HttpRequest& request, std::string_view place) const {
  const auto text = request.query.find("from");
  const auto from = text == request.query.end() ? std::optional<std::int64_t>(0)
                                                : base::parse_integer(text->second);
  if (!from || *from < 0) {
    return wire::error_answer(400, "invalid_argument",
                              "from: must be a whole number of at least 0");
  }
  const std::size_t slash = place.find('/');
  auto bytes = callbacks_.outputs->read(std::string(place.substr(0, slash)),
                                        std::string(place.substr(slash + 1)),
                                        static_cast<std::uint64_t>(*from));
  if (!bytes.ok()) return wire::error_answer(bytes.error());
  HttpResponse response = wire::json_response(200, *std::move(bytes));
  response.content_type = "application/octet-stream";
  return response;
}

// A task that still runs may send more, in place of what is here.
HttpResponse Server::remove_outputs(std::string_view task) {
  if (!job::is_final(callbacks_.status().state)) {
    return wire::error_answer({base::Code::kFailedPrecondition, "the job has not ended"});
  }
  const base::Result<> removed = callbacks_.outputs->remove(std::string(task));
  return removed.ok() ? wire::json_response(204, "") : wire::error_answer(removed.error());
}

HttpResponse Server::on_stop(const std::string& body) {
  const auto request = wire::body_from<wire::StopRequest>(body);
  if (!request.ok()) return wire::error_answer(request.error());
  callbacks_.stop(request->at_once.value_or(false), request->asker.name());
  return wire::json_response(202, "{}");
}

HttpResponse Server::on_join(const std::string& body) {
  const auto request = wire::body_from<wire::JoinRequest>(body);
  if (!request.ok()) return wire::error_answer(request.error());
  // Whoever comes late is told why nobody waits for it.
  if (auto why = callbacks_.over ? callbacks_.over() : std::nullopt) {
    return wire::response_of({wire::JoinState::kJobHasEnded, {}, *std::move(why)});
  }
  return wire::response_of(join_(*request));
}

HttpResponse Server::on_rendezvous(const HttpRequest& request) {
  if (request.method != "PUT" && request.method != "GET")
    return wire::method_not_allowed("GET, PUT");
  // With the slash before the scope.
  const auto key =
      wire::rendezvous_key(std::string_view(request.path).substr(wire::kRendezvousPath.size() - 1));
  if (!key) {
    return wire::error_answer(
        400, "invalid_argument",
        base::format("a key is SCOPE/NAME of printable ASCII, at most {} bytes",
                     wire::kMaxRendezvousKeyBytes));
  }
  if (request.method == "GET") {
    const std::string* value = desk_.find_key(*key);
    if (value == nullptr) return wire::error_answer(404, "not_found", "nobody has put this key");
    HttpResponse response = wire::json_response(200, *value);
    response.content_type = "application/octet-stream";
    return response;
  }
  const base::Result<> put = desk_.put_key(*key, request.body);
  return put.ok() ? wire::json_response(200, "{}") : wire::error_answer(put.error());
}

}  // namespace gangrun::agents
