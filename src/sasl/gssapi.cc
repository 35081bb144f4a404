#include "sasl/gssapi.h"

#include <array>
#include <utility>

#include "base/format.h"
#include "base/secret.h"
#include "sasl/failure.h"
#include "sasl/keytab.h"
#include "sasl/library.h"

namespace gangrun::sasl {

namespace {

using base::Result;

// RFC 2744: mutual, sequence, confidentiality, integrity. Without delegation: nobody gets our
// ticket.
constexpr std::uint32_t kMutual = 2;
constexpr std::uint32_t kFlags = kMutual | 8U | 16U | 32U;
constexpr std::size_t kCacheNameDigits = 16;

using Library = std::shared_ptr<const Functions>;

bool is_error(Status major) { return (major & kErrorMask) != 0; }

class GssContext final : public SecurityContext {
 public:
  GssContext(Library library, LoginAttempt attempt, const Oid& mechanism)
      : library_(std::move(library)),
        attempt_(std::move(attempt)),
        mechanism_(mechanism),
        server_(library_->release_name),
        credential_(library_->release_credential) {}
  GssContext(const GssContext&) = delete;
  GssContext& operator=(const GssContext&) = delete;
  ~GssContext() override {
    Status minor = 0;
    if (context_ != nullptr) library_->delete_context(&minor, &context_, nullptr);
  }

  Name* server() { return server_.place(); }
  Credential* credential() { return credential_.place(); }

  Result<std::string> step(std::string_view token) override {
    if (established_) {
      return base::Error{base::Code::kUnauthenticated, "Kerberos: the login is over already"};
    }
    const Buffer in = buffer_of(token);
    Buffer out;
    Status minor = 0;
    std::uint32_t flags = 0;
    const Status major = library_->init_context(
        &minor, credential_.get(), &context_, server_.get(), &mechanism_, kFlags, 0, nullptr,
        token.empty() ? nullptr : &in, nullptr, &out, &flags, nullptr);
    std::string answer = take(*library_, out);
    if (is_error(major)) return error(major, minor);
    if ((major & kContinueNeeded) == 0) {
      if ((flags & kMutual) == 0) {
        return base::Error{base::Code::kUnauthenticated,
                           base::format("{} does not prove who it is", attempt_.server)};
      }
      established_ = true;
    }
    return answer;
  }

  [[nodiscard]] bool established() const override { return established_; }

  Result<std::string> wrap(std::string_view bytes, bool confidential) override {
    const Buffer in = buffer_of(bytes);
    Buffer out;
    Status minor = 0;
    int is_confidential = 0;
    const Status major =
        library_->wrap(&minor, context_, confidential ? 1 : 0, 0, &in, &is_confidential, &out);
    std::string token = take(*library_, out);
    if (is_error(major)) return error(major, minor);
    if (confidential && is_confidential == 0) {
      return base::Error{
          base::Code::kFailedPrecondition,
          base::format("Kerberos: the key for {} can sign but not encrypt", attempt_.server)};
    }
    return token;
  }

  Result<Unwrapped> unwrap(std::string_view token) override {
    const Buffer in = buffer_of(token);
    Buffer out;
    Status minor = 0;
    int confidential = 0;
    const Status major = library_->unwrap(&minor, context_, &in, &out, &confidential, nullptr);
    std::string bytes = take(*library_, out);
    if (is_error(major)) return error(major, minor);
    // A token that is old, or comes before its turn, is no error to the library.
    if (major != 0) {
      return base::Error{
          base::Code::kDataLoss,
          base::format("Kerberos: a piece from {} is out of its order", attempt_.server)};
    }
    return Unwrapped{std::move(bytes), confidential != 0};
  }

  Result<std::uint32_t> max_wrapped(bool confidential, std::uint32_t max_token_bytes) override {
    std::uint32_t size = 0;
    Status minor = 0;
    const Status major = library_->wrap_size_limit(&minor, context_, confidential ? 1 : 0, 0,
                                                   max_token_bytes, &size);
    if (is_error(major)) return error(major, minor);
    return size;
  }

 private:
  [[nodiscard]] base::Error error(Status major, Status minor) const {
    return to_error(failure_of(*library_, major, minor, mechanism_), attempt_);
  }

  const Library library_;
  const LoginAttempt attempt_;
  const Oid& mechanism_;
  Held<Name> server_;
  Held<Credential> credential_;
  Context context_ = nullptr;
  bool established_ = false;
};

class GssIdentity final : public Identity {
 public:
  GssIdentity(Library library, const IdentityOptions& options)
      : library_(std::move(library)), name_(options.principal) {
    attempt_.client = options.principal;
    attempt_.keytab = options.keytab;
    if (!options.keytab.empty()) {
      keytab_ = "FILE:" + options.keytab;
      // A cache of this process only, and of nobody else in it.
      cache_ = "MEMORY:gangrun-" + base::Secret::generate().reveal().substr(0, kCacheNameDigits);
    }
  }

