#include "kubernetes/pods/kueue_look.h"

#include <iterator>
#include <utility>

namespace gangrun::kubernetes::pods {

namespace {

constexpr base::Duration kPause = std::chrono::seconds(15);

}  // namespace

KueueLook::KueueLook(net::EventLoop& loop, kubernetes::Client& client, KueueGroup group,
                     std::function<void(std::string words)> on_words)
    : loop_(loop),
      group_(std::move(group)),
      on_words_(std::move(on_words)),
      errands_(loop, client) {}

void KueueLook::watch(bool is_wanted) {
  if (std::exchange(is_wanted_, is_wanted) == is_wanted) return;
  timer_.reset();
  errands_.clear();
  if (is_wanted) look();
}

void KueueLook::look() {
  told_ = {};
  missing_ = 3;
  ask(waiting_request, &KueueTold::waiting, 0);
  ask(workloads_request, &KueueTold::workloads, 0);
  ask(own_request, &KueueTold::own, 0);
}

void KueueLook::ask(Question question, Answer answer, std::size_t version) {
  Request request = question(group_, kKueueVersions[version]);
  // The next look comes soon enough.
  request.patience = base::Duration(0);
  errands_.ask(std::move(request), [this, question, answer, version](ApiAnswer told) {
    const bool is_older = !told.object.ok() && told.object.error().code == base::Code::kNotFound &&
                          version + 1 < std::size(kKueueVersions);
    if (is_older) return ask(question, answer, version + 1);
    if (told.object.ok()) told_.*answer = *std::move(told.object);
    answered();
  });
}

void KueueLook::answered() {
  if (--missing_ > 0) return;
  timer_ = loop_.after(kPause, [this] { look(); });
  on_words_(turn_words(group_, told_));
}

}  // namespace gangrun::kubernetes::pods
