#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sasl/failure.h"

// The few types and functions of the GSSAPI that are used (RFC 2744, and MIT's
// gss_acquire_cred_from), found in the system's library at run time: a machine without Kerberos
// needs no library, and building needs no headers.
namespace gangrun::sasl {

struct Oid {
  std::uint32_t length;
  const void* elements;
};
struct OidSet {
  std::size_t count;
  const Oid* elements;
};
struct Buffer {
  std::size_t length = 0;
  const void* value = nullptr;
};
struct StoreEntry {
  const char* key;
  const char* value;
};
struct Store {
  std::uint32_t count;
  const StoreEntry* elements;
};
using Name = struct OpaqueName*;
using Credential = struct OpaqueCredential*;
using Context = struct OpaqueContext*;
using Status = std::uint32_t;

inline constexpr int kInitiate = 1;  // GSS_C_INITIATE
inline constexpr std::uint32_t kForever = 0xffffffffU;
inline constexpr Status kContinueNeeded = 1;
// The upper half of a major status tells of errors.
inline constexpr Status kErrorMask = 0xffff0000U;

struct Functions {
  Status (*import_name)(Status*, const Buffer*, const Oid*, Name*);
  Status (*display_name)(Status*, Name, Buffer*, const Oid**);
  Status (*release_name)(Status*, Name*);
  Status (*acquire)(Status*, Name, std::uint32_t time, const OidSet*, int usage, const Store*,
                    Credential*, OidSet**, std::uint32_t*);
  Status (*inquire)(Status*, Credential, Name*, std::uint32_t* lifetime, int*, OidSet**);
  Status (*release_credential)(Status*, Credential*);
  Status (*init_context)(Status*, Credential, Context*, Name, const Oid*, std::uint32_t flags,
                         std::uint32_t time, const void* bindings, const Buffer*, const Oid**,
                         Buffer*, std::uint32_t* flags_got, std::uint32_t*);
  Status (*delete_context)(Status*, Context*, Buffer*);
  Status (*wrap)(Status*, Context, int confidential, std::uint32_t, const Buffer*, int*, Buffer*);
  Status (*unwrap)(Status*, Context, const Buffer*, Buffer*, int* confidential, std::uint32_t*);
  Status (*wrap_size_limit)(Status*, Context, int confidential, std::uint32_t, std::uint32_t,
                            std::uint32_t*);
  Status (*release_buffer)(Status*, Buffer*);
  Status (*display_status)(Status*, Status, int kind, const Oid*, std::uint32_t* more, Buffer*);
};

// The library, which stays loaded until the process ends: it leaves keys of threads behind.
base::Result<std::shared_ptr<const Functions>> load_library();

// RFC 4121 and RFC 4178.
inline constexpr Oid kKerberosMechanism{9, "\x2a\x86\x48\x86\xf7\x12\x01\x02\x02"};
inline constexpr Oid kNegotiateMechanism{6, "\x2b\x06\x01\x05\x05\x02"};
// "service@host", and a whole principal.
inline constexpr Oid kHostBasedName{10, "\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x04"};
inline constexpr Oid kPrincipalName{10, "\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x01"};

Buffer buffer_of(std::string_view bytes);
// Its bytes; the library's memory is given back.
std::string take(const Functions& functions, Buffer& buffer);

// The words of the library about the two statuses, of `mechanism`.
Failure failure_of(const Functions& functions, Status major, Status minor, const Oid& mechanism);

// Something of the library's that is given back to it.
template <typename T>
class Held {
 public:
  using Release = Status (*)(Status*, T*);
  explicit Held(Release release) : release_(release) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    Status minor = 0;
    if (value_ != nullptr) release_(&minor, &value_);
  }

  [[nodiscard]] T get() const { return value_; }
  T* place() { return &value_; }

 private:
  const Release release_;
  T value_ = nullptr;
};

}  // namespace gangrun::sasl
