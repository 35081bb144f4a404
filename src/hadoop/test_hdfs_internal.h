#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "hadoop/web_hdfs.h"
#include "net/event_loop.h"
#include "net/server.h"

namespace gangrun::hadoop {

inline base::Instant test_deadline() {
  return std::chrono::steady_clock::now() + base::seconds(20);
}

inline net::HttpResponse json_answer(std::string body, int status = 200) {
  return {status, "application/json", {}, std::move(body)};
}

inline net::HttpResponse exception_answer(int status, const std::string& name,
                                          const std::string& message) {
  base::Json json;
  json["RemoteException"] = {{"exception", name}, {"message", message}};
  return json_answer(base::dump_json(json), status);
}

// Enough of a NameNode and a DataNode for tests: files in memory behind WebHDFS, on a thread.
class FakeHdfs {
 public:
  struct Node {
    bool is_folder = false;
    std::string content;
    std::uint32_t permission = 0755;
    std::int64_t time = 0;
  };

  FakeHdfs() {
    port_ = *server_.listen_loopback(0);
    server_.on_request([this](const net::HttpRequest& request, net::Responder responder) {
      const std::lock_guard lock(mutex_);
      seen_.push_back(request);
      auto query = request.query;
      net::HttpResponse response = answer(request);
      if (never_closes_ && query["op"] == "CREATE" && !query.contains("noredirect")) {
        return unanswered_.push_back(std::move(responder));
      }
      responder.answer(std::move(response));
    });
    nodes_["/"] = {true, {}, 0755, 1};
    thread_ = std::thread([this] { loop_.run(); });
  }
  FakeHdfs(const FakeHdfs&) = delete;
  FakeHdfs& operator=(const FakeHdfs&) = delete;
  ~FakeHdfs() {
    loop_.stop();
    thread_.join();
  }

  [[nodiscard]] std::string address() const { return base::format("http://127.0.0.1:{}", port_); }
  [[nodiscard]] FileSystem file_system() const { return {"hdfs", "nn", 8020, {address()}}; }
  [[nodiscard]] WebHdfs client() const { return {file_system(), {.user = "alice"}}; }

  // Asked before anything is done; what it answers is the answer.
  void on_call(std::function<std::optional<net::HttpResponse>(const net::HttpRequest&)> hook) {
    const std::lock_guard lock(mutex_);
    hook_ = std::move(hook);
  }
  // The file that is created is there, but the DataNode does not say so.
  void never_close() {
    const std::lock_guard lock(mutex_);
    never_closes_ = true;
  }
  [[nodiscard]] std::vector<net::HttpRequest> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  // How many calls of this operation there were.
  [[nodiscard]] int count(const std::string& operation) {
    int out = 0;
    for (auto request : seen()) out += request.query["op"] == operation ? 1 : 0;
    return out;
  }
  [[nodiscard]] std::map<std::string, Node> nodes() {
    const std::lock_guard lock(mutex_);
    return nodes_;
  }
  void put(const std::string& path, const Node& node) {
    const std::lock_guard lock(mutex_);
    nodes_[path] = node;
  }

 private:
  static std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 ? "/" : path.substr(0, slash);
  }

  static base::Json status_of(const Node& node, const std::string& name) {
    return {{"length", node.content.size()},
            {"modificationTime", node.time},
            {"owner", "alice"},
            {"group", "users"},
            {"pathSuffix", name},
            {"permission", base::format("{:o}", node.permission)},
            {"type", node.is_folder ? "DIRECTORY" : "FILE"}};
  }

  static net::HttpResponse not_found(const std::string& path) {
    return exception_answer(404, "FileNotFoundException", "File does not exist: " + path);
  }

