#include "sasl/library.h"

#include <dlfcn.h>

#include <utility>

#include "base/format.h"

namespace gangrun::sasl {

namespace {

constexpr const char* kLibrary = "libgssapi_krb5.so.2";
constexpr int kOfTheCall = 1;       // GSS_C_GSS_CODE
constexpr int kOfTheMechanism = 2;  // GSS_C_MECH_CODE
// A status may have several lines; no library has so many.
constexpr int kMaxLines = 8;

std::string last_words() {
  const char* const words = ::dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread
  return words == nullptr ? "no reason is given" : words;
}

template <typename Function>
base::Result<> find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function != nullptr) return {};
  return base::Error{
      base::Code::kFailedPrecondition,
      base::format("{} is not MIT's Kerberos, or too old: {}", kLibrary, last_words())};
}

base::Result<> find_all(void* library, Functions& out) {
  GANGRUN_TRY(find(library, "gss_import_name", out.import_name));
  GANGRUN_TRY(find(library, "gss_display_name", out.display_name));
  GANGRUN_TRY(find(library, "gss_release_name", out.release_name));
  GANGRUN_TRY(find(library, "gss_acquire_cred_from", out.acquire));
  GANGRUN_TRY(find(library, "gss_inquire_cred", out.inquire));
  GANGRUN_TRY(find(library, "gss_release_cred", out.release_credential));
  GANGRUN_TRY(find(library, "gss_init_sec_context", out.init_context));
  GANGRUN_TRY(find(library, "gss_delete_sec_context", out.delete_context));
  GANGRUN_TRY(find(library, "gss_wrap", out.wrap));
  GANGRUN_TRY(find(library, "gss_unwrap", out.unwrap));
  GANGRUN_TRY(find(library, "gss_wrap_size_limit", out.wrap_size_limit));
  GANGRUN_TRY(find(library, "gss_release_buffer", out.release_buffer));
  return find(library, "gss_display_status", out.display_status);
}

std::string text_of(const Functions& functions, Status status, int kind, const Oid& mechanism) {
  std::string text;
  std::uint32_t more = 0;
  for (int line = 0; line < kMaxLines; ++line) {
    Buffer buffer;
    Status minor = 0;
    const Status major = functions.display_status(&minor, status, kind, &mechanism, &more, &buffer);
    if ((major & kErrorMask) != 0) break;
    const std::string words = take(functions, buffer);
    if (!text.empty()) text += "; ";
    text += words;
    if (more == 0) break;
  }
  return text;
}

}  // namespace

base::Result<std::shared_ptr<const Functions>> load_library() {
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    return base::Error{
        base::Code::kFailedPrecondition,
        base::format("this machine has no Kerberos library ({}): install libgssapi-krb5-2 (Debian, "
                     "Ubuntu) or krb5-libs (Fedora, RHEL)",
                     last_words())};
  }
  auto functions = std::make_shared<Functions>();
  GANGRUN_TRY(find_all(library, *functions));
  return std::shared_ptr<const Functions>(std::move(functions));
}

Buffer buffer_of(std::string_view bytes) { return Buffer{bytes.size(), bytes.data()}; }

std::string take(const Functions& functions, Buffer& buffer) {
  std::string bytes;
  if (buffer.length > 0) bytes.assign(static_cast<const char*>(buffer.value), buffer.length);
  Status minor = 0;
  functions.release_buffer(&minor, &buffer);
  return bytes;
}

Failure failure_of(const Functions& functions, Status major, Status minor, const Oid& mechanism) {
  Failure failure{.major = major, .minor = minor};
  // The mechanism's words are about what happened, the call's about what kind of thing it is.
  if (minor != 0) failure.text = text_of(functions, minor, kOfTheMechanism, mechanism);
  if (failure.text.empty()) failure.text = text_of(functions, major, kOfTheCall, mechanism);
  return failure;
}

}  // namespace gangrun::sasl
