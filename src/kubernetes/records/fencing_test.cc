#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "kubernetes/records/map_reader.h"
#include "kubernetes/records/map_writer.h"
#include "kubernetes/records/record_server_for_tests.h"
#include "kubernetes/refusal.h"
#include "kubernetes/test_idle_client.h"

// Two masters of one job, and an API server to which requests come late, twice or never, and which
// loses its answers.
namespace gangrun::kubernetes::records {
namespace {

using base::Json;
using test::RecordStore;

constexpr unsigned kSeeds = 50;         // with sanitizers each takes 20 ms or more
constexpr unsigned kWorldsAtOnce = 16;  // they wait half of their time
constexpr ChainLimits kFewBytes{.map_bytes = 500, .map_keys = 5, .chain_bytes = 1 << 20U};
constexpr std::chrono::seconds kPatience{60};

// One client's way to the server. It makes a request again, as a true one does, where no answer
// came, and tells its caller at last that the server is away.
class BadLine : public IdleClient {
 public:
  BadLine(net::EventLoop& loop, RecordStore& store, std::minstd_rand& random)
      : loop_(loop), store_(store), random_(random) {}

  ActivityHandle request(Request request, base::Instant /*deadline*/,
                         std::function<void(ApiAnswer)> on_done) override {
    auto asked = std::make_shared<Asked>(Asked{std::move(request), std::move(on_done)});
    attempt(asked);
    return std::make_unique<UnderWay>(std::move(asked));
  }

  // From 0 to `end` - 1.
  int dice(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }
  // After so many turns of the loop.
  void later(int turns, std::function<void()> task) {
    loop_.post([this, turns, task = std::move(task)]() mutable {
      if (turns <= 0) return task();
      later(turns - 1, std::move(task));
    });
  }
  [[nodiscard]] int served() const { return served_; }
  // Those that the server has not seen yet, also where nobody waits for them any more.
  [[nodiscard]] int on_the_way() const { return on_the_way_; }
  // From now on nothing is lost.
  void mend() { is_bad_ = false; }

 private:
  struct Asked {
    Request request;
    std::function<void(ApiAnswer)> on_done;
  };
  struct UnderWay : Activity {
    explicit UnderWay(std::shared_ptr<Asked> what) : asked(std::move(what)) {}
    ~UnderWay() override { asked->on_done = nullptr; }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

    std::shared_ptr<Asked> asked;
  };

  int delay() { return dice(8) == 0 ? dice(60) : dice(6); }
  bool happens(int of_hundred) { return is_bad_ && dice(100) < of_hundred; }

  void attempt(const std::shared_ptr<Asked>& asked) {
    if (happens(2)) return give_up(asked);
    if (happens(8)) {  // it is lost, or comes when it has been made again
      if (dice(2) == 0) send(asked, 5 + dice(60), nullptr);
      return later(delay(), [this, asked] { attempt(asked); });
    }
    send(asked, delay(), [this, asked](const RecordStore::Outcome& outcome) {
      if (happens(2)) return give_up(asked);
      if (happens(8)) return later(delay(), [this, asked] { attempt(asked); });
      later(delay(), [asked, outcome] { tell(*asked, answer_of(asked->request, outcome)); });
    });
  }

  void send(const std::shared_ptr<Asked>& asked, int turns,
            std::function<void(const RecordStore::Outcome&)> then) {
    ++on_the_way_;
    later(turns, [this, asked, then = std::move(then)] {
      --on_the_way_;
      ++served_;
      const Request& request = asked->request;
      const auto outcome = store_.perform(request.method, request.path, request.body);
      if (then) then(outcome);
    });
  }

  void give_up(const std::shared_ptr<Asked>& asked) {
    later(delay(), [asked] { tell(*asked, {base::unavailable("nobody answers"), std::nullopt}); });
  }

  static ApiAnswer answer_of(const Request& request, const RecordStore::Outcome& outcome) {
    if (outcome.status != 200) {
      const Refusal refusal{outcome.status, outcome.reason, "refused", Json()};
      return {error_of(refusal), refusal};
    }
    if (!request.wants_metadata_only) return {outcome.object, std::nullopt};
    return {Json{{"metadata", value_at(outcome.object, {"metadata"})}}, std::nullopt};
  }

