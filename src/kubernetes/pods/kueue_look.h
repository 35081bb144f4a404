#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "kubernetes/client.h"
#include "kubernetes/pods/errands.h"
#include "kubernetes/pods/kueue.h"
#include "net/event_loop.h"

namespace gangrun::kubernetes::pods {

// Asks Kueue for the turn of a group while that is of interest: three small questions at a time,
// and no answer (a missing right, an older Kueue) is no trouble.
class KueueLook {
 public:
  // `on_words` is called with what is known whenever the answers of one time are here.
  KueueLook(net::EventLoop& loop, kubernetes::Client& client, KueueGroup group,
            std::function<void(std::string words)> on_words);

  // Whether the turn is of interest from now on.
  void watch(bool is_wanted);

 private:
  using Question = Request (*)(const KueueGroup& group, std::string_view version);
  using Answer = std::optional<base::Json> KueueTold::*;

  void look();
  void ask(Question question, Answer answer, std::size_t version);
  void answered();

  net::EventLoop& loop_;
  const KueueGroup group_;
  const std::function<void(std::string words)> on_words_;
  Errands errands_;
  bool is_wanted_ = false;
  KueueTold told_;
  int missing_ = 0;  // answers
  net::Timer timer_;
};

}  // namespace gangrun::kubernetes::pods
