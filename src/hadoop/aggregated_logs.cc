#include "hadoop/aggregated_logs.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/format.h"
#include "base/letters.h"
#include "base/strings.h"
#include "hadoop/configuration.h"

namespace gangrun::hadoop {

namespace {

constexpr std::array<std::string_view, 3> kReservedKeys{"VERSION", "APPLICATION_ACL",
                                                        "APPLICATION_OWNER"};
constexpr std::string_view kUnfinished = ".tmp";
constexpr std::string_view kArchived = ".har";
constexpr std::int32_t kBuckets = 10000;
constexpr std::int64_t kMaxPort = 65535;
constexpr std::size_t kUnsignedShortBytes = 2;

base::Error damaged(std::string_view why) {
  return {base::Code::kDataLoss, base::format("the aggregated log is damaged: {}", why)};
}

std::size_t unsigned_short(std::string_view bytes) {
  return static_cast<std::size_t>(static_cast<unsigned char>(bytes[0])) * 256 +
         static_cast<unsigned char>(bytes[1]);
}

// A value is a row of logs: name and length, both as texts behind two bytes with their length, then
// the content.
class LogParser final : public RecordSink {
 public:
  LogParser(std::string node, LogSink& sink) : sink_(sink) { log_.node = std::move(node); }

  base::Result<> begin(std::string_view key) override {
    if (key.size() < kUnsignedShortBytes ||
        unsigned_short(key) != key.size() - kUnsignedShortBytes) {
      return damaged("a key is not a text");
    }
    log_.container = key.substr(kUnsignedShortBytes);
    reserved_ = std::ranges::count(kReservedKeys, log_.container) > 0;
    return {};
  }

  base::Result<> value(std::string_view piece) override {
    while (!piece.empty() && !reserved_) {
      GANGRUN_TRY(state_ == State::kContent ? take_content(piece) : take_text(piece));
    }
    return {};
  }

  base::Result<> end() override {
    if (state_ == State::kName && text_.empty()) return {};
    return damaged("the last log of a container is cut off");
  }

 private:
  enum class State { kName, kLength, kContent };

  base::Result<> take_text(std::string_view& piece) {
    const std::size_t wanted = text_.size() < kUnsignedShortBytes
                                   ? kUnsignedShortBytes
                                   : kUnsignedShortBytes + unsigned_short(text_);
    const std::size_t size = std::min(wanted - text_.size(), piece.size());
    text_ += piece.substr(0, size);
    piece.remove_prefix(size);
    if (text_.size() < kUnsignedShortBytes) return {};
    if (text_.size() < kUnsignedShortBytes + unsigned_short(text_)) return {};
    const std::string text = text_.substr(kUnsignedShortBytes);
    text_.clear();
    return state_ == State::kName ? take_name(text) : take_length(text);
  }

  base::Result<> take_name(const std::string& text) {
    log_.file = text;
    state_ = State::kLength;
    return {};
  }

  base::Result<> take_length(const std::string& text) {
    const auto length = base::parse_integer(text);
    if (!length || *length < 0) return damaged("a log's length is not a number");
    log_.length = static_cast<std::uint64_t>(*length);
    left_ = log_.length;
    state_ = State::kContent;
    GANGRUN_ASSIGN(wanted_, sink_.begin(log_));
    return left_ == 0 ? finish_log() : base::Result<>();
  }

  base::Result<> take_content(std::string_view& piece) {
    const std::size_t size = std::min<std::uint64_t>(left_, piece.size());
    if (wanted_) GANGRUN_TRY(sink_.content(piece.substr(0, size)));
    piece.remove_prefix(size);
    left_ -= size;
    return left_ == 0 ? finish_log() : base::Result<>();
  }

  base::Result<> finish_log() {
    state_ = State::kName;
    return wanted_ ? sink_.end() : base::Result<>();
  }

  LogSink& sink_;
  AggregatedLog log_;
  State state_ = State::kName;
  bool reserved_ = false;
  bool wanted_ = false;
  std::string text_;  // the beginning of one
  std::uint64_t left_ = 0;
};

class HdfsFile final : public RangeReader {
 public:
  HdfsFile(WebHdfs& hdfs, const NodeLogs& logs, base::Instant deadline)
      : hdfs_(hdfs), logs_(logs), deadline_(deadline) {}

  [[nodiscard]] std::uint64_t size() const override { return logs_.length; }
  base::Result<> read(std::uint64_t offset, std::uint64_t length,
                      const net::ByteSink& sink) override {
    return hdfs_.read_range_to(logs_.path, offset, length, sink, deadline_);
  }

