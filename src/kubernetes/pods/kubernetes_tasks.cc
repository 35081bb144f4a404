#include "kubernetes/pods/kubernetes_tasks.h"

#include <algorithm>
#include <utility>

namespace gangrun::kubernetes::pods {

KubernetesTasks::KubernetesTasks(net::EventLoop& loop, base::Logger& logger, Client& client,
                                 Manifests manifests, const Options& options)
    : loop_(loop),
      manifests_(std::move(manifests)),
      runs_(manifests_, options.log_folder, logger),
      pods_(loop, logger, client, manifests_, book_options(manifests_, options.random),
            pod_callbacks()),
      streams_(loop, client, manifests_, stream_callbacks()),
      outputs_(loop, client, manifests_, options.output_folder, options.unpack, output_callbacks()),
      notices_(loop, logger, client, manifests_, [this](auto sentences) {
        for (std::string& sentence : sentences) warn(std::move(sentence));
      }) {}

JobPods::Callbacks KubernetesTasks::pod_callbacks() {
  return {
      .pod = [this](const job::TaskId& task, const PodRun& run,
                    const Owner& owner) { return manifests_.pod(task, run, owner); },
      .on_event =
          [this](const PodEvent& event) {
            for (const cluster::TasksEvent& each : runs_.told(event)) listener_(each);
          },
      .read_log = [this](const ReadLog& read) { streams_.read(read.task, read.uid, read.follows); },
      .drop_log = [this](const DropLog& action) { streams_.drop(action.task); },
      .fetch_outputs =
          [this](const FetchOutputs& action) { outputs_.fetch(action.task, action.uid); }};
}

PodStreams::Callbacks KubernetesTasks::stream_callbacks() {
  return {.on_line =
              [this](const job::TaskId& task, const std::string& uid,
                     std::optional<base::WallTime> time, std::string_view text) {
                pods_.note_line(task, uid, time);
                pods_.tell(RunLine{task, std::string(text), time});
              },
          .on_ended =
              [this](const job::TaskId& task, const std::string& uid, const base::Result<>& ended) {
                pods_.tell_book(&PodBook::on_log_ended, task, uid, ended);
              }};
}

PodOutputs::Callbacks KubernetesTasks::output_callbacks() {
  return {
      .on_fetched =
          [this](const job::TaskId& task, const std::string& uid, const base::Result<>& fetched) {
            pods_.tell_book(&PodBook::on_outputs, task, uid, fetched);
          },
      .on_warning = [this](std::string sentence) { warn(std::move(sentence)); }};
}

void KubernetesTasks::run(const gang::Start& decision,
                          const std::shared_ptr<const job::ClusterSpec>& spec) {
  auto run = runs_.begin(decision, spec);
  if (run.ok()) return pods_.tell_book(&PodBook::run, decision.task, *run);
  job::ExitReport report;
  report.why = {.reason = job::Reason::kCouldNotStart, .detail = run.error().message};
  pods_.tell(job::Exited{decision.task, decision.attempt, std::move(report), loop_.now()});
}

void KubernetesTasks::clear(std::function<void(base::Result<>)> done) {
  notices_.clear();
  pods_.clear(std::move(done));
}

void KubernetesTasks::start(const gang::Allocate& decision) {
  pods_.begin();
  pods_.tell_book(&PodBook::start, decision.task, decision.attempt);
}

void KubernetesTasks::stop(const gang::Stop& decision) {
  pods_.tell_book(&PodBook::end_run, decision.task, decision.grace);
}

void KubernetesTasks::end(const gang::End& decision) {
  pods_.tell_book(&PodBook::stop, decision.task, decision.attempt, decision.grace);
}

void KubernetesTasks::kill(const gang::Kill& decision) {
  end({decision.task, decision.attempt, std::chrono::milliseconds(0)});
}

void KubernetesTasks::resume(const std::vector<cluster::Left>& tasks) {
  pods_.begin();
  for (const cluster::Left& left : tasks) {
    runs_.adopt(left);
    pods_.tell_book(&PodBook::adopt, left.task, left.allocated_attempt);
  }
  pods_.tell_book(&PodBook::release_others);
}

void KubernetesTasks::ask(const std::vector<job::TaskId>& tasks, const cluster::Question& question,
                          const cluster::OnTaskAnswer& on_answer) {
  if (question.kind != cluster::kNotice) {
    for (const job::TaskId& task : tasks) on_answer(task, cluster::no_agent_there());
    return;
  }
  std::vector<job::TaskId> there = pods_.book().running();
  std::erase_if(there,
                [&](const auto& task) { return std::ranges::find(tasks, task) == tasks.end(); });
  for (const job::TaskId& task : tasks) {
    const bool is_there = std::ranges::find(there, task) != there.end();
    if (!is_there) on_answer(task, base::unavailable("its pod does not run"));
  }
  // A command that is not told goes on: that changes nothing for the job, and a warning names it.
  notices_.give(there, cluster::notice_by(question), question.limit,
                [on_answer](const job::TaskId& task, const base::Result<>& told) {
                  on_answer(task,
                            told.ok() ? base::Result<base::Json>(base::Json()) : told.error());
                });
}

void KubernetesTasks::settle(std::function<void()> done) {
  if (auto sentence = runs_.lost_lines()) {
    listener_(cluster::TasksWarning{*std::move(sentence)});
  }
  done();
}

std::string KubernetesTasks::waiting_for(std::string of_gang) const {
  // The book knows better what a run waits for.
  std::string of_pods = pods_.book().waiting_for(loop_.now());
  return of_pods.empty() ? std::move(of_gang) : std::move(of_pods);
}

}  // namespace gangrun::kubernetes::pods
