#include "client/job_watch.h"

#include <utility>

namespace gangrun::client {

using base::Result;

JobWatch::JobWatch(net::EventLoop& loop, base::Duration pause, Callbacks callbacks)
    : loop_(loop),
      pause_(pause),
      callbacks_(std::move(callbacks)),
      status_worker_(loop, 1),
      order_worker_(loop, 1) {}

void JobWatch::start(std::unique_ptr<cluster::Job> of_status,
                     std::unique_ptr<cluster::Job> of_orders) {
  of_status_ = std::move(of_status);
  of_orders_ = std::move(of_orders);
  look();
}

void JobWatch::look() {
  const auto asked =
      status_worker_.run([job = of_status_.get()] { return job->status(); },
                         [this](const Result<job::JobStatus>& status) { on_answer(status); });
  if (!asked.ok()) on_answer(asked.error());
}

void JobWatch::on_answer(const Result<job::JobStatus>& status) {
  base::Duration pause = pause_;
  if (status.ok()) {
    told_silent_ = false;
    trouble_.clear();
    pause = callbacks_.on_status(*status);
  } else if (trouble_ = status.error().message; !std::exchange(told_silent_, true)) {
    callbacks_.on_trouble(status.error().message);
  }
  timer_ = loop_.after(pause, [this] { look(); });
}

void JobWatch::stop(bool at_once, const std::string& by) {
  order_ = Order{at_once, by};
  is_told_ = false;
  if (!is_asking_) ask_to_stop();
}

void JobWatch::ask_to_stop() {
  is_asking_ = true;
  const Order order = *order_;
  const auto asked = order_worker_.run(
      [job = of_orders_.get(), order] { return job->stop(order.at_once, order.by); },
      [this, order](const Result<>& answer) { on_stopped(answer, order); });
  if (!asked.ok()) on_stopped(asked.error(), order);
}

void JobWatch::on_stopped(const Result<>& answer, const Order& asked) {
  const bool is_newest = asked.at_once == order_->at_once && asked.by == order_->by;
  const base::Code code = answer.ok() ? base::Code::kFailedPrecondition : answer.error().code;
  const bool is_silent = code == base::Code::kUnavailable || code == base::Code::kDeadlineExceeded;
  if (code == base::Code::kFailedPrecondition) {
    is_told_ = is_newest;
  } else {
    tell_trouble(answer.error().message);
  }
  // It is asked again if it does not answer, or if less was requested before.
  if (!is_silent && is_newest) {
    is_asking_ = false;
    return;
  }
  again_ = loop_.after(is_newest ? pause_ : base::Duration(0), [this] { ask_to_stop(); });
}

void JobWatch::tell_trouble(const std::string& sentence) {
  trouble_ = sentence;
  if (std::exchange(told_trouble_, sentence) != sentence) callbacks_.on_trouble(sentence);
}

void JobWatch::give_notice(const std::string& by) {
  const auto told = [this](const Result<cluster::Answer>& answer) {
    const bool is_told = answer.ok() || answer.error().code == base::Code::kFailedPrecondition;
    if (!is_told) callbacks_.on_trouble(answer.error().message);
  };
  const auto asked = order_worker_.run(
      [job = of_orders_.get(), by] { return job->ask(cluster::notice_question({.by = by})); },
      told);
  if (!asked.ok()) callbacks_.on_trouble(asked.error().message);
}

}  // namespace gangrun::client
