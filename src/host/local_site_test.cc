#include "host/local_site.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "base/files.h"
#include "journal/segments.h"
#include "journal/writer.h"

namespace gangrun::host {
namespace {

using testing::HasSubstr;

job::JobSpec hello_job() {
  job::JobSpec spec;
  spec.name = "hello";
  spec.tasks.resize(1);
  spec.tasks[0].type = "worker";
  spec.tasks[0].instances = 2;
  spec.command.words = {"true"};
  spec.success = "all";
  return spec;
}

using Revive = std::function<base::Result<>(const JobPaths& paths, base::Instant deadline)>;

base::Result<job::JobStatus> status_of(LocalSite& site, std::string_view name) {
  GANGRUN_ASSIGN(const auto job, site.find(name));
  return job->status();
}

class LocalSiteTest : public testing::Test {
 protected:
  LocalSiteTest() {
    std::string name = testing::TempDir() + "local_site_XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) home_ = name;
    folder_ = *JobFolder::create(home_, hello_job(), clock_.wall_now());
  }
  ~LocalSiteTest() override { std::filesystem::remove_all(home_); }

  // The journal of a master that saw the job in this state.
  void write_journal(job::JobState state, bool verdict) {
    auto writer = journal::Writer::create(
        folder_->paths().journal(), {folder_->id(), 1, clock_.wall_now(), clock_.now(), false});
    ASSERT_TRUE(writer.ok()) << writer.error().message;
    job::JobStatus status = *stored_status(folder_->paths());
    status.state = state;
    for (auto& task : status.tasks) task.state = job::TaskState::kRunning;
    const journal::Record record = verdict ? journal::Record(journal::VerdictRecord{status})
                                           : journal::Record(journal::StatusRecord{status});
    ASSERT_TRUE((*writer)->append(record).ok());
  }

  // No job here is detached.
  const Revive never_ = [](const JobPaths&, base::Instant) -> base::Result<> {
    ADD_FAILURE() << "somebody was to be revived";
    return base::internal("not expected");
  };
  const std::function<bool(const job::JobSpec&)> beside_us_ = [](const auto&) { return true; };
  base::SystemClock clock_;
  std::string home_;
  std::optional<JobFolder> folder_;
};

TEST_F(LocalSiteTest, AJobBeforeItsFirstStatusIsKnownByItsSpec) {
  LocalSite site(home_, {clock_, never_, beside_us_});
  const auto status = status_of(site, "last");
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->id, folder_->id());
  EXPECT_EQ(status->state, job::JobState::kAllocating);
  ASSERT_EQ(status->tasks.size(), 2U);
  EXPECT_EQ(status->tasks[1].log_path, folder_->paths().logs() + "/worker-1");
}

TEST_F(LocalSiteTest, AJobWithoutVerdictWhoseMasterIsGoneIsLost) {
  write_journal(job::JobState::kRunning, false);
  const std::string id = folder_->id();
  folder_.reset();
  LocalSite site(home_, {clock_, never_, beside_us_});
  const auto status = status_of(site, id.substr(0, id.size() - 1));
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->state, job::JobState::kLost);
  ASSERT_TRUE(status->cause);
  EXPECT_EQ(to_words(*status->cause), "its master was killed");
  EXPECT_EQ(status->tasks[0].state, job::TaskState::kLost);
  const auto stopped = (*site.find(id))->stop(false, "a test");
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, base::Code::kFailedPrecondition);
}

class LaterClock final : public base::Clock {
 public:
  [[nodiscard]] base::Instant now() const override { return base::SystemClock().now(); }
  [[nodiscard]] base::WallTime wall_now() const override {
    return base::SystemClock().wall_now() + std::chrono::hours(2);
  }
};

// It was said to have lived 18 ms, though its tasks had written for an hour.
TEST_F(LocalSiteTest, AJobWithoutAMasterHasLivedAsLongAsItHasWritten) {
  write_journal(job::JobState::kRunning, false);
  const std::string log = folder_->paths().logs() + "/worker-0.out";
  folder_.reset();
  ASSERT_TRUE(base::write_private_file(log, "epoch 2\n").ok());
  const LaterClock later;
  LocalSite site(home_, {later, never_, beside_us_});
  const auto before = status_of(site, "last");
  ASSERT_TRUE(before.ok()) << before.error().message;
  const auto submitted = base::parse_iso8601(before->submitted);
  ASSERT_TRUE(submitted.ok());
  const auto set_time = [](const std::string& path, std::time_t seconds) {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), static_cast<const timespec*>(times), 0), 0);
  };
  const std::time_t begun = std::chrono::system_clock::to_time_t(*submitted);
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(log).parent_path().parent_path() / "journal")) {
    set_time(entry.path().string(), begun);
  }
  set_time(log, begun + 3600);
  const auto status = status_of(site, "last");
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->state, job::JobState::kLost);
  EXPECT_NEAR(static_cast<double>(status->elapsed_ms), 3'600'000, 1'000);
}