  // Looks for the ticket and learns whose it is.
  Result<> begin() {
    Held<Credential> credential(library_->release_credential);
    GANGRUN_TRY(acquire(kKerberosMechanism, attempt_, credential.place()));
    GANGRUN_TRY(seconds_left(credential.get()));
    Held<Name> name(library_->release_name);
    Status minor = 0;
    Status major =
        library_->inquire(&minor, credential.get(), name.place(), nullptr, nullptr, nullptr);
    if (is_error(major)) return error(major, minor);
    Buffer text;
    major = library_->display_name(&minor, name.get(), &text, nullptr);
    const std::string words = take(*library_, text);
    if (is_error(major)) return error(major, minor);
    GANGRUN_ASSIGN(principal_, parse_principal(words));
    attempt_.client = words;
    return {};
  }

  [[nodiscard]] const Principal& principal() const override { return principal_; }

  Result<std::chrono::seconds> lifetime() const override {
    Held<Credential> credential(library_->release_credential);
    GANGRUN_TRY(acquire(kKerberosMechanism, attempt_, credential.place()));
    return seconds_left(credential.get());
  }

  // Tickets are looked for each time: kinit may have been there, and a keytab's are renewed.
  Result<std::unique_ptr<SecurityContext>> open(const Principal& server,
                                                GssMechanism mechanism) const override {
    GANGRUN_TRY(lifetime());
    LoginAttempt attempt = attempt_;
    attempt.server = to_string(server);
    const Oid& oid =
        mechanism == GssMechanism::kKerberos ? kKerberosMechanism : kNegotiateMechanism;
    auto context = std::make_unique<GssContext>(library_, attempt, oid);
    GANGRUN_TRY(acquire(oid, attempt, context->credential()));
    GANGRUN_TRY(import(server, context->server()));
    return std::unique_ptr<SecurityContext>(std::move(context));
  }

 private:
  [[nodiscard]] base::Error error(Status major, Status minor) const {
    return to_error(failure_of(*library_, major, minor, kKerberosMechanism), attempt_);
  }

  Result<> acquire(const Oid& mechanism, const LoginAttempt& attempt,
                   Credential* credential) const {
    Held<Name> name(library_->release_name);
    if (!name_.empty()) GANGRUN_TRY(import_text(name_, kPrincipalName, name.place()));
    const OidSet mechanisms{1, &mechanism};
    const std::array<StoreEntry, 2> entries{
        {{"client_keytab", keytab_.c_str()}, {"ccache", cache_.c_str()}}};
    const Store store{entries.size(), entries.data()};
    Status minor = 0;
    const Status major =
        library_->acquire(&minor, name.get(), kForever, &mechanisms, kInitiate,
                          keytab_.empty() ? nullptr : &store, credential, nullptr, nullptr);
    if (!is_error(major)) return {};
    return to_error(failure_of(*library_, major, minor, mechanism), attempt);
  }

  Result<std::chrono::seconds> seconds_left(Credential credential) const {
    std::uint32_t lifetime = 0;
    Status minor = 0;
    const Status major =
        library_->inquire(&minor, credential, nullptr, &lifetime, nullptr, nullptr);
    if (is_error(major)) return error(major, minor);
    // The library hands out a ticket that has expired, and says of it that no time is left.
    if (lifetime == 0) return to_error({.major = 11U << 16U}, attempt_);
    return std::chrono::seconds(lifetime);
  }

  Result<> import_text(const std::string& text, const Oid& kind, Name* name) const {
    const Buffer buffer = buffer_of(text);
    Status minor = 0;
    const Status major = library_->import_name(&minor, &buffer, &kind, name);
    return is_error(major) ? Result<>(error(major, minor)) : Result<>();
  }

  // A realm that is known is not to be guessed from the host's name.
  Result<> import(const Principal& server, Name* name) const {
    if (server.realm.empty() && server.components.size() == 2) {
      return import_text(base::format("{}@{}", server.components[0], server.components[1]),
                         kHostBasedName, name);
    }
    return import_text(to_string(server), kPrincipalName, name);
  }

  const Library library_;
  const std::string name_;  // empty: the ticket cache's
  std::string keytab_;
  std::string cache_;
  LoginAttempt attempt_;
  Principal principal_;
};

}  // namespace

Result<std::unique_ptr<Identity>> open_identity(const IdentityOptions& options) {
  IdentityOptions exact = options;
  if (!options.keytab.empty()) {
    GANGRUN_ASSIGN(const Principal found, find_in_keytab(options.keytab, options.principal));
    exact.principal = to_string(found);
  } else if (!options.principal.empty()) {
    GANGRUN_TRY(parse_principal(options.principal));
  }
  GANGRUN_ASSIGN(Library library, load_library());
  auto identity = std::make_unique<GssIdentity>(std::move(library), exact);
  GANGRUN_TRY(identity->begin());
  return std::unique_ptr<Identity>(std::move(identity));
}

}  // namespace gangrun::sasl
