#include "kubernetes/commands/pod_master_job.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "cluster/task_files.h"
#include "job/choice.h"
#include "kubernetes/commands/cluster_status.h"
#include "kubernetes/pods/journal_volume.h"
#include "kubernetes/records/map_reader.h"
#include "wire/live_lines.h"
#include "wire/rest_client.h"

namespace gangrun::kubernetes::commands {

namespace {

using base::Result;

// A master answers at once; what takes longer is the way to it.
constexpr base::Duration kMasterAnswer = base::seconds(5);
constexpr base::Duration kOutputAnswer = base::seconds(60);
constexpr base::Duration kRecordsAnswer = base::seconds(60);
// Nobody tells of a change: so often it is asked, and so often a master that does not answer.
constexpr base::Duration kLook = base::milliseconds(300);
constexpr int kMostConflicts = 10;

bool is_silence(const base::Error& error) {
  return error.code == base::Code::kUnavailable || error.code == base::Code::kDeadlineExceeded;
}

bool is_over(const records::Head& head) {
  if (!head.end.empty()) return true;
  const auto state = job::choice_from<job::JobState>(head.summary.state);
  return state.ok() && job::is_final(*state);
}

base::Error ended_already(const std::string& id) {
  return base::Error{base::Code::kFailedPrecondition, base::format("{} has ended already", id)};
}

}  // namespace

Result<> PodMasterJob::read_again() {
  GANGRUN_ASSIGN(auto kept, read_cluster_record(here_.home, record_.id));
  is_recorded_ = kept.has_value();
  if (!kept) return {};
  // The parts that the cluster has told are not read twice.
  if (kept->secret.empty()) {
    kept->secret = std::move(record_.secret);
    kept->fingerprint = std::move(record_.fingerprint);
    kept->spec = std::move(record_.spec);
  }
  record_ = *std::move(kept);
  return {};
}

// A status is written where it differs much from the last one.
void PodMasterJob::keep(const Looked& looked) {
  const bool is_same = record_.last_seen && record_.last_seen->state == looked.status.state &&
                       record_.has_settled == looked.is_settled;
  record_.last_seen = looked.status;
  record_.has_settled = looked.is_settled;
  if (is_same || !is_recorded_) return;
  // The record has what others have written, and none of what only the cluster keeps.
  auto kept = read_cluster_record(here_.home, record_.id);
  if (!kept.ok() || !*kept) return;
  (*kept)->last_seen = looked.status;
  (*kept)->has_settled = looked.is_settled;
  // After a failure the next look sees it in the cluster again.
  (void)write_cluster_record(here_.home, **kept);
}

Result<ClusterWay*> PodMasterJob::way() {
  if (way_ == nullptr) {
    GANGRUN_ASSIGN(way_, here_.way(record_));
  }
  return way_.get();
}

Result<> PodMasterJob::know_secret() {
  if (!record_.secret.empty()) return {};
  GANGRUN_ASSIGN(ClusterWay* const way, this->way());
  return read_secret_of(*way, record_);
}

Result<records::ReadHead> PodMasterJob::head() {
  GANGRUN_ASSIGN(ClusterWay* const way, this->way());
  return records::read_head(way->loop(), way->client(), record_.name_space, record_.head_name,
                            way->soon());
}

template <typename T>
Result<T> PodMasterJob::ask_master(base::Duration limit, Question<T> question) {
  GANGRUN_ASSIGN(ClusterWay* const way, this->way());
  GANGRUN_TRY(know_secret());
  if (pod_.empty()) {
    GANGRUN_ASSIGN(const records::ReadHead read, head());
    if (!read.head.address || read.head.pod_name.empty()) {
      return base::unavailable(base::format("{} has no master now", record_.id));
    }
    pod_ = read.head.pod_name;
  }
  const base::Secret secret = record_.secret;
  auto answer =
      way->master().call<T>(pod_, record_.fingerprint, way->loop().now() + limit,
                            [question = std::move(question), secret](const net::Endpoint& master) {
                              return question(master, secret);
                            });
  if (!answer.ok()) pod_.clear();
  return answer;
}

Result<job::JobStatus> PodMasterJob::status() {
  GANGRUN_TRY(read_again());
  if (record_.has_settled && record_.last_seen) return *record_.last_seen;
  const auto read = head();
  if (!read.ok() && read.error().code == base::Code::kNotFound) return when_gone();
  if (!read.ok()) return read.error();
  return status_by(read->head);
}

Result<job::JobStatus> PodMasterJob::status_by(const records::Head& head) {
  const auto known = know_secret();
  if (!known.ok()) {
    if (is_silence(known.error())) return known.error();
    job::JobStatus status = summary_of(head, here_.clock.wall_now());
    status.notes.push_back(known.error().message);
    return status;
  }
  GANGRUN_ASSIGN(Looked looked, look(head));
  keep(looked);
  return std::move(looked.status);
}

Result<PodMasterJob::Looked> PodMasterJob::look(const records::Head& head) {
  if (!head.end.empty()) {
    GANGRUN_ASSIGN(auto status, records::end_in(records::records_key(record_.secret), head));
    return Looked{seen_from_here(std::move(status)), true};
  }
  if (!head.address) return without_master(head, base::unavailable("none has begun yet"));
  pod_ = head.pod_name;
  auto told = ask_master<job::JobStatus>(
      kMasterAnswer, [deadline = here_.clock.now() + kMasterAnswer](const net::Endpoint& master,
                                                                    const base::Secret& secret) {
        return wire::fetch_status(master, secret, deadline);
      });
  if (!told.ok()) return without_master(head, told.error());
  last_ = seen_from_here(*std::move(told));
  return Looked{*last_};
}

// Nobody answers: the next one is on its way, or nobody comes any more.
Result<PodMasterJob::Looked> PodMasterJob::without_master(const records::Head& head,
                                                          const base::Error& why) {
  GANGRUN_ASSIGN(ClusterWay* const way, this->way());
  GANGRUN_ASSIGN(const bool is_last, has_no_more_masters(*way, record_));
  if (is_last) return left(head);
  job::JobStatus status = last_               ? *last_
                          : record_.last_seen ? *record_.last_seen
                                              : summary_of(head, here_.clock.wall_now());
  if (status.tasks.empty() && !record_.spec.tasks.empty()) add_tasks(status, record_.spec);
  const std::string pod = words_of_master(*way, record_);
  status.waiting_for =
      base::format("a master that answers ({}{}{})",
                   head.refusal.empty() ? why.message : head.refusal, pod.empty() ? "" : "; ", pod);
  set_moments(status, here_.clock.wall_now());
  return Looked{std::move(status)};
}

Result<PodMasterJob::Looked> PodMasterJob::left(const records::Head& head) {
  GANGRUN_ASSIGN(ClusterWay* const way, this->way());
  auto left = records::left_status(place_of(*way, record_), head, here_.clock,
                                   here_.clock.now() + kRecordsAnswer);
  job::JobStatus status = summary_of(head, here_.clock.wall_now());
  if (left.ok() && *left) status = seen_from_here(**std::move(left));
  if (!left.ok()) {
    status.notes.push_back(base::format("its journal cannot be read: {}", left.error().message));
  }
  if (head.end.empty() && head.folder > 0) {
    status.notes.push_back(base::format("what it recorded and kept is still in {}",
                                        pods::journal_words(record_.spec, record_.id)));
  }
  if (job::is_final(status.state)) return Looked{std::move(status), true};
  const std::string last_words =
      head.refusal.empty() ? last_words_of_master(*way, record_) : head.refusal;
  status = ended_unseen(std::move(status), record_.stopped_by,
                        base::format("the cluster makes no further master for it{}{}",
                                     last_words.empty() ? "" : ": ", last_words),
                        here_.clock.wall_now());
  // A journal that could not be read now may be read later.
  return Looked{std::move(status), left.ok()};
}

// The cluster has nothing of it any more.
Result<job::JobStatus> PodMasterJob::when_gone() {
  const bool is_known = record_.last_seen || !record_.stopped_by.empty() || !record_.secret.empty();
  if (!is_known) {
    GANGRUN_TRY(remove_cluster_record(here_.home, record_.id));
    return base::not_found(
        base::format("the namespace {} has no job {} any more", record_.name_space, record_.id));
  }
  job::JobStatus status = last_seen();
  if (!record_.last_seen) add_tasks(status, record_.spec);
  if (!job::is_final(status.state)) {
    status = ended_unseen(std::move(status), record_.stopped_by,
                          "its objects in the cluster are gone, and its end was not seen",
                          here_.clock.wall_now());
  }
  keep({status, true});
  return status;
}

// Without any task where the job was never seen.
job::JobStatus PodMasterJob::last_seen() const {
  if (record_.last_seen) return *record_.last_seen;
  job::JobStatus status;
  status.id = record_.id;
  status.name = record_.name;
  status.submitted = record_.submitted;
  return status;
}

job::JobStatus PodMasterJob::as_of_last() const {
  job::JobStatus status = last_seen();
  set_moments(status, here_.clock.wall_now());
  return status;
}

Result<job::JobSpec> PodMasterJob::spec() {
  GANGRUN_TRY(read_again());
  if (record_.spec.tasks.empty()) {
    GANGRUN_ASSIGN(ClusterWay* const way, this->way());
    GANGRUN_TRY(read_secret_of(*way, record_));
  }
  job::JobSpec spec = record_.spec;
  pods::edit_kubernetes(spec) = options_of(record_);
  return spec;
}

// Between two masters there are none.
Result<wire::KeptLines> PodMasterJob::next_lines(std::int64_t from, base::Instant wait_until) {
  const base::Instant deadline = here_.clock.now() + kClusterAnswer;
  auto lines = ask_master<wire::KeptLines>(
      kClusterAnswer,
      [from, wait_until, deadline](const net::Endpoint& master, const base::Secret& secret) {
        return wire::fetch_lines(master, secret, from, wait_until, deadline);
      });
  if (!lines.ok()) pause(wait_until);
  return lines;
}

void PodMasterJob::pause(base::Instant until) {
  if (way_ == nullptr) return;
  net::EventLoop& loop = way_->loop();
  (void)loop.run_until([] { return false; }, std::min(until, loop.now() + kLook));
}

Result<std::unique_ptr<cluster::LogReader>> PodMasterJob::logs(const cluster::LogRequest& request) {
  GANGRUN_TRY(read_again());
  GANGRUN_TRY(know_secret());
  const auto read = head();
  const bool is_gone = !read.ok() && read.error().code == base::Code::kNotFound;
  if (!read.ok() && !is_gone) return read.error();
  // A master that has told the end keeps the lines for a while.
  if (is_gone || is_over(read->head)) {
    const auto lines = is_gone ? Result<wire::KeptLines>(base::unavailable("it is gone"))
                               : next_lines(0, here_.clock.now());
    if (!lines.ok()) {
      return base::Error{base::Code::kFailedPrecondition,
                         base::format("{} has ended, and its lines went with its master and its "
                                      "pods ({})",
                                      record_.id, lines.error().message)};
    }
  }
  const auto fetch = [this](std::int64_t from, base::Instant wait_until) {
    return next_lines(from, wait_until);
  };
  return std::unique_ptr<cluster::LogReader>(
      std::make_unique<wire::LiveLines>(fetch, request, here_.clock));
}

Result<job::ClusterSpec> PodMasterJob::cluster_spec(int generation, base::Instant deadline) {
  return ask_master<job::ClusterSpec>(
      std::max<base::Duration>(deadline - here_.clock.now(), base::Duration(0)),
      [generation, deadline](const net::Endpoint& master, const base::Secret& secret) {
        return wire::fetch_cluster_spec(master, secret, generation, deadline);
      });
}

Result<cluster::Answer> PodMasterJob::ask(const cluster::Question& question) {
  const base::Duration limit = kClusterAnswer + question.limit;
  return ask_master<cluster::Answer>(
      limit, [question, deadline = here_.clock.now() + limit](const net::Endpoint& master,
                                                              const base::Secret& secret) {
        return wire::ask(master, secret, question, deadline);
      });
}

// If no master answers, the next one finds the wish in the head, or the job is ended without.
Result<> PodMasterJob::stop(bool at_once, const std::string& by) {
  GANGRUN_TRY(read_again());
  const auto ask_to_stop = [this, at_once, &by] {
    return ask_master<void>(kMasterAnswer,
                            [at_once, by, deadline = here_.clock.now() + kMasterAnswer](
                                const net::Endpoint& master, const base::Secret& secret) {
                              return wire::request_stop(master, secret, at_once, by, deadline);
                            });
  };
  const base::Instant limit = here_.clock.now() + here_.next_master;
  for (bool is_wished = false;; is_wished = true) {
    auto read = head();
    const bool is_gone = !read.ok() && read.error().code == base::Code::kNotFound;
    if (!read.ok() && !is_gone) return read.error();
    // A master that found the wish may have ended the job by now.
    if (is_gone || is_over(read->head)) {
      return is_wished ? Result<>() : ended_already(record_.id);
    }
    pod_ = read->head.address ? read->head.pod_name : "";
    const Result<> asked =
        pod_.empty() ? Result<>(base::unavailable("it has no master")) : ask_to_stop();
    if (asked.ok() || !is_silence(asked.error())) return asked;
    // One that never had a master has started nothing.
    if (read->head.master == 0 || here_.clock.now() >= limit) {
      return end_without_master(read->head, by);
    }
    if (!is_wished) GANGRUN_TRY(wish_stop(at_once, by));
    pause(limit);
  }
}

Result<> PodMasterJob::wish_stop(bool at_once, const std::string& by) {
  GANGRUN_ASSIGN(ClusterWay* const way, this->way());
  base::Error last = base::internal("the head was not asked");
  for (int i = 0; i < kMostConflicts; ++i) {
    GANGRUN_ASSIGN(const records::ReadHead read, head());
    records::Head wished = read.head;
    wished.stop = records::StopWish{.by = by, .at_once = at_once};
    const auto written = way->ask({.method = "PATCH",
                                   .path = base::format("/api/v1/namespaces/{}/configmaps/{}",
                                                        record_.name_space, record_.head_name),
                                   .body = records::head_patch(read, wished),
                                   .content_type = "application/json-patch+json"});
    if (written.ok()) return {};
    last = written.error();
    // Somebody has written meanwhile.
    const bool is_conflict = last.code == base::Code::kInvalidArgument ||
                             last.code == base::Code::kFailedPrecondition ||
                             last.code == base::Code::kAlreadyExists;
    if (!is_conflict) return last;
  }
  return last;
}

Result<> PodMasterJob::end_without_master(const records::Head& head, const std::string& by) {
  GANGRUN_ASSIGN(ClusterWay* const way, this->way());
  // Before anything ends: whoever looks then knows why.
  if (is_recorded_) {
    record_.stopped_by = by;
    if (!record_.last_seen) record_.last_seen = summary_of(head, here_.clock.wall_now());
    GANGRUN_TRY(write_cluster_record(here_.home, record_));
  }
  GANGRUN_ASSIGN(const bool was_there, delete_owner(*way, record_));
  if (!was_there) return ended_already(record_.id);
  return {};
}

Result<std::vector<cluster::TaskResult>> PodMasterJob::results() {
  GANGRUN_ASSIGN(const records::ReadHead read, head());
  std::vector<cluster::TaskResult> results;
  for (const auto& [name, kept] : read.head.results) {
    const auto task = cluster::task_of_result(name);
    if (task) results.push_back({*task, kept.bytes});
  }
  std::ranges::sort(results, {}, &cluster::TaskResult::task);
  return results;
}

Result<> PodMasterJob::read_result(const job::TaskId& task, const cluster::ResultSink& sink) {
  GANGRUN_ASSIGN(ClusterWay* const way, this->way());
  GANGRUN_TRY(know_secret());
  GANGRUN_ASSIGN(const records::ReadHead read, head());
  const auto bytes =
      records::read_result(place_of(*way, record_), read.head, cluster::result_name(task),
                           here_.clock.now() + kRecordsAnswer);
  if (!bytes.ok() && bytes.error().code == base::Code::kNotFound) return cluster::no_result(task);
  if (!bytes.ok()) return bytes.error();
  return sink(*bytes);
}

Result<> PodMasterJob::wait_for_change(base::Instant deadline) {
  GANGRUN_TRY(way());
  pause(deadline);
  return {};
}

Result<> PodMasterJob::check_has_ended() {
  GANGRUN_ASSIGN(const job::JobStatus status, this->status());
  if (job::is_final(status.state)) return {};
  return base::Error{base::Code::kFailedPrecondition,
                     base::format("{0} has not ended; gangrun kill {0} ends it", record_.id)};
}

Result<wire::OutputList> PodMasterJob::outputs(const std::string& task) {
  return ask_master<wire::OutputList>(
      kClusterAnswer,
      [task, deadline = here_.clock.now() + kClusterAnswer](
          const net::Endpoint& master, const base::Secret& secret) -> Result<wire::OutputList> {
        auto list = wire::fetch_outputs(master, secret, task, deadline);
        // It keeps none.
        if (!list.ok() && list.error().code == base::Code::kNotFound) return wire::OutputList{};
        return list;
      });
}

Result<> PodMasterJob::read_output(const cluster::FarFile& file, const cluster::ResultSink& sink) {
  for (std::uint64_t at = 0; at < file.bytes;) {
    GANGRUN_ASSIGN(const std::string piece,
                   ask_master<std::string>(
                       kOutputAnswer, [file, at, deadline = here_.clock.now() + kOutputAnswer](
                                          const net::Endpoint& master, const base::Secret& secret) {
                         return wire::read_output(master, secret, file.task, file.name, at,
                                                  deadline);
                       }));
    // It became shorter, which whoever brings it sees.
    if (piece.empty()) return {};
    const auto wanted = std::min<std::uint64_t>(piece.size(), file.bytes - at);
    GANGRUN_TRY(sink(std::string_view(piece).substr(0, wanted)));
    at += wanted;
  }
  return {};
}

Result<> PodMasterJob::remove_outputs(const std::string& task) {
  return ask_master<void>(kClusterAnswer,
                          [task, deadline = here_.clock.now() + kClusterAnswer](
                              const net::Endpoint& master, const base::Secret& secret) {
                            return wire::remove_outputs(master, secret, task, deadline);
                          });
}

Result<> PodMasterJob::remove() {
  GANGRUN_TRY(check_has_ended());
  GANGRUN_ASSIGN(ClusterWay* const way, this->way());
  GANGRUN_TRY(delete_owner(*way, record_).context("its objects in the cluster are still there"));
  return remove_cluster_record(here_.home, record_.id);
}

}  // namespace gangrun::kubernetes::commands
