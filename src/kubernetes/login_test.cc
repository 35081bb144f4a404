#include "kubernetes/login.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

#include "base/format.h"

namespace gangrun::kubernetes {
namespace {

struct TestClock final : base::Clock {
  [[nodiscard]] base::Instant now() const override { return base::Instant(passed); }
  [[nodiscard]] base::WallTime wall_now() const override {
    // 2026-01-31T12:00:00Z
    return base::WallTime(std::chrono::duration_cast<base::WallTime::duration>(
        base::seconds(1'769'860'800) + passed));
  }
  base::Duration passed = base::seconds(1000);
};

struct LoginFixture {
  explicit LoginFixture(Login login) {
    access.remote.url = "https://127.0.0.1:6443";
    access.login = std::move(login);
  }

  LoginSource& source() {
    if (made == nullptr) {
      auto result = LoginSource::make(loop, clock, access, run_plugin);
      EXPECT_TRUE(result.ok()) << result.error().message;
      made = std::move(*result);
    }
    return *made;
  }

  // The header about us; an error's message if there is no login.
  std::string authorization() {
    std::optional<base::Result<Way>> got;
    source().get([&](base::Result<Way> way, std::uint64_t is) {
      got.emplace(std::move(way));
      number = is;
    });
    EXPECT_TRUE(loop.run_until([&] { return got.has_value(); }, loop.now() + base::seconds(20)));
    if (!got->ok()) return (*got).error().message;
    return std::string((**got).headers.get("Authorization").value_or("none"));
  }

  net::EventLoop loop;
  TestClock clock;
  Access access;
  PluginRunner run_plugin;
  std::uint64_t number = 0;
  std::unique_ptr<LoginSource> made;
};

// A plugin that counts its runs and gives "t1", "t2", …, each for ten minutes.
struct PluginFixture : LoginFixture {
  PluginFixture() : LoginFixture(plugin()) {
    run_plugin = [this](const Plugin&, const std::string& info, base::Instant,
                        const auto&) -> base::Result<std::string> {
      const std::scoped_lock lock(mutex);
      EXPECT_NE(info.find("ExecCredential"), std::string::npos);
      if (++runs == fails_at) return base::unavailable("the plugin broke");
      return base::format(
          R"({{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":
          {{"token":"t{}","expirationTimestamp":"2026-01-31T12:{}:40Z"}}}})",
          runs, 16 + runs * 10);
    };
  }
  static Plugin plugin() {
    Plugin out;
    out.command = {"login"};
    out.api_version = "client.authentication.k8s.io/v1";
    return out;
  }
  std::mutex mutex;
  int runs = 0;
  int fails_at = 0;
};

TEST(Login, WhatNeverChanges) {
  EXPECT_EQ(LoginFixture(std::monostate()).authorization(), "none");
  EXPECT_EQ(LoginFixture(base::Secret(" token\n")).authorization(), "Bearer token");
  LoginFixture basic(BasicLogin{"eva", base::Secret("pass")});
  EXPECT_EQ(basic.authorization(), "Basic ZXZhOnBhc3M=");
  EXPECT_FALSE(basic.source().forget(basic.number));
}

TEST(Login, WhoeverIsActedFor) {
  LoginFixture fixture(base::Secret("token"));
  fixture.access.impersonated_user = "eva";
  fixture.access.impersonated_groups = {"a", "b"};
  std::vector<std::string> said;
  fixture.source().get([&](const base::Result<Way>& way, std::uint64_t) {
    for (const auto& [name, value] : way->headers.fields()) {
      if (name.starts_with("Impersonate")) said.push_back(name + " " + value);
    }
  });
  EXPECT_EQ(said, (std::vector<std::string>{"Impersonate-User eva", "Impersonate-Group a",
                                            "Impersonate-Group b"}));
}

TEST(Login, ATokenFileIsReadAgainAfterAMinuteOrWhenItIsNotTaken) {
  std::string folder = std::filesystem::temp_directory_path() / "login_test.XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/token";
  const auto write = [&path](const std::string& token) { std::ofstream(path) << token << "\n"; };
  LoginFixture fixture(TokenFile{path});
  EXPECT_NE(fixture.authorization().find(path), std::string::npos);
  write("one");
  EXPECT_EQ(fixture.authorization(), "Bearer one");
  write("two");
  fixture.clock.passed += base::seconds(59);
  EXPECT_EQ(fixture.authorization(), "Bearer one");
  fixture.clock.passed += base::seconds(1);
  EXPECT_EQ(fixture.authorization(), "Bearer two");
  write("three");
  EXPECT_TRUE(fixture.source().forget(fixture.number));
  EXPECT_EQ(fixture.authorization(), "Bearer three");
  std::filesystem::remove_all(folder);
}

TEST(Login, APluginIsAskedAgainAMinuteBeforeItsTokenEnds) {
  PluginFixture fixture;
  EXPECT_EQ(fixture.authorization(), "Bearer t1");  // until 12:26:40
  fixture.clock.passed += base::seconds(539);
  EXPECT_EQ(fixture.authorization(), "Bearer t1");
  fixture.clock.passed += base::seconds(1);
  EXPECT_EQ(fixture.authorization(), "Bearer t2");
}

// Ctrl-C waited for the plugin, a minute at most.
TEST(Login, APluginThatRunsEndsWithItsSource) {
  PluginFixture fixture;
  std::promise<void> begun;
  std::promise<bool> ended;
  const base::Instant limit = fixture.loop.now() + base::seconds(20);
  fixture.run_plugin = [&](const Plugin&, const std::string&, base::Instant,
                           const std::function<bool()>& is_unwanted) {
    begun.set_value();
    while (!is_unwanted() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    ended.set_value(is_unwanted());
    return base::Result<std::string>(base::unavailable("nobody wants it"));
  };
  bool is_told = false;
  fixture.source().get([&](const auto&, std::uint64_t) { is_told = true; });
  begun.get_future().wait();
  fixture.made.reset();
  EXPECT_TRUE(ended.get_future().get());
  EXPECT_FALSE(is_told);
}

TEST(Login, OneRunOfAPluginIsForAllWhoWait) {
  PluginFixture fixture;
  int told = 0;
  for (int i = 0; i < 3; ++i) {
    fixture.source().get([&](const base::Result<Way>& way, std::uint64_t) {
      EXPECT_EQ(way->headers.get("Authorization"), "Bearer t1");
      ++told;
    });
  }
  // An entry that has gone begins nothing.
  Entry(
      fixture.source(), [&](const Way&) { told += 100; }, [&](const base::Error&) { told += 100; })
      .start();
  EXPECT_TRUE(
      fixture.loop.run_until([&] { return told == 3; }, fixture.loop.now() + base::seconds(20)));
  EXPECT_EQ(fixture.runs, 1);
}

TEST(Login, ALoginThatIsNotTakenIsForgottenOnce) {
  PluginFixture fixture;
  EXPECT_EQ(fixture.authorization(), "Bearer t1");
  const std::uint64_t first = fixture.number;
  EXPECT_TRUE(fixture.source().forget(first));
  EXPECT_EQ(fixture.authorization(), "Bearer t2");
  // Another request with the first one comes back later.
  EXPECT_TRUE(fixture.source().forget(first));
  EXPECT_EQ(fixture.authorization(), "Bearer t2");
}

TEST(Login, APluginThatFailsIsAskedAgainByTheNext) {
  PluginFixture fixture;
  fixture.fails_at = 1;
  EXPECT_EQ(fixture.authorization(), "the plugin broke");
  EXPECT_EQ(fixture.authorization(), "Bearer t2");
}

TEST(Login, AnAccessThatCannotBeUsed) {
  PluginFixture without;
  EXPECT_EQ(LoginSource::make(without.loop, without.clock, without.access, {}).error().code,
            base::Code::kInvalidArgument);
  LoginFixture fixture(std::monostate{});
  fixture.access.remote.url = "ftp://x";
  EXPECT_EQ(LoginSource::make(fixture.loop, fixture.clock, fixture.access, {}).error().code,
            base::Code::kInvalidArgument);
}

TEST(Login, AnEntryBeginsAnewOnce) {
  PluginFixture fixture;
  std::vector<std::string> begun;
  Entry entry(
      fixture.source(),
      [&](const Way& way) { begun.emplace_back(way.headers.get("Authorization").value_or("")); },
      [](const base::Error& error) { ADD_FAILURE() << error.message; });
  const auto wait = [&](std::size_t count) {
    return fixture.loop.run_until([&] { return begun.size() == count; },
                                  fixture.loop.now() + base::seconds(20));
  };
  entry.start();
  ASSERT_TRUE(wait(1));
  EXPECT_TRUE(entry.start_anew());
  ASSERT_TRUE(wait(2));
  EXPECT_FALSE(entry.start_anew());
  EXPECT_EQ(begun, (std::vector<std::string>{"Bearer t1", "Bearer t2"}));
}

}  // namespace
}  // namespace gangrun::kubernetes
