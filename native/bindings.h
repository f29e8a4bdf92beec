// What each source file offers to the module.
#pragma once

#include <nanobind/nanobind.h>

void bind_phi(nanobind::module_& module);
void bind_projections(nanobind::module_& module);
