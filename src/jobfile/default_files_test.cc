#include "jobfile/default_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobfile/place_rules.h"
#include "jobfile/section.h"
#include "jobfile/spec_yaml.h"

namespace gangrun::jobfile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Pair;

struct FarOptions {
  std::string queue;
  std::string keys;
  std::vector<std::string> tags;

  static constexpr std::string_view kKey = "far";
  static const Section& section();

  friend bool operator==(const FarOptions&, const FarOptions&) = default;
};

constexpr FieldRow<job::JobSpec> kFarFields[] = {
    section_field<&FarOptions::queue>({.key = "queue", .about = "Queue", .allowed = "a queue"}),
    section_field<&FarOptions::keys>(
        {.key = "keys", .about = "Keys", .allowed = "a file", .is_path = true}),
    section_field<&FarOptions::tags>({.key = "tags", .about = "Tags", .allowed = "tags, a tag"}),
};

const Section& FarOptions::section() {
  static const Section kSection{.key = kKey,
                                .about = "Settings for far",
                                .fields = kFarFields,
                                .make = job::make_options<FarOptions>};
  return kSection;
}

const FarOptions& far_of(const job::JobSpec& job) { return job.sections.get<FarOptions>(); }

Found check_far(const job::JobSpec& job) {
  if (job.stop_signal != job::StopSignal::kHup) return std::nullopt;
  return Problem{"stop_signal", "is not sent that far"};
}
Found check_far_options(const job::JobSpec& job) {
  if (far_of(job).queue != "shut") return std::nullopt;
  return Problem{"far.queue", "is shut"};
}

// As this machine, which has no images; and another place.
RulesOfPlaces places() {
  PlaceRules near{.name = "local",
                  .features = {Feature::kRestarts, Feature::kFiles, Feature::kHosts},
                  .without_use = {Feature::kKeptFolders}};
  PlaceRules far{.name = "far",
                 .features = {Feature::kRestarts, Feature::kImages},
                 .section = &FarOptions::section(),
                 .gives_zookeeper_hosts = true,
                 .check_options = check_far_options,
                 .check = check_far};
  return RulesOfPlaces({near, far, {.name = "bare"}});
}

struct Built {
  base::Result<job::JobSpec> spec;
  Sources sources;
  std::vector<std::string> without_use;
};

Built build_of(const std::vector<std::string>& defaults, const std::string& job_file,
               const Flags& flags = {}) {
  static const RulesOfPlaces kPlaces = places();
  std::vector<DefaultFile> files;
  for (const std::string& text : defaults) {
    files.push_back({files.empty() ? "/etc/gangrun.yaml" : "/home/gangrun.yaml", text});
  }
  const OverDefaults read = [&](JobDraft over) -> base::Result<JobDraft> {
    if (job_file.empty()) return over;
    return parse_spec(job_file, "job.yaml", kPlaces.sections(), std::move(over));
  };
  Built built{base::internal("not built"), {}, {}};
  built.spec = build_over(files, read, flags,
                          {.spec_path = "job.yaml",
                           .places = &kPlaces,
                           .without_use = &built.without_use,
                           .sources = &built.sources});
  return built;
}

job::JobSpec spec_of(const std::vector<std::string>& defaults, const std::string& job_file,
                     const Flags& flags = {}) {
  auto built = build_of(defaults, job_file, flags);
  EXPECT_TRUE(built.spec.ok()) << built.spec.error().message;
  return built.spec.ok() ? *built.spec : job::JobSpec();
}

std::string error_of(const std::string& defaults, const std::string& job_file = "",
                     const Flags& flags = {}) {
  const auto built = build_of({defaults}, job_file, flags);
  EXPECT_FALSE(built.spec.ok()) << defaults;
  return built.spec.ok() ? "" : built.spec.error().message;
}

constexpr const char* kJob = "{tasks: {worker: 2}, command: 'true'}";
constexpr const char* kFarJob = "{on: far, tasks: {worker: 2}, command: 'true'}";