// It was told as lost; and one whose tasks were to be elsewhere was started by whoever asked for
// it.
TEST_F(LocalSiteTest, AJobWhoseSubmissionWasKilledWasNeverStarted) {
  const JobPaths paths = folder_->paths();
  folder_.reset();
  ASSERT_TRUE(base::write_private_file(paths.launch(), "{}").ok());
  for (const bool is_beside_us : {true, false}) {
    LocalSite site(home_, {clock_, never_, [=](const auto&) { return is_beside_us; }});
    const auto status = status_of(site, "last");
    ASSERT_TRUE(status.ok()) << status.error().message;
    EXPECT_EQ(status->state, job::JobState::kFailed);
    ASSERT_TRUE(status->cause);
    EXPECT_EQ(to_words(*status->cause),
              "the job was never started: the command that submitted it was killed before");
    EXPECT_EQ(status->cause->why.reason, job::Reason::kCouldNotStart);
    EXPECT_EQ(status->tasks[0].state, job::TaskState::kStopped);
  }
  EXPECT_NE(::access(paths.launch().c_str(), F_OK), 0);
}

// A clock on which limits are over at once, and waits in real time take none.
class HastyClock final : public base::Clock {
 public:
  [[nodiscard]] base::Instant now() const override { return at_ += base::seconds(1); }
  [[nodiscard]] base::WallTime wall_now() const override { return base::SystemClock().wall_now(); }

 private:
  mutable base::Instant at_ = base::SystemClock().now() - base::seconds(3600);
};

// It was told as lost, or as one that had ended, though its tasks ran.
TEST_F(LocalSiteTest, AJobWhoseSupervisorIsStoppedMayBeAlive) {
  write_journal(job::JobState::kRunning, false);
  const JobPaths paths = folder_->paths();
  folder_.reset();
  ASSERT_TRUE(base::write_private_file(paths.launch(), "{}").ok());
  const auto supervisor = lock_as_supervisor(paths);
  ASSERT_TRUE(supervisor.ok());
  const HastyClock hasty;
  LocalSite site(home_, {hasty, never_, beside_us_});
  const auto status = status_of(site, "last");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, base::Code::kUnavailable);
  EXPECT_NE(status.error().message.find("starts no master within 5.0 s"), std::string::npos)
      << status.error().message;
  EXPECT_EQ((*site.find("last"))->stop(false, "a test").error().code, base::Code::kUnavailable);
  const auto jobs = site.list();
  ASSERT_TRUE(jobs.ok());
  ASSERT_EQ(jobs->size(), 1U);
  EXPECT_EQ(jobs->front().status.state, job::JobState::kRunning);
  ASSERT_EQ(jobs->front().status.notes.size(), 1U);
  EXPECT_THAT(jobs->front().status.notes[0],
              testing::StartsWith(status.error().message + "; as of 20"));
  EXPECT_THAT(jobs->front().silence, testing::StartsWith("its master does not answer; as of 20"));
}

// Each of many masters that had stopped made `ps` wait for 5 s.
TEST_F(LocalSiteTest, OnlyTheFirstThatDoesNotAnswerIsWaitedForLong) {
  std::vector<base::UniqueFd> locks;
  for (int i = 0; i < 3; ++i) {
    if (i > 0) folder_ = *JobFolder::create(home_, hello_job(), clock_.wall_now());
    write_journal(job::JobState::kRunning, false);
    const JobPaths paths = folder_->paths();
    folder_.reset();
    ASSERT_TRUE(base::write_private_file(paths.launch(), "{}").ok());
    auto supervisor = lock_as_supervisor(paths);
    ASSERT_TRUE(supervisor.ok());
    locks.push_back(*std::move(supervisor));
  }
  const HastyClock hasty;
  LocalSite site(home_, {hasty, never_, beside_us_});
  const auto listed = site.list();
  ASSERT_TRUE(listed.ok());
  std::vector<std::string> notes;
  for (const cluster::ListedJob& job : *listed) notes.push_back(job.status.notes.at(0));
  EXPECT_THAT(notes, testing::ElementsAre(HasSubstr("within 5.0 s"), HasSubstr("within 500 ms"),
                                          HasSubstr("within 500 ms")));
}

