#include "buffers.h"

#include <array>
#include <cmath>

namespace gangrun::core {

namespace {

namespace nb = nanobind;

// A view holds its object, and the object what the bytes lie in.
int get_frame(PyObject* self, Py_buffer* view, int flags) noexcept {
  const auto* frame = nb::inst_ptr<feed::Frame>(self);
  return PyBuffer_FillInfo(
      view, self, const_cast<char*>(frame->data.data()),  // NOLINT: it is said to be read-only
      static_cast<Py_ssize_t>(frame->data.size()), 1, flags);
}

int get_room(PyObject* self, Py_buffer* view, int flags) noexcept {
  const auto* room = nb::inst_ptr<Room>(self);
  return PyBuffer_FillInfo(view, self, room->bytes.data(),
                           static_cast<Py_ssize_t>(room->bytes.size()), 0, flags);
}

std::array<PyType_Slot, 2> frame_slots{
    {{Py_bf_getbuffer, reinterpret_cast<void*>(get_frame)}, {0, nullptr}}};
std::array<PyType_Slot, 2> room_slots{
    {{Py_bf_getbuffer, reinterpret_cast<void*>(get_room)}, {0, nullptr}}};

}  // namespace

Bytes::Bytes(nb::handle object) {
  if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) nb::raise_python_error();
}

base::Duration seconds(double value) {
  constexpr double kMost = 1e9;  // thirty years; more does not fit into nanoseconds ten times over
  if (std::isnan(value) || value < 0) {
    PyErr_Format(PyExc_ValueError, "a time limit is 0 or more seconds");
    nb::raise_python_error();
  }
  return std::chrono::duration_cast<base::Duration>(
      std::chrono::duration<double>(std::min(value, kMost)));
}

void add_buffers(nb::module_& module) {
  nb::class_<feed::Frame>(module, "Frame", nb::type_slots(frame_slots.data()))
      .def_prop_ro("kind", [](const feed::Frame& frame) { return frame.kind; })
      .def_prop_ro("feeder", [](const feed::Frame& frame) { return frame.turn; })
      .def_prop_ro("nbytes", [](const feed::Frame& frame) { return frame.data.size(); })
      .def("__len__", [](const feed::Frame& frame) { return frame.data.size(); });
  nb::class_<Room>(module, "_Room", nb::type_slots(room_slots.data()));
}

}  // namespace gangrun::core
