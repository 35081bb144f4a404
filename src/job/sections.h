#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "job/plan_form.h"

namespace gangrun::job {

struct JobSpec;
struct Section;

// The settings of a job for only one place are a struct T of that place's room. It can be compared,
// and says where its fields stand:
//   static const Section& section();
// This is one of them, for those that keep it without knowing its type.
class Options {
 public:
  virtual ~Options() = default;
  [[nodiscard]] virtual const Section& section() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Options> copy() const = 0;
  [[nodiscard]] virtual bool is_default() const = 0;
  [[nodiscard]] virtual bool equals(const Options& other) const = 0;
};

template <typename T>
class OptionsOf final : public Options {
 public:
  [[nodiscard]] const Section& section() const override { return T::section(); }
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
    const Options* held = find(T::section());
    return held == nullptr ? kDefault : value_of<const T>(*held);
  }
  template <typename T>
  T& edit() {
    return value_of<T>(open(T::section()));
  }

  // So that it is there, with its defaults if need be.
  Options& open(const Section& section);
  void carry(const std::string& key, base::Json unread) { carried_[key] = std::move(unread); }

  // Those that are not carried only.
  [[nodiscard]] std::vector<const Section*> known() const;
  // Each that says something, or is of the place `on`.
  [[nodiscard]] std::map<std::string, base::Json> to_json(const JobSpec& job, PlanForm form) const;

  // A section of which nothing was given is like one that is not there.
  friend bool operator==(const Sections& a, const Sections& b);

 private:
  [[nodiscard]] const Options* find(const Section& section) const;

  template <typename T, typename Held>
  static T& value_of(Held& held) {
    using Plain = std::remove_const_t<T>;
    using Wanted = std::conditional_t<std::is_const_v<T>, const OptionsOf<Plain>, OptionsOf<Plain>>;
    auto* own = dynamic_cast<Wanted*>(&held);
    GANGRUN_CHECK(own != nullptr, "two sections have one key");
    return own->value;
  }

  std::map<std::string, std::unique_ptr<Options>, std::less<>> held_;
  std::map<std::string, base::Json, std::less<>> carried_;
};

}  // namespace gangrun::job
