#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"
#include "hadoop/account.h"
#include "hadoop/file_system.h"
#include "hadoop/web_hdfs_wire.h"
#include "hadoop/web_login.h"
#include "net/compression.h"
#include "net/fetch.h"

namespace gangrun::hadoop {

// The user that we are, and how to prove it. On a cluster without Kerberos the name is believed.
struct WebHdfsOptions {
  std::string user;
  std::string real_user{};  // who acts for that user (a proxy user); empty: the user
  // A delegation token in WebHDFS' form; then no name is sent.
  base::Secret delegation{};
  // On a cluster with Kerberos, without a delegation token; else null.
  std::shared_ptr<WebLogin> login{};
  std::string authorities_file{};  // see net::FetchOptions
  base::Duration connect_limit = base::seconds(10);
  base::Duration idle_limit = base::seconds(60);
  // See net::FetchOptions.
  std::function<bool()> is_cancelled{};
};

WebHdfsOptions web_hdfs_options(const Account& account);

struct CreateOptions {
  bool overwrite = false;
  std::uint32_t permission = 0644;  // exactly: no umask is applied
};

// A token that may be replaced while it is in use. From any thread.
class CurrentToken {
 public:
  explicit CurrentToken(base::Secret token) : token_(std::move(token)) {}

  [[nodiscard]] base::Secret get() const {
    const std::lock_guard lock(mutex_);
    return token_;
  }
  void set(base::Secret token) {
    const std::lock_guard lock(mutex_);
    token_ = std::move(token);
  }

 private:
  mutable std::mutex mutex_;
  base::Secret token_;
};

// HDFS over its REST interface. Calls block until `deadline` at most, each on connections of its
// own, and go round the NameNodes until an active one answers. Paths are absolute. One thread at a
// time.
//
// Errors name the call, the path, the address and what the server said. kNotFound, kAlreadyExists,
// kPermissionDenied; kUnauthenticated: Kerberos or another token is wanted; kResourceExhausted: a
// quota or the disks are full; kUnavailable: nobody answers, none is active, or HDFS is in safe
// mode, call again later; kFailedPrecondition, with the server's words, for all else.
class WebHdfs {
 public:
  WebHdfs(FileSystem file_system, WebHdfsOptions options);

  [[nodiscard]] const FileSystem& file_system() const { return file_system_; }
  // From the next request on, another token, for this one and all copies of it: from any thread,
  // also while a call is under way.
  void set_delegation(base::Secret delegation);

  base::Result<FileStatus> status(const std::string& path, base::Instant deadline);
  // By name. A file lists itself, with an empty name.
  base::Result<std::vector<FileStatus>> list(const std::string& path, base::Instant deadline);
  base::Result<std::string> home_folder(base::Instant deadline);

  // And its missing parents; an existing folder is fine and keeps its permission.
  base::Result<> make_folders(const std::string& path, std::uint32_t permission,
                              base::Instant deadline);
  // kAlreadyExists where something is at `to`, kNotFound where nothing is at `from`.
  base::Result<> rename(const std::string& from, const std::string& to, base::Instant deadline);
  // The same in place of a file that may be at `to`.
  base::Result<> rename_over(const std::string& from, const std::string& to,
                             base::Instant deadline);
  // False where nothing was there. A folder that is not empty needs `recursive`.
  base::Result<bool> remove(const std::string& path, bool recursive, base::Instant deadline);
  // Milliseconds since the epoch. YARN refuses a file whose time has changed since it was told of.
  base::Result<> set_modification_time(const std::string& path, std::int64_t time,
                                       base::Instant deadline);

  // Missing parents are made. What a failure leaves behind may be a part of the file.
  base::Result<> create(const std::string& path, std::string_view content,
                        const CreateOptions& options, base::Instant deadline);
  base::Result<> create_from(const std::string& path, const net::FileSlice& file,
                             const CreateOptions& options,
                             const std::function<void(std::uint64_t sent)>& progress,
                             base::Instant deadline);
  // All of it or nothing, in place of what may be there. Returns when HDFS has the bytes for good,
  // which is often long before it has closed the file: a DataNode that asks the NameNode for that
  // before all is recorded there asks again only after 0.4 s.
  base::Result<> replace(const std::string& path, std::string_view content,
                         std::uint32_t permission, base::Instant deadline);

  // The whole file; kResourceExhausted where it has more than `max_bytes`.
  base::Result<std::string> read(const std::string& path, std::uint64_t max_bytes,
                                 base::Instant deadline);
  // `length` bytes from `offset`, fewer only where the file ends.
  base::Result<std::string> read_range(const std::string& path, std::uint64_t offset,
                                       std::uint64_t length, base::Instant deadline);
  // The same piece by piece. An error of the sink is passed on.
  base::Result<> read_range_to(const std::string& path, std::uint64_t offset, std::uint64_t length,
                               const net::ByteSink& sink, base::Instant deadline);
  // The whole file, piece by piece.
  base::Result<> read_to(const std::string& path, std::uint64_t max_bytes,
                         const net::ByteSink& sink, base::Instant deadline);

  // A token of kind HDFS_DELEGATION_TOKEN in WebHDFS' form, for `service` ("ip:port" of the
  // NameNode's RPC, or "ha-hdfs:NAME"). A cluster without Kerberos gives none: some answer that,
  // others with kFailedPrecondition.
  base::Result<std::optional<base::Secret>> get_delegation_token(const std::string& renewer,
                                                                 const std::string& service,
                                                                 base::Instant deadline);
  // Until when the token, in WebHDFS' form, is good now. For its renewer only.
  base::Result<base::WallTime> renew_delegation_token(const base::Secret& token,
                                                      base::Instant deadline);

 private:
  struct Call {
    std::string_view method;
    std::string_view operation;
    const std::string& path;
    std::map<std::string, std::string> parameters{};
  };
  struct Transfer {
    std::string_view content{};
    std::optional<net::FileSlice> file{};
    const std::function<void(std::uint64_t)>* progress = nullptr;
    const net::ByteSink* sink = nullptr;
    std::uint64_t max_bytes = 0;
    std::function<bool()> is_done{};
  };

  // The answer of the active NameNode, a success.
  base::Result<net::HttpResponse> ask(const Call& call, base::Instant deadline);
  base::Result<net::HttpResponse> ask_one(const std::string& address, const Call& call,
                                          base::Instant deadline);
  base::Result<> put(const std::string& path, const Transfer& bytes, const CreateOptions& options,
                     base::Instant deadline);
  // The answer of the DataNode that the NameNode names, a success.
  base::Result<net::HttpResponse> transfer(const Call& call, const Transfer& transfer,
                                           base::Instant deadline);
  [[nodiscard]] net::FetchOptions fetch_options(base::Instant deadline) const;

  const FileSystem file_system_;
  const WebHdfsOptions options_;
  std::shared_ptr<CurrentToken> delegation_;  // shared with all copies
  std::size_t active_ = 0;                    // of the addresses, the one that answered last
};

}  // namespace gangrun::hadoop
