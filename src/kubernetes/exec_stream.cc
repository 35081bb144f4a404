#include "kubernetes/exec_stream.h"

#include <utility>

#include "base/format.h"
#include "kubernetes/frames.h"

namespace gangrun::kubernetes {

namespace {

OpeningRequest opening_of(const ExecRequest& request, base::Instant deadline) {
  OpeningRequest out;
  out.path = pod_path(request.name_space, request.pod, "exec");
  out.query = {{"stdout", "true"}, {"stderr", "true"}};
  if (!request.container.empty()) out.query.emplace_back("container", request.container);
  for (const std::string& word : request.command) out.query.emplace_back("command", word);
  out.subprotocols = {"v5.channel.k8s.io", "v4.channel.k8s.io"};
  out.deadline = deadline;
  return out;
}

}  // namespace

ExecStream::ExecStream(Core& core, const ExecRequest& request, base::Instant deadline,
                       ExecCallbacks callbacks)
    : callbacks_(std::make_shared<const ExecCallbacks>(std::move(callbacks))) {
  limit_ = core.loop.at(deadline, [this, pod = request.pod] {
    end(base::deadline_exceeded(
        base::format("gave up waiting for the end of a command in pod \"{}\"", pod)));
  });
  opening_.emplace(core, opening_of(request, deadline),
                   [this](Opening::Result channel) { on_open(std::move(channel)); });
}

void ExecStream::on_open(Opening::Result channel) {
  opening_.reset();
  if (!channel.ok()) return end(std::move(channel).error());
  channel_ = std::move(*channel);
  channel_->on_closed([this](const base::Error& reason) {
    end(base::unavailable("the connection ended before the command: " + reason.message));
  });
  channel_->on_message([this](std::string_view message) { on_message(message); });
}

void ExecStream::on_message(std::string_view message) {
  const auto frame = read_frame(message);
  if (!frame) return;
  if (frame->channel == kStatusChannel) return end(read_exit_status(frame->bytes));
  if (frame->bytes.empty()) return;
  const auto callbacks = callbacks_;
  if (frame->channel == kOutputChannel) callbacks->on_output(frame->bytes);
  if (frame->channel == kErrorsChannel) callbacks->on_errors(frame->bytes);
}

void ExecStream::end(base::Result<int> result) {
  limit_.reset();
  opening_.reset();
  channel_.reset();
  const auto callbacks = callbacks_;
  callbacks->on_end(std::move(result));
}

}  // namespace gangrun::kubernetes
