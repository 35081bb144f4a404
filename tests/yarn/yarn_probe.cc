// Speaks to a real YARN as a client and, started by it, as an ApplicationMaster; says what came of
// it as lines of name=value, for test_hadoop_wire.py.
//
//   yarn_probe client CONF_DIR RESULT   submits itself as a master that writes RESULT, and awaits
//   the end yarn_probe master CONF_DIR RESULT   is that master
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "hadoop/application_master.h"
#include "hadoop/configuration.h"
#include "hadoop/node_manager.h"
#include "hadoop/resource_manager.h"
#include "hadoop/rpc_round.h"

namespace {

using namespace gangrun;               // NOLINT: a program of its own
using namespace std::chrono_literals;  // NOLINT: likewise

constexpr base::Duration kLimit = 150s;  // less than the test waits
constexpr base::milliseconds kPause = 50ms;

base::Instant soon(base::Duration length = 20s) { return base::SystemClock().now() + length; }

class Report {
 public:
  void say(const std::string& name, const std::string& value) {
    text_ += base::format("{}={}\n", name, value);
  }
  template <typename T>
  bool good(const std::string& name, const base::Result<T>& result) {
    say(name, result.ok() ? "ok" : std::string(base::to_string(result.error().code)));
    if (!result.ok()) say(name + ".message", result.error().message);
    return result.ok();
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Asks again and again until the answer is yes, for kLimit at most.
bool await(const std::function<bool()>& answered) {
  const base::Instant limit = soon(kLimit);
  do {
    if (answered()) return true;
  } while (hadoop::pause_for(kPause, limit));
  return false;
}

std::string own_program() {
  std::string path(4096, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return path;
}

// The containers of one master, by the number that was asked with.
class Master {
 public:
  Master(hadoop::ApplicationMasterClient& client, Report& report)
      : client_(client), report_(report) {}

  bool allocate(const hadoop::AllocateRequest& request) {
    const auto response = client_.allocate(request, soon());
    if (!response.ok()) return report_.good("allocate", response);
    for (const hadoop::Container& container : response->allocated) {
      containers_[container.allocation_request_id] = container;
    }
    for (const hadoop::NodeToken& token : response->node_tokens) tokens_[token.node] = token.token;
    for (const hadoop::ContainerStatus& status : response->completed) ended_[status.id] = status;
    return true;
  }

  bool await_containers(std::size_t count) {
    return await([this, count] { return allocate({}) && containers_.size() == count; });
  }

  base::Result<> start(std::int64_t number, const std::string& command) {
    const hadoop::Container& container = containers_.at(number);
    hadoop::NodeManagerClient node(container.node, tokens_.at(container.node));
    hadoop::LaunchContext context{.command = {command}, .credentials = {}};
    context.environment["GREETING"] = "hello";
    context.credentials.secrets["secret"] = base::Secret("hunter2");
    GANGRUN_ASSIGN(
        const auto results,
        node.start_containers(
            {{.container_token = container.token, .context = context, .id = container.id}},
            soon()));
    return results.at(0);
  }

  bool runs(std::int64_t number) {
    const hadoop::Container& container = containers_.at(number);
    const auto statuses = hadoop::NodeManagerClient(container.node, tokens_.at(container.node))
                              .statuses({container.id}, soon());
    return statuses.ok() && statuses->size() == 1 &&
           statuses->front().state == hadoop::ContainerState::kRunning;
  }

  base::Result<> stop(std::int64_t number) {
    const hadoop::Container& container = containers_.at(number);
    return hadoop::NodeManagerClient(container.node, tokens_.at(container.node))
        .stop_container(container.id, soon());
  }

  // The exit status of a container, as soon as it is known.
  std::string exit_of(std::int64_t number) {
    const hadoop::ContainerId id = containers_.at(number).id;
    await([&] { return allocate({}) && ended_.contains(id); });
    return ended_.contains(id) ? std::to_string(ended_.at(id).exit_status) : "none";
  }

  [[nodiscard]] hadoop::ContainerId id(std::int64_t number) const {
    return containers_.at(number).id;
  }

 private:
  hadoop::ApplicationMasterClient& client_;
  Report& report_;
  std::map<std::int64_t, hadoop::Container> containers_;
  std::map<hadoop::NodeId, hadoop::Token> tokens_;
  std::map<hadoop::ContainerId, hadoop::ContainerStatus> ended_;
};

// Stays a master until the file that PROBE_HOLD names is there, so that keys roll and the
// ResourceManager is restarted meanwhile.
bool hold(hadoop::ApplicationMasterClient& client, Report& report) {
  const char* const file = ::getenv("PROBE_HOLD");
  if (file == nullptr) return true;
  int registered_again = 0;
  const bool held = await([&] {
    const auto response = client.allocate({}, soon());
    if (!response.ok() && response.error().code == base::Code::kFailedPrecondition) {
      registered_again += client.register_master("master.example", 4711, "", soon()).ok() ? 1 : 0;
    }
    const bool may_pass = response.ok() || response.error().code == base::Code::kUnavailable ||
                          response.error().code == base::Code::kFailedPrecondition;
    if (!may_pass) report.good("hold", response);
    return !may_pass || (response.ok() && ::access(file, F_OK) == 0);
  });
  report.say("registered_again", std::to_string(registered_again));
  return held;
}

void use_containers(Master& master, Report& report) {
  report.good("start.1", master.start(1, "test \"$GREETING\" = hello && exit 7"));
  report.good("start.2", master.start(2, "exec sleep 1000"));
  report.good("start.2.again", master.start(2, "exec sleep 1000"));
  const bool runs = await([&] { return master.runs(2); });
  report.say("status.2", runs ? "running" : "no");
  report.good("stop.2", master.stop(2));
  master.allocate({.releases = {master.id(3)}});
  for (const std::int64_t number : {1, 2, 3}) {
    report.say(base::format("exit.{}", number), master.exit_of(number));
  }
}

bool act_as_master(const hadoop::Configuration& configuration, Report& report) {
  const char* const file = ::getenv("HADOOP_TOKEN_FILE_LOCATION");
  const auto image = base::read_file(file == nullptr ? "" : file, hadoop::kMaxCredentialsBytes);
  if (!report.good("token_file", image)) return false;
  const auto credentials = hadoop::parse_credentials(*image);
  if (!report.good("credentials", credentials)) return false;
  report.say("secret", credentials->secrets.contains("secret")
                           ? credentials->secrets.at("secret").reveal()
                           : "none");
  const auto client = hadoop::ApplicationMasterClient::create(configuration, *credentials);
  if (!report.good("create", client)) return false;
  report.good("allocate.unregistered", (*client)->allocate({}, soon()));
  const auto registered = (*client)->register_master("master.example", 4711, "", soon());
  if (!report.good("register", registered)) return false;
  report.say("queue", registered->queue);
  report.good("register.again", (*client)->register_master("master.example", 4711, "", soon()));
  Master master(**client, report);
  hadoop::AllocateRequest asks;
  for (const std::int64_t number : {1, 2, 3}) {
    asks.asks.push_back({.priority = static_cast<std::int32_t>(number),
                         .capability = {.memory_mib = 64, .vcores = 1},
                         .containers = 1,
                         .allocation_request_id = number});
  }
  if (!hold(**client, report) || !master.allocate(asks) || !master.await_containers(3))
    return false;
  report.good("allocate.too_large",
              (*client)->allocate(
                  {.asks = {{.capability = {.memory_mib = 1 << 30, .vcores = 1}, .containers = 1}}},
                  soon()));
  use_containers(master, report);
  const bool finished = report.good(
      "finish", (*client)->finish(hadoop::FinalStatus::kSucceeded, "all is well", "", soon()));
  report.good("allocate.finished", (*client)->allocate({}, soon()));
  return finished;
}

void look_around(hadoop::ResourceManagerClient& client, Report& report) {
  if (const auto types = client.resource_types(soon()); report.good("resource_types", types)) {
    for (const hadoop::ResourceType& type : *types) report.say("type." + type.name, type.units);
  }
  if (const auto nodes = client.running_nodes(soon()); report.good("nodes", nodes)) {
    report.say("nodes.count", std::to_string(nodes->size()));
  }
  if (const auto root = client.queue("root", soon()); report.good("queue", root)) {
    for (const hadoop::QueueInfo& child : root->children)
      report.say("queue." + child.name, child.path);
  }
  report.good("queue.unknown", client.queue("nobody", soon()));
  report.good("own_queues", client.own_queues(soon()));
  report.good("node_labels", client.node_labels(soon()));
  report.good("report.unknown", client.report({.cluster_timestamp = 1, .id = 1}, soon()));
}

hadoop::Submission submission_of(const hadoop::ApplicationId& id, const std::string& folder,
                                 const std::string& result) {
  hadoop::Submission submission{.id = id,
                                .name = "probe",
                                .type = "PROBE",
                                .master = {.command = {base::format("exec {} master {} {} 2>&1",
                                                                    own_program(), folder, result)},
                                           .credentials = {}},
                                .master_resource = {.memory_mib = 128, .vcores = 1},
                                .max_attempts = 1};
  submission.tags = {"a-tag"};
  if (const char* file = ::getenv("PROBE_HOLD"); file != nullptr) {
    submission.master.environment["PROBE_HOLD"] = file;
  }
  submission.master.credentials.secrets["secret"] = base::Secret("hunter2");
  return submission;
}

bool act_as_client(const hadoop::Configuration& configuration, const std::string& folder,
                   const std::string& result, Report& report) {
  hadoop::ResourceManagerClient client(configuration, std::string("probe"));
  const auto fresh = client.new_application(soon());
  if (!report.good("new_application", fresh)) return false;
  look_around(client, report);
  hadoop::Submission submission = submission_of(fresh->id, folder, result);
  submission.master_resource.memory_mib = fresh->largest.memory_mib * 2;
  report.good("submit.too_large", client.submit(submission, soon()));
  submission.master_resource.memory_mib = 128;
  if (!report.good("submit", client.submit(submission, soon()))) return false;
  report.good("submit.again", client.submit(submission, soon()));
  std::string seen_host;
  hadoop::ApplicationReport last;
  const bool ended = await([&] {
    const auto told = client.report(fresh->id, soon());
    if (!told.ok()) return false;
    if (told->state == hadoop::ApplicationState::kRunning && !told->host.empty()) {
      seen_host = base::format("{}:{}", told->host, told->rpc_port);
    }
    last = *told;
    return hadoop::is_final(last.state);
  });
  report.say("ended", ended ? "yes" : "no");
  report.say("state", std::to_string(static_cast<int>(last.state)));
  report.say("final_status", std::to_string(static_cast<int>(last.final_status)));
  report.say("diagnostics", last.diagnostics.substr(0, last.diagnostics.find('\n')));
  report.say("user", last.user);
  report.say("tags", base::format("{}", base::join(last.tags, ",")));
  report.say("host", seen_host);
  hadoop::ResourceManagerClient::Filter filter;
  filter.types = {"PROBE"};
  if (const auto all = client.applications(filter, soon()); report.good("applications", all)) {
    const bool found =
        std::ranges::any_of(*all, [&](const auto& one) { return one.id == fresh->id; });
    report.say("applications.found", found ? "yes" : "no");
  }
  if (const auto killed = client.kill(fresh->id, "", soon()); report.good("kill", killed)) {
    report.say("killed", *killed ? "yes" : "no");
  }
  return ended;
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words, words + count);
  if (arguments.size() != 4) return 2;
  const auto configuration =
      hadoop::load_configuration(arguments[2], hadoop::variables_of_this_process());
  Report report;
  bool good = report.good("configuration", configuration);
  if (good && arguments[1] == "master") {
    good = act_as_master(*configuration, report);
    const auto written = base::write_file_atomically(arguments[3], report.text(), 0644);
    return good && written.ok() ? 0 : 1;
  }
  if (good) good = act_as_client(*configuration, arguments[2], arguments[3], report);
  std::fputs(report.text().c_str(), stdout);
  return good ? 0 : 1;
}