TEST(DefaultFiles, LaterFilesWinAndTheJobFileAndFlagsWinOverThem) {
  const std::string machine = "timeouts: {job: 1h, stop: 2s, hold: 3s}\nlog_limit: 1 GiB\n";
  const std::string user = "timeouts:\n  stop: 4s\n  hold: 5s\n";
  const std::string job = "{timeouts: {hold: 6s}, tasks: {worker: 2}, command: 'true'}";
  Flags flags;
  flags.job_fields["log_limit"] = "2 GiB";
  const auto spec = spec_of({machine, user}, job, flags);
  EXPECT_EQ(spec.timeouts.job, std::chrono::hours(1));
  EXPECT_EQ(spec.timeouts.stop, std::chrono::seconds(4));
  EXPECT_EQ(spec.timeouts.hold, std::chrono::seconds(6));
  EXPECT_EQ(spec.log_limit_mib, 2048);
  EXPECT_EQ(spec_of({machine, user}, kJob).log_limit_mib, 1024);
}

TEST(DefaultFiles, MapsAreMergedAndListsReplaced) {
  const std::string machine =
      "env: {A: m, B: m}\nmounts: [/m]\nfar: {queue: q, tags: [a, b]}\nframework: pytorch\n";
  const auto spec =
      spec_of({machine, "env: {B: u, C: u}"},
              "{on: far, env: {C: j}, mounts: [/j], far: {tags: [c]}, tasks: {worker: 2}, "
              "command: 'true'}");
  EXPECT_THAT(spec.environment, ElementsAre(Pair("A", "m"), Pair("B", "u"), Pair("C", "j")));
  EXPECT_THAT(spec.mounts, testing::SizeIs(1));
  EXPECT_EQ(far_of(spec).queue, "q");
  EXPECT_THAT(far_of(spec).tags, ElementsAre("c"));
}

// A number for `restarts` leaves the pauses of a default as they are.
TEST(DefaultFiles, ANumberOfRestartsIsTheNumberOnly) {
  const std::string defaults = "restarts: {max: 5, scope: gang, pause: 3s, max_pause: 9s}";
  const auto spec = spec_of({defaults}, "{restarts: 1, tasks: {worker: 2}, command: 'true'}");
  EXPECT_EQ(spec.restarts.max, 1);
  EXPECT_EQ(spec.restarts.scope, job::RestartScope::kGang);
  EXPECT_EQ(spec.restarts.max_pause, std::chrono::seconds(9));
  // A longer pause of the job lengthens the longest one of the defaults.
  const auto longer =
      spec_of({defaults}, "{restarts: {pause: 20s}, tasks: {worker: 2}, command: 'true'}");
  EXPECT_EQ(longer.restarts.max_pause, std::chrono::seconds(20));
}

TEST(DefaultFiles, ADefaultMayChooseThePlaceAndEverythingElseWinsOverIt) {
  Flags flags;
  flags.command = {"true"};
  EXPECT_EQ(spec_of({"on: far"}, "", flags).on, "far");
  EXPECT_EQ(spec_of({"on: far"}, kJob).on, "far");
  EXPECT_EQ(spec_of({"on: far"}, "{on: local, tasks: {worker: 2}, command: 'true'}").on, "local");
  flags.job_fields["on"] = "local";
  EXPECT_EQ(spec_of({"on: far"}, kFarJob, flags).on, "local");
  EXPECT_THAT(error_of("on: fra", kJob), HasSubstr("/etc/gangrun.yaml:1:5: on: 'fra'"));
}

