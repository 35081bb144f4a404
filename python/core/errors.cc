#include "errors.h"

namespace gangrun::core {

namespace {

namespace nb = nanobind;

// Owned by the module, which is never unloaded.
PyObject* not_there = nullptr;
PyObject* peer_gone = nullptr;
PyObject* refused = nullptr;

PyObject* add_exception(nb::module_& module, const char* name, const char* full_name,
                        PyObject* base) {
  PyObject* made = PyErr_NewException(full_name, base, nullptr);
  if (made == nullptr) nb::raise_python_error();
  module.attr(name) = nb::borrow(made);
  return made;
}

PyObject* type_of(base::Code code) {
  switch (code) {
    case base::Code::kNotFound: return not_there;
    case base::Code::kUnavailable:
    case base::Code::kDataLoss: return peer_gone;
    case base::Code::kFailedPrecondition: return refused;
    case base::Code::kDeadlineExceeded: return PyExc_TimeoutError;
    case base::Code::kResourceExhausted: return PyExc_MemoryError;
    case base::Code::kInvalidArgument: return PyExc_ValueError;
    case base::Code::kPermissionDenied:
    case base::Code::kUnauthenticated: return PyExc_PermissionError;
    default: return PyExc_OSError;
  }
}

}  // namespace

void add_exceptions(nb::module_& module) {
  not_there = add_exception(module, "NotThere", "gangrun._core.NotThere", PyExc_ConnectionError);
  peer_gone = add_exception(module, "PeerGone", "gangrun._core.PeerGone", PyExc_ConnectionError);
  refused = add_exception(module, "Refused", "gangrun._core.Refused", PyExc_Exception);
}

void raise(const base::Error& error) {
  if (error.code != base::Code::kCancelled || PyErr_Occurred() == nullptr) {
    PyErr_SetString(type_of(error.code), error.message.c_str());
  }
  nb::raise_python_error();
}

}  // namespace gangrun::core