// It was told as one that was never started, or as lost.
TEST_F(LocalSiteTest, AJobThatHasRunAndHasNoJournalIsUnreadable) {
  const JobPaths paths = folder_->paths();
  folder_.reset();
  std::filesystem::create_directories(paths.logs());
  ASSERT_TRUE(base::write_private_file(paths.logs() + "/worker-0.out", "epoch 1\n").ok());
  LocalSite site(home_, {clock_, never_, beside_us_});
  for (const bool is_there : {false, true}) {
    std::filesystem::remove_all(paths.journal());
    if (is_there) {
      std::filesystem::create_directories(paths.journal());
      ASSERT_TRUE(base::write_private_file(paths.journal() + "/000001.jsonl", "").ok());
    }
    const auto status = status_of(site, "last");
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, base::Code::kDataLoss);
    EXPECT_THAT(status.error().message, HasSubstr("gone or empty"));
    const auto listed = site.list();
    ASSERT_TRUE(listed.ok());
    EXPECT_THAT(listed->at(0).unreadable, HasSubstr("gone or empty"));
  }
}

// It was told as lost, while its tasks lived on hosts that ssh reaches.
TEST_F(LocalSiteTest, ADetachedJobWhoseTasksAreElsewhereGetsAnotherMaster) {
  write_journal(job::JobState::kRunning, false);
  const JobPaths paths = folder_->paths();
  folder_.reset();
  ASSERT_TRUE(base::write_private_file(paths.launch(), "{}").ok());
  int revived = 0;
  const Revive revive = [&](const JobPaths& of, base::Instant) -> base::Result<> {
    EXPECT_EQ(of.folder, paths.folder);
    ++revived;
    return base::unavailable("it cannot be started");
  };
  LocalSite site(home_, {clock_, revive, [](const auto&) { return false; }});
  EXPECT_TRUE(status_of(site, "last").ok());
  EXPECT_EQ(revived, 1);
  EXPECT_EQ(::access(paths.launch().c_str(), F_OK), 0) << "the next command tries again";
  // Without tasks here, one whose tasks are beside its master is over.
  LocalSite beside(home_, {clock_, never_, beside_us_});
  EXPECT_EQ(status_of(beside, "last")->state, job::JobState::kLost);
  EXPECT_NE(::access(paths.launch().c_str(), F_OK), 0);
}

// The socket of a killed client stayed, where its tasks were on hosts that ssh reaches.
TEST_F(LocalSiteTest, WhatAKilledClientHasLeftGoesWithTheNextCommand) {
  write_journal(job::JobState::kRunning, false);
  const JobPaths paths = folder_->paths();
  folder_.reset();
  ASSERT_TRUE(base::write_private_file(paths.socket(), "").ok());
  LocalSite site(home_, {clock_, never_, [](const auto&) { return false; }});
  EXPECT_EQ(status_of(site, "last")->state, job::JobState::kLost);
  EXPECT_NE(::access(paths.socket().c_str(), F_OK), 0);
}

// The next master reads them; they go when there will be none.
TEST_F(LocalSiteTest, KeysGoWhenTheirJobHasEndedAndNotBefore) {
  write_journal(job::JobState::kSucceeded, true);
  const JobPaths paths = folder_->paths();
  std::filesystem::create_directories(paths.keys());
  LocalSite site(home_, {clock_, never_, beside_us_});
  EXPECT_TRUE(site.list().ok());
  EXPECT_TRUE(std::filesystem::exists(paths.keys())) << "it has a master";
  folder_.reset();
  auto supervisor = lock_as_supervisor(paths);
  ASSERT_TRUE(supervisor.ok());
  EXPECT_EQ(status_of(site, "last")->state, job::JobState::kSucceeded);
  EXPECT_TRUE(std::filesystem::exists(paths.keys())) << "somebody starts another one";
  supervisor->reset();
  EXPECT_EQ(status_of(site, "last")->state, job::JobState::kSucceeded);
  EXPECT_FALSE(std::filesystem::exists(paths.keys()));
}