  net::HttpResponse answer(const net::HttpRequest& request) {
    if (hook_) {
      if (auto answer = hook_(request)) return *answer;
    }
    const std::string path = request.path.substr(std::string("/webhdfs/v1").size());
    auto query = request.query;
    const std::string& operation = query["op"];
    if (query.contains("noredirect")) return location(request);
    if (operation == "CREATE") return create(path, query, request.body);
    if (operation == "MKDIRS") return make_folders(path, query["permission"]);
    if (operation == "GETHOMEDIRECTORY") return json_answer(R"({"Path":"/user/alice"})");
    if (operation == "GETDELEGATIONTOKEN") return json_answer(R"({"Token":{"urlString":"TKN"}})");
    const auto node = nodes_.find(path);
    if (operation == "DELETE") return remove(path);
    if (node == nodes_.end()) return not_found(path);
    if (operation == "GETFILESTATUS") {
      return json_answer(base::dump_json({{"FileStatus", status_of(node->second, "")}}));
    }
    if (operation == "LISTSTATUS") return list(path);
    if (operation == "RENAME") return rename(path, query["destination"]);
    if (operation == "SETTIMES") {
      node->second.time = std::stoll(query["modificationtime"]);
    } else if (operation == "OPEN") {
      return open(node->second, query);
    }
    return json_answer("");
  }

  net::HttpResponse location(const net::HttpRequest& request) {
    auto query = request.query;
    query.erase("noredirect");
    if (query["op"] == "OPEN" && !nodes_.contains(request.path.substr(11))) {
      return not_found(request.path.substr(11));
    }
    const base::Json json{{"Location", address() + net::make_target(request.path, query)}};
    return json_answer(base::dump_json(json));
  }

  net::HttpResponse create(const std::string& path, std::map<std::string, std::string>& query,
                           const std::string& body) {
    if (nodes_.contains(path) && query["overwrite"] != "true") {
      return exception_answer(403, "FileAlreadyExistsException", path + " already exists");
    }
    make_folders(parent_of(path), "755");
    nodes_[path] = {false, body,
                    static_cast<std::uint32_t>(std::stoul(query["permission"], nullptr, 8)),
                    ++time_};
    return json_answer("", 201);
  }

  net::HttpResponse make_folders(const std::string& path, const std::string& permission) {
    if (nodes_.contains(path)) return json_answer(R"({"boolean":true})");
    make_folders(parent_of(path), permission);
    nodes_[path] = {
        true, {}, static_cast<std::uint32_t>(std::stoul(permission, nullptr, 8)), ++time_};
    return json_answer(R"({"boolean":true})");
  }

  net::HttpResponse list(const std::string& path) {
    base::Json files = base::Json::array();
    for (const auto& [name, node] : nodes_) {
      if (name != "/" && name != path && parent_of(name) == path) {
        files.push_back(status_of(node, name.substr(name.rfind('/') + 1)));
      }
    }
    return json_answer(base::dump_json({{"FileStatuses", {{"FileStatus", files}}}}));
  }

  net::HttpResponse rename(const std::string& from, const std::string& to) {
    if (nodes_.contains(to)) {
      return exception_answer(403, "FileAlreadyExistsException", to + " already exists");
    }
    std::map<std::string, Node> moved;
    for (auto it = nodes_.begin(); it != nodes_.end();) {
      if (it->first == from || it->first.starts_with(from + "/")) {
        moved[to + it->first.substr(from.size())] = it->second;
        it = nodes_.erase(it);
      } else {
        ++it;
      }
    }
    nodes_.merge(moved);
    return json_answer("");
  }

  net::HttpResponse remove(const std::string& path) {
    const auto erased = std::erase_if(nodes_, [&](const auto& item) {
      return item.first == path || item.first.starts_with(path + "/");
    });
    return json_answer(erased > 0 ? R"({"boolean":true})" : R"({"boolean":false})");
  }

  static net::HttpResponse open(const Node& node, std::map<std::string, std::string>& query) {
    const std::size_t offset = query.contains("offset") ? std::stoull(query["offset"]) : 0;
    const std::size_t length =
        query.contains("length") ? std::stoull(query["length"]) : std::string::npos;
    if (offset > 0 && offset >= node.content.size()) {
      return exception_answer(403, "IOException", "Offset out of the range");
    }
    return {200, "application/octet-stream", {}, node.content.substr(offset, length)};
  }

  net::EventLoop loop_;
  net::Server server_{loop_};
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::function<std::optional<net::HttpResponse>(const net::HttpRequest&)> hook_;
  bool never_closes_ = false;
  std::vector<net::Responder> unanswered_;
  std::vector<net::HttpRequest> seen_;
  std::map<std::string, Node> nodes_;
  std::int64_t time_ = 1000;
  std::thread thread_;
};

}  // namespace gangrun::hadoop
