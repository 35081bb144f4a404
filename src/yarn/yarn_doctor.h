#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/check.h"
#include "hadoop/account.h"
#include "hadoop/configuration.h"
#include "hadoop/file_system.h"
#include "yarn/node_trial.h"

namespace gangrun::yarn {

// Looks at a YARN cluster as a user's job meets it. The calls come in the order in which they stand
// here; each blocks, bounded in time.
class YarnDoctor {
 public:
  struct Options {
    std::string queue;                      // empty: "default"
    std::vector<std::string> file_systems;  // URLs, beside the configuration's own
    std::string base_folder;                // of what is written; empty: the user's own
    std::string file;                       // the name of what is written from here
    std::function<bool()> is_over;          // the user wants no more of it
    // Told each folder before it is made, and the job in a container before it is submitted: what
    // stays there if we do not come to remove and end it.
    std::function<void(const std::string& url)> makes;
    std::function<void(const std::string& job)> submits;
  };

  // `configuration` and `clock` outlive it.
  YarnDoctor(const hadoop::Configuration& configuration, hadoop::FileSystem file_system,
             hadoop::Account account, const base::Clock& clock, Options options);

  // Writes a file to each file system, reads it and removes it; `writes` is told its URL before.
  std::vector<cluster::Check> try_files(const std::function<void(const std::string& url)>& writes);
  // Files that TensorFlow may write in the same folders.
  [[nodiscard]] std::vector<std::string> tensorflow_urls() const;
  std::vector<cluster::Check> ask_cluster();
  // The same trials from a container, with the TensorFlow of `python` where that is not empty.
  struct FromNode {
    std::string agent_program;
    std::string python{};
    bool python_is_named = false;
    std::map<std::string, std::string> environment{};  // of the container
  };
  std::vector<cluster::Check> try_from_node(const FromNode& options);
  // Removes all that was written; empty where that went well.
  std::vector<cluster::Check> clear_away();

 private:
  cluster::Check try_file_system(const base::Result<hadoop::FileSystem>& file_system,
                                 const std::string& url,
                                 const std::function<void(const std::string& url)>& writes);
  base::Result<TrialPlace> make_place(const hadoop::FileSystem& file_system);
  [[nodiscard]] base::Instant soon() const;
  [[nodiscard]] bool is_over() const { return options_.is_over && options_.is_over(); }

  const hadoop::Configuration& configuration_;
  const hadoop::FileSystem file_system_;
  const hadoop::Account account_;
  const base::Clock& clock_;
  const Options options_;
  const std::string folder_name_;
  std::vector<TrialPlace> places_;      // that were made, or may have been
  std::vector<TrialPlace> usable_;      // of them
  std::vector<TrialPlace> made_homes_;  // that were not there before
  bool files_work_ = false;             // on the configuration's own file system
  bool cluster_works_ = false;
  std::int64_t largest_mib_ = 0;
};

}  // namespace gangrun::yarn