// The first `status` after a job's supervisor and master were killed told what had been so when the
// job began.
TEST_F(LocalSiteTest, AMasterThatTakesOverIsWaitedForAndAnOldStatusIsCalledOne) {
  const JobPaths paths = folder_->paths();
  LocalJob asked(paths, {clock_, never_, beside_us_});
  EXPECT_EQ(asked.status_within(std::chrono::seconds(60))->state, job::JobState::kAllocating);
  write_journal(job::JobState::kRunning, false);
  const auto status = asked.status_within(std::chrono::milliseconds(50));
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(status->state, job::JobState::kRunning);
  EXPECT_THAT(status->notes,
              testing::ElementsAre(HasSubstr("its master has not answered within 50 ms")));
}

TEST_F(LocalSiteTest, AVerdictStands) {
  write_journal(job::JobState::kSucceeded, true);
  folder_.reset();
  LocalSite site(home_, {clock_, never_, beside_us_});
  EXPECT_EQ(status_of(site, "last")->state, job::JobState::kSucceeded);
  const auto jobs = site.list();
  ASSERT_TRUE(jobs.ok());
  ASSERT_EQ(jobs->size(), 1U);
  EXPECT_EQ(jobs->front().status.state, job::JobState::kSucceeded);
}

TEST_F(LocalSiteTest, ADamagedFolderDoesNotHideTheOthers) {
  const auto id = make_job_id("broken", clock_.wall_now(), 7);
  ASSERT_TRUE(base::make_folders(paths_of(home_, id).folder, 0700).ok());
  LocalSite site(home_, {clock_, never_, beside_us_});
  EXPECT_EQ(site.list()->size(), 1U);
  EXPECT_FALSE(status_of(site, "broken").ok());
}

TEST_F(LocalSiteTest, AJobThatCannotBeReadIsNamedAndNobodyWaitsForIt) {
  write_journal(job::JobState::kSucceeded, true);
  const JobPaths paths = folder_->paths();
  const std::string id = folder_->id();
  folder_.reset();
  LocalSite site(home_, {clock_, never_, beside_us_});
  const std::string segment = journal::segment_path(paths.journal(), 1);
  const std::string newer = R"({"n":0,"kind":"header","format":"gangrun","version":99,"job":"x"})"
                            "\n";
  const auto fifo = [](const std::string& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); };
  const auto folder = [](const std::string& path) { std::filesystem::create_directory(path); };
  const auto device = [](const std::string& path) {
    std::filesystem::create_symlink("/dev/zero", path);
  };
  const auto text = [](const std::string& content) {
    return [content](const std::string& path) {
      ASSERT_TRUE(base::write_private_file(path, content).ok());
    };
  };
  struct Case {
    std::string path;
    std::function<void(const std::string&)> make;
    std::string words;
  };
  for (const Case& each : std::initializer_list<Case>{
           {segment, text("nothing of ours\n"), "line 1: this is not a journal"},
           {segment, text(newer), "written by a newer gangrun"},
           {segment, fifo, "it is a FIFO and not a file"},
           {segment, folder, "it is a folder and not a file"},
           {segment, device, "it is a device and not a file"},
           {paths.journal(), fifo, "journal"},
           {paths.spec(), text("{"), "job.json"},
           {paths.spec(), fifo, "it is a FIFO and not a file"}}) {
    const std::string kept = each.path + ".kept";
    std::filesystem::rename(each.path, kept);
    each.make(each.path);
    const auto jobs = site.list();
    ASSERT_TRUE(jobs.ok()) << jobs.error().message;
    ASSERT_EQ(jobs->size(), 1U) << each.words;
    EXPECT_EQ(jobs->front().status.id, id);
    EXPECT_EQ(jobs->front().status.submitted, submitted_of(id));
    EXPECT_THAT(jobs->front().unreadable, HasSubstr(each.words));
    const auto status = status_of(site, id);
    ASSERT_FALSE(status.ok()) << each.words;
    EXPECT_THAT(status.error().message, HasSubstr(each.words));
    EXPECT_THAT(status.error().code,
                testing::AnyOf(base::Code::kDataLoss, base::Code::kFailedPrecondition))
        << each.words;
    std::filesystem::remove_all(each.path);
    std::filesystem::rename(kept, each.path);
  }
  EXPECT_TRUE(site.list()->front().unreadable.empty());
}

