#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/json.h"

// How the fields of a section stand in a job file: who reads and writes files knows that.
namespace gangrun::jobfile {
struct Section;
}

namespace gangrun::job {

// The settings of a job for only one place are a struct T of that place's room. It can be compared,
// and says where its fields stand:
//   static constexpr std::string_view kKey;  // of the section: the name of the place
//   static const jobfile::Section& section();
// This is one of them, for those that keep it without knowing its type.
class Options {
 public:
  virtual ~Options() = default;
  [[nodiscard]] virtual const jobfile::Section& section() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Options> copy() const = 0;
  [[nodiscard]] virtual bool is_default() const = 0;
  [[nodiscard]] virtual bool equals(const Options& other) const = 0;
};

template <typename T>
class OptionsOf final : public Options {
 public:
  [[nodiscard]] const jobfile::Section& section() const override { return T::section(); }
  [[nodiscard]] std::unique_ptr<Options> copy() const override {
    return std::make_unique<OptionsOf>(*this);
  }
  [[nodiscard]] bool is_default() const override { return value == T{}; }
  [[nodiscard]] bool equals(const Options& other) const override {
    const auto* same = dynamic_cast<const OptionsOf*>(&other);
    return same != nullptr && same->value == value;
  }

  T value;
};

template <typename T>
std::unique_ptr<Options> make_options() {
  return std::make_unique<OptionsOf<T>>();
}

// The sections of a job, by their keys. One that a program does not know is carried as it was read.
class Sections {
 public:
  Sections() = default;
  Sections(const Sections& other);
  Sections(Sections&&) noexcept = default;
  Sections& operator=(const Sections& other);
  Sections& operator=(Sections&&) noexcept = default;
  ~Sections() = default;

  // As they are by default where nothing was given. Who asks is of a program that knows the
  // section.
  template <typename T>
  [[nodiscard]] const T& get() const {
    static const T kDefault{};
    const Options* held = find(T::kKey);
    return held == nullptr ? kDefault : value_of<const T>(*held);
  }
  template <typename T>
  T& edit() {
    return value_of<T>(open(T::kKey, make_options<T>));
  }

  // So that it is there, with its defaults if need be.
  Options& open(std::string_view key, std::unique_ptr<Options> (*make)());
  void carry(const std::string& key, base::Json unread) { carried_[key] = std::move(unread); }

  using Held = std::map<std::string, std::unique_ptr<Options>, std::less<>>;
  using Carried = std::map<std::string, base::Json, std::less<>>;
  // Those that are not carried only.
  [[nodiscard]] const Held& held() const { return held_; }
  [[nodiscard]] const Carried& carried() const { return carried_; }

  // A section of which nothing was given is like one that is not there.
  friend bool operator==(const Sections& a, const Sections& b);

 private:
  [[nodiscard]] const Options* find(std::string_view key) const;

  template <typename T, typename Kept>
  static T& value_of(Kept& kept) {
    using Plain = std::remove_const_t<T>;
    using Wanted = std::conditional_t<std::is_const_v<T>, const OptionsOf<Plain>, OptionsOf<Plain>>;
    auto* own = dynamic_cast<Wanted*>(&kept);
    GANGRUN_CHECK(own != nullptr, "two sections have one key");
    return own->value;
  }

  Held held_;
  Carried carried_;
};

}  // namespace gangrun::job