// The hosts of a job file that names no place are not taken from it when a flag wins over a
// default.
TEST(DefaultFiles, ThePlaceOfJobsThatNameNoneIsKnownBeforeAJob) {
  const auto place_of = [](const std::string& machine, const std::string& user) {
    return default_place({{"/etc/gangrun.yaml", machine}, {"/home/gangrun.yaml", user}}, places());
  };
  EXPECT_EQ(*place_of("", ""), "local");
  EXPECT_EQ(*place_of("on: far\n", "env: {A: b}\n"), "far");
  EXPECT_EQ(*place_of("on: far\n", "far: {queue: a}\non: bare\n"), "bare");
  EXPECT_THAT(place_of("on: far\n", "\non: fra\n").error().message,
              HasSubstr("/home/gangrun.yaml:2:5: on: 'fra' "));
  EXPECT_THAT(place_of("onn: far\n", "").error().message, HasSubstr("/etc/gangrun.yaml:1:1: "));
}

TEST(DefaultFiles, AJobFileIsNotForThePlaceOfADefault) {
  Flags flags;
  flags.job_fields["on"] = "local";
  const auto spec =
      spec_of({"on: far"}, "{hosts: [a], tasks: {worker: 1}, command: 'true'}", flags);
  EXPECT_THAT(spec.hosts, testing::SizeIs(1));
}

TEST(DefaultFiles, ASectionCountsOnlyWhereTheJobRuns) {
  const auto near = build_of({"far: {queue: q}"}, kJob);
  ASSERT_TRUE(near.spec.ok()) << near.spec.error().message;
  EXPECT_EQ(near.spec->on, "local");
  EXPECT_EQ(far_of(*near.spec), FarOptions());
  EXPECT_THAT(near.without_use, testing::IsEmpty());
  EXPECT_THAT(near.sources.left_out, ElementsAre(Pair("far", "/etc/gangrun.yaml:1:6: ")));
  EXPECT_EQ(far_of(spec_of({"far: {queue: q}"}, kFarJob)).queue, "q");
  // An error in it does not wait for the first job there.
  EXPECT_THAT(error_of("far: {queu: q}", kJob), HasSubstr("/etc/gangrun.yaml:1:7: far: 'queu'"));
}

TEST(DefaultFiles, WhatAPlaceDoesNotTakeIsLeftOut) {
  const auto built = build_of({"image: a\nkeep_folders: true\nstop_signal: HUP\n"}, kJob);
  ASSERT_TRUE(built.spec.ok()) << built.spec.error().message;
  EXPECT_EQ(built.spec->image, "");
  EXPECT_FALSE(built.spec->keep_folders);
  EXPECT_EQ(built.spec->stop_signal, job::StopSignal::kHup);
  EXPECT_THAT(built.without_use, testing::IsEmpty());
  EXPECT_THAT(built.sources.left_out, ElementsAre(Key("image"), Key("keep_folders")));
  EXPECT_EQ(spec_of({"stop_signal: HUP"}, kFarJob).stop_signal, job::StopSignal::kTerm);
  EXPECT_EQ(spec_of({"image: a"}, kFarJob).image, "a");
  EXPECT_EQ(spec_of({"restarts: 3"}, "{on: bare, tasks: {w: 1}, command: 'true'}").restarts.max, 0);
  EXPECT_FALSE(spec_of({"zookeeper: {root: /r}"}, kJob).zookeeper);
  EXPECT_TRUE(spec_of({"zookeeper: {root: /r}"}, kFarJob).zookeeper);
  EXPECT_TRUE(spec_of({"zookeeper: {hosts: [z]}"}, kJob).zookeeper);
  // The user's own word stays one.
  Flags flags;
  flags.job_fields["image"] = "b";
  EXPECT_THAT(error_of("image: a", kJob, flags), HasSubstr("--image: 'b' is not allowed"));
  const auto own =
      build_of({"keep_folders: true"}, "{keep_folders: true, tasks: {w: 1}, command: 'true'}");
  EXPECT_THAT(own.without_use, ElementsAre("keep_folders"));
}

