#include "client/job_watch.h"

#include <utility>

namespace gangrun::client {

using base::Result;

JobWatch::JobWatch(net::EventLoop& loop, std::string job, base::Duration pause, Callbacks callbacks)
    : loop_(loop),
      job_(std::move(job)),
      pause_(pause),
      callbacks_(std::move(callbacks)),
      status_worker_(loop, 1),
      stop_worker_(loop, 1) {}

void JobWatch::start(std::unique_ptr<cluster::Site> status_site,
                     std::unique_ptr<cluster::Site> stop_site) {
  status_site_ = std::move(status_site);
  stop_site_ = std::move(stop_site);
  look();
}

void JobWatch::look() {
  const auto asked =
      status_worker_.run([site = status_site_.get(), job = job_] { return site->status(job); },
                         [this](const Result<job::JobStatus>& status) { on_answer(status); });
  if (!asked.ok()) on_answer(asked.error());
}

void JobWatch::on_answer(const Result<job::JobStatus>& status) {
  base::Duration pause = pause_;
  if (status.ok()) {
    told_silent_ = false;
    pause = callbacks_.on_status(*status);
  } else if (!std::exchange(told_silent_, true)) {
    callbacks_.on_trouble(status.error().message);
  }
  timer_ = loop_.after(pause, [this] { look(); });
}

void JobWatch::stop(bool at_once, const std::string& by) {
  ask([site = stop_site_.get(), job = job_, by, at_once] { return site->stop(job, at_once, by); });
}

void JobWatch::give_notice(const std::string& by) {
  ask([site = stop_site_.get(), job = job_, by] { return site->give_notice(job, by); });
}

void JobWatch::ask(std::function<Result<>()> question) {
  const auto asked = stop_worker_.run(std::move(question), [this](const Result<>& answer) {
    const bool is_told = answer.ok() || answer.error().code == base::Code::kFailedPrecondition;
    if (!is_told) callbacks_.on_trouble(answer.error().message);
  });
  if (!asked.ok()) callbacks_.on_trouble(asked.error().message);
}

}  // namespace gangrun::client
