#include "kubernetes/client.h"

#include "base/format.h"
#include "kubernetes/asking.h"
#include "kubernetes/core.h"
#include "kubernetes/exec_stream.h"
#include "kubernetes/forward_stream.h"
#include "kubernetes/log_stream.h"
#include "kubernetes/value_at.h"
#include "kubernetes/watch.h"
#include "net/url.h"

namespace gangrun::kubernetes {

namespace {

// The answer to a request comes by its deadline; this is for a loop that is busy.
constexpr base::Duration kAskMargin = base::seconds(5);

class ApiClient final : public Client {
 public:
  ApiClient(net::EventLoop& loop, base::Logger& logger, Access access)
      : core_{loop, logger, std::move(access), {}, {}, {}} {}

  base::Result<> start(PluginRunner run_plugin) {
    GANGRUN_ASSIGN(const net::Url url, net::parse_url(core_.access.remote.url));
    core_.prefix = url.target;
    GANGRUN_ASSIGN(core_.logins,
                   LoginSource::make(core_.loop, core_.clock, core_.access, std::move(run_plugin)));
    return {};
  }

  [[nodiscard]] const Access& access() const override { return core_.access; }

  ActivityHandle request(Request request, base::Instant deadline,
                         std::function<void(ApiAnswer)> on_done) override {
    return std::make_unique<Asking>(core_, std::move(request), deadline, std::move(on_done));
  }

  ActivityHandle watch(WatchRequest request, WatchCallbacks callbacks) override {
    return std::make_unique<Watch>(core_, std::move(request), std::move(callbacks));
  }

  ActivityHandle read_log(LogRequest request, LogCallbacks callbacks) override {
    return std::make_unique<LogStream>(core_, std::move(request), std::move(callbacks));
  }

  ActivityHandle exec(ExecRequest request, base::Instant deadline,
                      ExecCallbacks callbacks) override {
    return std::make_unique<ExecStream>(core_, request, deadline, std::move(callbacks));
  }

  std::unique_ptr<Tunnel> forward(std::string name_space, std::string pod, std::uint16_t port,
                                  base::Instant deadline, TunnelCallbacks callbacks) override {
    return std::make_unique<ForwardStream>(core_, name_space, pod, port, deadline,
                                           std::move(callbacks));
  }

 private:
  Core core_;
};

}  // namespace

base::Result<std::unique_ptr<Client>> Client::make(net::EventLoop& loop, base::Logger& logger,
                                                   Access access, PluginRunner run_plugin) {
  auto client = std::make_unique<ApiClient>(loop, logger, std::move(access));
  GANGRUN_TRY(client->start(std::move(run_plugin)));
  return std::unique_ptr<Client>(std::move(client));
}

base::Result<base::Json> ask(net::EventLoop& loop, Client& client, Request request,
                             base::Instant deadline) {
  std::optional<base::Result<base::Json>> object;
  const ActivityHandle asking =
      client.request(std::move(request), deadline,
                     [&object](ApiAnswer answer) { object.emplace(std::move(answer.object)); });
  if (!loop.run_until([&object] { return object.has_value(); }, deadline + kAskMargin)) {
    return base::Error{base::Code::kCancelled, "the program was told to stop meanwhile"};
  }
  return std::move(*object);
}

base::Result<std::vector<base::Json>> list(net::EventLoop& loop, Client& client,
                                           const std::string& path,
                                           std::vector<std::pair<std::string, std::string>> query,
                                           base::Instant deadline) {
  std::vector<base::Json> objects;
  std::string next;
  query.emplace_back("limit", base::format("{}", kPageObjects));
  for (int page_number = 0; page_number < kMaxPages; ++page_number) {
    Request request{.path = path, .query = query, .max_answer_bytes = kMaxPageBytes};
    if (!next.empty()) request.query.emplace_back("continue", next);
    GANGRUN_ASSIGN(base::Json page, ask(loop, client, std::move(request), deadline));
    if (!value_at(page, {"items"}).is_array()) {
      return base::unavailable("the answer is not a list of an API server");
    }
    for (base::Json& item : page["items"]) {
      if (item.is_object()) objects.push_back(std::move(item));
    }
    next = text_at(page, {"metadata", "continue"});
    if (next.empty()) return objects;
  }
  return base::unavailable(base::format("the list of {} has more than {} pages", path, kMaxPages));
}

}  // namespace gangrun::kubernetes
