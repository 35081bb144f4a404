#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/described_json.h"
#include "base/json.h"
#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "net/http.h"
#include "net/server.h"

// The common part of this room's HTTP servers: whom they let in, and how they answer.
namespace gangrun::wire {

// Tells who knows the job's secret; on a Unix socket the other side must also be of this user, or
// root.
class Gatekeeper {
 public:
  // `name` is the server's in the log, which tells of the first refused request by each way.
  Gatekeeper(base::Secret secret, std::string name, base::Logger& logger);

  [[nodiscard]] bool admits(const net::HttpRequest& request);
  // Lets nobody else into `server`, which does not outlive this.
  void guard(net::Server& server);

 private:
  const base::Secret secret_;
  const std::string name_;
  base::Logger& logger_;
  std::set<net::PeerKind> told_;
};

net::HttpResponse json_response(int status, std::string body);
net::HttpResponse error_answer(int status, std::string_view code, std::string_view message);
net::HttpResponse error_answer(const base::Error& error);
net::HttpResponse method_not_allowed(std::string_view allowed);
// The same for every request.
net::HttpResponse unauthorized();

// An object with none but these members.
base::Result<base::Json> parse_body(const std::string& body,
                                    const std::vector<std::string>& members);

// The body of a request: an object with none but the members of a T.
template <base::Described T>
base::Result<T> body_from(const std::string& body) {
  std::vector<std::string> members;
  for (const base::MemberWords& member : base::members_of<T>()) members.push_back(member.key);
  GANGRUN_ASSIGN(const base::Json json, parse_body(body, members));
  return base::from_json<T>(json);
}

}  // namespace gangrun::wire