// One of another user's, as root's is in a home that both have: it was left out, and had ended.
TEST_F(LocalSiteTest, AJobWhoseFolderCannotBeEnteredIsUnreadable) {
  const std::string id = folder_->id();
  const std::string path = folder_->paths().folder;
  folder_.reset();
  std::filesystem::remove_all(path);
  ASSERT_TRUE(base::write_file_atomically(path, "", 0600).ok());
  LocalSite site(home_, {clock_, never_, beside_us_});
  const auto jobs = site.list();
  ASSERT_TRUE(jobs.ok()) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 1U);
  EXPECT_THAT(jobs->front().unreadable, HasSubstr("job.json"));
  const auto stopped = (*site.find(id))->stop(false, "a test");
  ASSERT_FALSE(stopped.ok());
  EXPECT_THAT(stopped.error().message, HasSubstr("job.json"));
}

TEST_F(LocalSiteTest, AJobThatIsBeingMadeIsNotListedYet) {
  std::filesystem::remove(folder_->paths().spec());
  LocalSite site(home_, {clock_, never_, beside_us_});
  EXPECT_TRUE(site.list()->empty());
  const JobPaths paths = folder_->paths();
  folder_.reset();
  EXPECT_TRUE(site.list()->empty()) << "whoever made it was killed before it was a job";
  ASSERT_TRUE(base::write_private_file(journal::segment_path(paths.journal(), 1), "").ok());
  EXPECT_EQ(site.list()->size(), 1U) << "it was one";
}

TEST_F(LocalSiteTest, ALockOrALogThatIsAFifoMakesNobodyWait) {
  write_journal(job::JobState::kRunning, false);
  const JobPaths paths = folder_->paths();
  folder_.reset();
  for (const std::string& path : {paths.lock(), paths.supervisor_lock(),
                                  paths.logs() + "/worker-0.out", paths.results() + "/worker-0"}) {
    std::filesystem::remove(path);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0) << path;
  }
  LocalSite site(home_, {clock_, never_, beside_us_});
  EXPECT_EQ(status_of(site, "last")->state, job::JobState::kLost);
  for (const std::optional<std::int64_t> tail : {std::optional<std::int64_t>(), {3}}) {
    auto logs = (*site.find("last"))->logs({.tail = tail});
    const auto lines = logs.ok() ? (*logs)->next(clock_.now())
                                 : base::Result<std::vector<cluster::LogLine>>(logs.error());
    ASSERT_FALSE(lines.ok());
    EXPECT_THAT(lines.error().message, HasSubstr("worker-0.out: it is a FIFO and not a file"));
  }
  const auto result = (*site.find("last"))->read_result({"worker", 0}, [](std::string_view) {
    return base::Result<>();
  });
  EXPECT_THAT(result.error().message, HasSubstr("it is a FIFO and not a file"));
}

TEST_F(LocalSiteTest, LogsOfATaskThatIsNotThereAreNotFound) {
  LocalSite site(home_, {clock_, never_, beside_us_});
  cluster::LogRequest request;
  request.task = job::TaskId{"worker", 2};
  const auto logs = (*site.find("last"))->logs(request);
  ASSERT_FALSE(logs.ok());
  EXPECT_EQ(logs.error().code, base::Code::kNotFound);
  EXPECT_THAT(logs.error().message, HasSubstr("worker:2"));
}

TEST_F(LocalSiteTest, WaitingEndsWhenTheMasterIsGone) {
  write_journal(job::JobState::kRunning, false);
  LocalSite site(home_, {clock_, never_, beside_us_});
  const std::string id = folder_->id();
  const base::Instant deadline = clock_.now() + base::seconds(60);
  std::jthread master([this] { folder_.reset(); });
  while (!job::is_final(status_of(site, id)->state) && clock_.now() < deadline) {
    ASSERT_TRUE((*site.find(id))->wait_for_change(deadline).ok());
  }
  EXPECT_EQ(status_of(site, id)->state, job::JobState::kLost);
  EXPECT_LT(clock_.now(), deadline);
}

TEST_F(LocalSiteTest, AnUnknownJobIsNotFound) {
  LocalSite site(home_, {clock_, never_, beside_us_});
  EXPECT_EQ(status_of(site, "nothing").error().code, base::Code::kNotFound);
  EXPECT_EQ(site.find("nothing").error().code, base::Code::kNotFound);
}

}  // namespace
}  // namespace gangrun::host
