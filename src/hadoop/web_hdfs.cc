#include "hadoop/web_hdfs.h"

#include <algorithm>

#include "base/format.h"
#include "base/hex.h"
#include "hadoop/delegation_token.h"
#include "net/digests.h"
#include "net/url.h"

namespace gangrun::hadoop {

namespace {

const std::string kRoot = "/";
constexpr std::size_t kSuffixBytes = 8;

std::string octal(std::uint32_t permission) { return base::format("{:o}", permission); }

// The first of a sentence about a call: "OPEN /x at http://namenode:9870".
std::string at(std::string_view operation, const std::string& path, std::string_view address) {
  return base::format("{} {} at {}", operation, path, address);
}

bool is_success(const net::HttpResponse& response) { return response.status / 100 == 2; }

}  // namespace

WebHdfsOptions web_hdfs_options(const Account& account) {
  return {.user = account.user, .real_user = account.real_user, .login = web_login_of(account)};
}

WebHdfs::WebHdfs(FileSystem file_system, WebHdfsOptions options)
    : file_system_(std::move(file_system)),
      options_(std::move(options)),
      delegation_(std::make_shared<CurrentToken>(options_.delegation)) {}

void WebHdfs::set_delegation(base::Secret delegation) { delegation_->set(std::move(delegation)); }

net::FetchOptions WebHdfs::fetch_options(base::Instant deadline) const {
  net::FetchOptions out;
  out.deadline = deadline;
  out.connect_limit = options_.connect_limit;
  out.idle_limit = options_.idle_limit;
  out.authorities_file = options_.authorities_file;
  out.is_cancelled = options_.is_cancelled;
  return out;
}

base::Result<net::HttpResponse> WebHdfs::ask_one(const std::string& address, const Call& call,
                                                 base::Instant deadline) {
  std::map<std::string, std::string> parameters = call.parameters;
  const base::Secret delegation = delegation_->get();
  const bool acts_for_another = !options_.real_user.empty();
  if (!delegation.empty()) {
    parameters["delegation"] = delegation.reveal();
  } else {
    const std::string& self = acts_for_another ? options_.real_user : options_.user;
    if (options_.login == nullptr && !self.empty()) parameters["user.name"] = self;
    if (acts_for_another) parameters["doas"] = options_.user;
  }
  net::FetchRequest request;
  request.method = call.method;
  request.url = address + webhdfs_target(call.path, call.operation, parameters);
  if (options_.login != nullptr && delegation.empty()) {
    return options_.login->fetch(request, fetch_options(deadline));
  }
  return net::fetch(request, fetch_options(deadline));
}

base::Result<net::HttpResponse> WebHdfs::ask(const Call& call, base::Instant deadline) {
  GANGRUN_TRY(check_path(call.path));
  base::Error last = base::invalid_argument(
      base::format("{} has no NameNode that could be asked", to_string(file_system_)));
  const std::size_t count = file_system_.addresses.size();
  for (std::size_t tried = 0; tried < count; ++tried) {
    const std::string& address = file_system_.addresses[active_];
    auto answer = ask_one(address, call, deadline);
    if (answer.ok() && !is_standby(*answer)) {
      if (is_success(*answer) || answer->status == 307) return answer;
      return error_of_answer(*answer).context(at(call.operation, call.path, address));
    }
    last = answer.ok() ? error_of_answer(*answer).context(at(call.operation, call.path, address))
                       : std::move(answer).error();
    const bool next_may_answer =
        last.code == base::Code::kUnavailable || last.code == base::Code::kDeadlineExceeded;
    if (!next_may_answer || std::chrono::steady_clock::now() >= deadline) return last;
    active_ = (active_ + 1) % count;
  }
  if (file_system_.is_assumed && last.code == base::Code::kUnavailable) {
    last.message += base::format(
        "; no setting tells the web address of the NameNode of {}, so the usual port was tried. "
        "Set dfs.namenode.http-address (HOST:PORT) in hdfs-site.xml, or name the file system "
        "webhdfs://{}:PORT",
        to_string(file_system_), file_system_.host);
  }
  if (count > 1) last.message += base::format(" (and {} more NameNodes)", count - 1);
  return last;
}

base::Result<net::HttpResponse> WebHdfs::transfer(const Call& call, const Transfer& transfer,
                                                  base::Instant deadline) {
  Call first = call;
  first.parameters["noredirect"] = "true";
  GANGRUN_ASSIGN(const net::HttpResponse answer, ask(first, deadline));
  auto location = parse_location(answer);
  if (!location.ok()) {
    return std::move(location).error().context(
        at(call.operation, call.path, file_system_.addresses[active_]));
  }
  net::FetchRequest request;
  request.method = call.method;
  request.url = std::move(*location);
  if (call.method != "GET") request.headers.add("Content-Type", "application/octet-stream");
  request.body = transfer.content;
  request.file = transfer.file;
  net::FetchOptions options = fetch_options(deadline);
  if (transfer.progress != nullptr) options.progress = *transfer.progress;
  if (transfer.sink != nullptr) options.sink = *transfer.sink;
  options.is_done = transfer.is_done;
  if (transfer.max_bytes > 0) options.max_response_bytes = transfer.max_bytes;
  auto done = net::fetch(request, options).context("from the DataNode that was named");
  if (!done.ok()) return done;
  if (is_success(*done)) return done;
  const auto url = net::parse_url(request.url);
  return error_of_answer(*done).context(
      at(call.operation, call.path, url.ok() ? net::origin_of(*url) : "a DataNode"));
}

base::Result<FileStatus> WebHdfs::status(const std::string& path, base::Instant deadline) {
  GANGRUN_ASSIGN(const auto answer, ask({"GET", "GETFILESTATUS", path}, deadline));
  return parse_file_status(answer.body).context("the status of " + path);
}

base::Result<std::vector<FileStatus>> WebHdfs::list(const std::string& path,
                                                    base::Instant deadline) {
  GANGRUN_ASSIGN(const auto answer, ask({"GET", "LISTSTATUS", path}, deadline));
  auto out = parse_list(answer.body);
  if (!out.ok()) return std::move(out).context("the files of " + path);
  std::ranges::sort(*out, {}, &FileStatus::name);
  return out;
}

base::Result<std::string> WebHdfs::home_folder(base::Instant deadline) {
  GANGRUN_ASSIGN(const auto answer, ask({"GET", "GETHOMEDIRECTORY", kRoot}, deadline));
  return parse_path(answer.body).context("the home folder");
}

base::Result<> WebHdfs::make_folders(const std::string& path, std::uint32_t permission,
                                     base::Instant deadline) {
  GANGRUN_ASSIGN(const auto answer,
                 ask({"PUT", "MKDIRS", path, {{"permission", octal(permission)}}}, deadline));
  GANGRUN_ASSIGN(const bool made, parse_boolean(answer.body).context("making the folder " + path));
  if (made) return {};
  return base::Error{base::Code::kFailedPrecondition,
                     base::format("HDFS does not make the folder {}, without a reason", path)};
}

base::Result<> WebHdfs::rename(const std::string& from, const std::string& to,
                               base::Instant deadline) {
  GANGRUN_TRY(check_path(to));
  // With options HDFS says why it does not rename, and never moves into a folder that is there.
  GANGRUN_TRY(
      ask({"PUT", "RENAME", from, {{"destination", to}, {"renameoptions", "NONE"}}}, deadline));
  return {};
}

base::Result<bool> WebHdfs::remove(const std::string& path, bool recursive,
                                   base::Instant deadline) {
  GANGRUN_ASSIGN(
      const auto answer,
      ask({"DELETE", "DELETE", path, {{"recursive", recursive ? "true" : "false"}}}, deadline));
  return parse_boolean(answer.body).context("removing " + path);
}

base::Result<> WebHdfs::set_modification_time(const std::string& path, std::int64_t time,
                                              base::Instant deadline) {
  GANGRUN_TRY(ask(
      {"PUT", "SETTIMES", path, {{"modificationtime", std::to_string(time)}, {"accesstime", "-1"}}},
      deadline));
  return {};
}

base::Result<> WebHdfs::put(const std::string& path, const Transfer& bytes,
                            const CreateOptions& options, base::Instant deadline) {
  GANGRUN_TRY(transfer({"PUT",
                        "CREATE",
                        path,
                        {{"overwrite", options.overwrite ? "true" : "false"},
                         {"permission", octal(options.permission)}}},
                       bytes, deadline));
  return {};
}

base::Result<> WebHdfs::create(const std::string& path, std::string_view content,
                               const CreateOptions& options, base::Instant deadline) {
  return put(path, {.content = content}, options, deadline);
}

base::Result<> WebHdfs::create_from(const std::string& path, const net::FileSlice& file,
                                    const CreateOptions& options,
                                    const std::function<void(std::uint64_t)>& progress,
                                    base::Instant deadline) {
  return put(path, {.file = file, .progress = &progress}, options, deadline);
}

base::Result<> WebHdfs::rename_over(const std::string& from, const std::string& to,
                                    base::Instant deadline) {
  auto renamed = rename(from, to, deadline);
  if (renamed.ok() || renamed.error().code != base::Code::kAlreadyExists) return renamed;
  GANGRUN_TRY(remove(to, false, deadline));
  return rename(from, to, deadline);
}

base::Result<> WebHdfs::replace(const std::string& path, std::string_view content,
                                std::uint32_t permission, base::Instant deadline) {
  // A name that nobody has used: what has its length there is this.
  const std::string unfinished =
      base::format("{}.unfinished-{}", path, base::to_hex(net::random_bytes(kSuffixBytes)));
  Transfer bytes;
  bytes.content = content;
  if (!content.empty()) {
    bytes.is_done = [&] {
      const auto there = status(unfinished, deadline);
      return there.ok() && there->length == content.size();
    };
  }
  const auto sent = put(unfinished, bytes, {.permission = permission}, deadline);
  if (sent.ok()) return rename_over(unfinished, path, deadline);
  // A name is left where there is no room, and nothing in it.
  (void)remove(unfinished, false, deadline);
  return sent.error();
}

base::Result<std::string> WebHdfs::read(const std::string& path, std::uint64_t max_bytes,
                                        base::Instant deadline) {
  const Transfer bytes{.max_bytes = std::max<std::uint64_t>(max_bytes, 1)};
  GANGRUN_ASSIGN(auto answer, transfer({"GET", "OPEN", path}, bytes, deadline));
  return std::move(answer.body);
}

base::Result<std::string> WebHdfs::read_range(const std::string& path, std::uint64_t offset,
                                              std::uint64_t length, base::Instant deadline) {
  std::string out;
  GANGRUN_TRY(read_range_to(path, offset, length, net::append_to(out), deadline));
  return out;
}

base::Result<> WebHdfs::read_range_to(const std::string& path, std::uint64_t offset,
                                      std::uint64_t length, const net::ByteSink& sink,
                                      base::Instant deadline) {
  if (length == 0) return {};  // a server takes it for "all"
  GANGRUN_TRY(transfer({"GET",
                        "OPEN",
                        path,
                        {{"offset", std::to_string(offset)}, {"length", std::to_string(length)}}},
                       {.sink = &sink, .max_bytes = length}, deadline));
  return {};
}

base::Result<> WebHdfs::read_to(const std::string& path, std::uint64_t max_bytes,
                                const net::ByteSink& sink, base::Instant deadline) {
  const Transfer bytes{.sink = &sink, .max_bytes = std::max<std::uint64_t>(max_bytes, 1)};
  GANGRUN_TRY(transfer({"GET", "OPEN", path}, bytes, deadline));
  return {};
}

base::Result<std::optional<base::Secret>> WebHdfs::get_delegation_token(const std::string& renewer,
                                                                        const std::string& service,
                                                                        base::Instant deadline) {
  GANGRUN_ASSIGN(
      const auto answer,
      ask({"GET",
           "GETDELEGATIONTOKEN",
           kRoot,
           {{"renewer", renewer}, {"service", service}, {"kind", "HDFS_DELEGATION_TOKEN"}}},
          deadline));
  return parse_token(answer.body).context("the delegation token");
}

base::Result<base::WallTime> WebHdfs::renew_delegation_token(const base::Secret& token,
                                                             base::Instant deadline) {
  GANGRUN_ASSIGN(
      const auto answer,
      ask({"PUT", "RENEWDELEGATIONTOKEN", kRoot, {{"token", token.reveal()}}}, deadline));
  GANGRUN_ASSIGN(const auto time, parse_long(answer.body).context("the renewed token"));
  return wall_time_of(time);
}

}  // namespace gangrun::hadoop
