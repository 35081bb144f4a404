#include "cluster/output_files.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/units.h"

namespace gangrun::cluster {

namespace {

// How many files a sentence names, and how much of each.
constexpr std::size_t kMaxNamed = 5;
constexpr std::size_t kMaxName = 200;

void keep_limit(OutputFiles& files, std::uint64_t limit) {
  std::vector<FoundOutput> chosen;
  for (FoundOutput& file : files.chosen) {
    if (file.size > limit) {
      files.over.push_back(std::move(file));
    } else {
      limit -= file.size;
      chosen.push_back(std::move(file));
    }
  }
  files.chosen = std::move(chosen);
}

std::string names_words(const std::vector<std::string>& names) {
  return base::first_and_more(
      names, kMaxNamed, [](const std::string& name) { return base::shorten(name, kMaxName); });
}

}  // namespace

base::Result<OutputFiles> output_files(const std::string& folder,
                                       const std::vector<std::string>& names,
                                       std::optional<std::uint64_t> limit, Links links) {
  GANGRUN_ASSIGN(auto found, find_outputs(folder, {.names = names,
                                                   .follows_links = links == Links::kFollowed}));
  OutputFiles files{std::move(found.found), {}, std::move(found.missing), std::move(found.odd)};
  std::ranges::sort(files.chosen, {}, [](const FoundOutput& file) {
    return std::pair(file.size, std::string_view(file.name));
  });
  if (limit) keep_limit(files, *limit);
  return files;
}

std::string lost_words(const OutputsEnd& end, std::optional<std::uint64_t> limit) {
  std::vector<std::string> sentences;
  if (!end.files.over.empty()) {
    std::vector<std::string> names;
    for (const FoundOutput& file : end.files.over) names.push_back(file.name);
    sentences.push_back(base::format("over outputs_limit ({}): {}",
                                     job::memory_text(static_cast<std::int64_t>(*limit >> 20U)),
                                     names_words(names)));
  }
  if (!end.files.odd.empty()) {
    sentences.push_back(
        base::format("what cannot be brought: {}", odd_words(end.files.odd, end.files.odd.size())));
  }
  if (!end.failures.empty()) {
    sentences.push_back(base::format(
        "could not be written: {}",
        base::first_and_more(end.failures, kMaxNamed, [](const OutputsEnd::Failure& failure) {
          return base::format("{} ({})", base::shorten(failure.name, kMaxName), failure.why);
        })));
  }
  const std::size_t left = end.files.chosen.size() - end.written - end.failures.size();
  if (!end.trouble.empty()) {
    sentences.push_back(
        left > 0 ? base::format("{} not written: {}",
                                left == 1 ? "1 file was" : base::format("{} files were", left),
                                end.trouble)
                 : end.trouble);
  }
  return base::format("{}", base::join(sentences, "; "));
}

std::string missing_words(const OutputsEnd& end) {
  if (end.files.missing.empty()) return {};
  return base::format("it has written no {}", names_words(end.files.missing));
}

}  // namespace gangrun::cluster
