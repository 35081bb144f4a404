#include "kubernetes/attempt.h"

#include <utility>

#include "base/format.h"
#include "kubernetes/api_url.h"

namespace gangrun::kubernetes {

namespace {

constexpr const char* kMetadataOnly =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
constexpr const char* kTable = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json";

const char* accepted(const Request& request) {
  if (request.wants_table) return kTable;
  return request.wants_metadata_only ? kMetadataOnly : "application/json";
}

}  // namespace

Attempt::Attempt(Core& core, const Request& request, base::Instant deadline, OnDone on_done)
    : core_(core),
      request_(request),
      deadline_(deadline),
      on_done_(std::move(on_done)),
      entry_(
          *core.logins, [this](const Way& way) { send(way); },
          [this](base::Error error) { finish(std::move(error)); }) {
  limit_ = core_.loop.at(deadline_, [this] {
    finish(base::deadline_exceeded(
        base::format("{} {}: gave up before it was sent: other requests or the login took the time",
                     request_.method, request_.path)));
  });
  turn_ = core_.requests.take([this] { entry_.start(); });
}

void Attempt::send(const Way& way) {
  net::CallRequest call;
  call.method = request_.method;
  call.target = api_target(core_.prefix, request_.path, request_.query);
  call.headers = way.headers;
  call.headers.add("Accept", accepted(request_));
  if (!request_.body.is_null()) {
    call.headers.add("Content-Type", request_.content_type);
    call.body = base::dump_json(request_.body);
  }
  net::CallOptions options;
  options.deadline = deadline_;
  options.max_response_bytes = request_.max_answer_bytes;
  limit_.reset();
  call_ =
      net::call(core_.loop, way.remote, std::move(call), options,
                [this](base::Result<net::HttpResponse> answer) { on_answer(std::move(answer)); });
}

void Attempt::on_answer(base::Result<net::HttpResponse> answer) {
  call_.reset();
  if (answer.ok() && answer->status == 401 && entry_.start_anew()) return;
  finish(std::move(answer));
}

void Attempt::finish(base::Result<net::HttpResponse> answer) {
  limit_.reset();
  turn_.reset();
  const OnDone on_done = std::exchange(on_done_, nullptr);
  if (on_done) on_done(std::move(answer));
}

}  // namespace gangrun::kubernetes
