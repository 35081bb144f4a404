#include "cluster/question.h"

#include "base/format.h"
#include "base/strings.h"

namespace gangrun::cluster {

namespace {

constexpr std::size_t kMaxNoticeByBytes = 200;

}  // namespace

base::Result<> Question::complete() const {
  if (kind.empty()) return base::wrong_member("kind", "a word");
  if (!about.is_object()) return base::wrong_member("about", "an object");
  if (tasks.size() > kMaxQuestionTasks) {
    return base::wrong_member("tasks", base::format("at most {} tasks", kMaxQuestionTasks));
  }
  return {};
}

Question notice_question(const Notice& notice) {
  Question question;
  question.kind = kNotice;
  question.about = base::to_json(notice);
  return question;
}

std::string notice_by(const Question& question) {
  const auto notice = base::from_json<Notice>(question.about);
  const bool has_name = notice.ok() && !notice->by.empty();
  // It is shown to people: in logs, and in sentences about pods.
  return base::printable(base::shorten(has_name ? notice->by : "a request", kMaxNoticeByBytes));
}

base::Error no_agent_there() {
  return {base::Code::kFailedPrecondition, "no agent of gangrun is beside it"};
}

}  // namespace gangrun::cluster
