#include "yarn/node/container_trial.h"

#include <unistd.h>

#include <cstdio>
#include <vector>

#include "base/clock.h"
#include "base/format.h"
#include "base/log.h"
#include "base/variable.h"
#include "hadoop/token_source.h"
#include "hadoop/web_hdfs.h"
#include "job/described.h"
#include "net/hosts.h"
#include "process/engine.h"
#include "yarn/cluster_checks.h"
#include "yarn/node/container.h"
#include "yarn/node_trial.h"
#include "yarn/tensorflow_trial.h"

namespace gangrun::yarn::node {

namespace {

using cluster::Check;

constexpr const char* kAnyPython = "python3";
constexpr const char* kFile = "from-node.txt";

void tell(const Check& check) {
  const std::string line =
      base::format("{}{}", yarn::kTrialLine, base::dump_json(base::to_json(check)));
  std::puts(line.c_str());
}

std::vector<Check> try_tensorflow(const yarn::NodeTrial& trial, const std::string& where,
                                  const base::Clock& clock) {
  const bool is_there = ::access(trial.python.c_str(), X_OK) == 0;
  if (!is_there && trial.python_is_named) {
    return {yarn::tensorflow_not_checked(where, "the node has no " + trial.python)};
  }
  const std::string python = is_there ? trial.python : kAnyPython;
  const auto urls = yarn::tensorflow_urls(trial.places, "tensorflow-from-node.txt");
  const auto answer = process::ask(yarn::tensorflow_trial_argv(python, urls),
                                   clock.now() + yarn::kTensorflowTimeout);
  if (!answer.ok()) return {yarn::tensorflow_not_checked(where, answer.error().message)};
  const std::string missing =
      yarn::missing_for_libhdfs({{"JAVA_HOME", base::variable("JAVA_HOME")},
                                 {"HADOOP_HDFS_HOME", base::variable("HADOOP_HDFS_HOME")},
                                 {"CLASSPATH", base::variable("CLASSPATH")},
                                 {"LD_LIBRARY_PATH", base::variable("LD_LIBRARY_PATH")}});
  return yarn::tensorflow_checks(urls, {where, python, answer->status, answer->output}, missing);
}

// As the job's tasks come there: by a token, where the cluster gives some.
hadoop::WebHdfsOptions access_to(const yarn::TrialPlace& place, const std::string& user) {
  hadoop::WebHdfsOptions access{.user = user};
  if (place.token_service.empty()) return access;
  const auto credentials = container_credentials();
  if (credentials.ok()) {
    access.delegation = hadoop::web_hdfs_token(*credentials, place.token_service);
  }
  return access;
}

}  // namespace

int run_container_trial(const std::string& text) {
  const base::SystemClock clock;
  net::use_static_name_service();
  const auto json = base::parse_json(text, yarn::kMaxNodeTrialBytes);
  const auto trial = json.ok() ? base::from_json<yarn::NodeTrial>(*json)
                               : base::Result<yarn::NodeTrial>(json.error());
  if (!trial.ok()) {
    base::stderr_logger("gangrun-agent try", base::LogLevel::kInfo)
        ->error("{}", trial.error().message);
    return 2;
  }
  std::string node = base::variable("NM_HOST");
  if (node.empty()) node = "the node";
  const std::string where = " from " + node;
  for (const auto& place : trial->places) {
    tell(yarn::try_file(place, access_to(place, trial->user), kFile, where, clock));
  }
  if (!trial->python.empty()) {
    for (const Check& check : try_tensorflow(*trial, where, clock)) tell(check);
  }
  std::puts(std::string(yarn::kTrialEnd).c_str());
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace gangrun::yarn::node
