#include "mirror/kerberos_login.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/letters.h"
#include "base/strings.h"
#include "mirror/login_errand.h"
#include "process/pipe.h"
#include "process/spawn.h"

namespace gangrun::mirror {

namespace {

using base::Result;

constexpr const char* kDefaultServer = "zookeeper/_HOST";
// The time in which a process that was killed is gone.
constexpr std::chrono::seconds kGone(10);

// In small letters, as Kerberos' databases have hosts.
std::string with_host(std::string server, const std::string& host) {
  if (server.empty()) server = kDefaultServer;
  const std::size_t at = server.find(base::kHostPattern);
  if (at == std::string::npos) return server;
  return server.replace(at, base::kHostPattern.size(), base::in_small_letters(host));
}

class KerberosLogin final : public zookeeper::Login {
 public:
  KerberosLogin(net::EventLoop& loop, std::string program, LoginErrand errand)
      : loop_(loop), program_(std::move(program)), errand_(std::move(errand)) {}
  KerberosLogin(const KerberosLogin&) = delete;
  KerberosLogin& operator=(const KerberosLogin&) = delete;
  ~KerberosLogin() override {
    heard_.reset();
    if (!child_) return;
    // It may be waiting for a server of Kerberos.
    (void)child_->signal(SIGKILL);
    (void)child_->wait(loop_.now() + kGone);
  }

  void respond(const std::string& challenge,
               std::function<void(Result<std::string>)> answered) override {
    answered_ = std::move(answered);
    std::string line = challenge_line(challenge);
    if (!child_) {
      const Result<> begun = begin();
      if (!begun.ok()) return answer(begun.error());
      line = to_line(errand_) + line;
    }
    // A reader that does not read could stop us.
    if (line.size() > kMaxLoginLineBytes / 8) {
      return answer(base::unavailable("the server says too much while somebody logs in"));
    }
    const Result<> told = base::write_all(input_.get(), line, program_);
    if (!told.ok()) answer(told.error());
  }
  [[nodiscard]] bool has_answered() const override { return has_answered_; }
  Result<> finish(const std::string& token) override {
    if (token.empty()) return {};
    return base::Error{base::Code::kUnauthenticated,
                       "the server says more than is expected at the end of a login"};
  }

 private:
  Result<> begin() {
    GANGRUN_ASSIGN(process::Pipe input, process::make_pipe());
    GANGRUN_ASSIGN(process::Pipe output, process::make_pipe());
    process::SpawnOptions options;
    options.argv = {program_, kLoginErrandCommand};
    options.environment = process::inherited_environment();
    options.standard_input = input.read.get();
    options.standard_output = output.write.get();
    options.parent_death_signal = SIGKILL;
    GANGRUN_ASSIGN(child_, process::spawn(options));
    input_ = std::move(input.write);
    output_ = std::move(output.read);
    heard_ = loop_.watch_readable(output_.get(), [this] { hear(); });
    return {};
  }

  void hear() {
    char buffer[4096];
    const ssize_t got = ::read(output_.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) return;
    if (got <= 0 || line_.size() > kMaxLoginLineBytes) {
      heard_.reset();
      return answer(base::internal("gangrun ended while it logged in by Kerberos"));
    }
    line_.append(buffer, static_cast<std::size_t>(got));
    const std::size_t end = line_.find('\n');
    if (end == std::string::npos) return;
    const auto said = login_answer_from(std::string_view(line_).substr(0, end));
    line_.clear();
    if (!said.ok()) return answer(said.error());
    has_answered_ = said->is_last;
    answer(said->token);
  }

  void answer(Result<std::string> token) {
    const auto answered = std::exchange(answered_, nullptr);
    if (answered) answered(std::move(token));
  }

  net::EventLoop& loop_;
  const std::string program_;
  const LoginErrand errand_;
  std::function<void(Result<std::string>)> answered_;
  bool has_answered_ = false;
  std::optional<process::Child> child_;
  base::UniqueFd input_;
  base::UniqueFd output_;
  std::string line_;
  net::Watch heard_;
};

}  // namespace

zookeeper::LoginStart kerberos_login(net::EventLoop& loop, const LoginProgram& program,
                                     const std::string& server) {
  return [&loop, program, server](const std::string& host) -> std::unique_ptr<zookeeper::Login> {
    return std::make_unique<KerberosLogin>(loop, program.path,
                                           LoginErrand{.server = with_host(server, host),
                                                       .principal = program.principal,
                                                       .keytab = program.keytab,
                                                       .krb5_config = program.krb5_config});
  };
}

}  // namespace gangrun::mirror
