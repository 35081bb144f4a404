#include "ssh/outputs_report.h"

#include <cstddef>

#include "base/format.h"
#include "base/sizes.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "job/units.h"

namespace gangrun::ssh {

namespace {

// How many hosts or files a sentence names, and how much of a name.
constexpr std::size_t kMaxNamed = 5;
constexpr std::size_t kMaxName = 120;

std::string count_words(std::uint64_t files) {
  return files == 1 ? "1 file" : base::format("{} files", files);
}

std::string all_words(std::uint64_t files, std::uint64_t folders) {
  if (folders == 0) return count_words(files);
  const std::string empty = base::format("{} empty folder{}", folders, folders == 1 ? "" : "s");
  return files == 0 ? empty : base::format("{} and {}", count_words(files), empty);
}

std::string names_words(const std::vector<std::string>& names) {
  return base::first_and_more(
      names, kMaxNamed, [](const std::string& name) { return base::their_words(name, kMaxName); });
}

void add_left(const HostReport& host, std::int64_t limit_mib, bool are_kept,
              std::vector<std::string>& sentences) {
  if (host.said.left_files == 0) return;
  sentences.push_back(base::format(
      "{} of host {} ({}) over outputs_limit ({}) {} in {}{}, for `gangrun fetch`: {}",
      count_words(host.said.left_files), host.host, base::size_text(host.said.left_bytes),
      job::memory_text(limit_mib), host.said.left_files == 1 ? "stays" : "stay", host.folder,
      are_kept ? "" : " for a day", names_words(host.said.left)));
}

}  // namespace

std::vector<std::string> outputs_report(const std::vector<HostReport>& hosts,
                                        const std::string& folder, std::int64_t limit_mib,
                                        bool are_kept) {
  std::vector<std::string> sentences;
  std::vector<std::string> bringers;
  std::vector<std::string> keepers;
  std::uint64_t files = 0;
  std::uint64_t folders = 0;
  std::uint64_t bytes = 0;
  for (const HostReport& host : hosts) {
    if (host.files + host.folders > 0) bringers.push_back(host.host);
    files += host.files;
    folders += host.folders;
    bytes += host.bytes;
    keepers.push_back(base::format("{} ({})", host.host, host.folder));
  }
  if (files + folders > 0) {
    sentences.push_back(base::format("{} ({}) that tasks have written on {} are in {}",
                                     all_words(files, folders), base::size_text(bytes),
                                     base::first_and_more(bringers, kMaxNamed), folder));
  }
  for (const HostReport& host : hosts) {
    add_left(host, limit_mib, are_kept, sentences);
    if (host.said.odd_files > 0) {
      sentences.push_back(base::format(
          "what tasks have made on host {} cannot all be brought, and stays in {}{}: {}", host.host,
          host.folder, are_kept ? "" : " for a day",
          cluster::odd_words(host.said.odd, host.said.odd_files)));
    }
    if (!host.said.missing.empty()) {
      sentences.push_back(base::format("no task on host {} has written {}", host.host,
                                       names_words(host.said.missing)));
    }
    if (host.said.is_gone) {
      sentences.push_back(base::format(
          "what tasks have written on host {} was not brought, and is lost: {} is gone", host.host,
          host.folder));
    } else if (!host.said.failure.empty()) {
      sentences.push_back(
          base::format("what tasks have written on host {} was not all brought, and stays in {}{}, "
                       "for `gangrun fetch`: {}",
                       host.host, host.folder, are_kept ? "" : " for a day",
                       base::their_words(host.said.failure)));
    }
  }
  if (are_kept && !keepers.empty()) {
    sentences.push_back(base::format("the folders of the job stay until `gangrun rm`: {}",
                                     base::first_and_more(keepers, kMaxNamed)));
  }
  return sentences;
}

}  // namespace gangrun::ssh