TEST(DefaultFiles, WhatIsWrongEverywhereIsAnError) {
  EXPECT_THAT(error_of("far: {queue: shut}", kFarJob),
              HasSubstr("/etc/gangrun.yaml:1:14: far.queue: is shut"));
  EXPECT_THAT(error_of("log_limit: 1 GBB", kJob),
              HasSubstr("/etc/gangrun.yaml:1:12: log_limit: '1 GBB'"));
  EXPECT_THAT(error_of("timeouts: [1]", kJob),
              HasSubstr("/etc/gangrun.yaml:1:11: timeouts: a list is not allowed; allowed: a map"));
  EXPECT_THAT(error_of("- a", kJob), HasSubstr("/etc/gangrun.yaml:1:1: a list is not allowed"));
  EXPECT_THAT(error_of("a: b: c", kJob), HasSubstr("/etc/gangrun.yaml:1:5: not YAML"));
  EXPECT_THAT(error_of("far: {keys: own.keys}", kFarJob),
              HasSubstr("far.keys: 'own.keys' is not allowed in a file of defaults, which counts "
                        "in all folders; allowed: an absolute path"));
  EXPECT_THAT(error_of("zookeeper: {hosts: [a], ca: own.pem}", kFarJob),
              HasSubstr("zookeeper.ca: 'own.pem' is not allowed"));
}

TEST(DefaultFiles, KeysThatEachJobHasItselfAreRefusedByName) {
  for (const char* key : {"name", "tasks", "command", "files", "archives", "outputs"}) {
    EXPECT_THAT(error_of(std::string(key) + ": x", kJob),
                HasSubstr(std::string("/etc/gangrun.yaml:1:1: '") + key +
                          "' is not allowed in a file of defaults: each job has its own; "
                          "allowed: env, framework"));
  }
  EXPECT_THAT(error_of("hosts: [a]", kJob), HasSubstr("the tasks of one job"));
  EXPECT_THAT(error_of("sucess: all", kJob), HasSubstr("'sucess' is not a known key"));
  EXPECT_THAT(default_keys(places()), testing::Contains("far"));
  EXPECT_THAT(default_keys(places()), testing::Not(testing::Contains("tasks")));
}

TEST(DefaultFiles, AnEmptyFileSaysNothing) {
  for (const char* text : {"", "\n# nothing\n", "---\n", "{}", "\xef\xbb\xbf", "env:\n"}) {
    EXPECT_EQ(spec_of({text}, kJob), spec_of({}, kJob)) << text;
  }
  EXPECT_EQ(spec_of({"\xef\xbb\xbfon: far\n"}, kJob).on, "far");
  EXPECT_THAT(error_of(std::string("\xff\xfe"
                                   "o\0n\0",
                                   6),
                       kJob),
              HasSubstr("/etc/gangrun.yaml:1:"));
}

TEST(DefaultFiles, SourcesSayWhatWon) {
  Flags flags;
  flags.restarts = "3";
  flags.job_fields["log_limit"] = "2 GiB";
  const auto built = build_of({"log_limit: 1 GiB\nenv: {A: m}\nrestarts: {pause: 2s}\n"},
                              "{tasks: {worker: 2}, command: 'true', restarts: 1}", flags);
  ASSERT_TRUE(built.spec.ok()) << built.spec.error().message;
  const auto& origins = built.sources.origins;
  EXPECT_EQ(origins.at("log_limit"), "--log-limit: ");
  EXPECT_EQ(origins.at("env.A"), "/etc/gangrun.yaml:2:7: ");
  EXPECT_EQ(origins.at("restarts.max"), "--restarts: ");
  EXPECT_EQ(origins.at("restarts.pause"), "/etc/gangrun.yaml:3:19: ");
  EXPECT_EQ(origins.at("tasks.worker.instances"), "job.yaml:1:18: ");
  EXPECT_EQ(built.sources.defaults.at("log_limit"), "/etc/gangrun.yaml:1:12: ");
}

}  // namespace
}  // namespace gangrun::jobfile
