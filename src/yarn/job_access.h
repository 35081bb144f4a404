#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "base/described.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "hadoop/records.h"
#include "job/spec.h"
#include "jobfile/described_job.h"

namespace gangrun::yarn {

// As the application's type, by which gangrun's jobs are told from others.
inline constexpr const char* kApplicationType = "GANGRUN";
inline constexpr std::size_t kMaxJobAccessBytes = std::size_t{4} << 20U;

// The modes of what is the user's own.
inline constexpr std::uint32_t kOwnFolder = 0700;
inline constexpr std::uint32_t kOwnFile = 0600;

// The folder of gangrun on the cluster's file system, below the user's home folder. All
// of it is the user's own (0700), but for the public part of the cache.
struct YarnPaths {
  std::string home;

  [[nodiscard]] std::string root() const { return home + "/.gangrun"; }
  // Files that all users may read, by their contents: the agent.
  [[nodiscard]] std::string shared() const { return root() + "/public"; }
  // Files of jobs by their contents.
  [[nodiscard]] std::string cache() const { return root() + "/cache"; }
  // The files of one job, while it lives.
  [[nodiscard]] std::string staging(const hadoop::ApplicationId& id) const {
    return root() + "/jobs/" + hadoop::to_string(id);
  }
  // The files that are left of it.
  [[nodiscard]] std::string history(const hadoop::ApplicationId& id) const {
    return root() + "/history/" + hadoop::to_string(id);
  }
};

inline constexpr const char* kAccessFile = "/access.json";
inline constexpr const char* kJournalFolder = "/journal";
inline constexpr const char* kResultsFolder = "/results";
inline constexpr const char* kOutputsFolder = "/outputs";
inline constexpr const char* kStatusFile = "/status.json";

// A job with YARN's section.
struct YarnSpec : base::JsonOf<job::JobSpec> {
  static base::Result<> read(const base::Json& json, std::string_view key, job::JobSpec& out);
  [[nodiscard]] static std::string bounds() { return {}; }
  template <typename T>
  [[nodiscard]] T sample() const {
    return {};
  }
};

// The access that a command on another machine needs to speak to a job's master: who may read the
// file (its user, 0600) has the rights over the job.
struct JobAccess {
  base::Secret secret;
  std::string fingerprint;  // of the master's certificate
  job::JobSpec spec;

  static constexpr bool kIsOpen = true;
  static constexpr auto rows() {
    return std::tuple(base::row("secret", &JobAccess::secret),
                      base::row("fingerprint", &JobAccess::fingerprint),
                      base::row("spec", &JobAccess::spec, YarnSpec{}));
  }
};

}  // namespace gangrun::yarn