  static void tell(Asked& asked, ApiAnswer answer) {
    const auto on_done = std::exchange(asked.on_done, nullptr);
    if (on_done) on_done(std::move(answer));
  }

  net::EventLoop& loop_;
  RecordStore& store_;
  std::minstd_rand& random_;
  bool is_bad_ = true;
  int served_ = 0;
  int on_the_way_ = 0;
};

class Quiet : public base::Logger {
 public:
  void write(base::LogLevel, std::string_view) override {}
};

// Things in which the two differ are errors, in words.
std::string difference(const std::string& what, const std::vector<std::string>& is,
                       const std::vector<std::string>& expected) {
  if (is == expected) return {};
  const auto at = std::ranges::mismatch(is, expected).in1 - is.begin();
  return base::format("{}: {} parts, not {}; the first {} are right", what, is.size(),
                      expected.size(), at);
}

// A master with its journal, from its claim on.
class Master {
 public:
  Master(net::EventLoop& loop, base::Logger& logger, RecordStore& store, std::minstd_rand& random,
         std::string name)
      : loop_(loop),
        name_(std::move(name)),
        line_(loop, store, random),
        place_(test::place_of(loop, logger, line_)),
        keeper_(place_, {.on_deposed = [this](const base::Error&) { is_deposed_ = true; }}) {}

  // Empty, or what went wrong.
  std::string claim() {
    while (true) {
      auto head = keeper_.claim(
          name_, "u-" + name_, [] { return base::Result<>(); }, loop_.now() + kPatience);
      if (!head.ok() && head.error().code == base::Code::kUnavailable) continue;
      if (!head.ok()) return base::format("{} claims: {}", name_, head.error().message);
      found_ = *std::move(head);
      return {};
    }
  }

  // Parts come at any time, and other changes of the head.
  void write(const std::string& chain, int parts) {
    chain_ = chain;
    writer_.emplace(place_, keeper_, chain, kFewBytes);
    append(parts);
  }

  base::Result<std::vector<std::string>> read(const Head& head, const std::string& chain) {
    while (true) {
      auto parts = read_chain(place_, head, chain, loop_.now() + kPatience);
      if (parts.ok() || parts.error().code != base::Code::kUnavailable) return parts;
    }
  }

  BadLine& line() { return line_; }
  [[nodiscard]] const Head& found() const { return found_; }
  [[nodiscard]] const std::string& chain() const { return chain_; }
  [[nodiscard]] const std::vector<std::string>& parts() const { return parts_; }
  [[nodiscard]] std::size_t acknowledged() const { return acknowledged_; }
  [[nodiscard]] int told_tasks() const { return told_tasks_; }
  [[nodiscard]] bool is_done() const { return has_all_ && acknowledged_ == parts_.size(); }
  [[nodiscard]] bool is_deposed() const { return is_deposed_; }
  // Empty, or how parts were acknowledged out of their order, or refused.
  [[nodiscard]] const std::string& fault() const { return fault_; }
  void look() {
    keeper_.look([] {});
  }

 private:
  void append(int left) {
    has_all_ = left == 0;
    if (has_all_) return;
    std::string part = base::format("{} {} ", name_, parts_.size());
    const int length = line_.dice(4) == 0 ? line_.dice(1000) : line_.dice(50);
    for (int i = 0; i < length; ++i) part += static_cast<char>(line_.dice(256));
    parts_.push_back(part);
    writer_->append(std::move(part), [this, number = parts_.size()](const base::Result<>& kept) {
      if (kept.ok() && number == acknowledged_ + 1) {
        ++acknowledged_;
      } else if (fault_.empty()) {
        fault_ = base::format("{}: part {} comes after {}: {}", name_, number, acknowledged_,
                              kept.ok() ? "kept" : kept.error().message);
      }
    });
    if (line_.dice(4) == 0) {
      keeper_.change([tasks = left_tasks(left)](Head& head) { head.summary.tasks = tasks; },
                     [this, tasks = left_tasks(left)] { told_tasks_ = tasks; });
    }
    line_.later(line_.dice(30), [this, left] { append(left - 1); });
  }
  static int left_tasks(int left) { return 1000 - left; }