 private:
  WebHdfs& hdfs_;
  const NodeLogs& logs_;
  const base::Instant deadline_;
};

// The path of a folder that may be given with its file system.
base::Result<std::string> folder_of(const Configuration& configuration, const std::string& key,
                                    const std::string& value) {
  std::string path = value;
  if (value.find("://") != std::string::npos) {
    if (!value.starts_with("hdfs://")) return configuration.error(key, "a folder of HDFS");
    path = path_of(value);
  }
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (path == "/" || !check_path(path).ok()) return configuration.error(key, "a folder of HDFS");
  return path;
}

}  // namespace

base::Result<> read_node_logs(RangeReader& file, const std::string& node, LogSink& sink) {
  LogParser parser(node, sink);
  return read_tfile(file, parser);
}

std::string node_of_file(std::string_view name) {
  const auto number = [](std::string_view text) {
    return text.empty() ? std::nullopt : base::parse_integer(text);
  };
  std::size_t mark = name.rfind('_');
  if (mark == std::string_view::npos || !number(name.substr(mark + 1))) return std::string(name);
  if (*number(name.substr(mark + 1)) > kMaxPort) {  // the time of a part of a long job's logs
    name = name.substr(0, mark);
    mark = name.rfind('_');
    if (mark == std::string_view::npos) return std::string(name);
  }
  return base::format("{}:{}", name.substr(0, mark), name.substr(mark + 1));
}

base::Result<std::vector<std::string>> log_folders(const Configuration& configuration,
                                                   const std::string& user,
                                                   const ApplicationId& application) {
  constexpr std::string_view kRootKey = "yarn.nodemanager.remote-app-log-dir";
  const std::string own_root = configuration.get_or(kRootKey, "/tmp/logs");
  const std::string own_suffix =
      configuration.get_or("yarn.nodemanager.remote-app-log-dir-suffix", "logs");
  std::vector<std::string> formats = configuration.list("yarn.log-aggregation.file-formats");
  if (formats.empty()) formats = {"TFile"};
  const std::string id = to_string(application);
  std::vector<std::string> out;
  // Since 3.3 applications are spread over buckets; before, they lay all in one folder.
  const auto add = [&](const std::string& root, const std::string& suffix) {
    out.push_back(base::format("{}/{}/bucket-{}/{:04}/{}", root, user, suffix,
                               application.id % kBuckets, id));
    out.push_back(base::format("{}/{}/{}/{}", root, user, suffix, id));
  };
  for (const std::string& format : formats) {
    const std::string prefix = "yarn.log-aggregation." + format + ".remote-app-log-dir";
    const std::string root = configuration.get_or(prefix, own_root);
    GANGRUN_ASSIGN(
        const std::string path,
        folder_of(configuration, configuration.get(prefix) ? prefix : std::string(kRootKey), root));
    add(path, configuration.get_or(prefix + "-suffix",
                                   own_suffix + "-" + base::in_small_letters(format)));
  }
  GANGRUN_ASSIGN(const std::string root, folder_of(configuration, std::string(kRootKey), own_root));
  add(root, own_suffix);
  return out;
}

base::Result<std::vector<NodeLogs>> find_node_logs(WebHdfs& hdfs,
                                                   const std::vector<std::string>& folders,
                                                   base::Instant deadline) {
  for (const std::string& folder : folders) {
    auto files = hdfs.list(folder, deadline);
    if (!files.ok() && files.error().code == base::Code::kNotFound) continue;
    if (!files.ok()) return std::move(files).error().context("looking for aggregated logs");
    std::vector<NodeLogs> out;
    for (const FileStatus& file : *files) {
      if (file.name.ends_with(kArchived)) {
        return base::Error{base::Code::kFailedPrecondition,
                           base::format("the aggregated logs in {} have been packed into {}, which "
                                        "is not read; \"yarn logs\" reads it",
                                        folder, file.name)};
      }
      if (file.is_folder || file.name.ends_with(kUnfinished)) continue;
      out.push_back({node_of_file(file.name), folder + "/" + file.name, file.length});
    }
    if (!out.empty()) return out;
  }
  return base::not_found(
      base::format("there are no aggregated logs (yet) in {}", base::join(folders, " or ")));
}

base::Result<> read_node_logs(WebHdfs& hdfs, const NodeLogs& logs, LogSink& sink,
                              base::Instant deadline) {
  HdfsFile file(hdfs, logs, deadline);
  GANGRUN_ASSIGN(const bool known, is_tfile(file).context("reading " + logs.path));
  if (!known) {
    return base::Error{
        base::Code::kFailedPrecondition,
        base::format("{} is not in the format TFile (yarn.log-aggregation.file-formats), the only "
                     "one that is read; \"yarn logs\" reads the others",
                     logs.path)};
  }
  return read_node_logs(file, logs.node, sink).context("reading " + logs.path);
}

}  // namespace gangrun::hadoop
