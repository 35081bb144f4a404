// The work of the room hadoop with HDFS, as commands for tests against real clusters:
//
//     hdfs_probe CONFIGURATION_FOLDER USER COMMAND ARGUMENT...
//
// Prints JSON or bytes; an error as "CODE: message" on stderr, with status 1.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/unique_fd.h"
#include "hadoop/aggregated_logs.h"
#include "hadoop/archive.h"
#include "hadoop/configuration.h"
#include "hadoop/content_store.h"
#include "hadoop/file_system.h"
#include "hadoop/web_hdfs.h"

namespace {

using namespace gangrun;  // NOLINT: a program of its own
using Words = std::vector<std::string>;

constexpr base::Duration kLimit = base::seconds(60);

base::Instant deadline() { return std::chrono::steady_clock::now() + kLimit; }

void write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }
void print(const base::Json& json) { write(base::dump_json(json) + "\n"); }

base::Json json_of(const hadoop::FileStatus& status) {
  return {{"name", status.name},
          {"folder", status.is_folder},
          {"length", status.length},
          {"time", status.modification_time},
          {"permission", base::format("{:o}", status.permission)}};
}

struct LocalFile {
  base::UniqueFd fd;
  net::FileSlice slice;
};

base::Result<LocalFile> open_file(const std::string& path) {
  LocalFile out{base::UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), {}};
  struct stat status {};
  if (!out.fd.valid() || ::fstat(out.fd.get(), &status) != 0) {
    return base::from_errno(errno, "open " + path);
  }
  out.slice = {out.fd.get(), 0, static_cast<std::uint64_t>(status.st_size)};
  return out;
}

// As `yarn logs` would find them: one JSON line for each log.
class LogPrinter final : public hadoop::LogSink {
 public:
  base::Result<bool> begin(const hadoop::AggregatedLog& log) override {
    log_ = log;
    text_.clear();
    return true;
  }
  base::Result<> content(std::string_view piece) override {
    text_ += piece;
    return {};
  }
  base::Result<> end() override {
    print(
        {{"node", log_.node}, {"container", log_.container}, {"file", log_.file}, {"text", text_}});
    return {};
  }

 private:
  hadoop::AggregatedLog log_;
  std::string text_;
};

class Probe {
 public:
  Probe(hadoop::Configuration configuration, std::string user, hadoop::FileSystem file_system)
      : configuration_(std::move(configuration)),
        user_(user),
        hdfs_(std::move(file_system), {.user = std::move(user)}) {}

  base::Result<> run(const std::string& command, const Words& words) {
    const std::map<std::string, std::pair<std::size_t, base::Result<> (Probe::*)(const Words&)>>
        commands{{"where", {0, &Probe::where}},     {"status", {1, &Probe::status}},
                 {"list", {1, &Probe::list}},       {"home", {0, &Probe::home}},
                 {"folders", {2, &Probe::folders}}, {"put", {3, &Probe::put}},
                 {"get", {1, &Probe::get}},         {"range", {3, &Probe::range}},
                 {"rename", {2, &Probe::rename}},   {"remove", {1, &Probe::remove}},
                 {"time", {2, &Probe::time}},       {"token", {2, &Probe::token}},
                 {"ensure", {3, &Probe::ensure}},   {"clean", {2, &Probe::clean}},
                 {"logs", {1, &Probe::logs}}};
    const auto found = commands.find(command);
    if (found == commands.end() || found->second.first != words.size()) {
      return base::invalid_argument("unknown command, or not its number of words: " + command);
    }
    return (this->*found->second.second)(words);
  }

