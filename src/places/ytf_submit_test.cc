#include "yarn/commands/ytf_submit.h"

#include <gmock/gmock.h>

#include "jobfile/build.h"
#include "places/places.h"
#include "yarn/yarn_options.h"

namespace gangrun::places {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

yarn::commands::YtfOptions simple() {
  yarn::commands::YtfOptions options;
  options.run.flags.roles = {"ps:1,worker:4"};
  options.command = "python train.py --task_index ${DTF_TASK_INDEX}";
  return options;
}

// The job that comes of it, as `gangrun run` would read it.
job::JobSpec job_of(const yarn::commands::YtfOptions& options) {
  const auto run = yarn::commands::run_options_of(options, "/home/user1");
  EXPECT_TRUE(run.ok()) << run.error().message;
  const auto spec = jobfile::build(std::nullopt, run->flags, {"", &rules()});
  EXPECT_TRUE(spec.ok()) << spec.error().message;
  return spec.value_or(job::JobSpec{});
}

std::string error_of(const yarn::commands::YtfOptions& options) {
  const auto run = yarn::commands::run_options_of(options, "/home/user1");
  if (!run.ok()) return run.error().message;
  const auto spec = jobfile::build(std::nullopt, run->flags, {"", &rules()});
  return spec.ok() ? "" : spec.error().message;
}

TEST(YtfSubmit, HasTheDesignsDefaults) {
  const job::JobSpec job = job_of(simple());
  EXPECT_EQ(job.name, "TensorFlow");
  EXPECT_EQ(job.on, "yarn");
  EXPECT_EQ(yarn::yarn_of(job).queue, "default");
  EXPECT_EQ(job.command, (job::Command{{}, "python train.py --task_index ${DTF_TASK_INDEX}"}));
  EXPECT_EQ(job.find("worker")->instances, 4);
  EXPECT_EQ(job.find("worker")->resources, (job::Resources{8192, 1, 0}));
  EXPECT_EQ(job.find("ps")->policy, job::Policy::kService);
  EXPECT_EQ(job.restarts.max, 0);
  EXPECT_EQ(job.zookeeper, std::nullopt);
  EXPECT_THAT(
      job.environment,
      ElementsAre(std::pair("DTF_TASK_PROGRAM", "python train.py --task_index ${DTF_TASK_INDEX}")));
}

TEST(YtfSubmit, LeavesTheJobUnlessSomebodyStays) {
  yarn::commands::YtfOptions options = simple();
  EXPECT_TRUE(yarn::commands::run_options_of(options, "/")->detach);
  options.wait = true;
  EXPECT_FALSE(yarn::commands::run_options_of(options, "/")->detach);
  options.client = true;
  EXPECT_TRUE(yarn::commands::run_options_of(options, "/")->detach);
}

TEST(YtfSubmit, ResourcesHaveThreeForms) {
  yarn::commands::YtfOptions options = simple();
  options.vcores = {"2", "ps:3", "worker[1]:5"};
  options.memory = {"1000", "ps:2000,worker[0]:3000"};
  const job::JobSpec job = job_of(options);
  EXPECT_EQ(job.find("worker")->resources_of(0), (job::Resources{3000, 2, 0}));
  EXPECT_EQ(job.find("worker")->resources_of(1), (job::Resources{1000, 5, 0}));
  EXPECT_EQ(job.find("ps")->resources_of(0), (job::Resources{2000, 3, 0}));
}

TEST(YtfSubmit, HasTheDesignsWishes) {
  yarn::commands::YtfOptions options = simple();
  options.run.flags.fields["gpus"] = {"1", "worker[2]:2"};
  options.run.flags.fields["label"] = {"slow,worker:gpu"};
  options.run.flags.job_lists["files"] = {"package", "conf.json"};
  options.env = {"A=1", "ps:B=2"};
  options.run.flags.restarts = "3:gang";
  const job::JobSpec job = job_of(options);
  EXPECT_EQ(job.find("worker")->resources_of(0).gpus, 1);
  EXPECT_EQ(job.find("worker")->resources_of(2).gpus, 2);
  EXPECT_EQ(job.find("ps")->resources_of(0).gpus, 0);
  EXPECT_EQ(job.find("ps")->label, "slow");
  EXPECT_EQ(job.find("worker")->label, "gpu");
  EXPECT_THAT(job.files, ElementsAre("package", "conf.json"));
  EXPECT_EQ(job.environment.at("A"), "1");
  EXPECT_EQ(job.find("ps")->environment.at("B"), "2");
  EXPECT_EQ(job.restarts, (job::Restarts{3, job::RestartScope::kGang}));
}

TEST(YtfSubmit, PathsAndScriptAreVariables) {
  yarn::commands::YtfOptions options = simple();
  options.input = "hdfs://nn/in";
  options.output = "/home/user1/out";
  options.script = "src/mnist.py";
  const job::JobSpec on_yarn = job_of(options);
  EXPECT_EQ(on_yarn.environment.at("DTF_INPUT_PATH"), "hdfs://nn/in");
  EXPECT_EQ(on_yarn.environment.at("DTF_OUTPUT_PATH"), "/home/user1/out");
  EXPECT_EQ(on_yarn.environment.at("DTF_TASK_SCRIPT"), "mnist.py");
  EXPECT_THAT(on_yarn.files, ElementsAre("src/mnist.py"));
  options.on = "local";
  EXPECT_EQ(job_of(options).environment.at("DTF_TASK_SCRIPT"), "/home/user1/src/mnist.py");
}

TEST(YtfSubmit, TensorboardShowsTheOutput) {
  yarn::commands::YtfOptions options = simple();
  options.output = "hdfs://nn/out";
  EXPECT_EQ(job_of(options).find("tensorboard"), nullptr);
  options.tensorboard = true;
  EXPECT_EQ(job_of(options).find("tensorboard")->logdir, "hdfs://nn/out");
  options.expose_tensorboard = true;
  EXPECT_EQ(job_of(options).find("tensorboard")->expose, job::Expose::kHost);
  options.tensorboard = false;
  options.run.flags.roles = {"worker:1,tensorboard:1"};
  EXPECT_EQ(job_of(options).find("tensorboard")->policy, job::Policy::kSidecar);
}

TEST(YtfSubmit, AnImageSeesThePathsThatAreNotOnHdfs) {
  yarn::commands::YtfOptions options = simple();
  options.docker_image = "host:5000/tf:1";
  options.input = "/data";
  options.output = "hdfs://nn/out";
  EXPECT_EQ(job_of(options).image, "host:5000/tf:1");
  EXPECT_EQ(job_of(options).environment.at("DTF_DOCKER_IMAGE"), "host:5000/tf:1");
  EXPECT_THAT(job_of(options).mounts, ElementsAre(job::Mount{"/data", true}));
  options.output = "/data";
  options.mounts = {"/venv:ro"};
  EXPECT_THAT(job_of(options).mounts,
              ElementsAre(job::Mount{"/venv", true}, job::Mount{"/data", false}));
}

TEST(YtfSubmit, TheRegistryIsTheMastersOrZookeeperToo) {
  yarn::commands::YtfOptions options = simple();
  options.registry = "rest";
  EXPECT_EQ(job_of(options).zookeeper, std::nullopt);
  options.registry = "zookeeper";
  EXPECT_EQ(job_of(options).zookeeper, job::ZooKeeper{});
}

TEST(YtfSubmit, OneMachineIsNotAskedForTheSizesOfNodes) {
  yarn::commands::YtfOptions options = simple();
  options.on = "local";
  EXPECT_EQ(job_of(options).find("worker")->resources, (job::Resources{0, 1, 0}));
  EXPECT_EQ(yarn::yarn_of(job_of(options)), yarn::YarnOptions{});
}

struct Bad {
  const char* error;
  void (*change)(yarn::commands::YtfOptions&);
};

TEST(YtfSubmit, TellsWhatIsWrongByFlagAndValue) {
  const Bad rows[] = {
      {"the task command is empty", [](yarn::commands::YtfOptions& o) { o.command = " "; }},
      {"-r: the cluster requirement is empty",
       [](yarn::commands::YtfOptions& o) { o.run.flags.roles = {""}; }},
      {"-r: the cluster requirement is empty",
       [](yarn::commands::YtfOptions& o) { o.run.flags.roles = {}; }},
      {"-r: 'worker' does not say how many",
       [](yarn::commands::YtfOptions& o) { o.run.flags.roles = {"ps:1,worker"}; }},
      {"-r: 'ps:0': '0' is not",
       [](yarn::commands::YtfOptions& o) { o.run.flags.roles = {"ps:0"}; }},
      {"-r: 'ps:2': this type is given twice",
       [](yarn::commands::YtfOptions& o) { o.run.flags.roles = {"ps:1,worker:1,ps:2"}; }},
      {"-r: '1ps:1': '1ps' is not a task type",
       [](yarn::commands::YtfOptions& o) { o.run.flags.roles = {"1ps:1"}; }},
      {"-m: 'wroker:1024': unknown task type 'wroker'; did you mean 'worker'?",
       [](yarn::commands::YtfOptions& o) { o.memory = {"wroker:1024"}; }},
      {"-c: 'ps[1]:2': there is no ps:1",
       [](yarn::commands::YtfOptions& o) { o.vcores = {"ps[1]:2"}; }},
      {"-t: TensorBoard shows the output path; name it with -o",
       [](yarn::commands::YtfOptions& o) { o.tensorboard = true; }},
      {"-t: TensorBoard shows the output path; name it with -o",
       [](yarn::commands::YtfOptions& o) { o.run.flags.roles = {"worker:1,tensorboard:1"}; }},
      {"--expose_tensorboard: there is no TensorBoard",
       [](yarn::commands::YtfOptions& o) { o.expose_tensorboard = true; }},
      {"--docker_image: 'My Image' is not the name of an image; allowed: ",
       [](yarn::commands::YtfOptions& o) { o.docker_image = "My Image"; }},
      {"--docker_image: the image has no name",
       [](yarn::commands::YtfOptions& o) { o.docker_image = ""; }},
      {"-i: 'data' is not an absolute path, which a container needs",
       [](yarn::commands::YtfOptions& o) {
         o.docker_image = "image";
         o.input = "data";
       }},
      {"--mount: there is no container", [](yarn::commands::YtfOptions& o) { o.mounts = {"/x"}; }},
      {"--registry: 'zk' is not a registry",
       [](yarn::commands::YtfOptions& o) { o.registry = "zk"; }},
      {"--client_ends_job: there is no client task",
       [](yarn::commands::YtfOptions& o) { o.client_ends_job = true; }},
      {"-r: 'client:1': with --client the job client is the task on this terminal",
       [](yarn::commands::YtfOptions& o) {
         o.client = true;
         o.run.flags.roles = {"worker:1,client:1"};
       }},
      {"--json: with --client",
       [](yarn::commands::YtfOptions& o) {
         o.client = true;
         o.run.display.json = true;
       }},
  };
  for (const Bad& row : rows) {
    yarn::commands::YtfOptions options = simple();
    row.change(options);
    EXPECT_THAT(error_of(options), StartsWith(row.error));
  }
}

}  // namespace
}  // namespace gangrun::places
