// What each source file offers to the module.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

// Where a tensor's data begins. The callers in Python check types and shapes and hold the tensors; to make arrays of them
// would cost more than the work on a small batch.
using Address = uintptr_t;

template <class T>
T* at(Address address) {
  return reinterpret_cast<T*>(address);
}

void bind_crossed(nanobind::module_& module);
void bind_phi(nanobind::module_& module);
void bind_projections(nanobind::module_& module);
void bind_rho(nanobind::module_& module);
void bind_tokens_find(nanobind::module_& module);
void bind_tokens_mine(nanobind::module_& module);