 private:
  base::Result<> where(const Words&) {
    print({{"name", to_string(hdfs_.file_system())}, {"addresses", hdfs_.file_system().addresses}});
    return {};
  }
  base::Result<> status(const Words& words) {
    GANGRUN_ASSIGN(const auto found, hdfs_.status(words[0], deadline()));
    print(json_of(found));
    return {};
  }
  base::Result<> list(const Words& words) {
    GANGRUN_ASSIGN(const auto files, hdfs_.list(words[0], deadline()));
    for (const auto& file : files) print(json_of(file));
    return {};
  }
  base::Result<> home(const Words&) {
    GANGRUN_ASSIGN(const std::string path, hdfs_.home_folder(deadline()));
    write(path + "\n");
    return {};
  }
  base::Result<> folders(const Words& words) {
    return hdfs_.make_folders(words[0], mode(words[1]), deadline());
  }
  // A file of this machine, where to, and with which permission; prints the progress.
  base::Result<> put(const Words& words) {
    GANGRUN_ASSIGN(const LocalFile file, open_file(words[0]));
    return hdfs_.create_from(
        words[1], file.slice, {.permission = mode(words[2])},
        [](std::uint64_t sent) { write(std::to_string(sent) + "\n"); }, deadline());
  }
  base::Result<> get(const Words& words) {
    return hdfs_.read_to(
        words[0], std::uint64_t{1} << 40U,
        [](std::string_view piece) -> base::Result<> {
          write(piece);
          return {};
        },
        deadline());
  }
  base::Result<> range(const Words& words) {
    GANGRUN_ASSIGN(const std::string bytes, hdfs_.read_range(words[0], std::stoull(words[1]),
                                                             std::stoull(words[2]), deadline()));
    write(bytes);
    return {};
  }
  base::Result<> rename(const Words& words) { return hdfs_.rename(words[0], words[1], deadline()); }
  base::Result<> remove(const Words& words) {
    GANGRUN_ASSIGN(const bool removed, hdfs_.remove(words[0], true, deadline()));
    print(base::Json(removed));
    return {};
  }
  base::Result<> time(const Words& words) {
    return hdfs_.set_modification_time(words[0], std::stoll(words[1]), deadline());
  }
  base::Result<> token(const Words& words) {
    GANGRUN_ASSIGN(const auto token, hdfs_.get_delegation_token(words[0], words[1], deadline()));
    print(base::Json(token ? token->reveal() : ""));
    return {};
  }
  // A file of this machine, the store's folder, and "private" or "public".
  base::Result<> ensure(const Words& words) {
    GANGRUN_ASSIGN(const LocalFile file, open_file(words[0]));
    GANGRUN_ASSIGN(std::string digest, hadoop::digest_of(file.slice));
    hadoop::ContentStore store(
        hdfs_, words[1],
        words[2] == "public" ? hadoop::Visibility::kPublic : hadoop::Visibility::kPrivate);
    const auto begun = std::chrono::steady_clock::now();
    GANGRUN_ASSIGN(const auto found,
                   store.ensure({words[0].substr(words[0].rfind('/') + 1), digest, file.slice},
                                std::chrono::system_clock::now(), {}, deadline()));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    print({{"path", found.resource.path},
           {"host", found.resource.host},
           {"port", found.resource.port},
           {"size", found.resource.size},
           {"timestamp", found.resource.timestamp},
           {"uploaded", found.uploaded},
           {"seconds", took.count()}});
    return {};
  }
  // The store's folder, and how many seconds old its contents may be.
  base::Result<> clean(const Words& words) {
    hadoop::ContentStore store(hdfs_, words[0], hadoop::Visibility::kPrivate);
    GANGRUN_ASSIGN(const int removed,
                   store.clean(std::chrono::system_clock::now(),
                               std::chrono::seconds(std::stoll(words[1])), deadline()));
    print(base::Json(removed));
    return {};
  }
  base::Result<> logs(const Words& words) {
    GANGRUN_ASSIGN(const auto id, hadoop::application_id_from(words[0]));
    GANGRUN_ASSIGN(const auto places, hadoop::log_folders(configuration_, user_, id));
    GANGRUN_ASSIGN(const auto nodes, hadoop::find_node_logs(hdfs_, places, deadline()));
    LogPrinter printer;
    for (const auto& node : nodes) {
      GANGRUN_TRY(hadoop::read_node_logs(hdfs_, node, printer, deadline()));
    }
    return {};
  }

  static std::uint32_t mode(const std::string& text) {
    return static_cast<std::uint32_t>(std::stoul(text, nullptr, 8));
  }

  const hadoop::Configuration configuration_;
  const std::string user_;
  hadoop::WebHdfs hdfs_;
};

base::Result<> run(const Words& words) {
  if (words.size() < 3) return base::invalid_argument("CONFIGURATION_FOLDER USER COMMAND …");
  GANGRUN_ASSIGN(const auto configuration, hadoop::load_configuration(words[0], {}));
  GANGRUN_ASSIGN(auto file_system, hadoop::find_file_system(configuration, ""));
  return Probe(configuration, words[1], std::move(file_system))
      .run(words[2], {words.begin() + 3, words.end()});
}

}  // namespace

int main(int count, char** words) {
  const auto done = run({words + 1, words + count});
  if (done.ok()) return 0;
  std::fprintf(stderr, "%s: %s\n", std::string(to_string(done.error().code)).c_str(),
               done.error().message.c_str());
  return 1;
}