  net::EventLoop& loop_;
  const std::string name_;
  BadLine line_;
  const RecordPlace place_;
  HeadKeeper keeper_;
  std::optional<MapWriter> writer_;
  Head found_;
  std::string chain_;
  std::vector<std::string> parts_;
  std::size_t acknowledged_ = 0;
  int told_tasks_ = 0;
  bool has_all_ = true;
  bool is_deposed_ = false;
  std::string fault_;
};

class World {
 public:
  explicit World(unsigned seed) : random_(seed) { store_.put_head(test::new_head()); }

  // Empty, or what went wrong.
  std::string run() {
    for (const auto step : {&World::first_writes, &World::second_claims, &World::both_write}) {
      if (std::string fault = (this->*step)(); !fault.empty()) return fault;
    }
    return final_records();
  }

 private:
  std::string first_writes() {
    if (std::string fault = first_.claim(); !fault.empty()) return fault;
    first_.write(chain_of_journal(1), 3 + first_.line().dice(8));
    const int moment = first_.line().served() + first_.line().dice(16);
    return wait("the first master writes",
                [this, moment] { return first_.is_done() || first_.line().served() >= moment; });
  }

  std::string second_claims() {
    if (std::string fault = second_.claim(); !fault.empty()) return fault;
    if (second_.found().summary.tasks < first_.told_tasks()) return "the summary is lost";
    const auto read = second_.read(second_.found(), first_.chain());
    if (!read.ok()) return "the second master reads: " + read.error().message;
    taken_over_ = *read;
    std::vector<std::string> expected = first_.parts();
    expected.resize(std::min(expected.size(), taken_over_.size()));
    return difference("the second master reads", taken_over_, expected);
  }

  // The first one does not know yet that it has lost the office.
  std::string both_write() {
    const bool was_counted = second_.found().chains.contains(first_.chain());
    second_.write(chain_of_journal(was_counted ? 2 : 1), 1 + second_.line().dice(3));
    // In some worlds only after the pauses of its writer: until then it may try to go on.
    if (first_.line().dice(3) == 0) {
      look_ = loop_.after(std::chrono::milliseconds(250), [this] { first_.look(); });
    } else {
      first_.line().later(first_.line().dice(200), [this] { first_.look(); });
    }
    return wait("the first master learns of the second", [this] {
      return first_.is_deposed() && second_.is_done() && first_.line().on_the_way() == 0 &&
             second_.line().on_the_way() == 0;
    });
  }

  std::string final_records() {
    if (!first_.fault().empty() || !second_.fault().empty()) {
      return first_.fault() + second_.fault();
    }
    if (second_.is_deposed()) return "the second master has lost its office";
    if (first_.acknowledged() > taken_over_.size()) {
      return base::format("the first master was told of {} parts, the second has read {}",
                          first_.acknowledged(), taken_over_.size());
    }
    second_.line().mend();
    const Head head = store_.head();
    if (second_.chain() != first_.chain()) {
      const auto old = second_.read(head, first_.chain());
      if (!old.ok()) return "in the end: " + old.error().message;
      if (auto fault = difference("in the end", *old, taken_over_); !fault.empty()) return fault;
    }
    const auto now = second_.read(head, second_.chain());
    if (!now.ok()) return "of the second master: " + now.error().message;
    return difference("of the second master", *now, second_.parts());
  }

  std::string wait(const std::string& what, const std::function<bool()>& done) {
    return loop_.run_until(done, loop_.now() + kPatience) ? "" : what + " does not come to an end";
  }

  net::EventLoop loop_;
  Quiet logger_;
  std::minstd_rand random_;
  RecordStore store_;
  Master first_{loop_, logger_, store_, random_, "pod-1"};
  Master second_{loop_, logger_, store_, random_, "pod-2"};
  std::vector<std::string> taken_over_;
  net::Timer look_;
};

TEST(Fencing, KeepsWhatAMasterWasToldOfAndNothingAfterTheNextOne) {
  std::atomic<unsigned> next = 1;
  const auto work = [&next] {
    std::string faults;
    for (unsigned seed = next++; seed <= kSeeds; seed = next++) {
      const std::string fault = World(seed).run();
      if (!fault.empty()) faults += base::format("seed {}: {}\n", seed, fault);
    }
    return faults;
  };
  std::vector<std::future<std::string>> workers;
  for (unsigned i = 0; i < kWorldsAtOnce; ++i) {
    workers.push_back(std::async(std::launch::async, work));
  }
  for (auto& worker : workers) EXPECT_EQ(worker.get(), "");
}

}  // namespace
}  // namespace gangrun::kubernetes::records
