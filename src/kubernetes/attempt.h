#pragma once

#include <functional>

#include "base/clock.h"
#include "base/result.h"
#include "kubernetes/client.h"
#include "kubernetes/core.h"
#include "kubernetes/login.h"
#include "net/call.h"

namespace gangrun::kubernetes {

// One request sent once, in its turn; twice where the login has run out. Destroying it ends it.
class Attempt {
 public:
  // Any complete answer is a value. Comes later, never inside the constructor, and may destroy
  // this.
  using OnDone = std::function<void(base::Result<net::HttpResponse>)>;

  // `request` must stay until the end.
  Attempt(Core& core, const Request& request, base::Instant deadline, OnDone on_done);
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

 private:
  void send(const Way& way);
  void on_answer(base::Result<net::HttpResponse> answer);
  void finish(base::Result<net::HttpResponse> answer);

  Core& core_;
  const Request& request_;
  const base::Instant deadline_;
  OnDone on_done_;
  Entry entry_;
  net::Call call_;
  net::Timer limit_;  // until it is sent; then the call has its own
  Turns::Turn turn_;
};

}  // namespace gangrun::kubernetes
