// gangrun._core: src/feed and src/records for Python; python/gangrun/_core.pyi has the types and
// what is promised.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "buffers.h"
#include "errors.h"
#include "feed/feeder.h"
#include "feed/listener.h"
#include "interpreter.h"
#include "records.h"

namespace gangrun::core {

namespace {

namespace nb = nanobind;

// Whether a signal's handler has raised something, which stands for the wait then.
bool interrupted() {
  return Released::with_interpreter([] { return PyErr_CheckSignals() != 0; });
}

nb::object wrap(std::optional<feed::Frame>&& frame) {
  if (!frame.has_value()) return nb::none();
  return nb::cast(*std::move(frame));
}

// The node's side; calls other than read() and write() come from any thread.
class Node {
 public:
  Node(const std::string& name, nb::handle key, double memory_mib) {
    constexpr double kMost = 1 << 20;
    if (!(memory_mib >= 1 && memory_mib <= kMost)) {
      PyErr_Format(PyExc_ValueError, "memory_mib: allowed are 1 to %d", static_cast<int>(kMost));
      nb::raise_python_error();
    }
    const Bytes bytes(key);
    listener_ = value_or_raise(
        feed::Listener::open(name, bytes.view(), static_cast<std::size_t>(memory_mib * (1 << 20))));
  }

  nb::object read(double timeout) {
    const base::Duration limit = seconds(timeout);
    // Frames that are there already are taken without giving up the interpreter.
    auto frame = value_or_raise(listener_->read(base::Duration::zero(), nullptr));
    if (!frame.has_value() && limit > base::Duration::zero()) {
      auto read = [&] {
        const Released released;
        return listener_->read(limit, interrupted);
      }();
      frame = value_or_raise(std::move(read));
    }
    return wrap(std::move(frame));
  }

  void write(std::uint16_t kind, nb::handle data, double timeout, std::uint64_t feeder) {
    const base::Duration limit = seconds(timeout);
    const Bytes bytes(data);
    const auto written = [&] {
      const Released released;
      return listener_->write(kind, bytes.view(), feeder, limit, interrupted);
    }();
    check(written);
  }

  void refuse(const std::string& reason) { listener_->refuse(reason); }
  void touch() { listener_->touch(); }
  void close() {
    const Released released;
    listener_->close();
  }

  nb::dict stats() {
    const feed::Listener::Stats stats = listener_->stats();
    const auto in_seconds = [](base::Duration time) {
      return std::chrono::duration<double>(time).count();
    };
    nb::dict made;
    made["frames"] = stats.input.frames;
    made["bytes"] = stats.input.bytes;
    made["queued_bytes"] = stats.input.queued_bytes;
    made["feeders_waiting"] = stats.feeders_waiting;
    made["node_waits_s"] = in_seconds(stats.input.node_waited);
    made["feeder_waits_s"] = in_seconds(stats.input.feeder_waited);
    return made;
  }

 private:
  std::unique_ptr<feed::Listener> listener_;
};

class Source {
 public:
  explicit Source(std::unique_ptr<feed::Feeder> feeder) : feeder_(std::move(feeder)) {}

  static std::unique_ptr<Source> connect(const std::string& name, nb::handle key, double timeout,
                                         double no_progress) {
    const feed::Feeder::Limits limits{.answer = seconds(timeout),
                                      .no_progress = seconds(no_progress)};
    const Bytes bytes(key);
    auto feeder = [&] {
      const Released released;
      return feed::Feeder::connect(name, bytes.view(), limits, interrupted);
    }();
    return std::make_unique<Source>(value_or_raise(std::move(feeder)));
  }

  void write(std::uint16_t kind, nb::handle data) {
    const Bytes bytes(data);
    const auto written = [&] {
      const Released released;
      return feeder_->write(kind, bytes.view());
    }();
    check(written);
  }

  bool try_write(std::uint16_t kind, nb::handle data, double timeout) {
    const base::Duration limit = seconds(timeout);
    const Bytes bytes(data);
    auto written = [&] {
      const Released released;
      return feeder_->try_write(kind, bytes.view(), limit);
    }();
    return value_or_raise(std::move(written));
  }

  nb::object reserve(std::size_t size) {
    auto room = [&] {
      const Released released;
      return feeder_->reserve(size);
    }();
    feed::Feeder::Room made = value_or_raise(std::move(room));
    const nb::object holder = nb::cast(Room{.bytes = made.bytes, .hold = std::move(made.hold)});
    return nb::steal(PyMemoryView_FromObject(holder.ptr()));
  }

  void commit(std::uint16_t kind, std::optional<std::size_t> size) {
    const auto done = [&] {
      const Released released;
      return feeder_->commit(kind, size);
    }();
    check(done);
  }

  nb::object read(double timeout) {
    const base::Duration limit = seconds(timeout);
    auto frame = [&] {
      const Released released;
      return feeder_->read(limit);
    }();
    return wrap(value_or_raise(std::move(frame)));
  }

  void end() {
    const auto done = [&] {
      const Released released;
      return feeder_->end();
    }();
    check(done);
  }

 private:
  std::unique_ptr<feed::Feeder> feeder_;
};

}  // namespace

}  // namespace gangrun::core

NB_MODULE(_core, module) {
  namespace nb = nanobind;
  using gangrun::core::Node;
  using gangrun::core::Source;
  // Frames may well live until the interpreter ends.
  nb::set_leak_warnings(false);
  gangrun::core::add_exceptions(module);
  gangrun::core::add_buffers(module);
  gangrun::core::add_records(module);
  module.attr("BROKEN") = gangrun::feed::kBroken;
  nb::class_<Node>(module, "Listener")
      .def(nb::init<const std::string&, nb::handle, double>(), nb::arg("name"), nb::arg("key"),
           nb::arg("memory_mib") = 256)
      .def("read", &Node::read, nb::arg("timeout"))
      .def("write", &Node::write, nb::arg("kind"), nb::arg("data"), nb::arg("timeout"),
           nb::arg("feeder") = 0)
      .def("refuse", &Node::refuse, nb::arg("reason"))
      .def("touch", &Node::touch)
      .def("close", &Node::close)
      .def_prop_ro("stats", &Node::stats);
  nb::class_<Source>(module, "Feeder")
      .def_static("connect", &Source::connect, nb::arg("name"), nb::arg("key"), nb::arg("timeout"),
                  nb::arg("no_progress"))
      .def("write", &Source::write, nb::arg("kind"), nb::arg("data"))
      .def("try_write", &Source::try_write, nb::arg("kind"), nb::arg("data"), nb::arg("timeout"))
      .def("reserve", &Source::reserve, nb::arg("size"))
      .def("commit", &Source::commit, nb::arg("kind"), nb::arg("size") = nb::none())
      .def("read", &Source::read, nb::arg("timeout"))
      .def("end", &Source::end);
}
